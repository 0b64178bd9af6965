"""The counter: everything counts, and it cannot be talked out of stopping."""

import copy

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.paper.solvers.counter import Counter, Stopped


def square(x):
    return float(np.sum(x**2))


def test_it_counts_and_keeps_the_best():
    counter = Counter(square, [(-2.0, 2.0)], budget=10)
    for x in (1.0, 2.0, 0.5):
        counter(np.asarray([x]))
    assert counter.n == 3
    assert counter.trace.tolist() == [1.0, 1.0, 0.25]


def test_it_stops_on_the_evaluation_that_reaches_the_target():
    counter = Counter(square, [(-2.0, 2.0)], budget=10, target=0.25)
    counter(np.asarray([1.0]))
    with pytest.raises(Stopped):
        counter(np.asarray([0.5]))
    assert (counter.hit, counter.n) == (True, 2)


def test_it_stops_when_the_budget_is_spent():
    counter = Counter(square, [(-2.0, 2.0)], budget=1)
    with pytest.raises(Stopped):
        counter(np.asarray([1.0]))
    assert (counter.hit, counter.n) == (False, 1)


def test_it_goes_on_stopping_whoever_caught_the_first_stop():
    counter = Counter(square, [(-2.0, 2.0)], budget=1)
    for _ in range(3):
        with pytest.raises(Stopped):
            counter(np.asarray([0.0]))
    assert counter.n == 1


def test_a_library_that_catches_every_exception_does_not_catch_it():
    assert not issubclass(Stopped, Exception)


def test_a_point_outside_the_box_counts_but_is_no_success():
    counter = Counter(square, [(1.0, 2.0)], budget=10, target=0.5)
    assert counter(np.asarray([0.0])) == 0.0
    assert (counter.hit, counter.n) == (False, 1)


def test_a_copy_is_the_same_counter():
    counter = Counter(square, [(-2.0, 2.0)], budget=10)
    assert copy.deepcopy(counter) is counter


@pytest.mark.parametrize("budget", [0, 2.5, True])
def test_a_budget_that_is_none_is_an_error(budget):
    with pytest.raises(InvalidInputError, match=r"expected.*got.*try"):
        Counter(square, [(0.0, 1.0)], budget=budget)
