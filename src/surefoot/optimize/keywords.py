"""The keyword that was meant by one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from surefoot.errors import UnknownNameError
from surefoot.expect import nearest

# what SciPy, scikit-optimize, Optuna, BoTorch, GPyOpt, nevergrad and hyperopt call the same things
_ELSEWHERE = {
    "n_evals": "maxiter max_iter maxfev maxfun max_evals n_calls n_iter niter n_iterations iterations n_trials "
    "num_trials trials budget max_evaluations n_evaluations evals maxeval",
    "n_init": "n_initial_points n_random_starts init_points initial_points n_startup_trials n_initial num_initial "
    "initial_design_numdata n_start",
    "seed": "random_state rng rng_seed random_seed",
    "maximize": "direction maximise mode minimize goal",
    "policy": "acq_func acquisition acquisition_function acq acquisition_type strategy",
    "executor": "workers pool client",
    "n_workers": "n_jobs n_parallel num_workers max_workers n_procs batch_size",
    "kernel": "base_estimator covariance covar_module",
    "noise": "alpha noise_std sigma_n noise_level observation_noise",
    "timeout": "time_limit timeout_s max_time",
    "callback": "callbacks hooks on_step",
    "progress": "verbose disp show_progress_bar verbosity",
    "constraints": "constraint known_constraints input_constraints parameter_constraints inequality_constraints cons "
    "g_constraints",
    "bounds": "space dimensions search_space pbounds domain",
    "kappa": "xi beta ucb_beta",
    "x0": "initial_guess x_init start points x_start",
    "y0": "y_init f0 values",
    "design": "initial_point_generator init_design initial_design initial_design_type",
    "memory_limit_mb": "memory memory_limit max_memory",
    "retry_on": "retry catch",
    "n_retries": "retries max_retries",
    "failures": "failure_model on_failure",
    "resume": "checkpoint warm_start",
    "history": "resume",
    "device": "gpu use_gpu cuda use_cuda tkwargs backend accelerator",
    "objective": "metric objective_name target",
    "outputs": "output limits output_constraints",
}
_MEANT = {theirs: ours for ours, names in _ELSEWHERE.items() for theirs in names.split()}


class _NotGiven:
    """What stands in a signature where leaving a keyword out and giving its default are not the same."""

    def __repr__(self) -> str:
        return "default"


NOT_GIVEN: Any = _NotGiven()


def check_keywords(given: Iterable[str], known: Iterable[str], door: str) -> None:
    """Raise for the first keyword that `door` (a function's name) does not know, with the one that was meant."""
    known = list(known)
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    meant = _meant(unknown[0], known)
    hint = f"{meant}=…" if meant else f"help(surefoot.{door})"
    raise UnknownNameError(f"expected keywords among {', '.join(known)}; got {', '.join(unknown)}; try {hint}")


def _meant(name: str, known: list[str]) -> str | None:
    """The known keyword that another library calls so, or that is spelled nearly so."""
    meant = _MEANT.get(name.lower())
    if meant in known:
        return meant
    return nearest(name, known)
