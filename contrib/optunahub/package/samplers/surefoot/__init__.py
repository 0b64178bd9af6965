"""OptunaHub package: surefoot's sampler."""

from surefoot.integrations.optuna import SurefootSampler, guarded

__all__ = ["SurefootSampler", "guarded"]
