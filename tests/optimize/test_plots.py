"""Pictures of a result."""

import math
from pathlib import Path

import numpy as np
import pytest

from surefoot import Categorical, Evaluation, Failed, History, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError

pytest.importorskip("matplotlib").use("Agg")

PNG = b"\x89PNG\r\n\x1a\n"


def bowl(x) -> float:
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def fails_on_the_right(x) -> float:
    return math.nan if x[0] > 0.5 else bowl(x)


def is_a_picture(result, tmp_path: Path) -> bool:
    result.plot(str(tmp_path / "run.png"))
    content = (tmp_path / "run.png").read_bytes()
    return content.startswith(PNG) and len(content) > 5000


@pytest.mark.parametrize("fun", [bowl, fails_on_the_right])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_a_run_in_any_dimension_is_drawn(d: int, fun, tmp_path: Path) -> None:
    assert is_a_picture(minimize(fun, [(-1.0, 1.0)] * d, n_evals=16, n_init=10), tmp_path)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_maximization_is_drawn(d: int, tmp_path: Path) -> None:
    opt = Optimizer([(-1.0, 1.0)] * d, n_init=10, maximize=True)
    for _ in range(14):
        x = opt.ask()
        opt.tell(x, -bowl(x))
    assert is_a_picture(opt.result(), tmp_path)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_log_parameters_are_drawn(d: int, tmp_path: Path) -> None:
    bounds = [Real(1e-6, 1e2, log=True)] * d
    assert is_a_picture(minimize(lambda x: bowl(np.log10(x)), bounds, n_evals=14, n_init=10), tmp_path)


def test_a_log_parameter_has_a_log_axis() -> None:
    figure = minimize(lambda x: bowl(np.log10(x)), [Real(1e-6, 1e2, log=True)], n_evals=12).plot()
    assert figure.axes[1].get_xscale() == "log"


MIXED = {"a": (0.0, 1.0), "n": Integer(0, 5), "c": Categorical("xyz"), "b": Real(1e-3, 1.0, log=True)}


def test_a_mixed_space_is_drawn(tmp_path: Path) -> None:
    result = minimize(lambda p: (p["a"] - 0.3) ** 2 + p["n"], MIXED, n_evals=16, n_init=10)
    assert is_a_picture(result, tmp_path)


def test_a_mixed_space_with_failures_is_drawn(tmp_path: Path) -> None:
    result = minimize(lambda p: math.nan if p["c"] == "y" else p["a"] + p["n"], MIXED, n_evals=16, n_init=10)
    assert is_a_picture(result, tmp_path)


@pytest.mark.parametrize("bounds", [[Integer(0, 5), Integer(0, 5)], [Categorical("abc")]], ids=["integer", "choices"])
def test_a_discrete_space_is_drawn(bounds: list, tmp_path: Path) -> None:
    assert is_a_picture(minimize(lambda x: float(len(str(x[0]))), bounds, n_evals=6, n_init=4), tmp_path)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_run_without_any_success_is_drawn(d: int, tmp_path: Path) -> None:
    assert is_a_picture(minimize(lambda x: math.nan, [(-1.0, 1.0)] * d, n_evals=6), tmp_path)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_run_with_one_failure_is_drawn(d: int, tmp_path: Path) -> None:
    opt = Optimizer([(-1.0, 1.0)] * d, n_init=10)
    for i in range(12):
        x = opt.ask()
        opt.tell(x, math.nan if i == 3 else bowl(x))
    assert is_a_picture(opt.result(), tmp_path)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_run_with_one_success_is_drawn(d: int, tmp_path: Path) -> None:
    opt = Optimizer([(-1.0, 1.0)] * d, n_init=10)
    for i in range(12):
        x = opt.ask()
        opt.tell(x, math.nan if i != 3 else bowl(x))
    assert is_a_picture(opt.result(), tmp_path)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n", [1, 2])
def test_a_run_of_few_evaluations_is_drawn(n: int, d: int, tmp_path: Path) -> None:
    assert is_a_picture(minimize(bowl, [(-1.0, 1.0)] * d, n_evals=n), tmp_path)


@pytest.mark.parametrize("d", [1, 2])
def test_a_constant_function_is_drawn(d: int, tmp_path: Path) -> None:
    assert is_a_picture(minimize(lambda x: 3.0, [(-1.0, 1.0)] * d, n_evals=12, n_init=8), tmp_path)


