"""Exact Gaussian processes, R runs at a time: kernels, likelihood, fit, posterior."""
