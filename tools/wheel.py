"""Build the sdist and, from it, the wheel, into dist/, and try them as a user gets them: `python tools/wheel.py`.

1. What is in them: every file of the package, and what belongs beside it.
2. Each is installed with its core dependencies alone into a clean environment. There a program runs that minimizes,
   learns from exceptions and survives a segmentation fault. The command says which extra it needs, and works with it.
3. What the core takes on disk is counted, without what Python compiles of it: less than 200 MB.

The wheel is tried with the newest packages on this Python and on the newest that is found, the sdist with the lowest
versions that pyproject.toml allows.

--home URL   the address of the repository: becomes [project.urls], and the beginning of the README's links
--build      only build
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from versions import ROOT, fresh_environment, install, lowest_versions, newest_python

MOST_BYTES = 200_000_000
BESIDE = ["CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml"]
DIST, TREE = ROOT / "dist", ROOT / "build" / "tree"

TRY_CORE = """
import os, sys, math
import surefoot

def simulator(x):
    if x[0] > 8:
        raise FloatingPointError("the mesh collapsed")
    if x[1] > 14 and CAN_FORK:
        os.abort()
    return (x[1] - 0.129 * x[0] ** 2 + 1.6 * x[0] - 6) ** 2 + 9.6 * math.cos(x[0]) + 10

CAN_FORK = hasattr(os, "fork")
result = surefoot.minimize(
    simulator, [(-5, 10), (0, 15)], n_evals=30, seed=1, isolate="process" if CAN_FORK else None,
    x0=[[9, 5], [0, 14.5]],
)
reasons = {evaluation.reason for evaluation in result.history.evaluations if not evaluation.ok}
assert result.fun < 1.0, result
assert "FloatingPointError: the mesh collapsed" in reasons, reasons
assert not CAN_FORK or any("SIGABRT" in reason for reason in reasons), reasons
assert result.success_probability([[9.5, 5]])[0] < 0.5 < result.success_probability([result.x])[0]
"""


def copy_tree(home: str) -> None:
    """What the package is made of, without what git ignores, and with its addresses if they are known."""
    shutil.rmtree(TREE, ignore_errors=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", *BESIDE]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        if (ROOT / name).exists():  # not if its deletion is not committed yet
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, TREE / name)
    if home:
        home = home.rstrip("/")
        readme = (TREE / "README.md").read_text(encoding="utf-8")
        linked = re.sub(r"\]\((?![a-z]+:|#)", f"]({home}/blob/main/", readme)
        (TREE / "README.md").write_text(linked, encoding="utf-8")
        places = {"Source": "", "Documentation": "/tree/main/docs", "Changelog": "/blob/main/CHANGELOG.md"}
        lines = [f'{name} = "{home}{rest}"' for name, rest in {**places, "Issues": "/issues"}.items()]
        with (TREE / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write("\n".join(["\n[project.urls]", *lines, ""]))


def build() -> tuple[Path, Path]:
    """The sdist and the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(TREE)], check=True, capture_output=True)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return sdist, wheel


def check_files(sdist: Path, wheel: Path) -> None:
    """Every file of the package is in both, and nothing that is not."""
    source = TREE / "src"
    wanted = {path.relative_to(source).as_posix() for path in (source / "surefoot").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    in_sdist = {name.removeprefix("src/") for name in names if name.startswith("src/surefoot/")}
    in_sdist = {name for name in in_sdist if "." in name.rpartition("/")[2]}  # without folders
    for what, found in (("wheel", in_wheel), ("sdist", in_sdist)):
        if found != wanted:
            raise SystemExit(f"expected the package's files in the {what}; these differ: {sorted(found ^ wanted)}")
    if missing := set(BESIDE) - names:
        raise SystemExit(f"expected them in the sdist: {sorted(missing)}")
    print(f"files: {len(wanted)} of the package in {wheel.name} and {sdist.name}")


def try_out(name: str, archive: Path, interpreter: str, *, lowest: bool = False) -> None:
    """Install it with nothing but the core, use it, count it; then with the command line."""
    python = fresh_environment(name, interpreter)
    folder = Path(python).parent
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    before, compiled_before = size(packages)
    install(python, str(archive), *(lowest_versions() if lowest else []))
    subprocess.run([python, "-m", "pip", "check", "--disable-pip-version-check"], check=True, capture_output=True)
    after, compiled = size(packages)
    taken = after - before
    subprocess.run([python, "-I", "-c", TRY_CORE], cwd=folder, check=True)
    command = [str(folder / "surefoot"), "--help"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode != 2 or "try pip install 'surefoot[run]'" not in asked.stderr:
        raise SystemExit(f"expected the command to name its extra; got {asked}")
    install(python, f"{archive}[cli]", *(lowest_versions("cli") if lowest else []))
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "surefoot run problem.toml" not in told:
        raise SystemExit(f"expected the help of the command; got {told}")
    shown = subprocess.run([python, "-c", SHOW], check=True, capture_output=True, text=True).stdout.strip()
    print(
        f"{name}: {shown}; the core takes {taken / 1e6:.0f} MB and "
        f"{(compiled - compiled_before) / 1e6:.0f} MB of bytecode",
        flush=True,
    )
    if taken >= MOST_BYTES:
        raise SystemExit(f"expected less than {MOST_BYTES / 1e6:.0f} MB; got {taken / 1e6:.0f} MB")


def size(folder: Path) -> tuple[int, int]:
    """Bytes of all files below, and of what Python compiled of them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    compiled = sum(path.stat().st_size for path in files if path.suffix == ".pyc")
    return sum(path.stat().st_size for path in files) - compiled, compiled


SHOW = """
import sys
from importlib.metadata import version
names = ("surefoot", "numpy", "scipy")
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in names))
"""


def main() -> None:
    """Build, look inside, try out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", default="", metavar="URL")
    parser.add_argument("--build", action="store_true")
    asked = parser.parse_args()
    copy_tree(asked.home)
    sdist, wheel = build()
    check_files(sdist, wheel)
    if not asked.build:
        try_out("wheel", wheel, sys.executable)
        if (newest := newest_python()) != sys.executable:
            try_out("wheel-newest", wheel, newest)
        try_out("sdist-lowest", sdist, sys.executable, lowest=True)


if __name__ == "__main__":
    main()
