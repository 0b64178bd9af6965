"""Several readings of the same failures, weighed by how well each predicts the labels that it has not seen.

Readings  together  one map of all failures;
          against   a map of each kind of reason, everything else counting as no failure of that kind;
          apart     a map of each kind from its own failures and the successes: failures of other kinds say nothing.
          The last two multiply: P(success) = prod_k P(no failure of kind k). A mesh that collapses on the left and a
          solver that diverges on the right are two simple regions, not one complicated one. A simulator that checks one
          thing after another never says what else would have failed: `against` learns a little too much from that,
          `apart` nothing at all, which is better as soon as there are successes enough.
Weights   exp(sum_i log P(label_i | the others)) of each reading.
Trust     Where many labels of both kinds show no structure, and much of the box is believed to work, failures are at
          random: spots in which P is a little lower are then noise, and to avoid them would keep a search from its way.
Reach     Few labels, or many on one spot, leave P near the base rate wherever nothing was evaluated. To ask for more
          would keep a search on that spot. What half of the box reaches is enough, if that is above an even chance.
Nothing   While nothing has succeeded there is no `together` to compete with. The product alone forgets that kinds may
          share what they leave: it is scaled so that its mean over the box is Laplace's rule, 1 / (n + 2).
Shapes    one run: x (1, m, d), log P (1, m).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from surefoot.backend import Array, like, namespace, to_host
from surefoot.failures.experts import Maps, fit_maps
from surefoot.gp.hyperparameters import FitState
from surefoot.gp.probability import Probability
from surefoot.numerics.designs import kronecker

TELLING = 10  # labels of either kind that would show a structure
ENOUGH_SUCCESSES = 30  # from here on kinds are told from successes only, not from each other
NEGLIGIBLE = 2e-2  # weight of a reading that is left out
_LEAST_TRUST = 1e-3
_EVEN = 0.5  # where P is mostly below this, a search grows outwards from what works
_CHUNK = 2**16  # numbers in the largest array of an answer: what stays in the cache


@dataclass(frozen=True)
class Several:
    """P(success) of one run: an average of readings, each a product of maps."""

    maps: Maps
    readings: tuple[slice, ...]  # rows of the maps
    weights: tuple[float, ...]  # their sum is 1, or below it where nothing has succeeded
    n_rarer: int  # labels of the rarer kind

    def trust(self, least: float) -> float:
        """Which part of the least P asked for makes sense: 1 but where failures are at random or it is out of reach."""
        seen = (float(self.maps.structure[rows].max()) for rows in self.readings)
        structure = sum(w * s for w, s in zip(self.weights, seen, strict=True))
        if structure > 0.99:
            return 1.0
        p = self._over_the_box()
        typical = float(np.median(p))
        reach = min(1.0, typical / least) if typical > _EVEN else 1.0
        if self.n_rarer < TELLING:
            return reach
        return max(min(reach, 1.0 - (1.0 - structure) * min(1.0, 1.5 * float(np.mean(p)))), _LEAST_TRUST)

    def _over_the_box(self) -> np.ndarray:
        return np.asarray(np.exp(to_host(self.log_p(self._lattice()))))

    def scaled_to(self, mean: float) -> Several:
        """The same with a lower P, if its mean over the box is above this one."""
        factor = min(1.0, mean / float(np.mean(self._over_the_box())))
        return replace(self, weights=tuple(factor * w for w in self.weights))

    def _lattice(self) -> Array:
        return like(kronecker(128, self.maps.processes.X.shape[1], np.random.default_rng(0))[None], self.maps.rate)

    @property
    def rates(self) -> Array:
        """(1, d) root mean square slope of P along each input, over the cube."""
        log_p, gradient = self.log_p_and_gradient(self._lattice())
        xp = namespace(log_p)
        slope = xp.exp(log_p)[..., None] * gradient
        return xp.sqrt(xp.mean(slope * slope, axis=1))

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        xp = namespace(x)
        parts = [self._average(self.maps.p(part))[0] for part in self._chunks(x)]
        return xp.log(xp.concat(parts))[None]

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        xp = namespace(x)
        values, slopes = [], []
        for part in self._chunks(x):
            p, d_p = self.maps.p_and_gradient(part)
            total, shares = self._average(p)
            relative = d_p / p[..., None]
            slope = 0.0
            for rows, share in zip(self.readings, shares, strict=True):
                slope = slope + (share / total)[:, None] * xp.sum(relative[rows], axis=0)
            values.append(total)
            slopes.append(slope)
        return xp.log(xp.concat(values))[None], xp.concat(slopes)[None]

    def select(self, runs: Array | slice | None) -> Several:
        """The one run that there is."""
        return self

    def _average(self, p: Array) -> tuple[Array, list[Array]]:
        """P (m,) from that of the maps (J, m), and what each reading contributes."""
        xp = namespace(p)
        shares = [w * xp.prod(p[rows], axis=0) for rows, w in zip(self.readings, self.weights, strict=True)]
        total = shares[0]
        for share in shares[1:]:
            total = total + share
        return total, shares

    def _chunks(self, x: Array) -> list[Array]:
        n, d = self.maps.processes.X.shape
        size = max(1, _CHUNK // (n * max(d, self.maps.processes.M.shape[0])))
        return [x[0, start : start + size] for start in range(0, max(1, x.shape[1]), size)]


@dataclass(frozen=True)
class ByRun:
    """Runs whose probabilities are of unequal shapes: one after another."""

    runs: tuple[Probability, ...]

    @property
    def rates(self) -> Array:
        """(R, d) those of the runs."""
        found = [run.rates for run in self.runs]
        return namespace(found[0]).concat(found)

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        return namespace(x).concat([run.log_p(x[r : r + 1]) for r, run in enumerate(self.runs)])

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        found = [run.log_p_and_gradient(x[r : r + 1]) for r, run in enumerate(self.runs)]
        xp = namespace(x)
        return xp.concat([value for value, _ in found]), xp.concat([slope for _, slope in found])

    def select(self, runs: Array | slice | None) -> ByRun:
        """Those of some runs only (None: all)."""
        if runs is None:
            return self
        if isinstance(runs, slice):
            return ByRun(self.runs[runs])
        return ByRun(tuple(self.runs[r] for r in to_host(runs).tolist()))


def labels_of(failed: np.ndarray, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[slice, ...]]:
    """Labels h (J, n) of all maps of one run, tags of the maps, and the rows of each reading.

    failed (n,); kinds (n,) codes of the failures, -1 where it did not fail. A tag is 0 for all failures, a positive
    number for a kind against all, a negative one for a kind apart.
    """
    codes, n_ok = np.unique(kinds[failed]), int((~failed).sum())
    together = np.where(failed, 1.0, -1.0)[None]
    if len(codes) < 2:
        return together, np.zeros(1), (slice(0, 1),)
    of_kind = kinds == codes[:, None]
    against = np.where(of_kind, 1.0, -1.0)
    apart = np.where(of_kind, 1.0, np.where(failed, 0.0, -1.0))
    names = 1.0 + codes
    if n_ok == 0:
        return against, names, (slice(0, len(codes)),)
    parts = [(together, np.zeros(1)), (against, names), (apart, -names)]
    if n_ok >= ENOUGH_SUCCESSES:
        del parts[1]
    h, tags = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    return h, tags, _in_turn([len(rows) for rows, _ in parts])


def _in_turn(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Rows of parts that follow each other."""
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(slice(a, b) for a, b in pairwise(ends))


