"""Minimize a function that crashes in a fifth of its domain."""

import optuna
import optunahub

module = optunahub.load_module("samplers/surefoot")


def objective(trial: optuna.Trial) -> float:
    """A parabola whose right fifth crashes."""
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    if x > 7:
        raise FloatingPointError("the mesh collapsed")
    return (x - 3) ** 2 + (y - 2) ** 2


if __name__ == "__main__":
    study = optuna.create_study(sampler=module.SurefootSampler(seed=1))
    study.optimize(module.guarded(objective), n_trials=40, catch=(Exception,))
    print(study.best_trial.params, study.best_value)
