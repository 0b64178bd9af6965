"""Functions called in processes of their own, by a program with threads, from scripts, threads and pools."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import surefoot
from surefoot import minimize
from surefoot.errors import MAX_REASON, InvalidInputError
from surefoot.execute.isolate import isolated
from surefoot.execute.supervise import descendants

ROOT = str(Path(surefoot.__file__).parent.parent)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's subreaper")


def limits(timeout_s=None, memory_limit_mb=None):
    return SimpleNamespace(in_process=True, timeout_s=timeout_s, memory_limit_mb=memory_limit_mb)


def call(function, argument=None, **given):
    with isolated(function, limits(**given)) as prepared:
        return prepared.call(argument)


def script(text: str, *arguments: str, **options) -> subprocess.Popen:
    """A program of a user: no guard of its main module."""
    begin = f"import sys; sys.path.insert(0, {ROOT!r}); from surefoot import minimize\n"
    command = [sys.executable, "-c", begin + textwrap.dedent(text), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def output(text: str, *arguments: str, **options) -> str:
    program = script(text, *arguments, **options)
    try:
        out, err = program.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        pytest.fail("it hangs")
    assert program.returncode == 0, err
    return out


# --- how the function gets there


def test_a_program_whose_other_threads_are_inside_blas_can_isolate():
    text = """
        import threading
        import numpy as np
        a = np.ones((1000, 1000))
        def multiply():
            while True: a @ a
        threading.Thread(target=multiply, daemon=True).start()
        print(minimize(lambda x: float(x @ x), [(-1, 1)], n_evals=8, isolate="process", timeout=60).n_failures)
    """
    assert output(text, env={**os.environ, "OPENBLAS_NUM_THREADS": "2"}).strip() == "0"


def test_a_function_of_a_script_without_a_guard_takes_what_it_uses_along():
    text = """
        import numpy as np
        scale = np.full(3, 2.0)
        class Model:
            def value(self, x): return float(scale.sum() * x[0])
        model = Model()
        def f(x): return model.value(x)
        print(minimize(f, [(1, 2)], n_evals=2, isolate="process").n_failures)
        print(minimize(model.value, [(1, 2)], n_evals=2, isolate="process").n_failures)
    """
    assert output(text).split() == ["0", "0"]


def test_a_module_that_only_the_path_of_the_program_knows_is_found(tmp_path):
    (tmp_path / "mine.py").write_text("def f(x): return x[0]")
    text = """
        sys.path.append(sys.argv[1])
        import mine
        print(minimize(mine.f, [(1, 2)], n_evals=2, isolate="process").nfev)
    """
    assert output(text, str(tmp_path)).strip() == "2"


def test_the_working_directory_is_the_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(lambda _: os.getcwd()).value == str(tmp_path)


def test_a_function_that_cannot_be_sent_is_refused_with_the_name_of_what_it_uses():
    lock = threading.Lock()
    calls = []

    def f(x):
        with lock:
            calls.append(x)
        return 0.0

    with pytest.raises(InvalidInputError, match=r"(?s)expected.*got .*f, which uses the variable 'lock'.*lock.*try"):
        minimize(f, [(0, 1)], n_evals=3, isolate="process")
    with pytest.raises(InvalidInputError, match="the argument 'guard'"):
        minimize(functools.partial(f, guard=lock), [(0, 1)], n_evals=3, isolate="process")


def test_a_function_that_cannot_be_loaded_is_refused_before_the_first_evaluation(tmp_path, monkeypatch):
    path = tmp_path / "here_now.py"
    path.write_text("def f(x): return 0.0")
    monkeypatch.syspath_prepend(tmp_path)
    import here_now

    path.unlink()
    for cached in (tmp_path / "__pycache__").glob("*"):
        cached.unlink()
    with pytest.raises(InvalidInputError, match=r"(?s)expected.*got ModuleNotFoundError.*here_now.*try"):
        minimize(here_now.f, [(0, 1)], n_evals=3, isolate="process")
    sys.modules.pop("here_now")


# --- what comes back


def test_an_exception_that_cannot_be_printed_is_a_failure():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    def f(x):
        raise MuteError

    for isolate in (None, "process"):
        result = minimize(f, [(0, 1)], n_evals=1, isolate=isolate)
        assert result.history.evaluations[0].reason.startswith("MuteError: ")


def test_a_reason_is_text_that_can_be_stored_and_not_too_long():
    def f(x):
        raise ValueError("\udc80\0" + "long" * 10_000)

    reason = call(f).reason
    assert len(reason) == MAX_REASON
    assert reason.encode().decode() == reason
    assert reason.startswith("ValueError: \\udc80\ufffdlong")


@pytest.mark.parametrize("value", [1.5, 3, True, None, 1j, np.float32(1.5), np.array([1.5]), [[2.5]], np.bool_(True)])
def test_a_number_comes_back_as_pythons_own(value):
    back = call(lambda _: value).value
    assert type(back) in (float, int, bool, complex, type(None))
    assert back == np.reshape(value, ()).item()


def test_what_is_no_number_is_a_failure_and_never_leaves_its_process():
    class Stubborn:
        def __reduce__(self):
            os._exit(1)

        def __array__(self, *args, **kwargs):
            raise RuntimeError("no")

    with isolated(lambda f: f(), limits()) as prepared:
        assert "(RuntimeError: no)" in prepared.call(lambda: Stubborn()).reason
        assert "ndarray, not a number (TypeError: of shape (1000000,))" in prepared.call(lambda: np.zeros(10**6)).reason
        assert prepared.call(lambda: [[1], [2, 3]]).reason.startswith("the function returned list, not a number")
        outputs = prepared.call(lambda: {"mass": np.float32(0.5), "mesh": Stubborn(), 3: 1}).value
        assert outputs == {"mass": 0.5, "mesh": "of type Stubborn", 3: 1}
        assert len(prepared.call(lambda: "text" * 10**6).value) < 1000


def test_nothing_remains_of_a_call():
    calls = []

    def f(x):
        calls.append(x)
        return len(calls)

    with isolated(f, limits()) as prepared:
        assert [prepared.call(None).value for _ in range(3)] == [1, 1, 1]


def test_the_process_stays_from_call_to_call():
    with isolated(lambda _: os.getppid(), limits()) as prepared:
        assert len({prepared.call(None).value for _ in range(5)}) == 1


# --- deaths


@LINUX
def test_a_death_is_noticed_while_something_it_started_holds_its_pipe(tmp_path, pids_in, all_end):
    def f(path):
        pid = os.fork()  # as the workers of a pool
        if pid == 0:
            time.sleep(600)
        with open(path, "a") as file:
            file.write(f"{pid}\n")
        os._exit(7)

    assert "status 7" in call(f, str(tmp_path / "pids")).reason
    assert all_end(pids_in(tmp_path / "pids", 1))


@LINUX
def test_a_pool_inside_an_evaluation_that_dies_hides_nothing():
    def f(x):
        pool = ProcessPoolExecutor(2, mp_context=get_context("fork"))
        pool.submit(time.sleep, 600)
        pool.submit(os.getpid).result()
        ctypes.string_at(0)

    assert "SIGSEGV" in call(f).reason


@LINUX
def test_nothing_in_a_session_of_its_own_outlives_a_timeout(tmp_path, pids_in, all_end):
    def f(path):
        subprocess.run(["setsid", "sh", "-c", f"echo $$ >> {path}; sleep 600 & echo $! >> {path}; wait"])

    path, timeout_s = tmp_path / "pids", 0.5
    while not path.exists() or path.read_text().count("\n") < 2:  # on a busy machine it takes a while to begin
        path.unlink(missing_ok=True)
        timeout_s *= 2
        assert call(f, str(path), timeout_s=timeout_s).reason.startswith("timeout")
    assert all_end(pids_in(path, 2))


def test_a_timeout_costs_no_new_process():
    def f(seconds):
        time.sleep(seconds)
        return os.getppid()

    with isolated(f, limits(timeout_s=1.0)) as prepared:
        first = prepared.call(0.0).value
        assert prepared.call(600.0).reason.startswith("timeout")
        assert prepared.call(0.0).value == first


def test_a_process_that_died_idle_is_replaced():
    with isolated(lambda _: os.getppid(), limits()) as prepared:
        first = prepared.call(None).value
        os.kill(first, signal.SIGKILL)
        assert prepared.call(None).value not in (None, first)


def test_an_evaluation_that_kills_the_process_behind_it_is_a_failure():
    with isolated(lambda kill: kill and os.kill(os.getppid(), signal.SIGKILL), limits()) as prepared:
        assert "SIGKILL" in prepared.call(True).reason
        assert prepared.call(False).reason == ""


@LINUX
def test_what_loading_the_function_started_stays(tmp_path, monkeypatch):
    (tmp_path / "with_server.py").write_text(
        "import subprocess\nserver = subprocess.Popen(['sleep', '600'])\ndef f(x): return server.pid"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import with_server

    with_server.server.kill()
    with_server.server.wait()
    with isolated(with_server.f, limits()) as prepared:
        first = prepared.call(None).value
        os.kill(first, 0)
        assert prepared.call(None).value == first
        os.kill(first, 0)
    sys.modules.pop("with_server")


@LINUX
def test_no_process_is_left_when_minimize_returns(all_end):
    before = set(descendants(os.getpid()))
    seen = []
    minimize(
        lambda x: float(x[0]), [(0, 1)], n_evals=3, isolate="process",
        callback=lambda _: seen.extend(descendants(os.getpid())),
    )  # fmt: skip
    assert set(seen) - before
    assert not set(descendants(os.getpid())) - before


@LINUX
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_an_evaluation_ends_with_the_script(tmp_path, pids_in, all_end, sig):
    text = """
        import os, subprocess, time
        def f(x):
            with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\n{os.getppid()}\\n")
            subprocess.run(["setsid", "sh", "-c", f"echo $$ >> {sys.argv[1]}; sleep 600"])
        path = sys.argv[1]
        minimize(lambda x, f=f: f(x), [(0, 1)], n_evals=3, isolate="process")
    """.replace("sys.argv[1]", repr(str(tmp_path / "pids")))
    program = script(text)
    pids = pids_in(tmp_path / "pids", 3)
    program.send_signal(sig)
    program.communicate()
    assert program.returncode == -sig
    assert all_end(pids)


def test_an_interrupt_is_for_the_program_and_ends_its_evaluation(tmp_path, pids_in, all_end):
    text = """
        import os, time
        def f(x):
            with open(PATH, "a") as file: file.write(f"{os.getpid()}\\n")
            try:
                time.sleep(600)
            except KeyboardInterrupt:
                with open(PATH, "a") as file: file.write("interrupted")
        print(minimize(f, [(0, 1)], n_evals=3, isolate="process").message)
    """.replace("PATH", repr(str(tmp_path / "pids")))
    program = script(text, start_new_session=True)
    pids = pids_in(tmp_path / "pids", 1)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does
    out, _ = program.communicate()
    assert out.startswith("interrupted from the keyboard")
    assert all_end(pids)
    assert "interrupted" not in (tmp_path / "pids").read_text()


@LINUX
def test_a_machine_without_descriptors_left_is_told_from_a_failure_of_the_point():
    text = """
        import os, resource
        from types import SimpleNamespace
        from surefoot.execute.isolate import isolated
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limits = SimpleNamespace(in_process=True, timeout_s=60.0, memory_limit_mb=None)
        def outcome_with(limit):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            outcome = prepared.call(2.0)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            return outcome
        in_use = max(map(int, os.listdir("/proc/self/fd"))) + 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (in_use, hard))
        with isolated(lambda x: x, limits) as prepared:
            print(outcome_with(in_use).machine, outcome_with(soft).value, outcome_with(in_use).value)
    """
    assert output(text).split() == ["True", "2.0", "2.0"]


# --- several at once


@pytest.mark.parametrize("kind", ["threads", "spawn", "fork"])
def test_parallel_evaluations_each_have_their_process(kind):
    def mixed(x):  # no pool could send it itself
        if x[0] > 0.5:
            os._exit(3)
        return float(x[0])

    pool = ThreadPoolExecutor(4) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context(kind))
    with pool as executor:
        result = minimize(mixed, [(0, 1)], n_evals=16, n_init=16, executor=executor, n_workers=4, isolate="process")
    assert (result.nfev, result.n_failures) == (16, 8)
    assert {e.reason for e in result.history.evaluations if not e.ok} == {
        "the process exited with status 3 and no result (os._exit?)"
    }


@LINUX
def test_a_crash_is_noticed_while_other_evaluations_run(tmp_path, eventually):
    """Whatever was started later must not hold the pipes of what was started before."""

    def f(action):
        if action == "crash":
            os.abort()
        while not Path(action).exists():
            time.sleep(0.01)
        return 1.0

    flag = tmp_path / "go on"
    with isolated(f, limits()) as prepared, ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(prepared.call, str(flag)) for _ in range(3)]
        for _ in range(3):
            assert "SIGABRT" in threads.submit(prepared.call, "crash").result(60).reason
        assert not any(future.done() for future in waiting)
        flag.touch()
        assert [future.result(60).value for future in waiting] == [1.0] * 3


def test_every_call_has_random_numbers_of_its_own():
    found = minimize(lambda x: float(np.random.random()), [(0, 1)], n_evals=4, isolate="process").history.y
    assert len(set(found.tolist())) == 4
