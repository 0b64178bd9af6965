"""Runs that lose nothing: a problem in a TOML file, evaluations in processes, studies in Optuna's storage."""

import surefoot.integrations  # noqa: F401 - without Optuna it says what to install