def fit_several(
    X: np.ndarray, failed: np.ndarray, kinds: np.ndarray, state: FitState | None, n_history: int, reference: Array
) -> tuple[Several, FitState]:
    """P(success) of one run from host arrays X (n, d), failed and kinds (n,); `state` has a row for each map."""
    h, tags, readings = labels_of(failed, kinds)
    maps, fitted = fit_maps(like(X, reference), like(h, reference), tags, state, n_history)
    n_rarer = int(min(failed.sum(), (~failed).sum()))
    if len(readings) == 1:
        alone = Several(maps, readings, (1.0,), n_rarer)
        return alone.scaled_to(1.0 / (len(failed) + 2.0)) if failed.all() and len(h) > 1 else alone, fitted
    score = np.asarray(_scores(maps, readings, failed))
    weights = np.exp(score - score.max())
    weights = np.where(weights < NEGLIGIBLE * weights.sum(), 0.0, weights / weights.sum())
    kept = [(rows, float(w)) for rows, w in zip(readings, weights / weights.sum(), strict=True) if w > 0.0]
    used = np.concatenate([np.arange(len(h))[rows] for rows, _ in kept])
    return Several(
        maps.select(used), _in_turn([rows.stop - rows.start for rows, _ in kept]), tuple(w for _, w in kept), n_rarer
    ), fitted


def _scores(maps: Maps, readings: Sequence[slice], failed: np.ndarray) -> list[float]:
    """log P(labels) of every reading, each label predicted from the others."""
    log_p = to_host(maps.left_out)
    unseen = np.isnan(log_p)
    if unseen.any():  # a map that has no label there predicts it anyway
        log_p = np.where(unseen, np.log(to_host(maps.p(maps.processes.X))), log_p)
    scores = []
    for rows in readings:
        success = np.minimum(log_p[rows].sum(axis=0), -1e-12)
        scores.append(float(np.where(failed, np.log(-np.expm1(success)), success).sum()))
    return scores
