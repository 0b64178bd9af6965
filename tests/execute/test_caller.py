"""A process that holds a function: replaced when it has ended by itself, and a short life is nobody's failure."""

import pickle

import pytest

from surefoot.execute.caller import Caller, LoadError
from surefoot.execute.helper import Loading, Request
from surefoot.execute.processes import Processes, wait

ARGUMENT = Request(pickle.dumps(4.0))


@pytest.fixture
def make_caller():
    callers = []

    def make(**loading) -> Caller:
        callers.append(Caller(Processes(), Loading(**loading)))
        return callers[-1]

    yield make
    for caller in callers:
        caller.stop()


def test_a_process_that_has_been_idle_for_long_ends_and_is_replaced(make_caller):
    caller = make_caller(spec="math:sqrt", here="", idle_s=0.1)
    assert caller.call(ARGUMENT).value == 2.0
    assert wait(caller._process, None)
    assert caller.call(ARGUMENT).value == 2.0


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("math:nothing", "no 'nothing' in math"),
        ("math:pi", "'pi' in math is of type float"),
        ("nowhere_at_all:f", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("antigravity_:f", "ModuleNotFoundError: "),
    ],
)
def test_what_cannot_be_loaded_is_told(make_caller, spec, reason):
    with pytest.raises(LoadError, match=reason):
        make_caller(spec=spec, here="").start()


@pytest.mark.parametrize("error", ["KeyError", "KeyError()", "SystemExit(3)", "BaseException", "Mute"])
def test_whatever_an_import_raises_is_told(make_caller, tmp_path, error):
    (tmp_path / "bad.py").write_text(f"class Mute(Exception):\n    def __str__(self): raise OSError\nraise {error}")
    with pytest.raises(LoadError, match=error.partition("(")[0]):
        make_caller(spec="bad.py:f", here=str(tmp_path)).start()


def test_a_connection_that_the_function_abuses_is_a_failure(make_caller, tmp_path):
    (tmp_path / "rude.py").write_text(
        "import os, sys\ndef f(x):\n    os.write(int(sys.argv[1]), b'\\0' * 7 + b'\\1' + b'.')\n    return x"
    )
    caller = make_caller(spec="rude.py:f", here=str(tmp_path))
    # it is stopped, or sees its connection closed and ends by itself before that
    assert caller.call(ARGUMENT).reason.startswith("the process ")
