"""Many parameter vectors: serially, over processes, or on any concurrent.futures.Executor."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, as_completed

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.execute.pool import worker_pool
from surefoot.pulmonary.checks import require
from surefoot.pulmonary.failures import FailureKind, SimulationFailure
from surefoot.pulmonary.settings import Settings, Variant
from surefoot.pulmonary.simulate import simulate
from surefoot.pulmonary.simulation import Simulation

Vector = tuple[float, float, float]
Outcome = Simulation | SimulationFailure


def simulate_or_failure(vector: Vector, settings: Settings, all_nodes: bool = False) -> Outcome:
    """As simulate, with the failure returned instead of raised, so that it crosses processes as data."""
    f_L, f_S, xi = vector
    try:
        return simulate(f_L, f_S, xi, settings=settings, all_nodes=all_nodes)
    except SimulationFailure as failure:
        return failure
    except InvalidInputError as error:
        return SimulationFailure(FailureKind.INVALID_PARAMETERS, None, None, str(error))


def _vectors(parameters: Iterable[Iterable[float]]) -> list[Vector]:
    rows = [tuple(float(value) for value in row) for row in parameters]
    for row in rows:
        require(len(row) == 3, "rows (f_L, f_S, xi)", row, "pass an array of shape (n, 3)")
    return [(row[0], row[1], row[2]) for row in rows]


def simulate_many(
    parameters: Iterable[Iterable[float]] | np.ndarray[tuple[int, int], np.dtype[np.float64]],
    *,
    variant: str | Variant | None = None,
    settings: Settings | None = None,
    all_nodes: bool = False,
    executor: Executor | None = None,
    n_workers: int | None = None,
    on_done: Callable[[int, Outcome], None] | None = None,
) -> list[Outcome]:
    """Simulate every row (f_L, f_S, xi); the list holds a Simulation or a SimulationFailure in the same
    order.

    executor: where to run (it is not shut down). Without one, n_workers processes are started; None takes
    one per core, 1 runs everything here. on_done: called with (row, outcome) as each finishes.
    """
    vectors = _vectors(parameters)
    chosen = (settings or Settings()).with_variant(variant)
    workers = n_workers if n_workers is not None else min(len(vectors), os.cpu_count() or 1)
    require(workers >= 1 or not vectors, "n_workers to be at least 1", n_workers, "leave it out: one per core")
    if executor is not None:
        return _submit(executor, vectors, chosen, all_nodes, on_done)
    if workers <= 1:
        outcomes = []
        for row, vector in enumerate(vectors):
            outcomes.append(simulate_or_failure(vector, chosen, all_nodes))
            if on_done:
                on_done(row, outcomes[-1])
        return outcomes
    with worker_pool(workers) as pool:
        return _submit(pool, vectors, chosen, all_nodes, on_done)


def _submit(
    executor: Executor,
    vectors: list[Vector],
    settings: Settings,
    all_nodes: bool,
    on_done: Callable[[int, Outcome], None] | None,
) -> list[Outcome]:
    futures = [executor.submit(simulate_or_failure, vector, settings, all_nodes) for vector in vectors]
    rows = {future: row for row, future in enumerate(futures)}
    for future in as_completed(futures):
        if on_done:
            on_done(rows[future], future.result())
    return [future.result() for future in futures]
