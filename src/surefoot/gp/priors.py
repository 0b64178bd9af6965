"""What is believed of hyperparameters before any data: a penalty added to the negative log likelihood.

Short scales  With length scales far below the distance between points a process explains anything as white noise, and
              every improvement it expects lies beside the incumbent: a search that trusts it creeps. Half a
              normal density on log ell, below SHORT sqrt(d) (distances in the unit cube grow like sqrt(d)) and flat
              above: a function that does vary so quickly says so with a few points more.
Similar scales  n points in d dimensions, n a few times d, tell little of each of d length scales: the likelihood calls
              inputs irrelevant that are not, and the process is sure of itself along them. So scales are believed to
              be alike until the data say otherwise: a Cauchy density of every log ell about their mean. Its tails are
              heavy: where some inputs do not matter, their scales leave the others at the cost of a few nats.
Categories    A choice is an input of 0 and 1, with a length scale of its own: choices may be alike or not. A few dozen
              evaluations cannot tell them all, and a scale that runs away says that two choices never differ:
              then one of them is not tried again. So the scales of a category are pooled: normal about their
              mean on a log scale, and the mean normal about MIDDLE sqrt(d), where d counts parameters.
Shapes        theta (R, S, p), p = d + 1; penalty (R, S), gradient (R, S, p).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot.backend import Array, clip, namespace

SHORT = 0.1  # of the unit cube's side, in one dimension
SPREAD = 0.7  # standard deviation of log ell below it
ALIKE = 0.5  # scale of the Cauchy density (docs/evidence/small.md)
MIDDLE = 0.5  # of categories, in one dimension
AROUND = 0.7  # standard deviation of a category's mean log ell
APART = 1.0  # standard deviation of the log ell of its choices about their mean

Prior = Callable[[Array], tuple[Array, Array]]  # theta -> penalty and its gradient


def short_scales(theta: Array) -> tuple[Array, Array]:
    """Half a normal density of every log ell."""
    xp = namespace(theta)
    d = theta.shape[-1] - 1
    z = clip((theta[..., :d] - math.log(SHORT * math.sqrt(d))) / SPREAD, None, 0.0)
    return 0.5 * xp.sum(z * z, axis=-1), xp.concat([z / SPREAD, xp.zeros_like(theta[..., d:])], axis=-1)


def similar_scales(theta: Array) -> tuple[Array, Array]:
    """That of short scales, and a Cauchy density of every log ell about their mean."""
    xp = namespace(theta)
    d = theta.shape[-1] - 1
    penalty, gradient = short_scales(theta)
    log_ell = theta[..., :d]
    z = (log_ell - xp.mean(log_ell, axis=-1, keepdims=True)) / ALIKE
    slope = 2.0 * z / (ALIKE * (1.0 + z * z))
    slope = slope - xp.mean(slope, axis=-1, keepdims=True)  # the mean moves with each of them
    more = xp.concat([slope, xp.zeros_like(theta[..., d:])], axis=-1)
    return penalty + xp.sum(xp.log1p(z * z), axis=-1), gradient + more


def none(theta: Array) -> tuple[Array, Array]:
    """Nothing is believed: maximum likelihood."""
    xp = namespace(theta)
    return xp.zeros_like(theta[..., 0]), xp.zeros_like(theta)


@dataclass(frozen=True)
class Pooled:
    """A prior with what is believed of the scales of categories.

    shares (k, d): one row for each of k categories, 1 / (its number of inputs) in its inputs and 0 elsewhere.
    """

    prior: Prior
    shares: Array

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        """The penalties together."""
        xp = namespace(theta)
        d = theta.shape[-1] - 1
        member = xp.astype(self.shares > 0.0, theta.dtype)  # (k, d)
        inside = xp.sum(member, axis=0)  # (d,) 1 for inputs of categories
        n_parameters = d - float(xp.sum(inside)) + member.shape[0]
        mean = theta[..., :d] @ self.shares.T  # (R, S, k) of a category's log ell
        apart = (theta[..., :d] - mean @ member) * inside / APART
        z = (mean - math.log(MIDDLE * math.sqrt(n_parameters))) / AROUND
        penalty, slope = self.prior(theta)
        more = 0.5 * xp.sum(apart * apart, axis=-1) + 0.5 * xp.sum(z * z, axis=-1)
        d_more = apart / APART + (z / AROUND) @ self.shares  # deviations from a mean sum to 0: it has no slope there
        return penalty + more, slope + xp.concat([d_more, xp.zeros_like(theta[..., d:])], axis=-1)


def pooled(prior: Prior, shares: Array | None) -> Prior:
    """The prior for a space with categories (None: without any); where nothing is believed, it stays so.

    The scale of a choice means something else than that of a number: they are not believed to be alike.
    """
    if shares is None or prior is none:
        return prior
    return Pooled(short_scales if prior is similar_scales else prior, shares)


PRIORS: dict[str, Prior] = {"similar-scales": similar_scales, "short-scales": short_scales, "none": none}
