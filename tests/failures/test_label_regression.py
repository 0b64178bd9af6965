import numpy as np

from surefoot.failures.label_regression import REFITS
from surefoot.gp.hyperparameters import FitState, is_due


def test_hyperparameters_of_the_labels_are_fitted_at_every_step_first_then_as_evaluations_grow():
    state = FitState(np.zeros((1, 3)), np.zeros((1, 3, 3)), (450,))
    assert all(is_due(n, state, REFITS) for n in range(1, 100))
    assert [n for n in range(500, 530) if is_due(n, state, REFITS)] == [500, 510, 520]
    assert is_due(511, None, REFITS)
    assert is_due(577, FitState(state.theta, state.inv_hessian, (460,)), REFITS)  # a cold search is due
