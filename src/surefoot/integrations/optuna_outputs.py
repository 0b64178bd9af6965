"""The outputs of an evaluation beside its value, as an attribute of an Optuna trial, there and back.

Limits    Optuna keeps constraint values with a trial, at most 0 where it is feasible: `trial.constraints`. How far
          limited outputs are outside is written there, so that Optuna's best trial and its dashboard know it. What
          others have written there (a constraints_func, `trial.set_constraint`) are outputs with the limit "<= 0".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from surefoot.optimize.document import dump_number, parse_number
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.limits import limits_of
from surefoot.optimize.outputs import as_share, partial_outputs

OUTPUTS = "surefoot:outputs"  # user attribute of a trial: the objective's name, the other outputs, progress, fidelity.
# A trial without it has one output, the value
CONSTRAINT = "constraints:"  # where Optuna keeps the value of a constraint among system attributes; its name follows
_FAR = 1e300  # the value of a constraint that was not computed


def output_attributes(e: Evaluation) -> dict[str, Any]:
    """What a trial keeps of an evaluation's outputs: nothing, where there is only the value."""
    if e.objective == VALUE and not e.further and math.isnan(e.progress) and math.isnan(e.fidelity):
        return {}
    return {
        OUTPUTS: {
            "objective": e.objective,
            "outputs": {name: dump_number(number) for name, number in e.further.items()},
            "progress": dump_number(e.progress),
            "fidelity": dump_number(e.fidelity),
        }
    }


def outputs_of(trial: FrozenTrial) -> dict[str, Any]:
    """The fields of an evaluation that a trial's attribute holds; what anybody else has written there is nothing."""
    stored = trial.user_attrs.get(OUTPUTS)
    stored = stored if isinstance(stored, dict) else {}
    name, outputs = stored.get("objective"), stored.get("outputs")
    objective = name if isinstance(name, str) and name else VALUE
    further = partial_outputs({k: _number(v) for k, v in outputs.items()} if isinstance(outputs, dict) else {})
    if trial.state != TrialState.FAIL:
        further.pop(objective, None)
    further |= {_constraint(key): y for key, y in _foreign(trial, {objective, *further}).items()}
    fidelity = _number(stored.get("fidelity"))
    return {
        "objective": objective,
        "further": further,
        "progress": as_share(_number(stored.get("progress"))),
        "fidelity": fidelity if fidelity is not None and math.isfinite(fidelity) else math.nan,
    }


def _constraint(key: str) -> str:
    return f"constraint {key}"


def _foreign(trial: FrozenTrial, own: Collection[str]) -> dict[str, float]:
    """The constraint values of a trial that are not those of its own outputs."""
    try:
        found = trial.constraints
    except (TypeError, ValueError):  # what anybody else has written there
        return {}
    return {key: y for key, y in partial_outputs(found).items() if key not in own and y < _FAR}


def constraint_limits(trials: Sequence[FrozenTrial]) -> dict[str, str]:
    """Limits for the constraint values that others have left with finished trials; none where there are none."""
    names = []
    for trial in trials:
        if trial.state == TrialState.COMPLETE and trial.constraints:
            known = outputs_of(trial)["further"]
            names += [name for key in trial.constraints if (name := _constraint(key)) in known]
    return dict.fromkeys(names, "<= 0.0")


def constraint_attributes(outputs: Mapping[str, float], limits: Mapping[str, str]) -> dict[str, float]:
    """The system attributes that tell Optuna how far limited outputs are outside: at most 0 inside."""
    values = {}
    for name, limit in zip(limits, limits_of(limits), strict=True):
        y = outputs.get(name, math.nan)
        excess = max(limit.lower - y, y - limit.upper)
        values[f"{CONSTRAINT}{name}"] = _FAR if math.isnan(y) else float(np.clip(excess, -_FAR, _FAR))
    return values


def _number(stored: Any) -> float | None:
    try:
        return parse_number(stored)
    except TypeError:
        return None


def objective_of(trials: Sequence[FrozenTrial]) -> str | None:
    """The name of the objective: that of the latest trial with a value; None if there is none yet."""
    latest = next((t for t in reversed(trials) if t.state == TrialState.COMPLETE), None)
    return None if latest is None else str(outputs_of(latest)["objective"])
