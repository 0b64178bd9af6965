"""Named outputs: what a function returns beside its objective is kept wherever evaluations are."""

import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from surefoot import Evaluation, Failed, History, Optimizer, minimize
from surefoot.errors import InvalidInputError
from surefoot.optimize.outputs import columns

SQUARE = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(x) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2)


def beam(x) -> dict:
    """Two outputs; stress is not computed everywhere."""
    return {"mass": bowl(x), "stress": math.nan if x[0] < 0 else 10.0 * float(x[0])}


def test_a_number_is_the_output_value() -> None:
    (evaluation,) = minimize(bowl, SQUARE, n_evals=1).history.evaluations
    assert evaluation.outputs == {"value": evaluation.y}


def test_the_only_output_is_the_objective() -> None:
    result = minimize(lambda x: {"loss": bowl(x)}, SQUARE, n_evals=3)
    assert (result.objective, result.history.outputs) == ("loss", ("loss",))
    assert result.history.evaluations[0].outputs == {"loss": result.func_vals[0]}


def test_of_several_outputs_the_named_one_is_the_objective() -> None:
    result = minimize(beam, SQUARE, n_evals=12, n_init=8, objective="mass")
    plain = minimize(bowl, SQUARE, n_evals=12, n_init=8)
    assert result.history.outputs == ("mass", "stress")
    np.testing.assert_array_equal(result.x_iters, plain.x_iters)
    assert result.outputs["mass"] == result.fun
    np.testing.assert_array_equal(result.history.output("mass"), result.func_vals)


def test_what_was_not_computed_is_nan_and_no_failure() -> None:
    history = minimize(beam, SQUARE, n_evals=12, n_init=12, objective="mass").history
    left = np.asarray([e.x[0] < 0 for e in history.evaluations])
    assert history.ok.all()
    np.testing.assert_array_equal(np.isnan(history.output("stress")), left)


def test_a_number_is_stored_under_the_name_of_the_objective() -> None:
    (evaluation,) = minimize(bowl, SQUARE, n_evals=1, objective="mass").history.evaluations
    assert evaluation.outputs == {"mass": evaluation.y}


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            {"mass": 1.0, "stress": 2.0},
            "expected one number, or a name for the objective .* got mass, stress",
        ),
        ({"mass": 1.0, "stress": "high"}, "got mass, stress, where 'stress' is 'high'; try"),
        ({}, "got none; try returning it as a number"),
    ],
)
def test_a_wrong_dict_is_a_failure_that_lists_the_names(returned: dict, said: str) -> None:
    (evaluation,) = minimize(lambda x: returned, SQUARE, n_evals=1).history.evaluations
    assert evaluation.status == "failed"
    assert re.search(said, evaluation.reason)


def test_a_dict_without_the_objective_is_a_failure_that_lists_the_names() -> None:
    (evaluation,) = minimize(lambda x: {"a": 1.0, "b": 2.0}, SQUARE, n_evals=1, objective="mass").history.evaluations
    assert evaluation.reason == (
        "expected the objective 'mass' among the outputs; got a, b; try returning it as a number"
    )


@pytest.mark.parametrize("name", ["", 3, ["mass"], b"mass"])
def test_a_name_that_is_none_is_rejected_with_a_three_part_message(name: object, rejects) -> None:
    with rejects():
        Optimizer(SQUARE, objective=name)  # type: ignore[arg-type]


def test_a_value_under_another_name_than_before_has_failed() -> None:
    names = iter(["mass", "mass", "weight", "mass"])
    history = minimize(lambda x: {next(names): bowl(x)}, SQUARE, n_evals=4).history
    assert [e.status for e in history.evaluations] == ["ok", "ok", "failed", "ok"]
    assert history.evaluations[2].reason.startswith("expected the objective 'mass' among the outputs")


def test_threads_that_return_other_names_are_noticed() -> None:
    with ThreadPoolExecutor(2) as threads:
        result = minimize(
            lambda x: {"left" if x[0] < 0 else "right": bowl(x)}, SQUARE, n_evals=8, n_init=8, executor=threads
        )
    assert 0 < result.n_failures < 8
    assert {e.objective for e in result.history.evaluations} == {result.objective}
    result.history.check()


def test_the_first_success_names_the_failures_before_it() -> None:
    def fun(x) -> dict:
        if len(calls) < 2:
            calls.append(x)
            raise ArithmeticError("diverged")
        return {"mass": bowl(x)}

    calls: list[object] = []
    history = minimize(fun, SQUARE, n_evals=4).history
    history.check()
    assert history.objective == "mass"


