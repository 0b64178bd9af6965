"""Every solver under the same tests."""

import dataclasses

import numpy as np
import pytest

from surefoot import problems
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.paper.solvers.counter import Counter, Stopped
from surefoot.paper.solvers.record import Solver, solve
from surefoot.paper.solvers.registry import ALL, get_solver, library_version
from surefoot.paper.solvers.with_pyscat import reference_set_size

each_solver = pytest.mark.parametrize("solver", ALL, ids=[solver.name for solver in ALL])


def points_of(solver, d, seed=3, budget=60):
    """The points of one run on a shifted bowl, in order."""
    seen = []

    def bowl(x):
        seen.append(np.array(x))
        return float(np.sum((x - 0.3) ** 2))

    with pytest.raises(Stopped):
        solver.run(Counter(bowl, [(-1.0, 1.0)] * d, budget=budget), seed)
    return np.asarray(seen)


@each_solver
def test_it_reaches_the_minimum_of_csf(solver):
    outcome = solve(solver, problems.get("CSF"), 1, log10_target=-3.0, budget=5000)
    assert outcome.hit
    assert problems.get("CSF").log10_distance(outcome.trace[-1]) <= -3.0
    assert outcome.n == len(outcome.trace)


@each_solver
@pytest.mark.bits
def test_a_run_is_repeatable(solver):
    np.testing.assert_array_equal(points_of(solver, 3), points_of(solver, 3))


@each_solver
def test_another_seed_gives_another_run(solver):
    assert not np.array_equal(points_of(solver, 2, seed=3), points_of(solver, 2, seed=4))


@each_solver
def test_it_stays_inside_the_box(solver):
    points = points_of(solver, 2)
    assert points.min() >= -1.0
    assert points.max() <= 1.0


@each_solver
def test_it_leaves_the_global_generator_as_it_was(solver):
    before = np.random.get_state()[1].copy()
    points_of(solver, 2, budget=30)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@each_solver
def test_a_miss_is_a_miss(solver):
    outcome = solve(solver, problems.get("RAS"), 0, log10_target=-14.0, budget=25)
    assert (outcome.hit, outcome.n) == (False, 25)


@each_solver
def test_its_library_has_a_version(solver):
    assert library_version(solver)[0].isdigit()


def test_finite_differences_count():
    points = points_of(get_solver("multi start"), 2, budget=30)
    steps = np.abs(np.diff(points, axis=0))
    assert np.any((steps.max(axis=1) > 0.0) & (steps.max(axis=1) < 1e-7))


def test_a_solver_that_ends_is_started_again_from_another_seed():
    seeds = []

    def one_point(counter, seed):
        seeds.append(seed)
        counter(np.asarray([0.5]))

    outcome = solve(Solver("one point", "none", "", one_point), problems.get("CSF"), 7, log10_target=-6.0, budget=4)
    assert (outcome.hit, outcome.n, outcome.n_runs) == (False, 4, 4)
    assert len(set(seeds)) == 4


def test_a_solver_that_does_nothing_is_an_error():
    idle = Solver("idle", "none", "", lambda counter, seed: None)
    with pytest.raises(InvalidInputError, match="expected idle to evaluate"):
        solve(idle, problems.get("CSF"), 0, log10_target=-6.0, budget=4)


def test_a_problem_without_a_known_minimum_is_an_error():
    unknown = dataclasses.replace(problems.get("CSF"), f_star=None)
    with pytest.raises(InvalidInputError, match=r"expected.*least value.*try"):
        solve(get_solver("EI"), unknown, 0, log10_target=-6.0, budget=4)


def test_names_of_solvers_do_not_depend_on_case():
    assert get_solver("scaledei").name == "ScaledEI"


def test_an_unknown_solver_is_named_in_the_error():
    with pytest.raises(UnknownNameError, match=r"expected a solver among.*got 'magic'.*try"):
        get_solver("magic")


@pytest.mark.parametrize(("d", "size"), [(1, 4), (2, 6), (6, 10), (10, 12)])
def test_the_reference_set_has_enough_pairs(d, size):
    assert reference_set_size(d) == size
    assert size**2 - size >= 10 * d
