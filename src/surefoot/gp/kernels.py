"""Stationary ARD kernels as functions of the scaled squared distance r2 = sum_i (x_i - x'_i)^2 / ell_i^2.

Purpose  A kernel is two formulas: the correlation k(r2), with k(0) = 1, and its slope dk/dr2. The scale sigma_f^2,
         the length scales and every chain rule live elsewhere, once for all kernels.
Shapes   elementwise; `r2` is destroyed (these arrays are the largest ones of a fit). Where the runs of a batch have
         kernels of their own (`per_run`), the first axis of `r2` is that of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.backend import Array, like, namespace, sorts_by_shape, to_host
from surefoot.errors import UnknownNameError
from surefoot.registry import add_new

_SQRT5 = math.sqrt(5.0)


@dataclass(frozen=True)
class Kernel:
    """A named correlation function of r2."""

    name: str
    value: Callable[[Array], Array]  # r2 -> k
    value_and_slope: Callable[[Array], tuple[Array, Array]]  # r2 -> k, dk/dr2
    tail: float = math.inf  # its spectrum is Student's t with so many degrees of freedom; inf: normal
    of_runs: tuple[Kernel, ...] = ()  # in a batch whose runs differ; empty: it serves any run

    def select(self, runs: Array | slice | None) -> Kernel:
        """The kernel of some runs only (None: all)."""
        if runs is None or not self.of_runs:
            return self
        if isinstance(runs, slice):
            return per_run(self.of_runs[runs])
        return per_run([self.of_runs[r] for r in to_host(runs).tolist()])


def _se(r2: Array) -> Array:
    r2 *= -0.5
    return namespace(r2).exp(r2)


def _se_and_slope(r2: Array) -> tuple[Array, Array]:
    k = _se(r2)
    return k, -0.5 * k


def _matern52_parts(r2: Array) -> tuple[Array, Array]:
    """1 + sqrt(5) r and exp(-sqrt(5) r)."""
    xp = namespace(r2)
    s = _SQRT5 * xp.sqrt(r2)
    decay = xp.exp(-s)
    s += 1.0
    return s, decay


def _matern52_of(s: Array, decay: Array, r2: Array) -> Array:
    """The kernel from its parts, in place."""
    r2 *= 5.0 / 3.0
    s += r2
    s *= decay
    return s


def _matern52(r2: Array) -> Array:
    return _matern52_of(*_matern52_parts(r2), r2)


def _matern52_and_slope(r2: Array) -> tuple[Array, Array]:
    s, decay = _matern52_parts(r2)
    slope = (-5.0 / 6.0) * s * decay  # finite and smooth at r = 0
    return _matern52_of(s, decay, r2), slope


SE = Kernel("se", _se, _se_and_slope)  # exp(-r2/2)                                       [NH18, section 2.1]
MATERN52 = Kernel("matern52", _matern52, _matern52_and_slope, tail=5.0)  # (1 + sqrt5 r + 5/3 r^2) exp(-sqrt5 r)

CONTEST = (SE, MATERN52)  # the kernels among which the likelihood chooses where none is asked for
KERNELS = {kernel.name: kernel for kernel in CONTEST}


def register_kernel(kernel: Kernel) -> None:
    """Make `kernel=name` available. It does not join the contest of kernel="auto"."""
    add_new(KERNELS, kernel, Kernel, "kernel", ("value", "value_and_slope"))


def per_run(kernels: Sequence[Kernel]) -> Kernel:
    """One kernel for a batch of runs, each with its own."""
    if all(kernel is kernels[0] for kernel in kernels):
        return kernels[0]

    def value(r2: Array) -> Array:
        for runs, kernel in _by_kernel(kernels, r2):
            r2[runs] = kernel.value(r2[runs])
        return r2

    def value_and_slope(r2: Array) -> tuple[Array, Array]:
        slope = namespace(r2).empty_like(r2)
        for runs, kernel in _by_kernel(kernels, r2):
            r2[runs], slope[runs] = kernel.value_and_slope(r2[runs])
        return r2, slope

    return Kernel("per run", value, value_and_slope, of_runs=tuple(kernels))


def _by_kernel(kernels: Sequence[Kernel], reference: Array) -> Iterator[tuple[Any, Kernel]]:
    """Runs and their kernel: one by one where that costs no copy, all runs of a kernel at once where launches count."""
    if sorts_by_shape(reference):
        yield from enumerate(kernels)
        return
    for kernel in dict.fromkeys(kernels):
        yield like([r for r, own in enumerate(kernels) if own is kernel], reference), kernel


def get_kernel(name: str) -> Kernel:
    """The kernel of that name."""
    if name not in KERNELS:
        raise UnknownNameError(
            f"expected a kernel, one of {', '.join(map(repr, KERNELS))}; got {name!r}; try kernel='matern52'"
        )
    return KERNELS[name]
