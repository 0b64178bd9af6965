"""What import-linter cannot say: who starts processes, and that nobody reaches into another file's private parts."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "surefoot"
STARTS = re.compile(
    r"(subprocess|multiprocessing|pty)\b|concurrent\.futures\.ProcessPoolExecutor|"
    r"os\.(fork|forkpty|system|popen|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?)$"
)

# They start programs of others, never what the user wants evaluated.
TOOLS = {
    "reports/pdf.py": "a browser prints a page, on systems too where `execute` does not run",
    "paper/studies/benchmark/runner.py": "NVIDIA's service that lets processes share a GPU",
}

# Files that use private parts of other packages: there is no public way, and tests watch over it.
INSIDE_OTHERS = {
    "integrations/optuna.py": "Optuna: attributes of a trial are set through its storage",
    "runs/claims.py": "Optuna: trials are claimed in its storage",
    "runs/ends.py": "Optuna: a trial ends in one transaction",
    "pulmonary/jit.py": "Numba: the stamp of its cache",
    "backend.py": "PyTorch: kernels are compiled",
}


def files() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def starts_processes(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            found.append(ast.unparse(node))
    return [name for name in found if STARTS.match(name)]


def private_of_others(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
            found += [alias.name for alias in node.names if is_private(alias.name)]
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            whose = ast.unparse(node.value)
            if whose not in ("self", "cls", "super()") and (whose, node.attr) != ("os", "_exit"):
                found.append(f"{whose}.{node.attr}")
    return found


def is_private(name: str) -> bool:
    of_named_tuples = ("_replace", "_asdict", "_fields")  # public, under names that no field can have
    return name.startswith("_") and not name.startswith("__") and name not in of_named_tuples


def test_only_execute_starts_processes() -> None:
    found = {
        name: starts
        for name, tree in files()
        if not name.startswith("execute/") and name not in TOOLS and (starts := starts_processes(tree))
    }
    assert found == {}


def test_execute_is_seen_to_start_processes() -> None:
    seen = {start for name, tree in files() if name.startswith("execute/") for start in starts_processes(tree)}
    assert {"subprocess", "multiprocessing", "os.fork", "os.execvp"} <= seen


def test_nobody_uses_private_parts_of_another_file() -> None:
    found = {
        name: private for name, tree in files() if name not in INSIDE_OTHERS and (private := private_of_others(tree))
    }
    assert found == {}
