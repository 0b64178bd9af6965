"""Fitted posteriors and targets for the tests of policies and searches."""

import numpy as np
import pytest

from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.registry import policy_at
from surefoot.acquisition.step import Step
from surefoot.acquisition.target import Target
from surefoot.acquisition.weight import Weight
from surefoot.failures.label_regression import log_success
from surefoot.gp.hyperparameters import fit
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from surefoot.gp.probability import Latent
from surefoot.gp.regression import Regression
from surefoot.numerics.designs import generator, latin_hypercube


def _surface(x: np.ndarray) -> np.ndarray:
    """Several valleys of different depth, x (..., d)."""
    d = x.shape[-1]
    weights = np.linspace(1.0, 0.5, d)
    return np.sum(weights * ((x - 0.37) ** 2 + 0.15 * np.cos(11.0 * x + 0.7)), axis=-1)


def _posterior(R, n, d, kernel="se", *, estimate_noise=True, seed=0):
    """Posterior of R fitted runs, their y (R, n), and f_best (R, 1)."""
    X = np.stack([latin_hypercube(n, d, generator(seed, r, n)) for r in range(R)])
    y = _surface(X)
    y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
    uniforms = np.stack([generator(seed, r, 1).random((4, d + 1)) for r in range(R)])
    data = make_data(X, y)
    theta = fit(Regression(data, KERNELS[kernel], estimate_noise=estimate_noise), uniforms).theta
    return condition(data, theta, KERNELS[kernel]), y, y.min(axis=1, keepdims=True)


def _target(name, post, f_best, success=None, y_worst=None, policy=None):
    policy = policy_at(name, 0) if policy is None else policy
    generators = tuple(generator(7, r, 0) for r in range(post.X.shape[0]))
    weights = () if success is None else (Weight(Latent(success, log_success)),)
    return Target(policy, policy.prepare(Step(post, f_best, generators)), post, f_best, weights, y_worst)


def _raw(target, zero=None, unit=None, origin=0.0):
    """The target in the user's units: by default those of standardized values and of the unit cube."""
    zeros = np.zeros_like(target.f_best)
    origins = np.full((len(zeros), 1, target.surrogate.X.shape[-1]), origin)
    return RawTarget(target, zeros if zero is None else zero, 1.0 + zeros if unit is None else unit, origins)


@pytest.fixture
def make_posterior():
    return _posterior


@pytest.fixture
def make_raw():
    return _raw


@pytest.fixture
def make_target():
    return _target


@pytest.fixture
def taylor_order():
    def order(function, slope, steps):
        start = function(0.0)
        values = np.array([function(h) for h in steps])
        remainders = np.abs(values - start - steps * slope)
        kept = remainders > 100.0 * np.finfo(float).eps * (abs(start) + np.abs(values).max())
        return float(np.polyfit(np.log(steps[kept]), np.log(remainders[kept]), 1)[0]) if kept.sum() > 2 else np.inf

    return order
