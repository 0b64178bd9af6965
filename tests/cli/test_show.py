"""`surefoot show` in a terminal of 80 columns, and in a pipe."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial
from typer.testing import CliRunner

import surefoot
from surefoot.cli.app import app
from surefoot.cli.trials import fitted, whole
from surefoot.errors import InvalidInputError
from surefoot.integrations.optuna_history import OUTPUT, REASON
from surefoot.runs.storage import close_storage, open_storage

NAMES = ("stiffness_large", "friction", "depth", "width", "temperature")
REASONS = [
    f"stress {173.25 + i} MPa is beyond the yield strength of the material at node {i}, and the mesh collapsed there"
    for i in range(3)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a study of five parameters whose trials ran elsewhere, and with a stdout.txt of something else."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "stdout.txt").write_text("somebody else's output\n")
    storage = open_storage(folder / "p.db", create=True)
    study = optuna.create_study(storage=storage, study_name="p")
    distributions = {name: FloatDistribution(0.0, 10.0) for name in NAMES}
    for i in range(8):
        params = {name: (i + k + 1) / 7 for k, name in enumerate(NAMES)}
        failed = i < len(REASONS)
        study.add_trial(
            create_trial(
                state=TrialState.FAIL if failed else TrialState.COMPLETE,
                value=None if failed else i / 3,
                params=params,
                distributions=distributions,
                user_attrs={REASON: REASONS[i]} if failed else {OUTPUT: {"duration_s": 1.5}},
            )
        )
    close_storage(storage)
    return folder


def in_terminal(folder: Path, width: int, *arguments: str) -> list[str]:
    """The lines that `surefoot show` writes to a terminal so wide."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    unset = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    command = [sys.executable, "-m", "surefoot", "show", "p.db", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdin=slave, stdout=slave, stderr=slave, env={**environment, "NO_COLOR": "1"}
    ) as process:
        os.close(slave)
        text = b""
        try:
            while more := os.read(master, 65536):
                text += more
        except OSError:  # Linux: the other side has closed
            pass
        os.close(master)
    assert process.returncode == 0, text.decode()
    return re.sub(r"\x1b\[[\d;]*m|\r", "", text.decode()).splitlines()