# --- failures


def half_way(x) -> float:
    if x[0] > 0:
        raise Failed("diverged at t = 6 s", outputs={"stress": 3.5, "note": "no number"}, progress=0.6)  # type: ignore[dict-item]
    return bowl(x)


@pytest.mark.parametrize("isolate", [None, "process"])
def test_a_failure_keeps_what_was_known_and_how_far_it_came(isolate: str | None) -> None:
    history = minimize(half_way, SQUARE, n_evals=6, n_init=6, isolate=isolate).history
    failed = [e for e in history.evaluations if not e.ok]
    assert failed
    assert {(e.reason, e.progress, *e.outputs.items()) for e in failed} == {
        ("diverged at t = 6 s", 0.6, ("stress", 3.5))
    }
    assert history.outputs == ("value", "stress")


def test_an_isolated_function_returns_names_of_any_length_and_what_is_no_number_is_left_alone() -> None:
    def fun(x) -> dict:
        return {
            "m" * 300 + "1": 1.0,
            "m" * 300 + "2": 2.0,
            "mass": np.float32(3.0),
            **({"mesh": [1, 2]} if x[0] > 0 else {}),
        }

    history = minimize(fun, SQUARE, n_evals=6, n_init=6, objective="mass", isolate="process").history
    assert [len(e.outputs) for e in history.evaluations] == [3] * 6


def test_truths_are_numbers_and_what_was_not_computed_is_none() -> None:
    def fun(x) -> dict:
        return {"mass": bowl(x), "converged": np.bool_(True), "sag": None, "note": "fine", "mesh": [1, 2]}

    history = minimize(fun, SQUARE, n_evals=3, objective="mass").history
    assert history.evaluations[0].further["converged"] == 1.0
    assert math.isnan(history.evaluations[0].further["sag"])
    assert set(history.outputs) == {"mass", "converged", "sag"}
    limited = minimize(lambda x: {"mass": bowl(x), "sound": x[0] > 0}, SQUARE, n_evals=6, outputs={"sound": ">= 1"})
    assert limited.n_failures == 0


def test_outputs_that_cannot_be_read_do_not_lose_an_isolated_failure() -> None:
    def fun(x) -> float:
        class Hostile(dict):
            def items(self):
                raise RuntimeError("no")

        raise Failed("diverged", outputs=Hostile(a=1.0))

    (evaluation,) = minimize(fun, SQUARE, n_evals=1, isolate="process").history.evaluations
    assert (evaluation.reason, evaluation.outputs) == ("diverged", {})


@pytest.mark.parametrize("progress", [1.5, -0.1, "60 %", None, math.inf])
def test_a_progress_that_is_none_does_not_lose_the_failure(progress: object) -> None:
    def fun(x) -> float:
        raise Failed("diverged", outputs=3, progress=progress)  # type: ignore[arg-type]

    (evaluation,) = minimize(fun, SQUARE, n_evals=1).history.evaluations
    assert (evaluation.reason, evaluation.outputs) == ("diverged", {})
    assert math.isnan(evaluation.progress)


def test_the_objective_of_a_failure_is_kept_and_does_not_count() -> None:
    opt = Optimizer(SQUARE, objective="mass")
    opt.tell_failure([0.1, 0.2], "mesh collapsed", outputs={"mass": 1.5})
    (evaluation,) = opt.history.evaluations
    assert evaluation.outputs == {"mass": 1.5}
    assert math.isnan(evaluation.y)
    assert opt.best is None


def test_an_objective_that_is_nan_is_a_failure_with_outputs() -> None:
    opt = Optimizer(SQUARE, objective="mass")
    opt.tell([0.1, 0.2], {"mass": math.nan, "stress": 2.0})
    (evaluation,) = opt.history.evaluations
    assert (evaluation.status, evaluation.reason, evaluation.outputs) == ("failed", "mass was nan", {"stress": 2.0})


# --- telling


def test_outputs_can_be_told() -> None:
    opt = Optimizer(SQUARE, objective="mass", maximize=True)
    opt.tell([[0.1, 0.2], [0.3, 0.4]], [{"mass": 1.0, "stress": 2}, {"stress": np.float32(3.0), "mass": 4.0}])
    assert [e.outputs for e in opt.history.evaluations] == [{"mass": 1.0, "stress": 2.0}, {"mass": 4.0, "stress": 3.0}]
    assert opt.best is not None
    assert opt.best.outputs["stress"] == 3.0


