"""Stationary ARD kernels as functions of the scaled squared distance r2 = sum_i (x_i - x'_i)^2 / ell_i^2.

Purpose  A kernel is two formulas: the correlation k(r2), with k(0) = 1, and its slope dk/dr2. The scale sigma_f^2,
         the length scales and every chain rule live elsewhere, once for all kernels.
Sums     Where an objective is nearly a sum of functions of one input each, few points tell it: what is learned along
         one input holds wherever the others are. A kernel with a share a of sums is
             (1 - a) k(r2) + a / d sum_i k(STRETCH d (x_i - x'_i)^2 / ell_i^2).
         It has the same hyperparameters: distances in d dimensions grow like sqrt(d), and so the length scales of one
         input alone are shorter by that.
Shapes   elementwise; `r2` is destroyed (these arrays are the largest ones of a fit). Where the runs of a batch have
         kernels of their own (`per_run`), the first axis of `r2` is that of the runs. Scaled points A (R, m, d) and
         B (R, n, d) are divided by the length scales, their differences (R, m, n, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import backend
from surefoot.backend import Array, like, namespace, sorts_by_shape, to_host
from surefoot.errors import UnknownNameError
from surefoot.registry import add_new

_SQRT5 = math.sqrt(5.0)
STRETCH = 4.0 / 9.0  # of r2 of one input, times d


@dataclass(frozen=True)
class Kernel:
    """A named correlation function of r2."""

    name: str
    value: Callable[[Array], Array]  # r2 -> k
    value_and_slope: Callable[[Array], tuple[Array, Array]]  # r2 -> k, dk/dr2
    tail: float = math.inf  # its spectrum is Student's t with so many degrees of freedom; inf: normal
    of_runs: tuple[Kernel, ...] = ()  # in a batch whose runs differ; empty: it serves any run
    sums: float = 0.0  # the share of the variance that is a sum over inputs

    @property
    def has_sums(self) -> bool:
        """Whether it is more than a function of r2, in any run."""
        return self.sums > 0.0 or any(own.sums > 0.0 for own in self.of_runs)

    def between(self, A: Array, B: Array) -> Array:
        """k between scaled points, (R, m, n)."""
        if not self.has_sums:
            return self.value(backend.sq_distances(A, B))
        xp = namespace(A)
        if self.of_runs:
            return xp.concat([own.between(A[run], B[run]) for run, own in self._runs()])
        d = A.shape[-1]
        k = (1.0 - self.sums) * self.value(backend.sq_distances(A, B))
        for i in range(d):
            difference = A[:, :, None, i] - B[:, None, :, i]
            k += self.sums / d * self.value(STRETCH * d * difference * difference)
        return k

    def along(self, diff: Array) -> tuple[Array, Array, Array]:
        """k (R, m, n), slope (R, m, n) and steps (R, m, n, d) from differences: dk/dx_i = 2 slope step_i / ell_i."""
        xp = namespace(diff)
        if not self.has_sums:
            return *self.value_and_slope(xp.sum(diff * diff, axis=-1)), diff
        if self.of_runs:
            parts = [own.along(diff[run]) for run, own in self._runs()]
            k, slope, steps = (xp.concat([part[i] for part in parts]) for i in range(3))
            return k, slope, steps
        squares = diff * diff
        k, slope = self.of_all(xp.sum(squares, axis=-1))
        alone, slope_alone = self.of_input(squares, diff.shape[-1])
        return k + xp.sum(alone, axis=-1), xp.ones_like(k), (slope[..., None] + slope_alone) * diff

    def of_input(self, r2: Array, d: int) -> tuple[Array, Array]:
        """What one of d inputs adds to k, and its slope in r2, that input's own share of all r2."""
        k, slope = self.value_and_slope(STRETCH * d * r2)
        return self.sums / d * k, self.sums * STRETCH * slope

    def of_all(self, r2: Array) -> tuple[Array, Array]:
        """What the distance in all inputs adds to k, and its slope in r2."""
        k, slope = self.value_and_slope(r2)
        if self.has_sums:
            shares = like([own.sums for own in self.of_runs] or [self.sums], r2)
            rest = 1.0 - shares.reshape(-1, *[1] * (k.ndim - 1))
            k, slope = k * rest, slope * rest
        return k, slope

    def with_sums(self) -> Iterator[tuple[slice, Kernel]]:
        """The runs that have sums, side by side, and their kernel."""
        yield from ((run, own) for run, own in self._runs() if own.sums)

    def _runs(self) -> Iterator[tuple[slice, Kernel]]:
        """Runs that lie side by side and have one kernel."""
        if not self.of_runs:
            yield slice(None), self
        begin = 0
        for end in range(1, len(self.of_runs) + 1):
            if end == len(self.of_runs) or self.of_runs[end] is not self.of_runs[begin]:
                yield slice(begin, end), self.of_runs[begin]
                begin = end

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

SUMS = Kernel("matern52-sums", _matern52, _matern52_and_slope, tail=5.0, sums=0.9)

NO_SUMS = (SE, MATERN52)
CONTEST = (*NO_SUMS, SUMS)  # the kernels among which the likelihood chooses where none is asked for
KERNELS = {kernel.name: kernel for kernel in CONTEST}


def register_kernel(kernel: Kernel) -> None:
    """Make `kernel=name` available. It joins no contest of kernels."""
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
