"""Regret against other libraries: `python -m benchmarks.regret`; docs/evidence/regret-study.md has the details."""
