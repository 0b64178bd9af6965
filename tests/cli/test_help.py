"""Help that teaches: every command says what it does in a line that is not cut, and shows an example that is right."""

import re
import shlex

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from surefoot.cli.app import app


def commands(command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    below = getattr(command, "commands", {})
    return [path, *(found for name, child in below.items() for found in commands(child, (*path, name)))]


ALL = commands(get_command(app))
LEAVES = [path for path in ALL if len(path) == 2 or (path and path[0] not in ("pulmonary", "study"))]


def help_of(path: tuple[str, ...]) -> str:
    done = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert done.exit_code == 0
    return done.output


def test_all_commands_are_found():
    assert {("run",), ("pulmonary", "infer"), ("study", "benchmark")} <= set(LEAVES)


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "surefoot")
def test_no_line_is_cut_and_no_flag_has_a_type(path):
    text = help_of(path)
    assert "<bool>" not in text
    assert "..." not in text.split("Commands:")[-1] if "Commands:" in text else True


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_has_an_example_with_options_that_exist(path):
    text = help_of(path)
    example = " ".join(re.findall(r"Example: (surefoot .*?)\n\n", text, re.DOTALL)[0].split())
    words = shlex.split(example)
    assert words[1 : 1 + len(path)] == list(path)
    for option in (word for word in words if word.startswith("-")):
        assert re.search(rf"^\s+(-\w, )?{option}\b|^\s+--\w+, {option}\b|, {option}\b", text, re.MULTILINE), option


def test_a_group_without_a_command_prints_its_help():
    for group in ("study", "pulmonary"):
        assert "Commands:" in CliRunner().invoke(app, [group]).output
