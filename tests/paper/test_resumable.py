"""Work in pieces: files are whole, and an interrupted study begins nothing new."""

from contextlib import closing

import numpy as np
import pytest

from surefoot.paper.resumable import run_cases, save_whole


def write(case, folder):
    save_whole(folder / f"{case}.npz", case=case)


def fail(case, folder):
    raise ArithmeticError(f"case {case}")


@pytest.mark.parametrize("n_workers", [1, 2])
def test_every_case_is_run_once(n_workers, tmp_path):
    assert sorted(run_cases(write, range(7), tmp_path / "new", n_workers)) == list(range(7))
    assert len(list((tmp_path / "new").iterdir())) == 7


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_closed_study_begins_nothing_new(n_workers, tmp_path):
    with closing(run_cases(write, range(50), tmp_path, n_workers)) as done:
        next(done)
    assert len(list(tmp_path.iterdir())) <= 4


@pytest.mark.parametrize("n_workers", [1, 2])
def test_an_error_in_a_case_is_raised(n_workers, tmp_path):
    with pytest.raises(ArithmeticError, match="case"):
        list(run_cases(fail, range(3), tmp_path, n_workers))


def test_a_file_that_could_not_be_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.npz"
    save_whole(path, x=1)

    class Unwritable:
        def __array__(self, *_, **__):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        save_whole(path, x=Unwritable())
    with np.load(path) as data:
        assert data["x"] == 1
