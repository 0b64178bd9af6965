"""Regret against other libraries: `python -m benchmarks.regret`; what is compared and how is in docs/regret.md."""
