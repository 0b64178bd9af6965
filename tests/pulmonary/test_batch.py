"""Many vectors at once: in order, on any executor, failures apart from successes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.pulmonary import NOMINAL, FailureKind, Simulation, SimulationFailure, simulate, simulate_many

FAILS = (1.4e5, 1.0e5, 2.7)
NONSENSE = (-1.0, 5e4, 2.76)


def test_a_failing_vector_disturbs_no_other() -> None:
    first, failed, refused, last = simulate_many([NOMINAL, FAILS, NONSENSE, NOMINAL], variant="original", n_workers=1)
    alone = simulate(*NOMINAL, variant="original")
    for outcome in (first, last):
        assert isinstance(outcome, Simulation)
        assert np.array_equal(outcome.pressure_mmHg, alone.pressure_mmHg)
    assert isinstance(failed, SimulationFailure)
    assert failed.kind is FailureKind.MATCHING
    assert isinstance(refused, SimulationFailure)
    assert refused.kind is FailureKind.INVALID_PARAMETERS


def test_any_executor_gives_the_same_results_in_the_same_order() -> None:
    vectors = np.array([NOMINAL, FAILS, (4e5, 5e4, 2.9)])
    here = simulate_many(vectors, variant="original", n_workers=1)
    with ThreadPoolExecutor(2) as pool:
        there = simulate_many(vectors, variant="original", executor=pool)
    for a, b in zip(here, there, strict=True):
        if isinstance(a, Simulation):
            assert isinstance(b, Simulation)
            assert np.array_equal(a.pressure_mmHg, b.pressure_mmHg)
        else:
            assert a == b


def test_processes_give_the_same_results() -> None:
    here = simulate_many([NOMINAL, FAILS], variant="original", n_workers=1)
    there = simulate_many([NOMINAL, FAILS], variant="original", n_workers=2)
    assert isinstance(here[0], Simulation)
    assert isinstance(there[0], Simulation)
    # The process that compiles may round differently from those that load the compiled code.
    np.testing.assert_allclose(here[0].flow_ml_s, there[0].flow_ml_s, rtol=0, atol=1e-8)
    assert here[1] == there[1]


def test_each_outcome_is_reported_when_done() -> None:
    rows: list[int] = []
    simulate_many([NOMINAL, FAILS], variant="original", n_workers=1, on_done=lambda row, _outcome: rows.append(row))
    assert rows == [0, 1]


def test_no_vectors_give_no_outcomes() -> None:
    assert simulate_many([]) == []


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"rows \(f_L, f_S, xi\)"):
        simulate_many([(1.0, 2.0)])
