"""Points that are asked for at once: one fit serves them, and they are those that are asked for one by one."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot import Optimizer
from surefoot.engine import model
from surefoot.engine.contest import Contest
from surefoot.engine.recall import recalled, same_evaluations


def crashing(x):
    return float("nan") if x[0] > 0.8 else float(np.sum((np.asarray(x) - 0.4) ** 2) + np.cos(5.0 * x[1]))


def told(f):
    optimizer = Optimizer([(0, 1)] * 3, seed=3, n_init=8)
    for _ in range(14):
        x = optimizer.ask()
        optimizer.tell(x, f(x))
    return optimizer


@pytest.mark.parametrize("f", [lambda x: crashing([0.8 * x[0], *x[1:]]), crashing], ids=["no failures", "failures"])
def test_points_asked_for_at_once_are_those_asked_for_one_by_one(f):
    one_by_one = told(f)
    assert told(f).ask(7) == [one_by_one.ask() for _ in range(7)]


def test_many_points_are_asked_for_with_few_fits(monkeypatch):
    fits = []
    fit = Contest.objective
    monkeypatch.setattr(model.Contest, "objective", lambda *a: fits.append(1) or fit(*a))
    optimizer = told(crashing)
    fits.clear()
    optimizer.ask(20)
    assert 1 <= len(fits) <= 4


def test_what_was_computed_is_forgotten_with_the_evaluations():
    calls = []

    def compute():
        calls.append(1)
        return len(calls)

    with same_evaluations():
        assert [recalled("a", compute), recalled("a", compute)] == [1, 1]
        assert recalled(None, compute) == 2
    with same_evaluations():
        assert recalled("a", compute) == 3
    assert recalled("a", compute) == 4
