"""Evaluations in a process of their own: what kills it, starves it or hangs it is one failed evaluation."""

import ctypes
import os
import subprocess
import sys
import time

import pytest

from surefoot import minimize
from surefoot.errors import InvalidInputError, TooManyFailuresError
from surefoot.optimize.evaluate import Guard, evaluate
from surefoot.optimize.space import Space

LINE = Space.of([(0, 1)])


def run(fun, **guard):
    return evaluate(fun, LINE, (0.5,), Guard(**guard))


def segfault(x):
    ctypes.string_at(0)


def hog(x):
    return float(len(bytearray(4 * 2**30)))


def test_a_segmentation_fault_is_a_failure_with_that_reason():
    evaluation = run(segfault, isolate="process")
    assert (evaluation.status, "SIGSEGV" in evaluation.reason) == ("failed", True)


def test_an_os_exit_is_a_failure_with_its_status():
    evaluation = run(lambda x: os._exit(7), isolate="process")
    assert (evaluation.status, "status 7" in evaluation.reason) == ("failed", True)


def test_a_sys_exit_is_a_failure():
    assert "SystemExit" in run(lambda x: sys.exit("bye"), isolate="process").reason


def test_an_exception_keeps_its_type_and_message():
    def fun(x):
        raise ZeroDivisionError("by zero")

    assert run(fun, isolate="process").reason == "ZeroDivisionError: by zero"


def test_a_value_comes_back():
    assert run(lambda x: 2.0 * x[0], isolate="process").y == 1.0


def test_a_value_that_cannot_be_sent_is_a_failure():
    assert run(lambda x: lambda: 0, isolate="process").status == "failed"


def test_too_much_memory_is_a_failure():
    evaluation = run(hog, memory_limit_mb=300)
    assert evaluation.status == "failed"
    assert "MemoryError" in evaluation.reason or "killed" in evaluation.reason


def test_memory_within_the_limit_is_granted():
    assert run(lambda x: float(len(bytearray(50 * 2**20))), memory_limit_mb=500).y == 50 * 2**20


def test_a_hanging_evaluation_is_stopped():
    evaluation = run(lambda x: time.sleep(600), timeout_s=0.3)
    assert evaluation.status == "failed"
    assert evaluation.reason.startswith("timeout")
    assert evaluation.duration_s >= 0.3


def test_a_hanging_evaluation_that_ignores_the_polite_signal_is_stopped():
    def fun(x):
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)

    assert run(fun, timeout_s=0.2).reason.startswith("timeout")


def test_no_orphan_is_left_when_an_evaluation_is_stopped(tmp_path):
    pid_file = tmp_path / "pid"

    def fun(x):
        child = subprocess.Popen(["sleep", "600"])
        pid_file.write_text(str(child.pid))
        child.wait()

    run(fun, timeout_s=1.0)
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline and _is_running(pid):
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_run_goes_on_after_deaths_and_hangs():
    def fun(x):
        if x[0] < 0.2:
            ctypes.string_at(0)
        if x[0] < 0.3:
            time.sleep(600)
        return (x[0] - 0.6) ** 2

    result = minimize(fun, [(0, 1)], n_evals=20, timeout=1.0)
    assert result.nfev == 20
    assert result.fun < 1e-3
    assert any("SIGSEGV" in e.reason for e in result.history.evaluations)


# --- transient failures


def test_a_transient_failure_is_tried_again():
    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) < 3:
            raise OSError("disk full")
        return 1.0

    evaluation = run(fun, retry_on=(OSError,), n_retries=2)
    assert (evaluation.y, len(calls)) == (1.0, 3)


def test_a_transient_failure_that_persists_is_recorded_as_such():
    def fun(x):
        raise ConnectionError("gone")  # a kind of OSError

    evaluation = run(fun, retry_on=(OSError,), n_retries=1)
    assert evaluation.status == "transient"
    assert "tried 2 times" in evaluation.reason


def test_a_transient_failure_in_a_process_of_its_own_is_recognized():
    def fun(x):
        raise ConnectionError("gone")

    assert run(fun, retry_on=(OSError,), n_retries=0, isolate="process").status == "transient"


def test_other_exceptions_are_not_tried_again():
    calls = []

    def fun(x):
        calls.append(x)
        raise ValueError("no")

    assert run(fun, retry_on=(OSError,), n_retries=5).status == "failed"
    assert len(calls) == 1


def test_transient_failures_teach_nothing():
    def fun(x):
        if x[0] < 0.5:
            raise OSError("disk full")
        return float(x[0])

    result = minimize(fun, [(0, 1)], n_evals=12, n_init=6, retry_on=OSError, n_retries=0)
    assert {e.status for e in result.history.evaluations} == {"ok", "transient"}
    assert result.success_probability([[0.1], [0.9]]).tolist() == [1.0, 1.0]


# --- giving up


def test_too_many_failures_in_a_row_stop_the_run_with_everything_kept():
    def fun(x):
        raise ValueError("mesh")

    with pytest.raises(TooManyFailuresError, match=r"last 8 evaluations.*mesh") as caught:
        minimize(fun, [(0, 1)], n_evals=100, max_failures=8)
    assert caught.value.result.nfev == 8


def test_too_large_a_share_of_failures_stops_the_run():
    def fun(x):
        if x[0] > 0.3:
            raise ValueError("mesh")
        return float(x[0] ** 2 - x[0])

    with pytest.raises(TooManyFailuresError, match="evaluations failed"):
        minimize(fun, [(0, 1)], n_evals=100, n_init=6, max_failures=0.5)


def test_without_a_limit_a_run_of_failures_uses_its_budget():
    def fun(x):
        raise ValueError("mesh")

    assert minimize(fun, [(0, 1)], n_evals=60, max_failures=None).n_failures == 60


@pytest.mark.parametrize(
    "settings",
    [
        {"isolate": "thread"},
        {"timeout": -1.0},
        {"timeout": "soon"},
        {"memory_limit_mb": 0},
        {"n_retries": -1},
        {"retry_on": "OSError"},
        {"max_failures": 0},
        {"max_failures": 1.5},
        {"failures": "penalty"},
        {"min_success": 1.0},
    ],
    ids=str,
)
def test_a_bad_setting_is_rejected_with_a_three_part_message(settings):
    with pytest.raises(InvalidInputError, match=r"(?s)expected.*got.*try"):
        minimize(lambda x: 0.0, [(0, 1)], n_evals=2, **settings)
