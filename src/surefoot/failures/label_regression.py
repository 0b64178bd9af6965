"""Label regression [NH18, section 7.2]: an ordinary Gaussian process on the labels h = +1 (failed), -1 (succeeded).

P(success) = Phi(0 | h_hat, s_h^2) [NH18, Eq. 10]. Hyperparameters by maximum likelihood beside those of the
objective, noise included: labels that contradict each other at close quarters are then noise, not structure.
Up to 100 evaluations at every step, then each time they have grown by 2 %: one label more among hundreds moves the
posterior, which always has them all, but not its length scales.
Shapes    those of `Data`: X (R, n, d), labels and mask (R, n).
"""

from __future__ import annotations

from surefoot.backend import Array, namespace
from surefoot.failures.classification import subset
from surefoot.gp.hyperparameters import SUBSET, Effort, Fit, FitState, fit, is_due
from surefoot.gp.kernels import SE
from surefoot.gp.likelihood import Data
from surefoot.gp.posterior import Posterior, condition
from surefoot.gp.regression import Regression
from surefoot.numerics.normal import log_pi

# A map of P(success) needs its length scales to a few per cent, not to four digits; the next step goes on.
EFFORT = Effort(warm_tol=0.1, warm_calls=3, polish_calls=3)
REFITS = 50  # of the hyperparameters while the number of evaluations doubles, about


def failure_model(
    labels: Data, uniforms: Array, state: FitState | None = None, n_history: int | None = None
) -> tuple[Posterior, Fit]:
    """Posterior of the labels (classification.label_data); n_history: evaluations so far, if these are only some."""
    n_history = labels.X.shape[1] if n_history is None else n_history
    if state is not None and not is_due(n_history, state, REFITS):
        unknown = namespace(labels.X).full_like(state.theta[:, 0], float("nan"))
        return condition(labels, state.theta, SE), Fit(state.theta, unknown, unknown == unknown, state)
    few = labels if labels.X.shape[1] <= SUBSET else subset(labels)  # length scales of a map do not need every point
    found = fit(Regression(few, SE, estimate_noise=True, n_evaluated=n_history), uniforms, state, EFFORT)
    return condition(labels, found.theta, SE), found


def log_success(h_hat: Array, s_h: Array) -> tuple[Array, Array, Array]:
    """log Phi(0 | h_hat, s_h^2) and its partials in the moments of the labels [NH18, Eq. 10]."""
    t = -h_hat / s_h
    value, slope = log_pi(t)
    return value, -slope / s_h, -t * slope / s_h
