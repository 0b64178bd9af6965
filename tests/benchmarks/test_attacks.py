"""The attacker's campaign: that its checks can fail, and that a short campaign finds nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.attacks import children, fuzz, hostile, server
from benchmarks.attacks.__main__ import main
from benchmarks.attacks.ledger import Counted, Fate, Line, check, read_log, write_program
from benchmarks.attacks.tally import Finding, Tally, details, is_clean, table
from benchmarks.attacks.team import Worker
from surefoot.errors import InvalidInputError

ROOT = Path(__file__).parents[2]
P, Q = (1.0, 2.0), (3.0, 4.0)


def line(what, point, at, worker=1, value=5.0, run=None):
    return Line(what, run or f"{point}-{worker}", worker, point, value if what == "end" else None, at)


def evaluated(point, worker=1, start=0.0, end=1.0):
    return [line("start", point, start, worker), line("end", point, end, worker)]


def ok(point, value=5.0):
    return Counted(point, "ok", value)


def kinds(lines, counted, n_evals, **fates):
    return [f.kind for f in check(lines, counted, n_evals, {int(name[1:]): fate for name, fate in fates.items()})]


# --- the study against the objective's log


def test_a_study_that_has_what_the_objective_logged_is_clean():
    assert kinds([*evaluated(P), *evaluated(Q)], [ok(P), ok(Q)], 2) == []


def test_a_result_that_the_study_does_not_have_is_lost():
    assert kinds([*evaluated(P), *evaluated(Q)], [ok(P)], 1) == ["lost"]


def test_a_value_that_is_not_the_objectives_is_lost():
    assert kinds(evaluated(P), [ok(P, 6.0)], 1) == ["lost"]


def test_a_failure_in_place_of_a_value_is_lost():
    assert kinds(evaluated(P), [Counted(P, "failed", None)], 1) == ["lost"]


def test_a_value_that_the_objective_never_gave_is_reported():
    assert kinds([line("start", P, 0.0)], [ok(P)], 1) == ["lost"]


def test_a_budget_that_is_not_used_up_is_reported():
    assert kinds(evaluated(P), [ok(P)], 2) == ["lost"]


def test_more_evaluations_than_the_budget_are_reported():
    assert kinds([*evaluated(P), *evaluated(Q)], [ok(P), ok(Q)], 1) == ["twice"]


def test_a_point_that_counts_twice_is_reported():
    assert "twice" in kinds(evaluated(P), [ok(P), ok(P)], 2)


def test_a_simulator_that_outlives_its_killed_worker_beside_the_repetition_is_reported():
    lines = [*evaluated(P, 1, 0.0, 5.0), *evaluated(P, 2, 2.0, 3.0)]
    assert kinds(lines, [ok(P)], 1, w1=Fate(killed=True)) == ["twice"]


def test_a_healthy_evaluation_that_is_repeated_is_reported():
    assert kinds([*evaluated(P, 1, 0.0, 1.0), *evaluated(P, 2, 2.0, 3.0)], [ok(P)], 1) == ["twice"]


def test_the_repetition_after_a_kill_is_rightful():
    lines = [line("start", P, 0.0, 1), *evaluated(P, 2, 2.0, 3.0)]
    assert kinds(lines, [ok(P)], 1, w1=Fate(killed=True)) == []


def test_the_repetition_after_a_pause_is_rightful():
    lines = [*evaluated(P, 1, 0.0, 9.0), *evaluated(P, 2, 5.0, 6.0)]
    assert kinds(lines, [ok(P)], 1, w1=Fate(paused=True)) == []


def test_a_transient_failure_is_rightful_only_if_every_worker_was_killed():
    trial = [Counted(P, "transient", None)]
    assert kinds(evaluated(P), trial, 1, w1=Fate(killed=True)) == []
    assert kinds(evaluated(P), trial, 1, w1=Fate(paused=True)) == ["lost"]


def test_an_evaluation_long_after_the_signal_to_stop_is_reported():
    assert kinds(evaluated(P, start=10.0, end=11.0), [ok(P)], 1, w1=Fate(told_to_stop=2.0)) == ["hung"]


def test_the_objective_logs_its_start_and_its_end_behind_a_shell(tmp_path):
    log = tmp_path / "objective.log"
    command = write_program(tmp_path, log, 0.0, 0.0)
    subprocess.run([*command[:-2], "1.0", "2.0"], check=True, capture_output=True)
    assert [(entry.what, entry.point, entry.value) for entry in read_log(log)] == [("start", P, None), ("end", P, 4.0)]


# --- processes


def test_an_orphan_is_reported_and_ended_and_others_are_spared(tmp_path):
    mark = f"test{os.getpid()}"
    orphan = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], children.MARK: f"{mark}-1"})
    other = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], children.MARK: f"{mark}1"})
    try:
        assert [f.kind for f in children.orphans(mark, patience_s=0.0)] == ["orphans"]
        assert orphan.wait(30) == -signal.SIGKILL
        assert other.poll() is None
        assert children.orphans(mark, patience_s=0.0) == []
    finally:
        for process in (orphan, other):
            process.kill()
            process.wait()


def test_a_process_that_does_not_end_is_a_hang(tmp_path):
    ended = children.run_bounded(["sleep", "600"], f"test{os.getpid()}-hang", tmp_path, 0.2)
    assert ended.code is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [("raise ValueError('x')", ["raw"]), ("import sys; sys.exit(7)", ["raw"]), ("import sys; sys.exit(2)", [])],
)
def test_a_worker_that_ends_in_a_traceback_or_an_unknown_status_is_reported(tmp_path, code, expected):
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdout=out, stderr=out)
    process.wait()
    assert [f.kind for f in Worker(1, process, log).findings()] == expected


def test_a_worker_that_was_killed_is_not_reported_and_one_that_died_is(tmp_path):
    worker = Worker(1, subprocess.Popen(["sleep", "600"]), tmp_path / "log")
    worker.send(signal.SIGKILL)
    worker.process.wait()
    assert worker.findings() == []
    worker.fate.killed = False
    assert [f.kind for f in worker.findings()] == ["raw"]


# --- hostile functions


def outcome(*rows, error="", own=True):
    return {"error": error, "own": own, "rows": [list(row) for row in rows]}


QUIET = [((0.9, 0.1 * i), 1.0, "ok", "", 0.1) for i in range(3)]
HOSTILE = [((0.1, 0.1 * i), None, "failed", "died", 0.1) for i in range(3)]


def judged(found, ends=None, expected="failed"):
    return [f.kind for f in hostile.judge(found, ends or {}, expected)]


def test_failures_with_reasons_are_what_has_to_come():
    assert judged(outcome(*QUIET, *HOSTILE)) == []


def test_a_raw_error_is_reported():
    assert "raw" in judged(outcome(error="KeyError: 1", own=False))


def test_a_returned_value_that_the_result_does_not_have_is_lost():
    assert judged(outcome(*QUIET, *HOSTILE), {(0.9, 0.7): 3.0}) == ["lost"]


def test_values_behind_an_own_error_are_lost_if_they_cannot_be_reached():
    assert judged(outcome(error="WorkersLostError: x"), {(0.9, 0.7): 3.0}) == ["lost"]


def test_a_hostile_point_that_counts_as_a_success_is_reported():
    assert judged(outcome(*QUIET, *HOSTILE[:2], ((0.1, 0.9), 1.0, "ok", "", 0.1))) == ["raw"]


def test_a_failure_without_a_reason_is_reported():
    assert judged(outcome(*QUIET, *HOSTILE[:2], ((0.1, 0.9), None, "failed", " ", 0.1))) == ["raw"]


def test_a_missing_evaluation_is_lost_and_a_doubled_one_counts_twice():
    assert judged(outcome(*QUIET, *HOSTILE[:2])) == ["lost"]
    assert judged(outcome(*QUIET, *HOSTILE[:2], HOSTILE[0])) == ["twice"]


# --- fuzzed input


def tried(attempt, tmp_path):
    return fuzz.try_input(attempt, random.Random(0), tmp_path, print)[0]


def test_only_an_error_of_ours_is_a_proper_answer_to_a_malformed_input(tmp_path):
    def refuse(rng, folder, say):
        raise InvalidInputError("expected; got; try")

    def break_(rng, folder, say):
        raise KeyError("x")

    assert tried(refuse, tmp_path) == ""
    assert tried(lambda rng, folder, say: None, tmp_path) == ""
    assert tried(break_, tmp_path) == "raw"


def test_an_input_that_takes_too_long_is_a_hang(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "INPUT_S", 0.05)
    previous = signal.getsignal(signal.SIGALRM)
    try:
        assert tried(lambda rng, folder, say: time.sleep(600.0), tmp_path) == "hung"
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_the_journal_tells_which_input_killed_the_process(tmp_path):
    journal = tmp_path / "journal"
    journal.write_text('["try", 7, "f(1)"]\n["found", 7, "raw", "f(1)", "KeyError"]\n["done", 7]\n["try", 8, "f(2)"]\n')
    assert fuzz.read_journal(journal) == (2, [Finding("raw", "f(1)", "KeyError")], (8, "f(2)"))


# --- the table


def test_one_finding_or_an_attack_that_was_not_tried_spoils_the_campaign():
    assert is_clean([Tally("a", 3)])
    assert not is_clean([Tally("a", 3), Tally("b", 0)])
    assert not is_clean([Tally("a", 3, [Finding("lost", "x")])])


def test_the_table_has_a_row_for_each_attack_and_findings_alike_are_one_line():
    tallies = [Tally("signals", 7, [Finding("lost", "one", "case"), Finding("lost", "two", "case")])]
    assert table(tallies).splitlines()[2].split("|")[1:4] == [" signals ", "     7 ", "    2 "]
    assert details(tallies) == "signals: LOST 2×: case: one"


@pytest.mark.parametrize("arguments", [["--only", "nothing"], ["--only", ""], ["--minutes", "0"]])
def test_an_unknown_attack_or_no_time_is_an_error(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "expected" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["sqlite", "postgres"])
def test_a_short_campaign_on_studies_finds_nothing(storage):
    if storage == "postgres" and server.missing():
        pytest.skip(server.missing())
    assert campaign("--only", "signals,outages,clocks", "--storage", storage) == 0


@pytest.mark.slow
def test_a_short_campaign_on_functions_programs_and_input_finds_nothing():
    assert campaign("--only", "functions,programs,fuzz") == 0


def campaign(*arguments):
    """In a process of its own, as anybody runs it; what it printed is shown if the test fails."""
    command = [sys.executable, "-m", "benchmarks.attacks", "--minutes", "1", "--seed", "1", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False, timeout=1200).returncode
