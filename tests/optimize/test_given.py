"""What users have at hand is taken: data frames, paths, NumPy's and SciPy's objects, fixed parameters."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
from scipy.spatial.distance import pdist

from surefoot import Categorical, Integer, Optimizer, Real, Space, minimize
from surefoot.errors import FileError, MissingFileError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]
NAMED = {"a": (0.0, 1.0), "n": Integer(0, 5), "c": Categorical(["u", "v"])}


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


# --- data frames


@pytest.fixture(name="frame")
def _frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"c": ["u", "v"], "y": [3.0, math.nan], "n": [1, 2], "a": [0.25, 0.5]}, index=[7, 9])


def test_a_data_frame_is_read_by_its_columns_names(frame) -> None:
    result = minimize(lambda p: p["a"], NAMED, x0=frame, y0=frame["y"], n_evals=3)
    assert result.x_iters[:2] == [{"a": 0.25, "n": 1, "c": "u"}, {"a": 0.5, "n": 2, "c": "v"}]
    assert [e.status for e in result.history.evaluations[:2]] == ["ok", "failed"]


def test_a_data_frame_without_values_is_evaluated_first(frame) -> None:
    result = minimize(lambda p: p["a"], NAMED, x0=frame[["a", "n", "c"]], n_evals=3)
    assert [x["a"] for x in result.x_iters[:2]] == [0.25, 0.5]


def test_a_data_frame_of_a_list_of_bounds_is_read_by_position(frame) -> None:
    result = minimize(bowl, SQUARE, x0=frame[["a", "a"]].set_axis(["p", "q"], axis=1), n_evals=2)
    assert [x.tolist() for x in result.x_iters] == [[0.25, 0.25], [0.5, 0.5]]


def test_a_results_table_as_a_data_frame_starts_another_run() -> None:
    pandas = pytest.importorskip("pandas")
    first = minimize(bowl, SQUARE, n_evals=4)
    table = pandas.DataFrame(first.table())
    again = minimize(bowl, SQUARE, x0=table, y0=table["value"], n_evals=4)
    np.testing.assert_array_equal(again.x_iters, first.x_iters)


def test_a_data_frame_that_lacks_a_column_is_refused(frame, rejects) -> None:
    with rejects():
        minimize(lambda p: 1.0, NAMED, x0=frame[["a", "n"]], n_evals=3)


def test_values_whose_labels_are_not_those_of_the_points_are_refused(frame, rejects) -> None:
    with rejects():
        minimize(lambda p: 1.0, NAMED, x0=frame, y0=frame["y"][::-1], n_evals=3)


def test_a_row_of_a_data_frame_is_a_point(frame) -> None:
    opt = Optimizer(NAMED)
    opt.tell(frame[["a", "n", "c"]].iloc[0], 2.0)
    assert opt.history.evaluations[0].x == (0.25, 1, "u")


def test_a_data_frame_and_a_column_can_be_told(frame) -> None:
    opt = Optimizer(NAMED)
    opt.tell(frame, frame["y"])
    assert opt.history.ok.tolist() == [True, False]


# --- paths


def test_a_history_may_be_a_path(tmp_path: Path) -> None:
    whole = minimize(bowl, SQUARE, n_evals=12, n_init=8)
    minimize(bowl, SQUARE, n_evals=9, n_init=8).history.save(tmp_path / "h.json")
    for path in (tmp_path / "h.json", str(tmp_path / "h.json")):
        again = minimize(bowl, SQUARE, n_evals=12, n_init=8, history=path)
        np.testing.assert_array_equal(again.x_iters, whole.x_iters)


def test_a_history_that_is_not_there_is_refused(tmp_path: Path, rejects) -> None:
    with rejects(MissingFileError):
        minimize(bowl, SQUARE, history=tmp_path / "none.json")


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b", "\ud800", "."], ids=["overlong", "NUL", "surrogate", "folder"])
def test_a_path_that_cannot_be_one_is_refused(path: str, rejects) -> None:
    with rejects(FileError):
        Optimizer(SQUARE, history=path)


# --- numbers


def test_numpys_integers_are_integers() -> None:
    result = minimize(bowl, SQUARE, n_evals=np.int64(5), n_init=np.int32(4), seed=np.uint8(3), max_failures=np.int64(2))
    assert (result.nfev, len(Optimizer(SQUARE).ask(np.int64(2)))) == (5, 2)


def test_scipys_bounds_are_bounds() -> None:
    space = Space.of(scipy.optimize.Bounds([0.0, -1.0], [1.0, 2.0]))
    assert space.parameters == (Real(0.0, 1.0), Real(-1.0, 2.0))


def test_scipys_bounds_may_have_one_limit_for_all() -> None:
    assert Space.of(scipy.optimize.Bounds(0.0, [1.0, 2.0])).parameters == (Real(0.0, 1.0), Real(0.0, 2.0))


def test_scipys_bounds_without_limits_are_refused(rejects) -> None:
    with rejects():
        Space.of(scipy.optimize.Bounds())


# --- fixed parameters


FIXED = {
    "real": (2.0, 2.0),
    "log": Real(2.0, 2.0, log=True),
    "integer": Integer(3, 3),
    "log integer": Integer(3, 3, log=True),
    "choice": Categorical(["only"]),
}


@pytest.mark.parametrize("spec", FIXED.values(), ids=FIXED)
@pytest.mark.parametrize("search", ["gradient", "paper"])
def test_a_parameter_with_one_value_has_it_in_every_point(spec: object, search: str) -> None:
    result = minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": (0, 1), "fixed": spec}, n_evals=14, n_init=6, search=search)
    assert len({p["fixed"] for p in result.x_iters}) == 1
    assert result.fun < 1e-3


def test_a_fixed_real_parameter_comes_in_an_array_of_floats() -> None:
    seen = []
    minimize(lambda x: seen.append(x) or x[0], [(0, 1), (2, 2)], n_evals=3)
    assert all(x.dtype == float and x[1] == 2.0 for x in seen)


def test_a_space_of_fixed_parameters_has_one_point() -> None:
    assert minimize(lambda x: x[0], [(1.5, 1.5), (2, 2)], n_evals=9).x.tolist() == [1.5, 2.0]


def test_a_fixed_parameter_takes_its_value_only(rejects) -> None:
    assert Space.of([(2.0, 2.0)]).validate([2]) == (2.0,)
    with rejects():
        Space.of([(2.0, 2.0)]).validate([2.1])


def test_a_result_with_a_fixed_parameter_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    result = minimize(lambda x: x[0] + x[1], [(0, 1), (2, 2), (0, 1)], n_evals=9, n_init=6)
    result.plot(str(tmp_path / "result.png"))
    assert result.model.relevance().shape == (3,)


# --- choices


class BadlyCompared:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    "choices",
    [[np.zeros(2), np.ones(2)], [BadlyCompared(), BadlyCompared()], ["a", BadlyCompared()], 3, [math.nan, math.nan]],
    ids=["arrays", "raising", "mixed", "number", "twice"],
)
def test_choices_that_cannot_be_told_apart_are_refused(choices: object, rejects) -> None:
    with rejects():
        Space.of([Categorical(choices)])  # type: ignore[arg-type]


def test_numpys_choices_become_pythons() -> None:
    (parameter,) = Space.of([Categorical(np.asarray([1, 2, 3]))]).parameters
    assert [type(v) for v in parameter.values()] == [int] * 3


def test_a_choice_is_stored_as_it_was_given() -> None:
    assert [type(v) for v in Space.of([Categorical([1, "a"])]).validate([1.0])] == [int]


def test_choices_of_nested_tuples_can_be_resumed(tmp_path: Path) -> None:
    bounds = [Categorical([((8, 8), (4,)), ((16,),)])]
    minimize(lambda x: 1.0, bounds, n_evals=2).history.save(tmp_path / "h.json")
    assert minimize(lambda x: 1.0, bounds, n_evals=2, history=tmp_path / "h.json").nfev == 2


@pytest.mark.parametrize("k", [64, 65, 1000])
def test_every_choice_survives_the_way_there_and_back(k: int) -> None:
    space = Space.of([Categorical(range(k)), (0.0, 1.0)])
    assert space.n_inputs == min(k, 64) + 1
    units = space.from_uniform(np.stack([(np.arange(k) + 0.5) / k, np.full(k, 0.5)], axis=1))
    assert [space.decode(unit)[0] for unit in units] == list(range(k))
    np.testing.assert_array_equal(space.snap(units), units)
    assert len(np.unique(units, axis=0)) == k
    assert len(space.neighbours(units[0])) == k - 1


def test_many_choices_are_nearly_equally_far_apart() -> None:
    space = Space.of([Categorical(range(1000))])
    units = np.asarray([space.encode((i,)) for i in range(1000)])
    apart = pdist(units, "cityblock")  # bits in which two codes differ, of 64
    assert apart.mean() == pytest.approx(32.0, abs=0.1)
    assert apart.std() == pytest.approx(4.0, abs=0.1)
    assert apart.min() >= 10.0


def test_the_best_of_many_choices_is_found() -> None:
    result = minimize(lambda p: float(p["c"] % 10) + (p["x"] - 0.3) ** 2, {"c": Categorical(range(100)), "x": (0, 1)},
                      n_evals=45, n_init=20)  # fmt: skip
    assert result.fun < 0.1


# --- what is given back


def test_a_result_has_an_html_form_for_notebooks() -> None:
    result = minimize(lambda p: 1.0, {"<b>": Categorical(["<script>"])}, n_evals=1)
    text = result._repr_html_()
    assert text.startswith("<table>")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_a_budget_that_is_spent_already_is_said() -> None:
    history = minimize(bowl, SQUARE, n_evals=6).history
    assert minimize(bowl, SQUARE, n_evals=3, history=history).message == (
        "nothing to do: 6 evaluations were given, n_evals is 3"
    )