def test_a_tell_of_another_objective_is_rejected_with_a_three_part_message(rejects) -> None:
    opt = Optimizer(SQUARE)
    opt.tell([0.1, 0.2], {"mass": 1.0})
    with rejects():
        opt.tell([0.3, 0.4], {"weight": 1.0})
    with rejects():
        opt.tell([[0.3, 0.4], [0.5, 0.6]], [{"mass": 1.0}, {"weight": 1.0}])
    assert len(opt.history) == 1


@pytest.mark.parametrize(
    "told", [{"outputs": 3}, {"outputs": {"a": "b"}}, {"outputs": {3: 1.0}}, {"progress": 1.2}, {"progress": "half"}]
)
def test_a_failure_with_wrong_outputs_is_rejected_with_a_three_part_message(told: dict, rejects) -> None:
    opt = Optimizer(SQUARE)
    with rejects():
        opt.tell_failure([0.1, 0.2], **told)
    assert len(opt.history) == 0


def test_given_values_may_be_dicts() -> None:
    y0 = [{"mass": 1.0, "stress": 2.0}, {"mass": 2.0, "stress": 3.0}, None]
    result = minimize(beam, SQUARE, n_evals=3, x0=[[0, 0], [0, 1], [1, 1]], y0=y0, objective="mass")
    assert result.history.output("stress")[:2].tolist() == [2.0, 3.0]
    assert result.n_failures == 1


# --- histories


def test_values_without_a_name_take_the_given_one() -> None:
    old = History((Evaluation((0.1, 0.2), 1.0), Evaluation((0.3, 0.4), math.nan, "failed", "crashed")))
    opt = Optimizer(SQUARE, history=old, objective="mass")
    opt.tell([0.5, 0.6], {"mass": 2.0, "stress": 3.0})
    opt.history.check()
    assert opt.history.output("mass")[[0, 2]].tolist() == [1.0, 2.0]


def test_a_history_of_another_objective_is_rejected_with_a_three_part_message(rejects) -> None:
    history = minimize(beam, SQUARE, n_evals=2, objective="mass").history
    with rejects():
        Optimizer(SQUARE, history=history, objective="stress")


def test_a_history_of_failures_alone_keeps_the_name_of_its_objective() -> None:
    first = Optimizer(SQUARE, objective="mass")
    first.tell_failure([0.1, 0.2])
    opt = Optimizer(SQUARE, history=first.history)
    opt.tell([0.3, 0.4], 1.0)
    assert opt.history.outputs == ("mass",)


