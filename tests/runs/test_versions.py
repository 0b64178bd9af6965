"""Parameters that are changed in a running study: what is inside goes on, what is outside is kept, nothing is lost."""

import pytest

from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import result_of
from surefoot.runs.add import add_rows
from surefoot.runs.claims import Claims
from surefoot.runs.rows import read_rows
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, open_storage, opened
from surefoot.runs.study import CHANGES, counts_of, open_study
from surefoot.runs.tables import trial_rows

BOWL = "import sys; a, b, *more = map(float, sys.argv[1:]); print((a - 3) ** 2 + (b - 2) ** 2 + sum(more))"
A, B = {"low": -5.0, "high": 10.0}, {"low": 0.0, "high": 15.0}


@pytest.fixture
def problem(make_problem):
    def make(n_evals=8, a=A, b=B, name="p", **more):
        return make_problem(BOWL, parameters={"a": a, "b": b, **more}, n_evals=n_evals, n_init=4, name=name)

    return make


def rows_of(problem):
    with opened(problem.default_storage) as storage:
        return trial_rows(load_study(storage))


def test_what_lies_inside_counts_and_what_lies_outside_is_kept(problem, reporter):
    run(problem(), reporter=reporter)
    before = rows_of(problem())
    new = problem(a={"low": 0.0, "high": 5.0})
    result = run(new, reporter=reporter)
    rows = rows_of(new)
    outside = [row["number"] for row in before if not 0.0 <= row["a"] <= 5.0]
    assert 0 < len(outside) < 8
    assert [row["number"] for row in rows if row["status"] == "outside"] == outside
    assert result.nfev == 8  # those that count
    assert len(rows) == 8 + len(outside)
    assert all(0.0 <= x["a"] <= 5.0 for x in result.x_iters)
    assert [row["value"] for row in rows[:8]] == [row["value"] for row in before]
    assert (reporter.counts.finished, reporter.counts.outside) == (8, len(outside))
    assert result.fun == min(row["value"] for row in rows if row["status"] == "ok")


def test_the_change_is_said_and_kept_with_the_study(problem, reporter):
    run(problem(n_evals=4), reporter=reporter)
    run(problem(n_evals=4, a={"low": 0.0, "high": 5.0}, b={"low": 3.0, "high": 3.0}), reporter=reporter)
    said = (
        "a was a number between -5.0 and 10.0, is a number between 0.0 and 5.0; b was a number between 0.0 and 15.0, "
    )
    assert any(said + "is fixed at 3.0" in note for note in reporter.notes)
    with opened(problem().default_storage) as storage:
        (entry,) = load_study(storage).user_attrs[CHANGES]
    assert entry["trials"] == 4
    assert len(entry["changes"]) == 2


def test_bounds_that_are_changed_back_bring_their_evaluations_back(problem, reporter):
    first = run(problem(), reporter=reporter)
    run(problem(n_evals=1, a={"low": 0.0, "high": 5.0}), reporter=reporter)
    again = run(problem(), reporter=reporter)
    assert repr(again.history.evaluations) == repr(first.history.evaluations)  # a failure has NaN as value


def test_a_parameter_can_be_fixed_on_the_way(problem, reporter):
    run(problem(), reporter=reporter)
    result = run(problem(n_evals=3, b={"low": 2.0, "high": 2.0}), reporter=reporter)
    assert {x["b"] for x in result.x_iters} == {2.0}
    assert (reporter.counts.finished, reporter.counts.outside) == (3, 8)


def test_a_parameter_can_be_fixed_by_one_choice_on_the_way(problem, reporter):
    run(problem(c={"choices": [1, 2]}), reporter=reporter)
    result = run(problem(c={"choices": [2]}), reporter=reporter)
    assert {x["c"] for x in result.x_iters} == {2}
    assert reporter.counts.finished == 8


def with_the_first(n, problem, **table):
    """A new problem to whose study the first n evaluations of the old one were added."""
    fresh = problem(name="fresh", **table)
    study = open_study(fresh, open_storage(fresh.default_storage, create=True))
    rows = read_rows(str(problem().default_storage))
    add_rows(study, fresh, [row for row in rows if int(row.cells["number"]) < n], "p")
    return fresh


def test_it_goes_on_as_a_new_study_to_which_the_inside_was_added(problem, reporter, tmp_path):
    narrow = {"low": 0.0, "high": 5.0}
    run(problem(n_evals=12), reporter=reporter)
    with opened(problem().default_storage) as storage:
        n_inside = sum(0.0 <= t.params["a"] <= 5.0 for t in load_study(storage).trials)
    changed = run(problem(a=narrow, n_evals=n_inside + 3), reporter=reporter)
    added = run(with_the_first(12, problem, a=narrow, n_evals=n_inside + 3), reporter=reporter)
    assert [dict(x) for x in changed.x_iters] == [dict(x) for x in added.x_iters]


