"""What is carried from one suggestion to the next: where the searches for hyperparameters ended.

Every run has its own: a batch is made of them and falls apart into them (`part`, `together`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.backend import Array, like, to_host
from surefoot.gp.exact import EXACT
from surefoot.gp.hyperparameters import FitState, is_healthy
from surefoot.numerics.warping import LEVELS


@dataclass(frozen=True)
class Warmth:
    """Where the hyperparameter searches of the last suggestion ended: the next one starts there.

    A run without a state has rows of NaN in a state that others have.
    """

    objective: FitState | None = None
    failures: FitState | None = None
    failures_by: str = ""  # the failure model that `failures` belongs to: its hyperparameters mean nothing to another
    warp: tuple[int, ...] = ()  # level of y's warping in every run, as `objective` was fitted; empty: none
    kernels: tuple[str, ...] = ()  # of the objective in every run
    objective_by: str = EXACT.name  # the family of surrogates that `objective` belongs to
    outputs: tuple[Warmth, ...] = ()  # of every output that has limits, as if it were the objective
    begun: tuple[int, ...] = ()  # evaluations of every run when its model spoke first; empty: it has not
    phases: tuple[int, ...] = ()  # of every run: in which phase `objective` was fitted (restarts.py); empty: the first

    @property
    def of_all(self) -> Warmth:
        """For a model of all evaluations: what searches found in a phase with a model of its own is forgotten."""
        return self.in_phases(tuple(number + number % 2 for number in self.phases))

    def in_phases(self, numbers: tuple[int, ...]) -> Warmth:
        """For runs in these phases: what searches for the objective's hyperparameters found in others is forgotten."""
        other = np.asarray(numbers) != np.asarray(self.phases or (0,) * len(numbers))
        if not other.any():
            return replace(self, phases=numbers)
        if other.all() or self.objective is None:
            return replace(self, objective=None, warp=(), kernels=(), phases=numbers)
        theta, inv_hessian = self.objective.theta.copy(), self.objective.inv_hessian.copy()
        theta[other], inv_hessian[other] = np.nan, np.nan
        return replace(self, objective=FitState(theta, inv_hessian, self.objective.n_cold), phases=numbers)

    def part(self, rows: np.ndarray) -> Warmth:
        """That of some runs."""
        numbers = rows.tolist()
        return Warmth(
            _part(self.objective, rows),
            _part(self.failures, rows),
            self.failures_by,
            tuple(self.warp[r] for r in numbers) if self.warp else (),
            tuple(self.kernels[r] for r in numbers) if self.kernels else (),
            self.objective_by,
            tuple(warmth.part(rows) for warmth in self.outputs),
            tuple(self.begun[r] for r in numbers) if self.begun else (),
            tuple(self.phases[r] for r in numbers) if self.phases else (),
        )

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {
            "objective": _dump(self.objective),
            "failures": _dump(self.failures),
            "failures_by": self.failures_by,
            "warp": list(self.warp),
            "kernels": list(self.kernels),
            "objective_by": self.objective_by,
            **({"outputs": [warmth.to_json() for warmth in self.outputs]} if self.outputs else {}),
            **({"begun": list(self.begun)} if self.begun else {}),
            **({"phases": list(self.phases)} if any(self.phases) else {}),
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Warmth:
        """Read what `to_json` gave; ValueError, KeyError or TypeError if it did not."""
        objective, failures = _parse(fields["objective"]), _parse(fields["failures"])
        warp, kernels = tuple(fields.get("warp", ())), tuple(fields.get("kernels", ()))
        begun, phases = tuple(fields.get("begun", ())), tuple(fields.get("phases", ()))
        n_runs = {len(part) for part in (warp, kernels, begun, phases) if part}
        n_runs |= {len(state.theta) for state in (objective, failures) if state is not None}
        if len(n_runs) > 1:
            raise ValueError("its warmth is of unequal numbers of runs")
        known = all(type(level) is int and 0 <= level < len(LEVELS) for level in warp)
        if not known or not all(type(k) is str for k in kernels):
            raise ValueError("its warps or kernels are none")
        if not all(type(n) is int and n >= 0 for n in (*begun, *phases)):
            raise ValueError("its numbers of evaluations or phases are none")
        by = str(fields.get("objective_by", EXACT.name))
        outputs = tuple(cls.from_json(own) for own in fields.get("outputs", ()))
        return cls(objective, failures, str(fields["failures_by"]), warp, kernels, by, outputs, begun, phases)


def together(parts: Sequence[tuple[np.ndarray, Warmth]], n_runs: int) -> Warmth:
    """The warmth of a batch from those of its parts, each with the rows of its runs."""

    def of_runs(name: str, unknown: Any) -> tuple[Any, ...]:
        found = dict.fromkeys(range(n_runs), unknown)
        for rows, warmth in parts:
            found.update(zip(rows.tolist(), getattr(warmth, name), strict=False))  # a part may know none
        return tuple(found.values()) if any(getattr(warmth, name) for _, warmth in parts) else ()

    objective, failures = (
        _together([(rows, getattr(warmth, name)) for rows, warmth in parts], n_runs)
        for name in ("objective", "failures")
    )
    by = next((warmth.failures_by for _, warmth in parts if warmth.failures is not None), parts[0][1].failures_by)
    family = parts[0][1].objective_by
    n_outputs = max(len(warmth.outputs) for _, warmth in parts)
    outputs = tuple(
        together([(rows, warmth.outputs[j]) for rows, warmth in parts if j < len(warmth.outputs)], n_runs)
        for j in range(n_outputs)
    )
    levels, kernels = of_runs("warp", 0), of_runs("kernels", "")
    begun, phases = of_runs("begun", 0), of_runs("phases", 0)
    return Warmth(objective, failures, by, levels, kernels, family, outputs, begun, phases)


def on_device(state: FitState | None, shape: tuple[int, int], reference: Array) -> FitState | None:
    """A stored state as arrays like `reference`; None if it is damaged or of another space: then start afresh."""
    if state is None or state.theta.shape != shape or not is_healthy(state):
        return None
    return FitState(like(state.theta, reference), like(state.inv_hessian, reference), state.n_cold)


def on_host(state: FitState) -> FitState:
    """A state as host arrays, to be stored."""
    return FitState(to_host(state.theta), to_host(state.inv_hessian), state.n_cold)


def _part(state: FitState | None, rows: np.ndarray) -> FitState | None:
    if state is None or len(state.theta) <= int(rows.max()) or bool(np.isnan(state.theta[rows]).all()):
        return None
    return state.select(rows)


def _together(parts: Sequence[tuple[np.ndarray, FitState | None]], n_runs: int) -> FitState | None:
    known = [(rows, state) for rows, state in parts if state is not None]
    if not known:
        return None
    p = max(state.theta.shape[1] for _, state in known)  # runs with fewer maps of their failures end in NaN
    theta, n_cold = np.full((n_runs, p), np.nan), np.zeros(n_runs, int)
    H = np.full((n_runs, *known[0][1].inv_hessian.shape[1:]), np.nan)
    for rows, state in known:
        theta[rows, : state.theta.shape[1]], H[rows], n_cold[rows] = state.theta, state.inv_hessian, state.n_cold
    return FitState(theta, H, tuple(n_cold.tolist()))


def _dump(state: FitState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {"theta": state.theta.tolist(), "inv_hessian": state.inv_hessian.tolist(), "n_cold": list(state.n_cold)}


def _parse(fields: dict[str, Any] | None) -> FitState | None:
    if fields is None:
        return None
    theta, inv_hessian = (np.asarray(fields[name], dtype=float) for name in ("theta", "inv_hessian"))
    inv_hessian = inv_hessian.reshape(len(theta), 0, 0) if inv_hessian.size == 0 else inv_hessian  # not kept
    if theta.ndim != 2 or inv_hessian.shape not in ((*theta.shape, theta.shape[1]), (len(theta), 0, 0)):
        raise ValueError(f"the shapes of its hyperparameters are {theta.shape} and {inv_hessian.shape}")
    n_cold = fields["n_cold"]
    n_cold = [n_cold] * len(theta) if type(n_cold) is int else n_cold  # as it was once written
    if type(n_cold) is not list or len(n_cold) != len(theta) or not all(type(n) is int for n in n_cold):
        raise TypeError("n_cold is not an integer for every run")
    return FitState(theta, inv_hessian, tuple(n_cold))