def in_pipe(folder: Path, *arguments: str, storage: str = "p.db") -> str:
    command = [sys.executable, "-m", "surefoot", "show", storage, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_five_parameters_are_readable_in_80_columns(folder):
    lines = in_terminal(folder, 80)
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == [
        "trial",
        "status",
        "value",
        "stiffne…",
        "friction",
        "depth",
        "width",
        "tempera…",
        "time",
    ]
    shown = lines[: lines.index("")]
    assert not any("…" in line for line in shown[1:])
    assert shown[-1].split() == ["7", "ok", "2.33333", "1.143", "1.286", "1.429", "1.571", "1.714", "1.5", "s"]
    assert " ".join(" ".join(shown[1:4]).split()).endswith(REASONS[0])


def test_a_wide_terminal_has_reasons_beside_the_trials(folder):
    lines = in_terminal(folder, 160)
    assert lines[0].endswith("reason")
    assert "stiffness_large" not in lines[0]  # longer than its values and than 12 characters
    assert "  stress 173.25 MPa is beyond" in lines[1]


def test_a_pipe_gets_all_digits_and_whole_reasons(folder):
    lines = in_pipe(folder).splitlines()
    assert lines[0].split() == ["number", "status", "value", *NAMES, "duration_s", "reason"]
    assert [line.split()[0] for line in lines[1:9]] == [str(i) for i in range(8)]
    assert all(line.endswith(reason) for line, reason in zip(lines[1:4], REASONS, strict=True))
    assert lines[8].split()[2:8] == [repr(7 / 3), *(repr((8 + k) / 7) for k in range(5))]


def test_failures_that_differ_in_numbers_are_counted_together(folder):
    text = " ".join(in_pipe(folder).split())
    assert "3× │ stress 173.25 MPa" in text
    assert "1×" not in text


def test_what_to_know_of_the_failures_is_told_below_the_reasons(folder):
    study = optuna.create_study(study_name="p", storage=(storage := open_storage(folder / "slow.db", create=True)))
    for i in range(20):
        failed = i >= 14
        study.add_trial(
            create_trial(
                state=TrialState.FAIL if failed else TrialState.COMPLETE,
                value=None if failed else -i / 3,
                params={"a": i / 20},
                distributions={"a": FloatDistribution(0.0, 1.0)},
                user_attrs={OUTPUT: {"duration_s": 0.2 if failed else 35.0}, **({REASON: "no"} if failed else {})},
            )
        )
    close_storage(storage)
    text = " ".join(re.sub("[│┃]", " ", in_pipe(folder, storage="slow.db")).split())
    assert "note failures take 200 ms, successes 35 s (medians)" in text
    assert re.search(
        r"note P\(success\) is [\d.]+ at the best point, and .* above its a \([\d.]+ % of the range\)", text
    )


def test_a_file_of_the_current_folder_is_not_taken_for_the_output_of_a_trial(folder):
    for number in ("0", "7"):
        assert "somebody else" not in in_pipe(folder, "--trial", number)
    assert "what it printed is not known" in " ".join(in_pipe(folder, "--trial", "0").split())


def test_parameters_beyond_the_width_are_counted():
    row = {"number": 0, "status": "ok", "value": 1.0, **{f"parameter_{i}": 0.123456789 for i in range(20)},
           "duration_s": 1.0, "reason": ""}  # fmt: skip
    lines = list(fitted([row], 80))
    assert max(map(len, lines)) <= 80
    shown = lines[0].count("paramet")
    assert lines[-1].startswith(f"({20 - shown} more columns")


def test_points_that_are_random_because_no_suggestion_could_be_made_are_named():
    rows = [
        {"number": i, "status": "ok", "value": 1.0, "x": 0.5, "duration_s": 1.0, "reason": "", "host": "h",
         "fallback": "matrix not finite" if i == 1 else ""}
        for i in range(3)
    ]  # fmt: skip
    told = " ".join(" ".join(fitted(rows, 80)).split())
    assert told.count("random point, for no suggestion could be made: matrix not finite") == 1
    header, *lines = whole(rows)
    assert header.split()[-2:] == ["fallback", "reason"]
    assert [("matrix not finite" in line) for line in lines] == [False, True, False]


def test_what_a_terminal_would_obey_is_not_passed_on():
    row = {
        "number": 0,
        "status": "failed",
        "value": None,
        "x": "a\x1b[31mb",
        "duration_s": None,
        "reason": "c\x1b[2J\nd",
    }
    assert "\x1b" not in "".join([*fitted([row], 80), *whole([row])])


@pytest.mark.parametrize("arguments", [["show"], ["report"], ["list"], ["export"]])
def test_a_run_saved_by_minimize_is_told_how_to_be_opened(tmp_path, arguments):
    path = tmp_path / "run.json"
    surefoot.minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_evals=3).save(path)
    done = CliRunner().invoke(app, [*arguments, str(path)])
    assert isinstance(done.exception, InvalidInputError)
    told = str(done.exception)
    assert "a run saved by minimize; try surefoot.write_report(surefoot.Optimizer.load(" in told
    assert eval(re.search(r"print\((.*)\) in Python", told)[1]).nfev == 3  # what it says to try


def test_a_file_that_is_no_run_at_all_is_not_called_one(tmp_path):
    (tmp_path / "run.json").write_text('{"format": "another program"}' + " " * 200)
    done = CliRunner().invoke(app, ["show", str(tmp_path / "run.json")])
    assert "saved by minimize" not in str(done.exception)
    assert "expected a database of studies" in str(done.exception)
