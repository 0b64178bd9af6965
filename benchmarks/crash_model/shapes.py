"""Shapes of crash regions in the unit cube."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Struck = dict[str, np.ndarray]
Causes = Callable[[np.ndarray], Struck]
"""points (n, d) -> by cause, in the order in which they are noticed: whether it strikes (n,)."""


def half_space(normal: Sequence[float], cut: float) -> Causes:
    w = np.asarray(normal, float)
    return lambda x: {"beyond": (x - 0.5) @ w > cut}


def slab(normal: Sequence[float], low: float, high: float) -> Causes:
    """Succeeds between two planes."""
    w = np.asarray(normal, float)
    return lambda x: {"below": (x - 0.5) @ w < low, "above": (x - 0.5) @ w > high}


def ball(radius: float, *, inside_fails: bool, centre: float = 0.5) -> Causes:
    def causes(x: np.ndarray) -> Struck:
        r = np.sqrt(np.square(x - centre).sum(-1))
        return {"inside": r < radius} if inside_fails else {"outside": r > radius}

    return causes


def shell(centre: Sequence[float], inner: float, outer: float) -> Causes:
    """Succeeds between two radii."""

    def causes(x: np.ndarray) -> Struck:
        r = np.sqrt(np.square(x - np.asarray(centre)).sum(-1))
        return {"core": r < inner, "far": r > outer}

    return causes


def diagonal(x: np.ndarray) -> Struck:
    """A tube's diameters; three inputs do not matter."""
    return {"d_outer <= d_inner": x[:, 3] <= x[:, 1]}


def atoms(x: np.ndarray) -> Struck:
    """One atom in the middle of a square, three that are placed: none may come nearer than 0.08."""
    places = np.concatenate([np.full((len(x), 1, 2), 0.5), x.reshape(len(x), 3, 2)], axis=1)
    gaps = np.sqrt(np.square(places[:, :, None] - places[:, None]).sum(-1))
    i, j = np.triu_indices(4, 1)
    return {"overlap": gaps[:, i, j].min(-1) < 0.08}


def tube_bundle(x: np.ndarray) -> Struck:
    """Diameter, wall, pitch ratio, rows, shell diameter: do the tubes fit, is the wall thin enough?"""
    diameter, wall = 0.01 + 0.04 * x[:, 0], 0.001 + 0.009 * x[:, 1]
    pitch, rows, shell_diameter = (1.05 + 0.95 * x[:, 2]) * diameter, 3 + 27 * x[:, 3], 0.3 + 1.2 * x[:, 4]
    return {
        "bundle": np.floor(rows) * pitch > shell_diameter,
        "bore": 2 * wall > 0.7 * diameter,
        "pitch": pitch < diameter + 0.003,
    }


def two_planes(x: np.ndarray) -> Struck:
    """A mesh that collapses on the left, a solver that diverges on the right."""
    return {"mesh": x[:, 0] + 0.3 * x[:, 1] < 0.3, "solver": x[:, 2] * x[:, 0] > 0.45}


def two_causes(x: np.ndarray) -> Struck:
    """A corner and a cylinder."""
    near = np.square(x[:, 3:5] - np.array([0.3, 0.6])).sum(-1) < 0.25**2
    return {"corner": x[:, 0] + x[:, 1] + x[:, 2] > 1.9, "resonance": near}


def _waves(t: np.ndarray, decay: float, rate: float, n: int) -> np.ndarray:
    """Weierstrass: waves of falling length."""
    terms = [decay**k * np.sin(2 * np.pi * rate**k * t + k) for k in range(n)]
    return np.asarray(sum(terms))


def ragged(x: np.ndarray) -> Struck:
    return {"beyond": x[:, 1] > 0.5 + 0.18 * _waves(x[:, 0], 0.5, 2.1, 7)}


def ragged_in_4(x: np.ndarray) -> Struck:
    t = (x[:, 0] + x[:, 1] + x[:, 2]) / 3
    return {"beyond": x[:, 3] > 0.55 + 0.15 * _waves(t, 0.6, 2.3, 6)}


def checker(x: np.ndarray) -> Struck:
    return {"black": (np.floor(3 * x[:, 0]) + np.floor(3 * x[:, 1])) % 2 == 0}


def mixed_steps(x: np.ndarray) -> Struck:
    """An integer 0 … 15 that must not exceed 8, a choice of three with a limit each, two inputs that do not matter."""
    k, choice = np.floor(16 * x[:, 0]), np.minimum(np.floor(3 * x[:, 1]), 2).astype(int)
    return {"k > 8": k > 8, "limit": x[:, 2] > np.array([1.1, 0.7, 0.9])[choice]}


def valley(x: np.ndarray) -> Struck:
    a, b = -2 + 4 * x[:, 0], -1 + 4 * x[:, 1]
    return {"off": np.abs(b - a**2) > 0.7}


def g12(x: np.ndarray) -> Struck:
    """Liang et al. 2006: succeeds in 729 spheres of radius 1/4 round the integer points 1 … 9 of [0, 10]^3."""
    place = 10.0 * x
    return {"outside": np.square(place - np.clip(np.round(place), 1, 9)).sum(-1) > 0.0625}


def townsend(x: np.ndarray) -> Struck:
    """Townsend 2014: succeeds inside a curve, in [-2.25, 2.25] x [-2.5, 1.75]."""
    a, b = -2.25 + 4.5 * x[:, 0], -2.5 + 4.25 * x[:, 1]
    t = np.arctan2(a, b)
    limit = (2 * np.cos(t) - 0.5 * np.cos(2 * t) - 0.25 * np.cos(3 * t) - 0.125 * np.cos(4 * t)) ** 2
    return {"curve": a**2 + b**2 >= limit + (2 * np.sin(t)) ** 2}
