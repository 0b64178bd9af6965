"""No function is long or has many parameters: 60 lines from `def` to its end, 7 parameters.

Exceptions are whole kinds, named here. Nobody is excused from being short: of an exception the lines of the body count.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "surefoot"
MOST_LINES = 60
MOST_PARAMETERS = 7

# the parameters of a command are its options, those of the doors for users their documented keywords
KEYWORDS = {
    "optimize/minimize.py: minimize",
    "optimize/optimizer.py: __init__",
    "integrations/optuna.py: __init__",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(root: Path) -> Iterator[tuple[str, Function]]:
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, Function):
                yield f"{path.relative_to(root)}: {node.name}", node


def is_command(name: str, function: Function) -> bool:
    """Whether its parameters are declared for typer."""
    return name.startswith("cli/") and "typer.Option" in ast.unparse(function.args)


def n_lines(function: Function, body_only: bool) -> int:
    if not body_only:
        return function.end_lineno - function.lineno + 1
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return function.end_lineno - body[0].lineno + 1 if body else 0


def offences(name: str, function: Function) -> list[str]:
    excused = name in KEYWORDS or is_command(name, function)
    declared = function.args
    parameters = [a.arg for a in (*declared.posonlyargs, *declared.args, *declared.kwonlyargs)]
    n_parameters = len([p for p in parameters if p not in ("self", "cls")])
    lines = n_lines(function, body_only=excused)
    found = [f"{name} has {lines} lines"] if lines > MOST_LINES else []
    if n_parameters > MOST_PARAMETERS and not excused:
        found.append(f"{name} has {n_parameters} parameters")
    return found


def test_no_function_is_long_or_has_many_parameters() -> None:
    found = [said for name, function in functions(SOURCE) for said in offences(name, function)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "offends"),
    [
        ("def f(a, b, c, d, e, f, g): pass", False),
        ("def f(a, b, c, d, e, f, *, g, h): pass", True),
        ("class A:\n    def f(self, a, b, c, d, e, f, g): pass", False),
        ("def f():" + "\n    pass" * 59, False),
        ("def f():" + "\n    pass" * 60, True),
        ("async def f():" + "\n    pass" * 60, True),
    ],
    ids=["seven", "eight", "self is not counted", "60 lines", "61 lines", "a coroutine"],
)
def test_what_counts(code: str, offends: bool, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(code)
    assert bool([said for name, function in functions(tmp_path) for said in offences(name, function)]) == offends
