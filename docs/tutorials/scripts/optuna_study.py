"""
An Optuna study
===============

After this tutorial you can use surefoot as the sampler of an Optuna study, continue a study that
another sampler began, and let failed trials teach it.

You need ``pip install '.[run,plots]'`` in a clone of the repository. `Optuna <https://optuna.org>`_
calls one evaluation a *trial*, and what suggests the points a *sampler*.
"""

# %%
# A study that exists
# -------------------
#
# The study lies in a file, and 15 of its trials are random. The simulator fails for large ``x``.

import optuna

optuna.logging.set_verbosity(optuna.logging.CRITICAL)


def objective(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 1e-3, 15, log=True)
    scheme = trial.suggest_categorical("scheme", ["upwind", "central"])
    if x > 8:
        raise FloatingPointError("the mesh collapsed")
    return (x - 3) ** 2 + (y - 2) ** 2 + (scheme == "central")


storage = "sqlite:///study.db"
study = optuna.create_study(
    study_name="mesh",
    storage=storage,
    load_if_exists=True,
    sampler=optuna.samplers.RandomSampler(seed=1),
)
study.optimize(objective, n_trials=15, catch=(Exception,))
print("best of 15 random trials:", study.best_value)

# %%
# Continue it with surefoot
# -------------------------
#
# Load the study with another sampler. All trials that it has are used. Nothing has to be
# converted. (``surefoot list study.db`` in a terminal says which studies a file holds.)
#
# ``guarded`` wraps the objective: a trial that fails keeps the reason. Only failures with a
# reason teach surefoot where not to go, because Optuna cannot tell a crashed simulator from a
# machine that was switched off.

from surefoot.integrations.optuna import SurefootSampler, guarded

study = optuna.load_study(study_name="mesh", storage=storage, sampler=SurefootSampler(seed=1))
study.optimize(guarded(objective), n_trials=25, catch=(Exception,))
print("best of 40 trials:", study.best_value)
print(study.best_params)

# %%
# The failed trials of the random sampler have no reason.
# ``SurefootSampler(learn_from_all_failures=True)`` learns from these too. Use it where you know
# that the simulator failed, and not the machine.
#
# See what was learned
# --------------------
#
# ``result_of`` turns the study into the result that ``surefoot.minimize`` returns: figures, the
# probability of success, reports.

from surefoot.integrations.optuna import result_of

result = result_of(study)
print(result)
figure = result.plot()

# %%
# Settings
# --------
#
# Every setting of ``minimize`` is a keyword of the sampler: ``SurefootSampler(policy="EI",
# noise=0)``. With ``search_space=`` the sampler knows the parameters before the first trial. It
# then begins with a design that spreads over the space, and it takes known ``constraints``.
#
# Where next
# ----------
#
# - All that the sampler offers is told in :doc:`/howto/optuna`.
# - What is learned from a failure: :doc:`/understanding/failures`.
# - Executables need no code around them: :doc:`/tutorials/executable`.
