"""Functions and engineering models beside the paper's: four to ten inputs, least values known.

No optimum lies in the centre of its box: a design that begins there would look clever. Least values are exact where a
formula gives one; the others are checked by many local searches (tests/benchmarks).
Shapes    x (..., d) -> (...).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STYBLINSKI = -39.16616570377142


@dataclass(frozen=True)
class Further:
    """A function on a box, and its least value there."""

    name: str
    function: Callable[[np.ndarray], np.ndarray]
    bounds: tuple[tuple[float, float], ...]
    f_star: float

    @property
    def d(self) -> int:
        """Inputs."""
        return len(self.bounds)


def ackley(x: np.ndarray) -> np.ndarray:
    """Many small minima on a funnel; least at 0."""
    root = np.sqrt(np.mean(x * x, axis=-1))
    return -20.0 * np.exp(-0.2 * root) - np.exp(np.mean(np.cos(2.0 * math.pi * x), axis=-1)) + 20.0 + math.e


def levy(x: np.ndarray) -> np.ndarray:
    """Ridges across every input; least at 1."""
    w = 1.0 + (x - 1.0) / 4.0
    inner = (w[..., :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(math.pi * w[..., :-1] + 1.0) ** 2)
    last = (w[..., -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * math.pi * w[..., -1]) ** 2)
    return np.sin(math.pi * w[..., 0]) ** 2 + np.sum(inner, axis=-1) + last


def dixon_price(x: np.ndarray) -> np.ndarray:
    """A flat curved valley; least at no round point."""
    i = np.arange(2.0, x.shape[-1] + 1.0)
    return (x[..., 0] - 1.0) ** 2 + np.sum(i * (2.0 * x[..., 1:] ** 2 - x[..., :-1]) ** 2, axis=-1)


def _michalewicz(x: np.ndarray) -> np.ndarray:
    i = np.arange(1.0, x.shape[-1] + 1.0)
    return -np.sum(np.sin(x) * np.sin(i * x * x / math.pi) ** 20, axis=-1)


def styblinski_tang(x: np.ndarray) -> np.ndarray:
    """Two minima along every input, independent of each other: 2^d in all."""
    return 0.5 * np.sum(x**4 - 16.0 * x**2 + 5.0 * x, axis=-1)


def rastrigin(x: np.ndarray) -> np.ndarray:
    """A lattice of minima; least at 0."""
    return np.sum(x * x - 10.0 * np.cos(2.0 * math.pi * x) + 10.0, axis=-1)


def griewank(x: np.ndarray) -> np.ndarray:
    """Ripples on a wide bowl; least at 0."""
    i = np.arange(1.0, x.shape[-1] + 1.0)
    return np.sum(x * x, axis=-1) / 4000.0 - np.prod(np.cos(x / np.sqrt(i)), axis=-1) + 1.0


def rosenbrock(x: np.ndarray) -> np.ndarray:
    """A curved valley; least at 1."""
    return np.sum(100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2, axis=-1)


def _zakharov(x: np.ndarray) -> np.ndarray:
    weighted = np.sum(0.5 * np.arange(1.0, x.shape[-1] + 1.0) * x, axis=-1)
    return np.sum(x * x, axis=-1) + weighted**2 + weighted**4


def powell(x: np.ndarray) -> np.ndarray:
    """A singular minimum at 0; inputs come in fours."""
    a, b, c, d = (x[..., k::4] for k in range(4))
    terms = (a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - d) ** 4
    return np.sum(terms, axis=-1)


def _trid(x: np.ndarray) -> np.ndarray:
    return np.sum((x - 1.0) ** 2, axis=-1) - np.sum(x[..., 1:] * x[..., :-1], axis=-1)


def _powers(x: np.ndarray) -> np.ndarray:
    return np.sum(np.abs(x) ** np.linspace(2.0, 6.0, x.shape[-1]), axis=-1)


def _borehole(x: np.ndarray) -> np.ndarray:
    """Flow of water through a borehole, m^3 a year."""
    rw, r, Tu, Hu, Tl, Hl, L, Kw = np.moveaxis(x, -1, 0)
    log = np.log(r / rw)
    return 2.0 * math.pi * Tu * (Hu - Hl) / (log * (1.0 + 2.0 * L * Tu / (log * rw**2 * Kw) + Tu / Tl))


def _otl(x: np.ndarray) -> np.ndarray:
    """Midpoint voltage of a push-pull circuit without output transformer."""
    b1, b2, f, c1, c2, beta = np.moveaxis(x, -1, 0)
    base, gain = 12.0 * b2 / (b1 + b2), beta * (c2 + 9.0)
    return (base + 0.74) * gain / (gain + f) + 11.35 * f / (gain + f) + 0.74 * f * gain / ((gain + f) * c1)


def _piston(x: np.ndarray) -> np.ndarray:
    """Cycle time of a piston, s."""
    M, S, V0, k, P0, Ta, T0 = np.moveaxis(x, -1, 0)
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2.0 * k) * (np.sqrt(A * A + 4.0 * k * P0 * V0 / T0 * Ta) - A)
    return 2.0 * math.pi * np.sqrt(M / (k + S * S * P0 * V0 / T0 * Ta / (V * V)))


def _wing(x: np.ndarray) -> np.ndarray:
    """Weight of a light aircraft's wing, lb."""
    Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp = np.moveaxis(x, -1, 0)
    cos = np.cos(np.deg2rad(sweep))
    shape = (A / cos**2) ** 0.6 * taper**0.04 * (100.0 * tc / cos) ** -0.3
    return 0.036 * Sw**0.758 * Wfw**0.0035 * q**0.006 * shape * (Nz * Wdg) ** 0.49 + Sw * Wp


