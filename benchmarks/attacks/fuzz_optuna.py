"""Damaged Optuna studies: whatever is in them, the sampler suggests a point and a result can be had or is refused."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.attacks.fuzz_values import shown

_ODD: list[Any] = [
    None, True, 0, -1, 2**70, 0.5, math.nan, math.inf, "", "x", "\ud800", [], {}, [[]], {"params": 3}, {"params": {}},
    {"params": {"a": "x"}, "warmth": {}}, {"params": {"a": 0.5, "b": 2}, "warmth": {"objective": {"theta": []}}},
    {"duration_s": "long"}, {"duration_s": None, "folder": 3},
]  # fmt: skip

_REFUSED_BY_OPTUNA = ("dynamic value space", "different log configuration", "different distribution kind")


def try_one(rng: random.Random, folder: Path, say: Callable[[str], None]) -> None:
    """One study."""
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    from surefoot.errors import SurefootError
    from surefoot.integrations.optuna import SurefootSampler, result_of

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    spaces: list[dict[str, Any]] = [
        {"a": FloatDistribution(0, 1), "b": IntDistribution(1, 9, step=2)},
        {"a": FloatDistribution(1e-3, 1, log=True), "b": IntDistribution(1, 9), "c": CategoricalDistribution(["x", 1])},
        {"a": FloatDistribution(0, 1, step=0.25)},
        {"a": FloatDistribution(0.5, 0.5), "c": CategoricalDistribution([None, True, 1.5])},
        {"a": FloatDistribution(-1e308, 1e308)},
    ]
    space = rng.choice(spaces)
    sampler = SurefootSampler(space if rng.random() < 0.5 else None, n_init=rng.choice([None, 1, 3]))
    study = optuna.create_study(direction=rng.choice(["minimize", "maximize"]), sampler=sampler)
    trials = [_trial(rng, space) for _ in range(rng.randint(0, 5))]
    trials += [_trial(rng, other, is_over=True) for other in rng.choices(spaces, k=rng.randint(0, 2))]
    rng.shuffle(trials)
    for trial in trials:
        study.add_trial(trial)
    if rng.random() < 0.3:
        study.enqueue_trial({"a": rng.choice([0.5, 7.0]), "z": 1})
    if rng.random() < 0.3:
        study.set_user_attr("surefoot:study", rng.choice(_ODD))
    states = [(t.state.name, t.values, t.params, {**t.system_attrs, **t.user_attrs}) for t in trials]
    say(f"a study of {shown(space)[:60]} with {shown(states)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial = study.ask()
        for name, d in space.items():
            try:
                trial._suggest(name, d)
            except ValueError as error:
                if any(words in str(error) for words in _REFUSED_BY_OPTUNA):
                    return
                raise
        study.tell(trial, 0.5)
        try:
            result_of(study).table()
        except SurefootError:
            return


def _trial(rng: random.Random, space: dict[str, Any], is_over: bool = False) -> Any:
    import optuna
    from optuna.trial import TrialState

    states = [TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED, TrialState.RUNNING, TrialState.WAITING]
    state = rng.choices(states, [5, 2, 2, 0 if is_over else 1, 0 if is_over else 1])[0]
    kept = {name: d for name, d in space.items() if rng.random() < 0.9}
    params = {}
    for name, d in kept.items():
        choices = getattr(d, "choices", None)
        step = getattr(d, "step", None)
        low, high = (0.0, 0.0) if choices else (d.low, d.high)
        params[name] = rng.choice(choices) if choices else rng.choice([low, high, low if step else low / 2 + high / 2])
        if type(low) is int and not choices:
            params[name] = int(rng.choice([low, high]))
    keys = ["surefoot:reason", "surefoot:transient", "surefoot:void", "surefoot:output"]
    start = datetime(2020, 1, 1) + timedelta(seconds=rng.randint(-5, 5))
    values = [rng.choice([0.5, -1e308, 1e308, math.inf, -math.inf, rng.random()])]
    trial = optuna.trial.create_trial(
        state=state, params=params, distributions=kept,
        values=values if state == TrialState.COMPLETE else None,
        user_attrs={rng.choice(keys): rng.choice(_ODD)} if rng.random() < 0.4 else {},
        system_attrs={"surefoot:suggestion": rng.choice(_ODD)} if rng.random() < 0.4 else {},
        intermediate_values={0: rng.choice([0.5, math.nan, math.inf])} if rng.random() < 0.3 else {},
    )  # fmt: skip
    if trial.datetime_complete is not None and rng.random() < 0.3:
        trial.datetime_start = start  # clocks go back
    return trial
