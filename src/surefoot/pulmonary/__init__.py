"""The pulmonary circulation: a one-dimensional PDE model that knows nothing of optimization."""
