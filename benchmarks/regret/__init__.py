"""Regret against other libraries: `python -m benchmarks.regret`; docs/evidence/regret-study.md says what is compared."""
