"""Problems made of small Python programs, and a reporter that remembers what it was told."""

import sys
from pathlib import Path

import pytest

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