@pytest.mark.parametrize("d", [1, 2])
def test_values_over_many_orders_of_magnitude_are_drawn(d: int, tmp_path: Path) -> None:
    result = minimize(lambda x: 10.0 ** (20 * x[0]), [(-1.0, 1.0)] * d, n_evals=14, n_init=10)
    assert is_a_picture(result, tmp_path)


@pytest.mark.parametrize(
    ("d", "names"),
    [
        (2, {"evaluation", "failed", "best", "P(success) = 1/2"}),
        (3, {"mean", "± 2 sd", "best", "P(success)"}),
    ],
)
def test_everything_drawn_has_a_name(d: int, names: set) -> None:
    figure = minimize(fails_on_the_right, [(-1.0, 1.0)] * d, n_evals=24, n_init=14).plot()
    convergence, model = figure.axes[:2]
    told = {text.get_text() for text in convergence.get_legend().get_texts()}
    assert {"evaluation", "best so far", "end of the initial design"} < told
    assert {text.get_text() for text in model.get_legend().get_texts()} == names
    assert all(ax.get_xlabel() or ax.get_ylabel() for ax in figure.axes)


def test_axes_of_the_value_have_the_name_of_the_objective() -> None:
    result = minimize(lambda x: {"cost_$": bowl(x), "heat": 1.0}, [(-1.0, 1.0)] * 3, n_evals=8, objective="cost_$")
    assert [ax.get_ylabel() for ax in result.plot().axes] == ["cost_$"] * 4


def test_a_figure_is_returned_without_a_path() -> None:
    from matplotlib.figure import Figure

    assert isinstance(minimize(bowl, [(-1.0, 1.0)], n_evals=5).plot(), Figure)


def test_lines_of_a_figure_keep_their_colours_when_it_is_saved_later() -> None:
    colours = {line.get_color() for axes in minimize(bowl, [(0, 1)], n_evals=8).plot().axes for line in axes.lines}
    assert not [colour for colour in colours if str(colour)[:1] == "C"]  # Matplotlib would ask for those when drawing


@pytest.mark.parametrize("plot", ["plot", "plot_success"])
def test_a_figure_that_is_returned_is_not_kept_by_pyplot_too(plot: str) -> None:
    # a notebook shows both: the figure would appear twice
    from matplotlib import pyplot as plt

    figure = getattr(minimize(fails_on_the_right, [(-1.0, 1.0)] * 2, n_evals=12), plot)()
    assert plt.get_fignums() == []
    figure.canvas.draw()  # it can still be shown


def test_the_path_may_be_a_path(tmp_path: Path) -> None:
    minimize(bowl, [(-1.0, 1.0)], n_evals=5).plot(tmp_path / "run.png")  # type: ignore[arg-type]
    assert (tmp_path / "run.png").exists()


def test_a_result_without_evaluations_is_rejected_with_a_three_part_message(rejects) -> None:
    with rejects():
        Optimizer([(0.0, 1.0)]).result().plot()


def many_reasons(x) -> float:
    for k, (limit, reason) in enumerate([(0.2, "no mesh"), (0.35, "stress {} > 2"), (0.4, "$x$"), (0.45, "_hidden"),
                                         (0.5, "fifth"), (0.55, "sixth")]):  # fmt: skip
        if x[1] < limit:
            raise Failed(reason.format(x[k % 2]))
    return bowl(x)


