"""`surefoot add` and `surefoot forget` killed with SIGKILL: repeated, they do it once, and nothing is lost."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

import pytest
from sqlalchemy import event

from surefoot.errors import InvalidInputError, StorageLostError
from surefoot.integrations.optuna_history import FORGOTTEN
from surefoot.runs.add import add_rows
from surefoot.runs.forget import forget
from surefoot.runs.rows import read_rows
from surefoot.runs.running import run
from surefoot.runs.storage import close_storage, load_study, make_durable, open_storage, opened
from surefoot.runs.study import CHANGES, counts_of, open_study
from surefoot.runs.tables import trial_rows, write_rows

CODE = "import sys; print(float(sys.argv[1]) ** 2 + float(sys.argv[2]))"
N_ROWS = 30  # a third of each kind
context = multiprocessing.get_context("fork")


def forgotten_in(storage) -> set[int]:
    return set(load_study(storage).user_attrs.get(FORGOTTEN) or ())


def table_of(tmp_path, number: int):
    """Evaluations, failures and points to be evaluated, all at other places than those of other tables."""
    kinds = (lambda i: f"{i}.5,", lambda i: ",mesh", lambda i: ",")
    lines = [f"{-5.0 + 15.0 * i / N_ROWS},{1.0 + number / 64.0},{kinds[i % 3](i)}" for i in range(N_ROWS)]
    path = tmp_path / f"table-{number}.csv"
    path.write_text("\n".join(["a,b,value,reason", *lines]) + "\n")
    return path


def add_to(problem, place, table, kill_at: int = 0, ready=None) -> None:
    """What the command does; it is killed at so manieth a statement, if that is not 0."""
    storage = open_storage(place, create=True)
    if kill_at:
        kill_itself_at(storage, kill_at)
    if ready is not None:
        ready.set()
    study = open_study(problem, storage)
    add_rows(study, problem, read_rows(str(table)), table.name)
    make_durable(storage)
    close_storage(storage)


def forget_in(place, which, kill_at: int) -> None:
    storage = open_storage(place)
    kill_itself_at(storage, kill_at)
    forget(load_study(storage), which)
    close_storage(storage)


def kill_itself_at(storage, number: int) -> None:
    """SIGKILL before the statement of that number is sent; transactions begin and end with one, too."""
    n_seen = 0

    def count(*_) -> None:
        nonlocal n_seen
        n_seen += 1
        if n_seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    for moment in ("before_cursor_execute", "commit"):
        event.listen(storage.engine, moment, count)


def was_killed(target, *args) -> bool:
    """Do it in a process of its own; whether that was killed."""
    process = context.Process(target=target, args=args)
    process.start()
    process.join()
    code = process.exitcode
    process.close()
    assert code in (0, -signal.SIGKILL)
    return code != 0


def kinds_in(place) -> Counter:
    """How often each point is in the study, and as what."""
    with suppress(InvalidInputError), opened(place) as storage:  # there may be no study yet
        trials = load_study(storage).get_trials(deepcopy=False)
        points = [{**(t.system_attrs.get("fixed_params") or {}), **t.params} for t in trials]
        return Counter((x["a"], x["b"], t.state.name, t.value) for x, t in zip(points, trials, strict=True))
    return Counter()


def check_whole(place) -> int:
    """Nothing is there twice, and every table that is there has all its rows; the number of rows."""
    found = kinds_in(place)
    assert set(found.values()) <= {1}
    by_table = Counter(b for _, b, _, _ in found)
    assert set(by_table.values()) <= {N_ROWS}
    by_kind = Counter(state for _, _, state, _ in found)
    assert set(by_kind.values()) <= {len(found) // 3}
    return len(found)


def test_an_addition_that_is_killed_leaves_all_or_nothing_and_is_there_once_when_it_is_repeated(make_problem, tmp_path):
    problem, table = make_problem(CODE), table_of(tmp_path, 0)
    kill_at = 2
    while was_killed(add_to, problem, problem.default_storage, table, kill_at):
        assert check_whole(problem.default_storage) in (0, N_ROWS)
        kill_at += 11
    assert kill_at > 20
    assert check_whole(problem.default_storage) == N_ROWS


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "study"])
def test_every_kind_of_table_survives_a_kill(make_problem, reporter, tmp_path, kind):
    old = make_problem("import sys\nif float(sys.argv[1]) > 5: sys.exit('mesh')\nprint(sys.argv[1])", n_evals=8)
    run(old, reporter=reporter)
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    table = old.default_storage
    if kind != "study":
        table = tmp_path / f"t.{kind}"
        with opened(old.default_storage) as storage:
            write_rows(trial_rows(load_study(storage)), table)
    new = make_problem(CODE, name="new")
    for kill_at in (3, 9, 20):
        assert was_killed(add_to, new, new.default_storage, table, kill_at)
    assert not was_killed(add_to, new, new.default_storage, table)
    assert kinds_in(new.default_storage) == kinds_in(old.default_storage)


def test_forgetting_that_was_killed_is_repeated(make_problem, reporter):
    problem = make_problem("import sys; sys.exit('mesh')", n_evals=4, max_failures=0)
    run(problem, reporter=reporter)
    kill_at, killed = 0, True
    while killed:
        kill_at += 5
        killed = was_killed(forget_in, problem.default_storage, ["1-3"], kill_at)
        with opened(problem.default_storage) as storage:
            assert forgotten_in(storage) in (set(), {1, 2, 3})
    assert kill_at > 10
    with opened(problem.default_storage) as storage:
        assert forgotten_in(storage) == {1, 2, 3}


def change_to(problem, place, kill_at: int) -> None:
    storage = open_storage(place)
    kill_itself_at(storage, kill_at)
    open_study(problem, storage)
    close_storage(storage)


def test_a_change_of_parameters_that_was_killed_is_kept_once(make_problem, tmp_path):
    old = make_problem(CODE)
    add_to(old, old.default_storage, table_of(tmp_path, 0))
    new = make_problem(CODE, parameters={"a": {"low": 0, "high": 9, "kind": "integer"}, "b": {"low": 0.0, "high": 9.0}})
    kill_at = 3
    while was_killed(change_to, new, new.default_storage, kill_at):
        kill_at += 5
    assert kill_at > 10
    with opened(new.default_storage) as storage:
        study = load_study(storage)
        (entry,) = study.user_attrs[CHANGES]
        assert len(entry["changes"]) == 2
        assert counts_of(study, 9).outside > 0


def test_two_additions_of_the_same_table_at_once_add_it_once(make_problem, tmp_path):
    problem, table = make_problem(CODE), table_of(tmp_path, 0)
    both = [context.Process(target=add_to, args=(problem, problem.default_storage, table)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
        process.close()
    with suppress(StorageLostError):
        add_to(problem, problem.default_storage, table)
    assert check_whole(problem.default_storage) == N_ROWS


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_fifty_kills_at_random_moments(make_problem, tmp_path, request, kind):
    """A table is added again and again until nobody kills that, and then the next."""
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")  # noqa: T201 - to repeat a failure
    rng, n_kills, number = random.Random(seed), 0, 0
    problem = make_problem(CODE)
    place = problem.default_storage if kind == "sqlite" else request.getfixturevalue("storage")
    add_to(problem, place, table_of(tmp_path, 0))
    took = 0.05  # an addition that nobody kills; only for where kills fall
    while n_kills < 50:
        table, ready = table_of(tmp_path, number), context.Event()
        process = context.Process(target=add_to, args=(problem, place, table, 0, ready))
        process.start()
        assert ready.wait(60)
        killer, began = threading.Timer(rng.uniform(0.0, took), process.kill), time.perf_counter()
        killer.start()
        process.join()
        killer.cancel()
        took = 1.1 * took if process.exitcode else time.perf_counter() - began
        n_kills += process.exitcode != 0
        number += process.exitcode == 0
        assert check_whole(place) in (N_ROWS * number, N_ROWS * (number + 1))
    for again in range(number + 1):
        add_to(problem, place, table_of(tmp_path, again))
    assert check_whole(place) == N_ROWS * (number + 1)
