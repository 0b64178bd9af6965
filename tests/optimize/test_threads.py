"""One optimizer, many threads."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from surefoot import Categorical, Integer, Optimizer
from surefoot.errors import SpaceExhaustedError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def together(n_threads: int, work: Callable[[int], object]) -> list[object]:
    """What `work` returns in each of the threads, which start at once."""
    barrier = threading.Barrier(n_threads, timeout=60.0)

    def begin(k: int) -> object:
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(begin, range(n_threads)))


def test_every_value_told_by_16_threads_is_kept() -> None:
    opt = Optimizer(SQUARE, n_init=5)

    def tell(k: int) -> None:
        for i in range(50):
            opt.tell([k / 16, i / 50], float(50 * k + i))

    together(16, tell)
    assert sorted(opt.history.y.tolist()) == [float(i) for i in range(800)]
    assert opt.history.units(opt.space).shape == (800, 2)


def test_an_optimizer_that_threads_have_told_can_be_asked() -> None:
    opt = Optimizer(SQUARE, n_init=5)
    together(8, lambda k: [opt.tell([k / 8, i / 5], k + i / 5) for i in range(5)])
    assert opt.space.validate(opt.ask())


@pytest.mark.parametrize("n_told", [0, 12])
def test_parallel_asks_get_different_points(n_told: int) -> None:
    opt = Optimizer(SQUARE, n_init=8, noise=0)
    for _ in range(n_told):
        x = opt.ask()
        opt.tell(x, float(np.sum(np.square(x))))
    points = together(4, lambda k: [tuple(opt.ask()) for _ in range(3)])
    assert len({x for mine in points for x in mine}) == 12
    assert len(opt.pending) == 12


def test_points_asked_and_told_in_threads_leave_nothing_pending() -> None:
    opt = Optimizer(SQUARE, n_init=40)

    def work(k: int) -> None:
        for i in range(8):
            x = opt.ask()
            if i % 4:
                opt.tell(x, float(np.sum(np.square(x))))
            else:
                opt.tell_failure(x, "no mesh")

    together(4, work)
    assert opt.pending == []
    assert (len(opt.history), int(opt.history.ok.sum())) == (32, 24)


def test_points_asked_for_together_stand_together() -> None:
    """ask(n) in one thread is not mixed with that of another: the designs' numbers are consecutive."""
    opt, alone = Optimizer(SQUARE, n_init=12), Optimizer(SQUARE, n_init=12).ask(12)
    order = [tuple(x) for x in alone]
    for mine in together(3, lambda k: opt.ask(4)):
        first = order.index(tuple(mine[0]))  # type: ignore[index]
        assert [tuple(x) for x in mine] == order[first : first + 4]  # type: ignore[attr-defined]


def test_a_finite_space_is_shared_out_once() -> None:
    opt = Optimizer([Integer(0, 4), Categorical("abcd")], n_init=5)

    def take(k: int) -> list[tuple]:
        mine = []
        while True:
            try:
                mine.append(tuple(opt.ask()))
            except SpaceExhaustedError:
                return mine

    points = [x for mine in together(4, take) for x in mine]  # type: ignore[attr-defined]
    assert len(points) == len(set(points)) == 20


def test_asking_for_more_points_than_are_left_gives_those_that_are() -> None:
    opt = Optimizer([Integer(0, 4)], n_init=2)
    assert len(opt.ask(3)) == 3
    assert len(opt.ask(9)) == 2
    with pytest.raises(SpaceExhaustedError, match=r"expected.*try"):
        opt.ask(9)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))], ids=["copy", "pickle"])
def test_an_optimizer_with_its_lock_can_be_copied(clone: Callable[[Optimizer], Optimizer]) -> None:
    opt = Optimizer({"a": (0, 1), "c": Categorical("xyz")}, n_init=3)
    opt.tell(opt.ask(), 1.0)
    other = clone(opt)
    assert other.ask() == opt.ask()
    other.tell_failure(other.ask())
    assert (len(other.history), len(opt.history)) == (2, 1)