def legend_of(figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def evenly(fun, d: int, n: int = 60, **options):
    """The result of evaluations spread over the cube."""
    return minimize(fun, [(0.0, 1.0)] * d, n_evals=n, n_init=n, failures="ep", **options)


def test_failures_are_marked_by_reason_and_the_rest_as_other() -> None:
    result = evenly(many_reasons, 3, 80)
    reasons = [e.reason for e in result.history.evaluations if not e.ok]
    legend = legend_of(result.plot_success())
    assert f"failed: stress … > 2 ({sum(r.startswith('stress') for r in reasons)})" in legend
    assert f"failed: no mesh ({reasons.count('no mesh')})" in legend
    assert len([line for line in legend if line.startswith("failed: ")]) == 5
    assert sum(int(line.split("(")[-1][:-1]) for line in legend if line.startswith("failed")) == result.n_failures
    assert any(line.startswith("failed: other (") for line in legend)


def test_lost_evaluations_are_not_on_the_map() -> None:
    evaluations = [*evenly(fails_on_the_right, 2).history.evaluations]
    evaluations.append(Evaluation((0.5, 0.5), math.nan, "transient", "worker lost"))
    figure = Optimizer([(0.0, 1.0)] * 2, history=History(tuple(evaluations)), failures="ep").result().plot_success()
    assert not any("worker" in line for line in legend_of(figure))


def test_the_map_is_drawn_over_the_parameters_that_matter() -> None:
    result = evenly(lambda x: math.nan if x[1] <= x[3] else bowl(x), 5)
    ax = result.plot_success().axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x3")
    ax = result.plot_success(x="x4").axes[0]
    assert ax.get_xlabel() == "x4"
    assert ax.get_ylabel() in ("x1", "x3")
    ax = result.plot_success(y="x1").axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x3", "x1")


@pytest.mark.parametrize("others", ["best", "average", "successes", {"x2": 0.5}], ids=str)
def test_the_other_parameters_can_be_held_or_averaged(others, tmp_path: Path) -> None:
    evenly(fails_on_the_right, 3).plot_success("x0", "x1", others=others, n=12, path=str(tmp_path / "map.png"))
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)


def test_a_mixed_space_has_its_map() -> None:
    result = minimize(lambda p: math.nan if p["n"] > 3 else p["a"], MIXED, n_evals=40, n_init=40, failures="ep")
    assert "n" in (result.plot_success(n=20).axes[0].get_xlabel(), result.plot_success(n=20).axes[0].get_ylabel())


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


WRONG = ({"n": 1}, {"n": "many"}, {"x": 3}, {"x": ["x0"]}, {"x": "x0", "y": "x0"}, {"others": 3}, {"path": 7})


@pytest.mark.parametrize("options", [*WRONG, {"path": "a\0b"}], ids=str)
def test_what_cannot_be_drawn_or_saved_is_an_error_of_ours(options: dict) -> None:
    result = minimize(lambda x: x[0] + x[1], [(0.0, 1.0), (0.0, 1.0)], n_evals=6)
    with pytest.raises(InvalidInputError):
        result.plot_success(**options)


def convergence_of(result) -> tuple[str, list[str], list[float]]:
    """The title, what has a name, and the ticks of the values."""
    ax = result.plot().axes[0]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    return ax.get_title("left") or ax.get_title(), names, list(ax.get_yticks())


def test_where_nothing_is_within_limits_the_figure_names_no_best_value() -> None:
    result = evenly(lambda x: {"mass": 7.0, "stress": 1.0}, 1, 6, outputs={"stress": ">= 2"}, objective="mass")
    title, names, _ = convergence_of(result)
    assert title == "nothing within limits; least outside: 7"
    assert names == ["outside limits (6)", "end of the initial design"]
    assert "least outside" in [text.get_text() for text in result.plot().axes[1].get_legend().get_texts()]


def test_where_nothing_has_succeeded_the_figure_says_so_and_has_no_axis_of_values() -> None:
    title, names, ticks = convergence_of(minimize(lambda x: math.nan, [(-1.0, 1.0)], n_evals=6))
    assert title == "nothing has succeeded after 6 evaluations"
    assert names == ["failed (6)", "end of the initial design"]
    assert ticks == []


def test_the_title_tells_the_best_value() -> None:
    assert convergence_of(evenly(lambda x: 3.0, 1, 5))[0] == "best 3 after 5 evaluations"


@pytest.mark.parametrize("plot", ["plot", "plot_success"])
def test_marks_at_the_edge_of_a_map_are_drawn_whole(plot: str) -> None:
    figure = getattr(evenly(fails_on_the_right, 2), plot)()
    ax = figure.axes[1 if plot == "plot" else 0]
    marks = [line for line in ax.lines if line.get_marker() not in ("None", "", None)]
    assert len(marks) == 3
    assert not any(line.get_clip_on() for line in marks)


def test_a_logarithmic_axis_of_few_decades_has_numbers_that_are_written_out() -> None:
    evaluations = tuple(Evaluation((i / 29,), 150.0 + 5300.0 * (i / 29) ** 12) for i in range(30))
    axes = Optimizer([(0.0, 1.0)], history=History(evaluations)).result().plot().axes[0]
    assert axes.get_yscale() == "log"
    axes.figure.canvas.draw()
    told = [label.get_text() for label in axes.get_yticklabels()]
    assert {"200", "500", "1000", "2000", "5000"} <= set(told)
