"""Problems made of small Python programs, and a reporter that remembers what it was told."""

import multiprocessing
import sys
from pathlib import Path

import pytest

from surefoot.integrations.optuna_history import TRANSIENT, was_evaluated
from surefoot.runs.claims import LATE
from surefoot.runs.problem import Problem, problem_from


class Remembering:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.counts = None

    def progress(self, counts) -> None:
        self.counts = counts

    def note(self, text: str) -> None:
        self.notes.append(text)

    def saved(self, study) -> None:
        pass


@pytest.fixture
def reporter() -> Remembering:
    return Remembering()


@pytest.fixture
def make_problem(tmp_path):
    """A problem whose command is the given Python code, with the parameters as its arguments."""

    def make(code: str = "", *, parameters=None, python: str = "", **table) -> Problem:
        parameters = parameters or {"a": {"low": -5.0, "high": 10.0}, "b": {"low": 0.0, "high": 15.0}}
        objective = dict(table.pop("objective", {}))
        if python:
            (tmp_path / "function.py").write_text(python)
            objective["python"] = "function.py:evaluate"
        else:
            program = tmp_path / "program.py"
            program.write_text(code)
            arguments = ["{" + name + "}" for name in parameters]
            # -I -S: a bare interpreter, which starts faster
            objective.setdefault("command", [sys.executable, "-I", "-S", str(program), *arguments])
        return problem_from({"name": "p", "parameters": parameters, "objective": objective, **table}, Path(tmp_path))

    return make


LEDGER_CODE = """
import os, sys, time
a, b, number = float(sys.argv[1]), float(sys.argv[2]), os.environ["SUREFOOT_TRIAL"]
def log(text):  # appended and synced: what this program did cannot be forgotten
    file = os.open({path!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, (text + "\\n").encode())
    os.fsync(file)
    os.close(file)
log("start " + number)
time.sleep({sleep})
value = (a - 3.0) ** 2 + (b - 2.0) ** 2
fails = a > 7.0
log("end " + number + " " + ("fail" if fails else repr(value)))
if fails:
    sys.exit("the mesh collapsed")
print(repr(value))
"""


class Ledger:
    """What the objective itself wrote down, against what the study says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = False
        self._reported: dict[int, float | None] = {}

    def code(self, sleep: float) -> str:
        return LEDGER_CODE.format(path=str(self.path), sleep=sleep)

    def ends(self) -> dict[int, float | None]:
        """Values by trial number; None: failed. No number ends twice, unless its trial was torn off the log."""
        lines = [line.split() for line in self.path.read_text().splitlines()] if self.path.exists() else []
        ended = [(int(number), None if rest[0] == "fail" else float(rest[0])) for kind, number, *rest in lines if rest]
        assert self.torn or len(dict(ended)) == len(ended), "a trial was evaluated twice"
        return dict(ended)

    def check(self, study) -> int:
        """Everything reported is there still, and is what the objective said; the number of evaluations that count."""
        ends = self.ends()
        finished = {t.number: t.value for t in study.get_trials(deepcopy=False) if was_evaluated(t)}
        lost_twice = {t.number for t in study.get_trials(deepcopy=False) if TRANSIENT in t.user_attrs}
        for number, value in self._reported.items():
            assert finished.get(number, "lost") == value, f"the result of trial {number} is lost"
        late = {t.number: t.user_attrs.get(LATE, t.number) for t in study.get_trials(deepcopy=False)}
        for number, value in finished.items():
            own = number in lost_twice or ends[late[number]] == value
            assert own, f"trial {number} has a value that is not its own"
        self._reported = finished
        points = [tuple(t.params.values()) for t in study.get_trials(deepcopy=False) if was_evaluated(t)]
        assert len(set(points)) == len(points), "a point was counted twice"
        return len(finished)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.txt")


def _work(problem: Problem, place: str | None, workers: int) -> None:
    from surefoot.runs.worker import run

    reporter = Remembering()
    run(problem, place, workers=workers, reporter=reporter)


@pytest.fixture
def start_worker():
    """Work on a problem in a process of its own, forked so that it begins at once; killed at the end of the test."""
    context = multiprocessing.get_context("fork")
    started = []

    def start(problem: Problem, place: str | None = None, workers: int = 1):
        process = context.Process(target=_work, args=(problem, place, workers))
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        if process.is_alive():
            process.kill()
        process.join()
        process.close()
