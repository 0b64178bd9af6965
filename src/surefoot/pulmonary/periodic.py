"""From beat to beat: a fixed number of beats, or acceleration to the periodic state.

One beat is a map G of the state x (node values, one beat of pressure history at the trees); a periodic
state is a fixed point. Its slow modes are the mean pressure levels before the trees, which plain stepping
approaches by a factor 1.15 (ξ = 2.33) to 1.8 (nominal) per beat. Anderson acceleration: from the last pairs
(x_i, G(x_i)) take the combination whose linearized change f = G(x) - x is least, and go on from there:

    x_next = G_k - ΔG c,   c = argmin |f_k - ΔF c|,   columns of ΔF, ΔG: differences of successive pairs.

The iteration only proposes starting states. A result is always the last of two plain beats in a row, and
the change between these two is what is reported and tested. If a beat from a proposed state fails or grows,
plain stepping resumes from the last completed beat, so that only plain stepping can end in a failure.
"""

# ruff: noqa: N815 - units keep their case (mmHg), symbols the paper's (f_L)

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.pulmonary.arrays import DYN_PER_MMHG, Floats
from surefoot.pulmonary.kernels.records import State
from surefoot.pulmonary.model import BeatResult, Model, march_beat

MEMORY = 6  # pairs kept
GROWTH = 2.0  # a proposal after which the change grows more than this is distrusted
PLAIN_BEATS = 3  # before acceleration: the first has no history, the second answers to that

OnBeat = Callable[[int, float], None]


@dataclass(frozen=True)
class Cycle:
    """The last beat of an iteration."""

    beat: BeatResult
    n_beats: int
    periodicity_mmHg: float  # largest change of a midpoint pressure over the last beat; infinite after one beat


def _change(model: Model, new: Floats, old: Floats | None) -> float:
    if old is None:
        return np.inf
    return float(np.max(np.abs(new[model.mid_rows] - old[model.mid_rows])))


def _pack(model: Model, state: State, pressure: Floats) -> Floats:
    """One vector in comparable units: mmHg, areas as the pressure that would cause them, flows in ml/s."""
    stiffness = 0.5 * model.law.f / DYN_PER_MMHG  # dp = f/2 dA/A0
    return np.concatenate(
        [
            state.history.ravel() / DYN_PER_MMHG,
            pressure[model.mid_rows].ravel(),
            state.A / model.mesh.A0 * stiffness,
            state.q,
            state.ghosts.ravel(),
        ]
    )


def _unpack(model: Model, x: Floats, like: State, pressure: Floats) -> tuple[State, Floats]:
    """Inverse of _pack. The pressures of unsampled rows do not matter: only midpoints are compared."""
    stiffness = 0.5 * model.law.f / DYN_PER_MMHG
    sizes = [like.history.size, model.mid_rows.size * pressure.shape[1], like.A.size, like.q.size]
    history, mid, A, q, ghosts = np.split(x, np.cumsum(sizes))
    mixed = pressure.copy()
    mixed[model.mid_rows] = mid.reshape(model.mid_rows.size, -1)
    state = State(
        A * model.mesh.A0 / stiffness,
        q.copy(),
        ghosts.reshape(like.ghosts.shape).copy(),
        (history * DYN_PER_MMHG).reshape(like.history.shape),
    )
    return state, mixed


def _propose(starts: list[Floats], ends: list[Floats]) -> Floats:
    """Anderson's combination of the kept pairs."""
    X, G = np.array(starts), np.array(ends)
    F = G - X
    dF, dG = np.diff(F, axis=0), np.diff(G, axis=0)
    c = np.linalg.lstsq(dF @ dF.T, dF @ F[-1], rcond=1e-12)[0]
    return np.asarray(G[-1] - c @ dG, dtype=np.float64)


def fixed_beats(model: Model, beats: int, on_beat: OnBeat | None = None) -> Cycle:
    """Plain stepping, as the 2014 program: so many beats, periodic or not."""
    state, previous = model.start, None
    change = np.inf
    for n in range(1, beats + 1):
        beat = march_beat(model, state, convolve=n > 1)
        if not beat.ok:
            return Cycle(beat, n, np.inf)
        change = _change(model, beat.pressure_mmHg, previous)
        if on_beat:
            on_beat(n, change)
        state, previous = beat.state, beat.pressure_mmHg
    return Cycle(beat, beats, change)


def until_periodic(model: Model, on_beat: OnBeat | None = None) -> Cycle:
    """Iterate until two plain beats in a row differ by no more than the target, or until max_beats."""
    variant = model.settings.variant
    done = march_beat(model, model.start, convolve=False)
    if not done.ok:
        return Cycle(done, 1, np.inf)
    if on_beat:
        on_beat(1, np.inf)
    state, previous = done.state, done.pressure_mmHg
    plain = True  # does this beat start where the one before ended?
    change = np.inf
    starts: list[Floats] = []
    ends: list[Floats] = []
    for n in range(2, variant.max_beats + 1):
        beat = march_beat(model, state, convolve=True)
        if not beat.ok:
            if plain:
                return Cycle(beat, n, np.inf)
            state, previous, plain = done.state, done.pressure_mmHg, True  # a bad proposal: step plainly
            starts, ends = [], []
            continue
        before, change = change, _change(model, beat.pressure_mmHg, previous)
        if on_beat:
            on_beat(n, change)
        if plain and (change <= variant.target_mmHg or n == variant.max_beats):
            return Cycle(beat, n, change)
        if not plain and change > GROWTH * before:
            starts, ends = [], []  # what was remembered misled
        elif n >= PLAIN_BEATS:
            starts = [*starts, _pack(model, state, previous)][-MEMORY:]
            ends = [*ends, _pack(model, beat.state, beat.pressure_mmHg)][-MEMORY:]
        done = beat
        state, previous, plain = beat.state, beat.pressure_mmHg, True
        # Close to the goal or to the end, step plainly: the result must be confirmed.
        confirm = change <= 0.5 * variant.target_mmHg or n >= variant.max_beats - 1
        if variant.accelerate and len(starts) >= 2 and not confirm:
            proposed, pressure = _unpack(model, _propose(starts, ends), state, previous)
            if np.all(proposed.A > 0.0):
                state, previous, plain = proposed, pressure, False
    return Cycle(done, variant.max_beats, np.inf)
