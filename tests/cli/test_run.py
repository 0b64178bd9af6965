"""`surefoot run`, `list`, `show`, `export` and `dashboard` as a user starts them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from optuna.distributions import FloatDistribution
from typer.testing import CliRunner

from surefoot.integrations.optuna_history import FALLBACK
from surefoot.runs.storage import load_study, opened

SUREFOOT = str(Path(sys.executable).parent / "surefoot")
PROBLEM = """
n_evals = {n_evals}
n_init = 4
[parameters]
x = {{low = -1.0, high = 2.0}}
[objective]
command = ["{python}", "-I", "-S", "{{here}}/sim.py", "{{x}}"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sim.py").write_text(
        "import sys, time\ntime.sleep(0.2)\nx = float(sys.argv[1])\nprint('hello')\n"
        "if x > 1.5: sys.exit('diverged')\nprint(x * x)\n"
    )
    (tmp_path / "p.toml").write_text(PROBLEM.format(n_evals=5, python=sys.executable))
    return tmp_path


def call(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SUREFOOT, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def invoke(*arguments: str, status: int = 0) -> str:
    """The command in this process, which is quicker."""
    from surefoot.cli.app import app

    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == status, done.output
    return done.output


def test_a_run_from_the_dry_run_to_the_export(folder):
    checked = invoke("run", folder / "p.toml", "--dry-run")
    assert "to be made" in checked
    assert "parameter   x: real, from " in checked
    assert sorted(os.listdir(folder)) == ["p.toml", "sim.py"]

    done = call("run", "p.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "5/5" in done.stdout
    assert "best value" in done.stdout

    assert "5 evaluations there" in invoke("run", folder / "p.toml", "--dry-run")
    assert "continuing after 5 evaluations" in invoke("run", folder / "p.toml")
    assert "minimize" in invoke("list", folder / "p.db")
    assert "5 of 5 evaluations" in invoke("show", folder / "p.toml")
    assert "hello" in invoke("show", folder / "p.db", "--trial", "2")
    assert invoke("export", folder / "p.db").startswith("number,status,value,x,duration_s,reason")
    assert "5 trials" in invoke("export", folder / "p.db", "-o", folder / "t.json")


def test_forgotten_evaluations_and_random_points_are_listed(folder):
    invoke("run", folder / "p.toml")
    assert "forgotten" not in invoke("list", folder / "p.db")
    assert invoke("forget", folder / "p.toml", "1", "3-4").strip() == "forgotten: 1, 3-4"
    assert "forgotten" in invoke("list", folder / "p.db")
    assert "forgotten" in invoke("export", folder / "p.db")
    assert invoke("forget", folder / "p.toml", "0-4", "--undo").strip() == "counted again: 1, 3-4"
    assert invoke("forget", folder / "p.toml", "0-4", "--undo").strip() == "no trial changed"
    with opened(folder / "p.db", write=True) as storage:
        study = load_study(storage)
        trial = study.ask({"x": FloatDistribution(-1.0, 2.0)})
        trial.set_user_attr(FALLBACK, "ArithmeticError: a defect")
        study.tell(trial, 1.0)
    assert "p: 1 evaluations at random points because no suggestion could be made" in invoke("list", folder / "p.db")
    assert "ArithmeticError: a defect" in invoke("export", folder / "p.db")


def test_mistakes_end_in_one_line(folder):
    for arguments in (["run", "nowhere.toml"], ["list", "sim.py"]):
        done = call(*arguments, cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("error: expected")
        assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("n_signals", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_in_a_terminal(folder, n_signals):
    (folder / "p.toml").write_text(PROBLEM.format(n_evals=50, python=sys.executable))
    slow = f"import os, time\nif int(os.environ['SUREFOOT_TRIAL']) > 1: time.sleep({30 * (n_signals - 1)})\n"
    (folder / "sim.py").write_text(slow + (folder / "sim.py").read_text())
    process = subprocess.Popen([SUREFOOT, "run", "p.toml"], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while not (folder / "p.runs" / "000002" / "stdout.txt").exists():  # the third evaluation is under way
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    rest = ""
    while "finishing" not in rest:  # it has seen the first: two that are pending at once are one
        line = process.stdout.readline()
        assert line, rest
        rest += line
    if n_signals == 2:
        process.send_signal(signal.SIGINT)
    rest += process.stdout.read()
    process.stdout.close()
    assert process.wait(30) == 130
    assert "run it again to continue" in rest
    assert ("given back" in rest) == (n_signals == 2)


@contextlib.contextmanager
def dashboard(folder: Path) -> Iterator[str]:
    """Its address, while it runs."""
    process = subprocess.Popen(
        [SUREFOOT, "dashboard", "p.db", "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0]
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().strip() == "ended"
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_the_dashboard_listens_on_loopback_and_shows_the_study(folder):
    pytest.importorskip("optuna_dashboard")
    assert call("run", "p.toml", cwd=folder).returncode == 0
    with dashboard(folder) as address:
        assert address.startswith("http://127.0.0.1:")
        port = int(address.split(":")[2].split("/")[0])
        sockets = Path("/proc/net/tcp")
        if sockets.exists():
            listening = [line.split()[1] for line in sockets.read_text().splitlines() if f":{port:04X} 0" in line]
            assert listening == [f"0100007F:{port:04X}"]
        assert b"<html" in urllib.request.urlopen(address, timeout=10).read()
        rebound = urllib.request.Request(address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(rebound, timeout=10)
        refused.value.close()
        studies = urllib.request.urlopen(address.replace("/dashboard", "/api/studies"), timeout=10).read()
        assert b'"study_name":"p"' in studies.replace(b" ", b"")


@pytest.mark.slow
def test_a_browser_shows_the_figures_of_surefoot(folder):
    pytest.importorskip("optuna_dashboard")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium to look with")
    (folder / "sim.py").write_text(
        "import sys\nx, y = map(float, sys.argv[1:3])\nif x > 1: sys.exit(1)\nprint(x * x + y)\n"
    )
    text = PROBLEM.format(n_evals=12, python=sys.executable).replace(
        "[objective]", "y = {low = 0.0, high = 1.0}\n[objective]"
    )
    (folder / "p.toml").write_text(text.replace('"{x}"]', '"{x}", "{y}"]'))
    assert call("run", "p.toml", cwd=folder).returncode == 0
    quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    with dashboard(folder) as address:
        page = subprocess.run(
            [chromium, "--headless", "--no-sandbox", *quiet, f"--user-data-dir={folder / 'profile'}",
             "--window-size=1400,2200", "--virtual-time-budget=15000", "--dump-dom", f"{address}/studies/1"],
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout  # fmt: skip
    assert "surefoot: P(success)" in page
    assert "after 12 evaluations" in page
    assert "best so far" in page


def test_outputs_are_shown_and_exported(tmp_path):
    (tmp_path / "sim.py").write_text(
        "import json, sys\nx = float(sys.argv[1])\njson.dump({'mass': x * x, 'status': 2.5}, open('out.json', 'w'))\n"
    )
    source = 'value = {json = "out.json"}\nname = "mass"\n'
    (tmp_path / "p.toml").write_text(PROBLEM.format(n_evals=3, python=sys.executable) + source)
    assert "minimize mass, 3 evaluations" in invoke("run", tmp_path / "p.toml", "--dry-run")
    assert "best mass" in invoke("run", tmp_path / "p.toml")
    header, *rows = invoke("export", tmp_path / "p.toml").splitlines()
    assert header.startswith("number,status,value,x,output.status,duration_s,reason")
    assert all(row.split(",")[1::3][:2] == ["ok", "2.5"] for row in rows)
    assert "output.status" in invoke("show", tmp_path / "p.toml")
    assert "2.5" in invoke("show", tmp_path / "p.toml", "--trial", "0")
