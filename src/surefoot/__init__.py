"""surefoot: Bayesian optimization for expensive simulators that crash."""

__version__ = "0.1.0"