def test_a_parameter_can_come_with_the_value_that_it_had(problem, reporter):
    run(problem(n_evals=4), reporter=reporter)
    with pytest.raises(InvalidInputError, match=r"value that the new parameter 'c' had .* was = 0\.0"):
        run(problem(c={"low": 0.0, "high": 1.0}), reporter=reporter)
    result = run(problem(n_evals=9, c={"low": 0.0, "high": 1.0, "was": 0.0}), reporter=reporter)
    assert [x["c"] for x in result.x_iters[:4]] == [0.0] * 4
    assert [row["c"] for row in rows_of(problem())[:4]] == [0.0] * 4
    assert any(x["c"] > 0.0 for x in result.x_iters[4:])
    later = run(problem(n_evals=9, c={"low": 0.0, "high": 1.0}), reporter=reporter)  # the study remembers
    assert later.nfev == 9


def test_what_a_parameter_was_must_be_one_of_its_values(problem):
    with pytest.raises(InvalidInputError, match=r"what 'c' was as a number between 0\.0 and 1\.0; got 2\.0"):
        problem(c={"low": 0.0, "high": 1.0, "was": 2.0})


@pytest.mark.parametrize(
    ("before", "now", "values", "counted"),
    [
        ({"low": 1.0, "high": 9.0}, {"low": 1.0, "high": 9.0, "log": True}, [1.0, 2.5, 9.0], [1.0, 2.5, 9.0]),
        ({"low": 1.0, "high": 9.0, "log": True}, {"low": 0.0, "high": 3.0}, [1.0, 2.5, 9.0], [1.0, 2.5]),
        ({"low": 1.0, "high": 9.0}, {"low": 1, "high": 9, "kind": "integer"}, [1.0, 2.5, 9.0], [1, 9]),
        ({"low": 1, "high": 9, "kind": "integer"}, {"low": 0.5, "high": 5.0}, [1, 3, 9], [1.0, 3.0]),
        ({"choices": [1, 2, 4]}, {"choices": [4, 8, 2.0]}, [1, 2, 4], [2.0, 4]),
        ({"choices": [1, 2, 4]}, {"low": 2, "high": 8, "kind": "integer"}, [1, 2, 4], [2, 4]),
        ({"low": 1, "high": 9, "kind": "integer"}, {"choices": [3, "x"]}, [1, 3, 9], [3]),
        ({"choices": [True, False, 2]}, {"low": 0.0, "high": 2.0}, [True, False, 2], [2.0]),
        ({"choices": ["x", "2"]}, {"low": 0.0, "high": 2.0}, ["x", "2"], []),
    ],
)
def test_scale_kind_and_choices_may_change_and_equal_values_are_carried_over(
    make_problem, reporter, tmp_path, before, now, values, counted
):
    old = make_problem("print(1)", parameters={"a": before, "b": B}, n_init=4)
    lines = [f"{str(value).lower() if isinstance(value, bool) else value},2,{i}" for i, value in enumerate(values)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,value", *lines]))
    study = open_study(old, open_storage(old.default_storage, create=True))
    assert add_rows(study, old, read_rows(str(tmp_path / "t.csv")), "t.csv").evaluations == len(values)
    new = make_problem("print(1)", parameters={"a": now, "b": B}, n_init=4, n_evals=len(counted) + 5)
    result = run(new, reporter=reporter)
    found = [x["a"] for x in result.x_iters][: len(counted)]
    assert (found, [type(v) for v in found]) == (counted, [type(v) for v in counted])
    assert result.nfev == len(counted) + 5
    assert reporter.counts.outside == len(values) - len(counted)
    assert any(note.startswith("the parameters have changed") for note in reporter.notes)
    back = run(make_problem("print(1)", parameters={"a": before, "b": B}, n_init=4, n_evals=1), reporter=reporter)
    assert [x["a"] for x in back.x_iters[: len(values)]] == values  # nothing was lost


def test_it_goes_on_on_another_scale_as_a_new_study_would(problem, reporter):
    positive, log = {"low": 0.5, "high": 10.0}, {"low": 0.5, "high": 10.0, "log": True}
    run(problem(a=positive, n_evals=6), reporter=reporter)
    changed = run(problem(a=log, n_evals=9), reporter=reporter)
    added = run(with_the_first(6, problem, a=log, n_evals=9), reporter=reporter)
    assert [dict(x) for x in changed.x_iters] == [dict(x) for x in added.x_iters]


def test_queued_points_are_evaluated_as_the_kind_of_today(make_problem, reporter):
    code = "import sys; print(1 if sys.argv[1] == '3' else 2)"
    old = make_problem(code, parameters={"a": A, "b": B}, n_evals=1)
    study = open_study(old, open_storage(old.default_storage, create=True))
    for a in (3.0, 4.5):
        study.enqueue_trial({"a": a, "b": 1.0})
    integer = {"low": 0, "high": 9, "kind": "integer"}
    result = run(make_problem(code, parameters={"a": integer, "b": B}, n_evals=3), reporter=reporter)
    assert result.x_iters[0] == {"a": 3, "b": 1.0}
    assert result.func_vals[0] == 1.0  # the command had the text 3, not 3.0
    assert all(isinstance(x["a"], int) for x in result.x_iters)


def test_a_failure_is_carried_over_to_another_kind(make_problem, reporter, tmp_path):
    old = make_problem("print(1)", parameters={"a": {"choices": ["x", "y"]}, "b": B})
    (tmp_path / "t.csv").write_text("a,b,value,reason\nx,2,,mesh\ny,2,,mesh\n")
    study = open_study(old, open_storage(old.default_storage, create=True))
    add_rows(study, old, read_rows(str(tmp_path / "t.csv")), "t.csv")
    new = make_problem("print(1)", parameters={"a": {"choices": ["z", "y"]}, "b": B}, n_evals=3)
    result = run(new, reporter=reporter)
    assert (result.n_failures, reporter.counts.outside) == (1, 1)
    assert [e.reason for e in result.history.evaluations if not e.ok] == ["mesh"]


def test_a_parameter_that_is_gone_is_to_be_fixed_instead(problem, make_problem, reporter):
    run(problem(n_evals=1), reporter=reporter)
    with pytest.raises(InvalidInputError, match="try fixing it instead: b = "):
        run(make_problem("print(1)", parameters={"a": A}), reporter=reporter)
    run(problem(n_evals=2, mode={"choices": ["1", "2"], "was": "1"}), reporter=reporter)
    with pytest.raises(InvalidInputError, match=r'try fixing it instead: mode = \{choices = \["1"\]\}'):
        run(problem(n_evals=2), reporter=reporter)


def test_before_the_first_evaluation_parameters_may_be_anything(problem, reporter):
    open_study(problem(), open_storage(problem().default_storage, create=True))
    result = run(problem(n_evals=2, a={"low": 1, "high": 9, "kind": "integer"}), reporter=reporter)
    assert all(isinstance(x["a"], int) for x in result.x_iters)


def test_a_queued_point_outside_is_not_evaluated(problem, reporter):
    study = open_study(problem(), open_storage(problem().default_storage, create=True))
    study.enqueue_trial({"a": 9.0, "b": 1.0})
    study.enqueue_trial({"a": 4.0, "b": 1.0})
    run(problem(n_evals=1), reporter=reporter)  # takes the first
    study.enqueue_trial({"a": 8.0, "b": 1.0})
    result = run(problem(n_evals=4, a={"low": 0.0, "high": 5.0}), reporter=reporter)
    assert result.nfev == 4
    assert {"a": 4.0, "b": 1.0} in [dict(x) for x in result.x_iters]
    assert [row["status"] for row in rows_of(problem())].count("outside") == 2


def test_a_point_that_was_never_evaluated_is_no_evaluation_outside(problem, reporter):
    run(problem(n_evals=2), reporter=reporter)
    wide = problem(n_evals=4)
    with opened(wide.default_storage, write=True) as storage:
        claims = Claims(load_study(storage), wide.parameters, 4, 60.0)
        claims.study.enqueue_trial({"a": 9.0, "b": 1.0})
        claims.release(claims.claim().number, "interrupted", again=True)
    narrow = problem(n_evals=3, a={"low": -5.0, "high": 8.0})
    run(narrow, reporter=reporter)
    evaluated = [row["a"] for row in rows_of(narrow) if row["status"] in ("ok", "outside") and row["value"] is not None]
    assert reporter.counts.outside == sum(a > 8.0 for a in evaluated)
    assert [row["status"] for row in rows_of(narrow) if row["a"] == 9.0] == ["void", "outside"]  # it, and its retry


def test_a_run_whose_parameters_another_run_has_changed_stops(problem, reporter, monkeypatch):
    from surefoot.runs import worker

    ended = worker.Worker._end

    def end(self, future):
        if reporter.counts.finished == 2:
            open_study(problem(a={"low": 0.0, "high": 5.0}), open_storage(problem().default_storage))
        return ended(self, future)

    monkeypatch.setattr(worker.Worker, "_end", end)
    result = run(problem(), reporter=reporter)
    assert result.message.startswith("stopped: another run has changed the parameters")
    with opened(problem().default_storage) as storage:
        study = load_study(storage)
        assert len(study.trials) == 3
        assert counts_of(study, 8).finished == result_of(study).nfev
