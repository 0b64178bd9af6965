"""A whole calibration: any simulator, any number of parameters, failures in a part of the box."""

import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields
from functools import partial
from inspect import signature
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot import Integer
from surefoot.calibration import Calibration, Plan, Signal, Stepped, calibrate
from surefoot.calibration.plots import save_plots
from surefoot.errors import InvalidInputError, SurefootError, UnknownNameError
from surefoot.optimize.history import History
from tests.calibration._simulators import OSCILLATOR, OSCILLATOR_TRUTH, POPULATION_TRUTH, measured, oscillator

POSITION = measured(oscillator, OSCILLATOR_TRUTH, {"position": 0.05})
DOCUMENTED = (Path(__file__).parents[2] / "docs/understanding/inference.md").read_text()
LINE = Signal("line", [1.0, 2.0, 3.0], noise_sd=0.1)


def line(x):
    return x[0] * np.arange(1.0, 4.0)


@pytest.mark.parametrize(
    ("fixture", "truth"), [("two", OSCILLATOR_TRUTH), ("five", POPULATION_TRUTH)], ids=["two", "five"]
)
@pytest.mark.slow
def test_intervals_hold_the_truth(fixture, truth, request):
    found = request.getfixturevalue(fixture)
    assert [interval.name for interval in found.posterior.intervals] == list(found.names) == list(truth)
    assert found.posterior.converged
    assert found.posterior.samples.shape[1] == len(truth)
    for interval, true in zip(found.posterior.intervals, truth.values(), strict=True):
        assert interval.low <= true <= interval.high
        assert 0.0 < interval.sd < 0.2 * true


@pytest.mark.parametrize("fixture", ["two", "five"])
def test_the_fit_explains_the_data(fixture, request):
    found = request.getfixturevalue(fixture)
    assert found.notes == ()
    for residual, signal in zip(found.residuals, found.data, strict=True):
        assert residual.chi2_per_value == pytest.approx(1.0, abs=0.5)
        assert np.std(signal.value - found.fit[signal.name]) == pytest.approx(signal.noise_sd, rel=0.3)
    assert found.loss == pytest.approx(sum(signal.value.size for signal in found.data) / 2, rel=0.3)


def test_failures_are_counted_by_kind(two, five):
    assert set(two.failures) == {"ValueError", "NotFiniteError"}
    assert set(five.failures) == {"RuntimeError"}
    assert 0 < two.n_failures < two.n_evals == 30


def test_a_result_survives_being_saved(five, tmp_path):
    five.save(tmp_path / "five.json")
    back = Calibration.load(tmp_path / "five.json")
    assert (back.names, back.estimate, back.bounds) == (five.names, five.estimate, five.bounds)
    assert back.posterior.intervals == five.posterior.intervals
    np.testing.assert_array_equal(back.fit["prey"], five.fit["prey"])
    np.testing.assert_array_equal(back.data[0].value, five.data[0].value)


def test_the_best_fit_is_known_by_name(two):
    assert two.best == dict(zip(OSCILLATOR, two.estimate, strict=True))