WRONG = {
    "two values of the objective": {"further": {"value": 2.0}},
    "an output that is no number": {"further": {"mass": "light"}},
    "no names": {"further": {1: 1.0}},
    "no objective": {"objective": ""},
    "too much progress": {"progress": 1.5},
    "endless fidelity": {"fidelity": math.inf},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_inconsistent_outputs_are_rejected_with_a_three_part_message(fields: dict, rejects) -> None:
    with rejects():
        History((Evaluation((0.1, 0.2), 1.0, **fields),)).check()


def test_an_output_that_does_not_exist_is_rejected_with_a_three_part_message(rejects) -> None:
    with rejects():
        minimize(beam, SQUARE, n_evals=2, objective="mass").history.output("strain")


def test_evaluations_of_two_objectives_are_rejected_with_a_three_part_message(rejects) -> None:
    with rejects():
        History((Evaluation((0.1,), 1.0), Evaluation((0.1,), 1.0, objective="mass"))).check()


def test_an_evaluation_can_be_changed_and_its_outputs_follow() -> None:
    from dataclasses import replace

    assert replace(Evaluation((0.1,), 1.0, further={"mass": 2.0}), y=3.0).outputs == {"value": 3.0, "mass": 2.0}


# --- tables


def test_every_further_output_is_a_column() -> None:
    rows = minimize(beam, SQUARE, n_evals=3, objective="mass").table()
    assert list(rows[0]) == ["number", "x0", "x1", "value", "stress", "best", "status", "reason", "duration_s"]


def test_progress_is_a_column_where_it_is_known() -> None:
    rows = minimize(half_way, SQUARE, n_evals=6, n_init=6).table()
    assert {row["progress"] for row in rows if row["status"] == "failed"} == {0.6}


def test_no_column_overwrites_another() -> None:
    bounds = {"status": (0.0, 1.0), "value": (0.0, 1.0), "stress": (2.0, 3.0), "parameter.value": (4.0, 5.0)}
    result = minimize(
        lambda p: {"mass": 1.0, "stress": 9.0, "reason": 8.0, "value": 7.0}, bounds, n_evals=1, objective="mass"
    )
    (row,) = result.table()
    (x,) = result.x_iters
    assert (row["status"], row["value"], row["reason"]) == ("ok", 1.0, "")
    assert (row["parameter.status"], row["parameter.value"], row["stress"]) == (x["status"], x["value"], x["stress"])
    assert row["parameter.parameter.value"] == x["parameter.value"]
    assert (row["output.stress"], row["output.reason"], row["output.value"]) == (9.0, 8.0, 7.0)


def test_columns_that_clash_with_nothing_keep_their_names() -> None:
    assert columns(["number"], ["a"], ["b"]) == ({"a": "a"}, {"b": "b"})


def test_a_result_shows_its_outputs() -> None:
    text = repr(minimize(beam, SQUARE, n_evals=3, objective="mass"))
    assert "'stress'" in text
    assert "outputs" not in repr(minimize(bowl, SQUARE, n_evals=3))


def test_outputs_survive_a_file(tmp_path: Path) -> None:
    def fun(x) -> dict:
        if x[0] > 0.5:
            raise Failed("diverged", outputs={"stress": math.inf, "mass": 3.0}, progress=0.25)
        return beam(x)

    history = minimize(fun, SQUARE, n_evals=8, n_init=8, objective="mass").history
    history.save(tmp_path / "run.json")
    assert repr(History.load(tmp_path / "run.json").evaluations) == repr(history.evaluations)


def test_a_wrong_name_of_the_objective_loses_no_number() -> None:
    result = minimize(lambda x: {"mass": x[0], "stress": 1.0, "done": True}, [(0.0, 1.0)], n_evals=1, objective="mas")
    row = result.table()[0]
    assert row["status"] == "failed"
    assert row["stress"] == 1.0
    assert "mass" in row


@pytest.mark.parametrize(("given", "kept"), [(np.float32(0.5), 0.5), (np.int64(1), 1.0), (True, None), ("x", None)])
def test_progress_is_a_number_of_any_kind_but_no_truth_value(given, kept) -> None:
    def f(x) -> float:
        raise Failed("stopped", progress=given)

    assert minimize(f, [(0.0, 1.0)], n_evals=1).table()[0].get("progress") == kept


def test_a_failure_that_was_caught_is_told_with_all_that_it_knows() -> None:
    optimizer = Optimizer([(0.0, 1.0)])
    optimizer.tell_failure([0.5], Failed("stopped", outputs={"mass": 2.0}, progress=0.25))
    (evaluation,) = optimizer.history.evaluations
    assert (evaluation.reason, evaluation.further, evaluation.progress) == ("stopped", {"mass": 2.0}, 0.25)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"objective": "mas"}, r"try the objective 'mass', which is spelled nearly so \(2 evaluations"),
        ({"outputs": {"stres": "<= 3"}}, r"try the limit of 'stres' on 'stress', .* \(2 evaluations"),
        ({"outputs": {"heat": "<= 3"}}, r"try 'mass' as the objective \(5 evaluations"),
    ],
    ids=str,
)
def test_a_misspelled_name_is_answered_with_the_one_that_was_meant(given, hint):
    with pytest.raises(InvalidInputError, match=hint) as raised:
        minimize(lambda x: {"mass": 1.0, "stress": 2.0}, SQUARE, n_evals=6, **given)
    assert raised.value.result.table()[0]["mass"] == 1.0  # nothing is lost


def test_an_output_with_a_limit_that_resembles_a_missing_one_is_not_meant():
    """A simulation that ended early has no s_max: its name is not a misspelling of s_min."""
    ends = iter([True, True, True, False])

    def f(x):
        given = {"weight": x[0], "n_steps": 7.0, "s_min": 0.0}
        return given if next(ends, False) else {"mass": x[0], "s_min": 0.0, "s_max": 1.0}

    limits = {"s_min": ">= 0", "s_max": "<= 3"}
    assert minimize(f, SQUARE, n_evals=6, outputs=limits).success