def _robot(x: np.ndarray) -> np.ndarray:
    """Distance of a robot arm's hand from its target, which it can reach."""
    angles, lengths = np.cumsum(x[..., :4], axis=-1), x[..., 4:]
    u, v = np.sum(lengths * np.cos(angles), axis=-1), np.sum(lengths * np.sin(angles), axis=-1)
    return np.hypot(u - 1.2, v + 0.7)


_BOREHOLE = ((0.05, 0.15), (100.0, 50000.0), (63070.0, 115600.0), (990.0, 1110.0), (63.1, 116.0), (700.0, 820.0),
             (1120.0, 1680.0), (9855.0, 12045.0))  # fmt: skip
_OTL = ((50.0, 150.0), (25.0, 70.0), (0.5, 3.0), (1.2, 2.5), (0.25, 1.2), (50.0, 300.0))
_PISTON = ((30.0, 60.0), (0.005, 0.02), (0.002, 0.01), (1000.0, 5000.0), (90000.0, 110000.0), (290.0, 296.0),
           (340.0, 360.0))  # fmt: skip
_WING = ((150.0, 200.0), (220.0, 300.0), (6.0, 10.0), (-10.0, 10.0), (16.0, 45.0), (0.5, 1.0), (0.08, 0.18),
         (2.5, 6.0), (1700.0, 2500.0), (0.025, 0.08))  # fmt: skip

FURTHER = {
    f.name: f
    for f in (
        Further("Rastrigin 4", rastrigin, ((-2.0, 4.0),) * 4, 0.0),
        Further("Ackley 5", ackley, ((-10.0, 20.0),) * 5, 0.0),
        Further("Michalewicz 5", _michalewicz, ((0.0, math.pi),) * 5, -4.687658179087991),
        Further("Levy 6", levy, ((-10.0, 10.0),) * 6, 0.0),
        Further("Dixon-Price 6", dixon_price, ((-10.0, 10.0),) * 6, 0.0),
        Further("Styblinski-Tang 6", styblinski_tang, ((-5.0, 5.0),) * 6, 6.0 * STYBLINSKI),
        Further("Rosenbrock 6", rosenbrock, ((-5.0, 10.0),) * 6, 0.0),
        Further("Griewank 6", griewank, ((-200.0, 400.0),) * 6, 0.0),
        Further("Trid 6", _trid, ((-36.0, 36.0),) * 6, -50.0),
        Further("OTL circuit 6", _otl, _OTL, 2.60371484584685),
        Further("piston 7", _piston, _PISTON, 0.16422884916253186),
        Further("borehole 8", _borehole, _BOREHOLE, 7.81967632875523),
        Further("robot arm 8", _robot, ((0.0, 2.0 * math.pi),) * 4 + ((0.0, 1.0),) * 4, 0.0),
        Further("Powell 8", powell, ((-4.0, 5.0),) * 8, 0.0),
        Further("Zakharov 8", _zakharov, ((-5.0, 10.0),) * 8, 0.0),
        Further("wing weight 10", _wing, _WING, 123.25367170091783),
        Further("powers 10", _powers, ((-1.0, 0.6),) * 10, 0.0),
    )
}


@dataclass(frozen=True)
class Classical:
    """A function of any number of inputs, on the cube that papers on many inputs give it."""

    function: Callable[[np.ndarray], np.ndarray]
    side: tuple[float, float]
    least: float = 0.0  # its least value, for each input


CLASSICAL = {
    "Ackley": Classical(ackley, (-5.0, 10.0)),  # the box of TuRBO's paper
    "Levy": Classical(levy, (-10.0, 10.0)),
    "Rosenbrock": Classical(rosenbrock, (-5.0, 10.0)),
    "Styblinski-Tang": Classical(styblinski_tang, (-5.0, 5.0), STYBLINSKI),
}