@pytest.mark.parametrize(
    ("text", "came"),
    [
        ('{"format": "surefoot-history-1"}', r"whose format is 'surefoot-history-1'"),
        ('{"x": 1}', "which has no format"),
        ('"text"', "which has no format"),
        ("no JSON", r"which cannot be read \(JSONDecodeError"),
        ('{"format": "surefoot-calibration-1"}', r"which has that format but not its fields \(KeyError: 'bounds'"),
    ],
)
def test_another_file_is_refused_with_what_it_is(text, came, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    expected = r"expected a file written by Calibration.save, whose format is 'surefoot-calibration-1'"
    with pytest.raises(
        InvalidInputError, match=rf"{expected}; got .*other.json', {came}.*; try the path given to save"
    ):
        Calibration.load(path)


def test_a_history_of_an_optimizer_is_no_calibration(tmp_path):
    path = tmp_path / "history.json"
    calibrate(line, [(0.0, 3.0)], LINE, n_evals=2, posterior=False, history_path=path)
    with pytest.raises(InvalidInputError, match=r"got .*history.json', whose format is 'surefoot.*'; try"):
        Calibration.load(path)


def test_figures_are_drawn(two, tmp_path):
    paths = save_plots(two, tmp_path, truth=list(OSCILLATOR_TRUTH.values()))
    assert [path.name for path in paths] == ["posterior.png", "fit.png", "trace.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_parameters_in_a_list_reach_the_simulator_as_an_array():
    found = calibrate(line, [(0.0, 3.0)], LINE, n_evals=8, level=0.8)
    (interval,) = found.posterior.intervals
    sd = 0.1 / np.sqrt(14.0)  # exact: the posterior of a slope is normal
    assert interval.mean == pytest.approx(1.0, abs=0.1 * sd)
    assert interval.high - interval.low == pytest.approx(2 * 1.2816 * sd, rel=0.1)


def test_the_scale_of_a_parameter_is_not_that_of_its_logarithm():
    found = calibrate(lambda x: np.log(x["rate"]) * np.ones(20), {"rate": surefoot.Real(1e-3, 1e3, log=True)},
                      Signal("log", np.zeros(20), 0.1), n_evals=12)  # fmt: skip
    (interval,) = found.posterior.intervals
    assert interval.median == pytest.approx(1.0, abs=0.01)
    assert np.log(interval.high) == pytest.approx(1.645 * 0.1 / np.sqrt(20), rel=0.15)


def test_values_of_unlike_precision_count_by_it():
    data = Signal("line", [1.0, 4.0, 6.0], noise_sd=[0.01, 10.0, 10.0])
    found = calibrate(line, [(0.0, 3.0)], data, n_evals=14, posterior=False)
    assert found.posterior is None
    assert found.estimate[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    "executor", [partial(ThreadPoolExecutor, 2), partial(ProcessPoolExecutor, 2, get_context("spawn"))]
)
@pytest.mark.slow
def test_simulations_run_on_any_executor(executor):
    with executor() as workers:
        found = calibrate(oscillator, OSCILLATOR, POSITION, n_evals=20, executor=workers)
        with pytest.raises(InvalidInputError, match=r"expected the simulator to return 50 numbers for position; got 2"):
            calibrate(len, OSCILLATOR, POSITION, executor=workers)
    assert found.n_evals == 20
    assert found.posterior.converged


def test_a_stopped_calibration_goes_on_where_it_was(tmp_path):
    path = tmp_path / "history.json"
    first = calibrate(oscillator, OSCILLATOR, POSITION, n_evals=5, posterior=False, history_path=path)
    assert len(History.load(path)) == 5
    more = calibrate(oscillator, OSCILLATOR, POSITION, n_evals=7, posterior=False, history_path=path)
    assert [e.x for e in more.evaluations[:5]] == [e.x for e in first.evaluations]
    other = measured(oscillator, OSCILLATOR_TRUTH, {"position": 0.1}, seed=1)
    with pytest.raises(InvalidInputError, match=r"expected the evaluations .* to belong to this data"):
        calibrate(oscillator, OSCILLATOR, other, n_evals=7, history_path=path)


def test_what_the_simulator_leaves_out_is_said():
    found = calibrate(line, [(0.0, 3.0)], Signal("line", [1.0, 5.0, 3.0], 0.1), n_evals=8, posterior=False)
    assert re.search(r"line: residuals are .* times the noise \(given\).*check units", found.notes[0])


def test_a_best_fit_at_the_bounds_is_said():
    found = calibrate(line, [(0.0, 0.9)], LINE, n_evals=8)
    assert any("the best fit of x0 lies at the bounds" in note for note in found.notes)
    assert "the interval of x0 reaches the bounds" in found.posterior.notes[-1]


@pytest.mark.parametrize("value", [[1.0, 2.0], {"other": [1.0, 2.0, 3.0]}, None, 3.0, "text"])
def test_outputs_that_are_not_the_data_s_are_a_mistake_and_end_the_run(value):
    calls = []
    with pytest.raises(InvalidInputError, match=r"expected the simulator to return 3 numbers for line; got .*; try"):
        calibrate(lambda x: calls.append(x) or value, [(0.0, 3.0)], LINE)
    assert len(calls) == 1


def test_a_dict_without_the_signal_s_name_says_which_names_came():
    with pytest.raises(
        InvalidInputError, match=r"numbers for line; got a dict with the names \['other', 'lime'\]; try"
    ):
        calibrate(lambda x: {"other": line(x), "lime": line(x)}, [(0.0, 3.0)], LINE)


def test_an_array_in_place_of_several_signals_is_shown():
    with pytest.raises(InvalidInputError, match=r"numbers for line; got array\(\["):
        calibrate(line, [(0.0, 3.0)], [LINE, Signal("other", [1.0], 0.1)])


@pytest.mark.parametrize("kind", [np.asarray, list, partial(np.array, dtype=object)], ids=["array", "list", "objects"])
def test_a_complex_output_is_a_failed_simulation(kind):
    """The root of a negative number, as a simulator may take it."""

    def root(x):
        return kind(line(x) + (0j if x[0] > 0.5 else 1j)) if x[0] < 0.8 else line(x)

    found = calibrate(root, [(0.0, 3.0)], LINE, n_evals=10, posterior=False)
    assert set(found.failures) == {"NotRealError"}
    assert all(e.ok == (e.x[0] >= 0.8) for e in found.evaluations)
    assert "expected real numbers for line; got complex ones from the simulator; try" in next(
        e.reason for e in found.evaluations if not e.ok
    )


def without_licence(x):
    raise OSError("no licence")


def test_a_simulator_that_always_fails_is_an_error_that_says_why():
    with pytest.raises(SurefootError, match=r"expected some of 6 simulations to run; all failed.*no licence"):
        calibrate(without_licence, [(0.0, 3.0)], LINE, n_evals=6)


def test_a_simulator_that_never_runs_again_at_its_best_is_an_error():
    calls = iter(range(8))

    def once(x):
        next(calls)
        return line(x)

    with pytest.raises(SurefootError, match=r"expected the simulator to run at .* as it did before; it failed; try"):
        calibrate(once, [(0.0, 3.0)], LINE, n_evals=8)


@pytest.mark.parametrize(
    ("parameters", "data", "asked", "message"),
    [
        ({"n": Integer(1, 5)}, LINE, {}, "expected real parameters"),
        ([(1.0, 1.0)], LINE, {}, "low < high"),
        ([Stepped(0.0, 1.0, features=np.cos, reach=0.1)], LINE, {}, "features of x0 as finite numbers"),
        ([(0.0, 1.0)], [], {}, "at least one signal"),
        ([(0.0, 1.0)], [LINE, LINE], {}, "a name of its own"),
        ([(0.0, 1.0)], 3, {}, "at least one signal"),
        ([(0.0, 1.0)], LINE, {"level": 1.5}, "level between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters, data, asked, message):
    with pytest.raises(InvalidInputError, match=f"{message}.*got .*try"):
        calibrate(line, parameters, data, **asked)


def test_a_keyword_of_another_library_leads_to_ours():
    with pytest.raises(UnknownNameError, match=r"got n_calls; try n_evals=…"):
        calibrate(line, [(0.0, 3.0)], LINE, n_calls=10)


def test_an_unknown_keyword_is_answered_with_all_that_there_are():
    known = [
        name for name in signature(calibrate).parameters if name not in ("simulate", "parameters", "data", "asked")
    ]
    with pytest.raises(UnknownNameError) as caught:
        calibrate(line, [(0.0, 3.0)], LINE, kappa=2.0)
    listed = str(caught.value).removeprefix("expected keywords among ").split(";")[0].split(", ")
    assert sorted(listed) == sorted([*known, *(f.name for f in fields(Plan))])
    assert [name for name in listed if f"`{name}" not in DOCUMENTED] == []


def test_the_search_takes_the_surrogate_that_is_asked_for():
    assert calibrate(line, [(0.0, 3.0)], LINE, n_evals=2, posterior=False).settings["surrogate"] == "exact"
    with pytest.raises(UnknownNameError, match=r"expected a surrogate, one of 'exact'.*got 'none'; try"):
        calibrate(line, [(0.0, 3.0)], LINE, surrogate="none")


@pytest.mark.parametrize(
    ("value", "noise_sd", "at", "message"),
    [
        ([1.0, 2.0 + 1.0j], 1.0, None, "finite numbers"),
        (np.array([1.0, 2.0j]), 1.0, None, "finite numbers"),
        ([1.0, 2.0], np.array(1.0 + 1.0j), None, "noise's standard deviation of s"),
        ([1.0, np.nan], 1.0, None, "the values of s as a list of finite numbers"),
        ([], 1.0, None, "finite numbers"),
        ("text", 1.0, None, "finite numbers"),
        ([1.0, 2.0], 0.0, None, "noise's standard deviation of s, above 0"),
        ([1.0, 2.0], [1.0, 1.0, 1.0], None, "one or 2"),
        ([1.0, 2.0], 1.0, [1.0], "one place for each of the 2 values"),
    ],
)
def test_a_signal_that_cannot_be_used_is_refused(value, noise_sd, at, message):
    with pytest.raises(InvalidInputError, match=f"expected .*{message}.*got .*try"):
        Signal("s", value, noise_sd, at)


@pytest.mark.parametrize("name", [3, "", None])
def test_a_signal_whose_name_is_no_text_is_refused(name):
    with pytest.raises(InvalidInputError, match=r"expected the name of a signal as text; got .*; try Signal\("):
        Signal(name, [1.0, 2.0], 1.0)


def test_calibration_has_no_words_of_any_one_simulator():
    text = " ".join(path.read_text() for path in Path(surefoot.__file__).parent.glob("calibration/*.py"))
    assert not re.findall(r"(?i)\b(xi|f_L|f_S|\w*conductance\w*|vessel\w*|lung\w*|pulmonary|pressure|beat)\b", text)
