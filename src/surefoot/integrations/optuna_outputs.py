"""The outputs of an evaluation beside its value, as an attribute of an Optuna trial, there and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from surefoot.optimize.document import dump_number, parse_number
from surefoot.optimize.history import VALUE, Evaluation
from surefoot.optimize.outputs import as_share, partial_outputs

OUTPUTS = "surefoot:outputs"  # user attribute of a trial: the objective's name, the other outputs, progress, fidelity.
# A trial without it has one output, the value


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
    fidelity = _number(stored.get("fidelity"))
    return {
        "objective": objective,
        "further": further,
        "progress": as_share(_number(stored.get("progress"))),
        "fidelity": fidelity if fidelity is not None and math.isfinite(fidelity) else math.nan,
    }


def _number(stored: Any) -> float | None:
    try:
        return parse_number(stored)
    except TypeError:
        return None


def objective_of(trials: Sequence[FrozenTrial]) -> str | None:
    """The name of the objective: that of the latest trial with a value; None if there is none yet."""
    latest = next((t for t in reversed(trials) if t.state == TrialState.COMPLETE), None)
    return None if latest is None else str(outputs_of(latest)["objective"])
