"""Optuna's messages would drown the tests' own."""

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
