"""Regret against other libraries: `python -m benchmarks.regret`; docs/evidence/regret.md says what is compared."""
