"""The report of an optimization: any result gives a page that says what there is to say."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot import Categorical, Evaluation, Failed, History, Integer, Optimizer, Real, minimize
from surefoot.errors import InvalidInputError
from surefoot.optimize.result import Result
from surefoot.reports.optimization import report

pytest.importorskip("matplotlib")


def bowl(x) -> float:
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def fails_on_the_right(x) -> float:
    if x[0] > 0.5:
        raise FloatingPointError("the mesh <collapsed>")
    return bowl(x)


MIXED = {
    "a <b>": (0.0, 1.0),
    "n $": Integer(0, 5),
    "c": Categorical(["x & y", "$\\alpha", "a choice with a long name"]),
    "log": Real(1e-3, 1.0, log=True),
    "m": Integer(1, 5000, log=True),
    "温度": (0.0, 1.0),
}


def mixed(x: dict) -> float:
    if x["c"] == "$\\alpha":
        return math.nan
    return x["a <b>"] + x["n $"] + abs(math.log10(x["log"]) + 1)


@pytest.fixture(scope="module")
def failing() -> Result:
    return minimize(fails_on_the_right, [(-1.0, 1.0)] * 2, n_evals=24, n_init=12)


@pytest.fixture(scope="module")
def failing_page(failing: Result) -> str:
    return report(failing, "A run that fails")


def headings(page: str, read) -> str:
    return read(page).text("h2")


def test_the_sections_are_those_a_reader_looks_for(failing_page: str, read) -> None:
    wanted = "Result Convergence What the model believes What matters Failures Time Settings"
    assert headings(failing_page, read) == wanted


def test_a_run_that_has_settled_is_said_to_have_looked_for_another_minimum(read) -> None:
    page = report(minimize(bowl, [(-1.0, 1.0)] * 2, n_evals=90, seed=1), "Settled")
    assert re.search(
        r"The run had settled after \d+ .*evaluations, and looked for another minimum: none", read(page).text()
    )


def test_the_best_value_and_the_counts_are_shown(failing: Result, failing_page: str, read) -> None:
    shown = read(failing_page).text("dd")
    assert f"{failing.fun:.6g}"[:5] in shown.replace(" × 10", "e")
    assert f"{failing.nfev} {failing.n_failures} failed" in shown


def test_the_best_point_can_be_copied_with_all_digits(failing: Result, failing_page: str, read) -> None:
    assert json.loads(read(failing_page).text("code")) == dict(zip(("x0", "x1"), failing.x.tolist(), strict=True))


def test_failures_are_counted_by_reason_with_an_example(failing: Result, failing_page: str, read) -> None:
    first = next(i for i, e in enumerate(failing.history.evaluations) if not e.ok)
    cells = read(failing_page).text("td")
    assert re.search(rf"FloatingPointError: the mesh <collapsed> (x0 > \S+ )?[\d.]+ ms {first} ", cells)
    assert f"{failing.n_failures} " in read(failing_page).text("th")


def test_convergence_slices_and_the_map_of_success_are_drawn(failing_page: str, read) -> None:
    titles = read(failing_page).text("title")
    for what in (
        "Convergence over 24",
        "Distance of the best",
        "along x0",
        "along x1",
        "probability of success over x0",
    ):
        assert what in titles


def test_settings_and_versions_are_listed(failing_page: str, read) -> None:
    text = read(failing_page).text("tr") + read(failing_page).text("th") + read(failing_page).text("td")
    for what in ("experts", "min_success", "numpy", surefoot.__version__):
        assert what in text


def test_what_was_left_to_the_likelihood_is_shown_as_it_was_decided(failing: Result, failing_page: str, read) -> None:
    assert failing.settings.kernel == "auto"
    assert f"auto: {failing.model.kernel}" in read(failing_page).text("td")
    assert f"auto: {failing.model.warp}" in read(failing_page).text("td")


def test_ids_are_unique(failing_page: str, read) -> None:
    ids = read(failing_page).ids
    assert len(ids) == len(set(ids))


def test_a_space_of_all_kinds_with_awkward_names_is_reported(read) -> None:
    text = read(report(minimize(mixed, MIXED, n_evals=30, n_init=20), "Mixed")).text()
    for what in ("a <b>", "n $", "x & y", "温度", "1 to 5000, integer, log", "the value was nan"):
        assert what in text


@pytest.mark.parametrize("bounds", [Real(-1e300, 1e300), Real(1e-300, 1e300, log=True), Real(5.0, 5.0000001)])
def test_ranges_of_any_size_are_reported(bounds: Real, read) -> None:
    page = report(minimize(lambda x: float(np.sign(x[0])), [bounds], n_evals=3), "Extremes")
    assert "along x0" in read(page).text("title")


def test_categories_alone_are_reported(read) -> None:
    page = report(
        minimize(lambda x: float(len(x[0])), [Categorical(["a", "bb", "ccc"])], n_evals=3, n_init=2), "Choices"
    )
    assert "along x0" in read(page).text("title")


def test_one_parameter_that_fails_is_reported(read) -> None:
    page = report(minimize(fails_on_the_right, [(-1.0, 1.0)], n_evals=16, n_init=12), "One parameter")
    assert read(page).text("title").count("Predicted value along") == 1


@pytest.mark.slow
def test_of_many_parameters_the_most_relevant_are_drawn(read) -> None:
    page = report(minimize(lambda x: x[13] ** 2, [(-1.0, 1.0)] * 14, n_evals=20, n_init=18), "Many")
    titles = read(page).text("title")
    assert titles.count("Predicted value along") == 12
    assert titles.index("Predicted value along x13") == titles.index("Predicted value along")
    assert "12 most relevant of 14" in read(page).text("figcaption")


def test_a_maximization_reports_its_largest_value(read) -> None:
    optimizer = Optimizer([(-1.0, 1.0)] * 2, n_init=8, maximize=True)
    for _ in range(10):
        x = optimizer.ask()
        optimizer.tell(x, -bowl(x))
    reading = read(report(optimizer.result(), "Up"))
    assert "Largest value" in reading.text("dt")
    assert "maximized" in reading.text("p")


def test_nothing_evaluated_is_said(read) -> None:
    page = report(Optimizer({"a": (0.0, 1.0)}).result(), "Nothing")
    assert "Nothing has been evaluated yet" in read(page).text()
    assert headings(page, read) == "Result Settings"


def test_nothing_succeeded_is_said_with_the_reasons(read) -> None:
    reading = read(report(minimize(lambda x: math.nan, [(-1.0, 1.0)] * 2, n_evals=5), "All failed"))
    assert "No evaluation has succeeded" in reading.text()
    assert "the value was nan" in reading.text("td")
    assert "believes" not in reading.text("h2")


def test_one_evaluation_is_reported(read) -> None:
    assert "at evaluation 0 (the first is 0)" in read(report(minimize(bowl, [(0.0, 1.0)], n_evals=1), "One")).text("dd")


def test_no_failure_is_said(read) -> None:
    assert "No evaluation failed." in read(report(minimize(bowl, [(0.0, 1.0)], n_evals=6, n_init=4), "Fine")).text()


def test_failures_that_are_not_learned_have_no_map(read) -> None:
    run = minimize(fails_on_the_right, [(-1.0, 1.0)] * 2, n_evals=14, n_init=10, failures="ignore")
    reading = read(report(run, "Ignored"))
    assert "probability of success over" not in reading.text("title")
    assert "was not learned" in reading.text()


def test_lost_evaluations_are_told_apart_from_failures(read) -> None:
    history = History(
        (*(Evaluation((x,), x * x) for x in (0.1, 0.5, 0.9)), Evaluation((0.2,), math.nan, "transient", "worker lost"))
    )
    text = read(report(Optimizer([(0.0, 1.0)], history=history).result(), "Lost")).text()
    assert "1 of them was lost" in text


def test_a_best_point_on_a_bound_is_pointed_out(read) -> None:
    run = minimize(lambda x: x[0], [(0.0, 1.0)], x0=[[0.0], [0.5]], n_evals=4, n_init=2)
    assert "lies on a bound" in read(report(run, "Bound")).text("aside")


def test_rare_reasons_beyond_twenty_are_one_row(read) -> None:
    evaluations = [Evaluation((i / 50,), math.nan, "failed", f"reason {chr(97 + i)}") for i in range(25)]
    reading = read(report(Optimizer([(0.0, 1.0)], history=History(tuple(evaluations))).result(), "Reasons"))
    assert "the rarer ones together" in reading.text("caption")
    assert "reason t 19 other 20 " in reading.text("td")


def test_reasons_that_differ_only_in_numbers_are_one_row(read) -> None:
    reasons = [f"stress {1.5 * i} MPa at node {i} of mesh 7" for i in range(25)] + ["no licence"]
    evaluations = tuple(Evaluation((i / 50,), math.nan, "failed", reason) for i, reason in enumerate(reasons))
    reading = read(report(Optimizer([(0.0, 1.0)], history=History(evaluations)).result(), "Reasons"))
    assert "those that differ only in numbers are counted together" in reading.text("caption")
    assert "stress … MPa at node … of mesh 7 0 no licence 25 " in reading.text("td")
    assert "count reason first at evaluation 25 1 " in reading.text("th")


def test_numbers_are_those_of_the_history(failing: Result, failing_page: str, read) -> None:
    best = int(np.nanargmin(failing.func_vals))
    assert f"at evaluation {best} " in read(failing_page).text("dd")
    rows = re.findall(r'<th scope="row" class="number">(\d+)</th><td class="number">([^<]*)', failing_page)
    for number, value in rows[: int(failing.history.ok.sum())][:10]:
        assert float(value.replace("\N{MINUS SIGN}", "-").split(" ")[0])
        assert failing.history.evaluations[int(number)].ok
    assert rows[0][0] == str(best)


def test_text_that_is_no_unicode_costs_a_character_and_not_the_report(read, tmp_path: Path) -> None:
    lone = "byte \udcff"

    def simulator(x: dict) -> float:
        if x[lone] > 0.5:
            raise FloatingPointError(lone)
        return x[lone] + len(x["choice"])

    space = {lone: (0.0, 1.0), "b": (0.0, 1.0), "choice": Categorical([lone, "other"])}
    result = minimize(simulator, space, n_evals=20, n_init=18)
    page = surefoot.write_report(result, tmp_path / "report.html", title=lone).read_text()
    assert "FloatingPointError: byte " in read(page).text("td")
    assert "byte \N{REPLACEMENT CHARACTER}" in read(page).text("text")
    result.plot(str(tmp_path / "result.png"))
    result.plot_success(path=str(tmp_path / "success.png"))


def test_the_report_is_written_and_its_path_returned(failing: Result, tmp_path: Path) -> None:
    path = surefoot.write_report(failing, tmp_path / "report.html", title="Named <here>")
    assert path.read_text().count("Named &lt;here&gt;") == 2


def test_the_report_of_a_small_run_stays_small(failing_page: str) -> None:
    assert len(failing_page) < 500_000


@pytest.mark.slow
def test_the_same_result_gives_the_same_page(failing: Result) -> None:
    pages = [re.sub(r"written [^<]*", "", report(failing, "Twice")) for _ in range(2)]
    assert pages[0] == pages[1]


def test_a_folder_is_refused_as_a_path(failing: Result, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"expected .*; got .*; try "):
        surefoot.write_report(failing, tmp_path)


@pytest.mark.slow
def test_no_figure_is_left_open_in_pyplot(failing: Result) -> None:
    code = (
        "import sys, surefoot; from surefoot.reports.optimization import report;"
        "report(surefoot.minimize(lambda x: x[0], [(0, 1)], n_evals=3), 't'); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- failures by reason, and how near they are


def tube(x: dict) -> float:
    if x["inner"] >= x["outer"]:
        raise Failed("no wall")
    if x["load"] > 0.8:
        raise Failed(f"stress {1e7 * x['load']:.3g} > 8e6")
    return (x["outer"] - x["inner"] - 0.15) ** 2 + (x["inner"] - 0.4) ** 2 + 0.1 * x["t"]


@pytest.fixture(scope="module")
def tube_page() -> str:
    space = dict.fromkeys(("load", "inner", "t", "outer"), (0.0, 1.0))
    bounds = Optimizer(space).space
    units = bounds.from_uniform(np.random.default_rng(0).random((90, 4)))
    evaluations = []
    for x in (bounds.decode(unit) for unit in units):
        try:
            evaluations.append(Evaluation(x, tube(dict(zip(bounds.names, x, strict=True))), duration_s=35.0))
        except Failed as error:
            evaluations.append(Evaluation(x, math.nan, "failed", str(error), 0.2))
    return report(Optimizer(space, history=History(tuple(evaluations)), failures="ep").result(), "A tube")


def test_a_reason_is_told_with_where_it_happens_and_how_long_it_takes(tube_page: str, read) -> None:
    cells = read(tube_page).text("td")
    assert re.search(r"no wall outer < inner 200 ms \d+ ", cells)
    assert re.search(r"stress \S+ > 8e6 load > 0.[78]\d*(, inner < outer)? 200 ms \d+ ", cells)
    assert "count reason where median time first at evaluation" in read(tube_page).text("th")


def test_the_map_is_over_the_parameters_that_matter_with_a_mark_for_each_reason(tube_page: str, read) -> None:
    assert "Map of the probability of success over inner and outer" in read(tube_page).text("title")
    assert re.search(r"failed: no wall \(\d+\)", read(tube_page).text("text"))
    assert re.search(r"failed: stress … > 8e6 \(\d+\)", read(tube_page).text("text"))
    assert re.search(r"The probability of success depends on (inner|outer) \(\d+.%\), ", read(tube_page).text("p"))


def test_the_border_and_the_nearest_failure_are_told(tube_page: str, read) -> None:
    assert "falls below one half" in read(tube_page).text("caption")
    assert "parameter best point downwards upwards" in read(tube_page).text("th")
    assert "The failure nearest to the best point is evaluation " in read(tube_page).text("p")


def test_a_best_point_beside_the_border_is_pointed_out_at_the_head(read) -> None:
    run = minimize(lambda x: math.nan if x[0] > 0.5 else (x[0] - 0.49) ** 2, [(0.0, 1.0)], n_evals=20, failures="ep")
    assert "P(success) is " in read(report(run, "Near")).text("aside")


def test_failures_that_are_much_quicker_are_told(tube_page: str, read) -> None:
    assert "Failures take 200 ms, successes 35 s (medians)." in read(tube_page).text("p")


def test_without_failures_nothing_is_said_of_a_border(read) -> None:
    reading = read(report(minimize(bowl, [(0.0, 1.0)] * 2, n_evals=8), "Fine"))
    assert "P(success)" not in reading.text("aside")
    assert "No evaluation failed." in reading.text("p")
    assert "medians" not in reading.text("p")


def test_very_many_different_reasons_make_a_small_table(read) -> None:
    words = ["".join(chr(97 + i // 26**k % 26) for k in range(4)) for i in range(20_000)]
    evaluations = tuple(Evaluation((i / 20_000,), math.nan, "failed", word) for i, word in enumerate(words))
    page = report(Optimizer([(0.0, 1.0)], history=History(evaluations)).result(), "Many")
    assert "other" in read(page).text("td")
    assert len(page) < 3_000_000  # the convergence has a mark for each


def test_ten_parameters_of_which_one_matters_have_their_map(read) -> None:
    run = minimize(fails_on_the_right, [(-1.0, 1.0)] * 10, n_evals=40, n_init=40, failures="ep")
    assert "over x0 and " in read(report(run, "Ten")).text("title")


def test_the_outputs_at_the_best_point_are_a_table(read) -> None:
    def beam(x) -> dict:
        return {"mass <kg>": bowl(x), "stress": 12.5, "strain": math.nan}

    page = report(minimize(beam, [(-1.0, 1.0)] * 2, n_evals=8, n_init=6, objective="mass <kg>"), "A beam")
    text = read(page).text()
    assert "The outputs at the best point" in text
    assert re.search(r"stress\s+12\.5", text)
    assert re.search(r"strain\s+not computed", text)
    assert "Smallest mass <kg>" in text


def test_a_report_of_a_single_output_has_no_table_of_outputs(failing_page: str, read) -> None:
    assert "outputs" not in read(failing_page).text()


def test_values_that_crowd_at_the_good_end_have_an_axis_with_numbers_to_read(read) -> None:
    evaluations = tuple(Evaluation((i / 29,), 150.0 + 5300.0 * (i / 29) ** 12) for i in range(30))
    run = Optimizer([(0.0, 1.0)], history=History(evaluations)).result()
    told = read(report(run, "Crowded")).text("text").split()
    assert {"200", "500", "1000", "2000", "5000"} <= set(told)
