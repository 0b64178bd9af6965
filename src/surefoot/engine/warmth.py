"""What is carried from one suggestion to the next: where the searches for hyperparameters ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.gp.fit import FitState
from surefoot.numerics.warping import LEVELS


@dataclass(frozen=True)
class Warmth:
    """Where the hyperparameter searches of the last suggestion ended: the next one starts there."""

    objective: FitState | None = None
    failures: FitState | None = None
    failures_by: str = ""  # the failure model that `failures` belongs to: its hyperparameters mean nothing to another
    warp: tuple[int, ...] = ()  # level of y's warping in every run, as `objective` was fitted; empty: none
    kernels: tuple[str, ...] = ()  # of the objective in every run

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {
            "objective": _dump(self.objective),
            "failures": _dump(self.failures),
            "failures_by": self.failures_by,
            "warp": list(self.warp),
            "kernels": list(self.kernels),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Warmth:
        """Read what `to_json` gave; ValueError, KeyError or TypeError if it did not."""
        objective, failures = _parse(fields["objective"]), _parse(fields["failures"])
        warp, kernels = tuple(fields.get("warp", ())), tuple(fields.get("kernels", ()))
        n_runs = {len(part) for part in (warp, kernels) if part}
        n_runs |= {len(state.theta) for state in (objective, failures) if state is not None}
        if len(n_runs) > 1:
            raise ValueError("its warmth is of unequal numbers of runs")
        known = all(type(level) is int and 0 <= level < len(LEVELS) for level in warp)
        if not known or not all(type(k) is str for k in kernels):
            raise ValueError("its warps or kernels are none")
        return cls(objective, failures, str(fields["failures_by"]), warp, kernels)


def _dump(state: FitState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {"theta": state.theta.tolist(), "inv_hessian": state.inv_hessian.tolist(), "n_cold": state.n_cold}


def _parse(fields: dict[str, Any] | None) -> FitState | None:
    if fields is None:
        return None
    theta, inv_hessian = (np.asarray(fields[name], dtype=float) for name in ("theta", "inv_hessian"))
    if theta.ndim != 2 or inv_hessian.shape != (*theta.shape, theta.shape[1]):
        raise ValueError(f"the shapes of its hyperparameters are {theta.shape} and {inv_hessian.shape}")
    if type(fields["n_cold"]) is not int:
        raise TypeError("n_cold is not an integer")
    return FitState(theta, inv_hessian, fields["n_cold"])
