"""Runs that lose nothing: a problem in a TOML file, evaluations in processes, studies in Optuna's storage."""
