import numpy as np

from surefoot.failures.label_regression import is_due
from surefoot.gp.hyperparameters import FitState


def test_hyperparameters_of_the_labels_are_fitted_at_every_step_first_then_as_evaluations_grow():
    state = FitState(np.zeros((1, 3)), np.zeros((1, 3, 3)), (450,))
    assert all(is_due(n, state) for n in range(1, 100))
    assert [n for n in range(500, 530) if is_due(n, state)] == [500, 510, 520]
    assert is_due(511, None)
    assert is_due(577, FitState(state.theta, state.inv_hessian, (460,)))  # a cold search is due
