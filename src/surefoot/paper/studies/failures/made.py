"""Problems that were made to fail in a certain way: for two causes, at random on top of a limit, along a diagonal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.paper.problems import get
from surefoot.paper.studies.failures.engineering import problems as engineering
from surefoot.paper.studies.failures.record import Constrained, Excess, columns, limited

LOST = "licence lost"


def at_random(share: float) -> Excess:
    """Failures that depend on x in no way that could be learned, and yet are the same for the same x."""

    def excess(x: np.ndarray) -> dict[str, np.ndarray]:
        hashed = np.sin(x @ (1e4 * (1.0 + np.arange(x.shape[-1]) * 0.37))) * 43758.5453
        return {LOST: share - (hashed - np.floor(hashed))}

    return excess


def _duct(x: np.ndarray) -> np.ndarray:
    """Its minimum lies where the solver diverges."""
    cell, grading, speed, swirl = columns(x)
    own = 4.0 * (cell - 0.7) ** 2 + (grading - 0.3) ** 2 + 4.0 * (speed - 0.9) ** 2 + (swirl - 0.4) ** 2
    return 1.0 + own + 0.5 * (cell - swirl) ** 2 + 0.05 * np.sin(12.0 * swirl)


def _duct_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    cell, grading, speed, _ = columns(x)
    return {"mesh collapsed": 0.3 - cell - 0.3 * grading, "solver diverged": cell * speed - 0.35}


def _two_of_six(x: np.ndarray) -> dict[str, np.ndarray]:
    """The mesh collapses at the global minimum of HM6, the solver diverges at the other: the best is on its border."""
    x1, x2, x3, x4, _, _ = columns(x)
    return {"mesh collapsed": 0.6 - x1 - 0.5 * x2, "solver diverged": x3**2 + x4**2 - 0.6}


def _tube(x: np.ndarray) -> np.ndarray:
    """In mm: a wide bore and a slim tube are wanted, so that the wall vanishes at the best point."""
    inner, outer, length, pitch, flow = columns(x)
    size = ((inner - 34.0) / 20.0) ** 2 + ((outer - 28.0) / 20.0) ** 2
    rest = (length - 0.7) ** 2 + (pitch - 0.4) ** 2 + 2.0 * (flow - 0.5 * length) ** 2
    return 1.0 + size + rest


def _tube_limits(x: np.ndarray) -> dict[str, np.ndarray]:
    inner, outer, *_ = columns(x)
    return {"no wall left": inner - outer}


def problems() -> list[Constrained]:
    """All of them."""
    hm6 = get("HM6")
    cantilever = next(p for p in engineering() if p.name == "cantilever")
    licence = at_random(0.1)
    return [
        limited(
            "duct, two causes", _duct, ((0.0, 1.0),) * 4, _duct_limits,
            (0.4608681207, 0.3, 0.7594363425, 0.4008229423), 1.2598095803851816, "made"
        ),
        Constrained(
            "HM6, two causes", hm6, _two_of_six, least=-3.1860734603138763,
            best=(0.4045802257, 0.8821540656, 0.5224781263, 0.5718536592, 0.1556528121, 0.0388245044), source="made",
        ),
        replace(cantilever, name="cantilever, 10 % at random", excess=lambda x: cantilever.excess(x) | licence(x)),
        limited(
            "tube, a diagonal", _tube, ((10.0, 50.0), (10.0, 50.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)), _tube_limits,
            (31.0, 31.0, 0.7, 0.4, 0.35), 1.045, "made",
        ),
    ]  # fmt: skip
