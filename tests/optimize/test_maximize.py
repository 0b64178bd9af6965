"""maximize=True, through every door, in the user's sign."""

import json
from pathlib import Path

import numpy as np
import pytest

from surefoot import History, Optimizer, Result, minimize
from surefoot.errors import InvalidInputError

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def hill(x) -> float:
    return 5.0 - float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def valley(x) -> float:
    return -hill(x)


@pytest.fixture(scope="module", name="result")
def _result() -> Result:
    return minimize(hill, SQUARE, n_evals=25, n_init=10, maximize=True)


def test_the_largest_value_is_found(result: Result) -> None:
    assert result.fun == pytest.approx(5.0, abs=1e-3)
    assert result.fun == np.max(result.func_vals) == hill(result.x)


def test_the_points_are_those_of_minimizing_the_negative(result: Result) -> None:
    np.testing.assert_array_equal(minimize(valley, SQUARE, n_evals=25, n_init=10).x_iters, result.x_iters)


def test_history_and_table_have_the_users_sign(result: Result) -> None:
    assert result.history.y.tolist() == [hill(x) for x in result.x_iters]
    assert [row["best"] for row in result.table()] == np.maximum.accumulate(result.func_vals).tolist()


def test_the_callback_sees_the_users_sign() -> None:
    seen: list[float] = []
    minimize(hill, SQUARE, n_evals=6, maximize=True, callback=lambda r: seen.append(r.fun))
    assert seen == sorted(seen)
    assert min(seen) > 0.0


def test_the_progress_bar_shows_the_largest_value(capsys: pytest.CaptureFixture[str]) -> None:
    result = minimize(hill, SQUARE, n_evals=5, maximize=True, progress=True)
    assert f"best {result.fun:.6g}" in capsys.readouterr().out


def test_model_and_recommendation_have_the_users_sign(result: Result) -> None:
    assert result.recommended.mean == pytest.approx(5.0, abs=1e-2)
    assert result.model.predict([[0.3, -0.2]])[0][0] == pytest.approx(5.0, abs=1e-2)


def test_given_points_have_the_users_sign() -> None:
    result = minimize(hill, SQUARE, n_evals=3, x0=[[0.1, 0.1], [0.2, 0.2]], y0=[7.0, -7.0], maximize=True)
    assert result.fun == 7.0
    assert result.func_vals[:2].tolist() == [7.0, -7.0]


def test_the_figure_shows_the_users_sign(result: Result) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    figure = result.plot()
    best = next(line for line in figure.axes[0].lines if line.get_label() == "best so far")
    np.testing.assert_array_equal(best.get_ydata(), np.maximum.accumulate(result.func_vals))
    plt.close(figure)


@pytest.mark.parametrize("value", ["yes", 2, None, [True]], ids=str)
def test_maximize_is_a_truth_value(value: object, rejects) -> None:
    with rejects():
        minimize(hill, SQUARE, maximize=value)  # type: ignore[arg-type]


# --- histories know their direction


def test_a_maximization_is_continued_point_for_point(result: Result, tmp_path: Path) -> None:
    minimize(hill, SQUARE, n_evals=14, n_init=10, maximize=True).history.save(tmp_path / "h.json")
    path = str(tmp_path / "h.json")
    again = minimize(hill, SQUARE, n_evals=25, n_init=10, maximize=True, history=path)
    np.testing.assert_array_equal(again.x_iters, result.x_iters)


@pytest.mark.parametrize("maximize", [True, False])
def test_the_file_says_the_direction(maximize: bool, tmp_path: Path) -> None:
    minimize(hill, SQUARE, n_evals=2, maximize=maximize).history.save(tmp_path / "h.json")
    direction = "maximize" if maximize else "minimize"
    assert json.loads((tmp_path / "h.json").read_text())["direction"] == direction
    assert History.load(tmp_path / "h.json").direction == direction


@pytest.mark.parametrize("maximize", [True, False])
def test_a_history_of_the_other_direction_is_refused(maximize: bool, rejects) -> None:
    history = minimize(hill, SQUARE, n_evals=2, maximize=maximize).history
    with rejects():
        minimize(hill, SQUARE, n_evals=5, maximize=not maximize, history=history)
    with pytest.raises(InvalidInputError, match=f"maximize={maximize}"):
        Optimizer(SQUARE, maximize=not maximize, history=history)


def test_a_file_without_a_direction_is_of_a_minimization(tmp_path: Path, rejects) -> None:
    cold = {"objective": None, "failures": None, "failures_by": ""}
    rows = [{"x": [0.5, 0.5], "y": 1.0}]
    document = {"format": "surefoot-history-1", "evaluations": rows, "warmth": cold}
    (tmp_path / "h.json").write_text(json.dumps(document))
    assert minimize(hill, SQUARE, n_evals=2, history=tmp_path / "h.json").func_vals[0] == 1.0
    with rejects():
        minimize(hill, SQUARE, n_evals=2, history=tmp_path / "h.json", maximize=True)


def test_the_result_of_a_maximization_knows_its_direction(result: Result) -> None:
    assert (result.history.direction, result.sign) == ("maximize", -1.0)
