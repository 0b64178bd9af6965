"""The command `surefoot problems`."""

import subprocess
import sys

import pytest

from surefoot import problems
from surefoot.cli import main


@pytest.fixture
def surefoot(monkeypatch, capsys):
    """Runs the command in this process; gives exit status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, " ".join(captured.err.split())

    return run


def test_the_table_has_a_line_for_every_problem(surefoot):
    _, out, _ = surefoot("problems")
    assert all(any(p.name in line and p.abbreviation in line for line in out.splitlines()) for p in problems.ALL)


def test_the_table_fits_in_80_columns_with_all_digits(surefoot):
    _, out, _ = surefoot("problems")
    assert all(repr(p.f_star) in out for p in problems.ALL)


def test_named_problems_come_with_their_minimizers(surefoot):
    _, out, _ = surefoot("problems", "bra")
    assert "-3.141592653589793, 12.275" in out


def test_named_problems_come_alone(surefoot):
    _, out, _ = surefoot("problems", "bra")
    assert "Rosenbrock" not in out


def test_an_unknown_name_ends_in_a_message_and_status_2(surefoot):
    status, _, err = surefoot("problems", "brannin")
    assert (status, "try BRA" in err) == (2, True)


def test_figure_1_is_a_png(surefoot, tmp_path):
    surefoot("problems", "--plot", tmp_path / "figure1.png")
    assert (tmp_path / "figure1.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_does_not_exist_ends_in_a_message_and_status_2(surefoot, tmp_path):
    status, _, err = surefoot("problems", "CSF", "--plot", tmp_path / "nowhere" / "figure1.png")
    assert (status, "expected a path that can be written" in err) == (2, True)


def test_an_unknown_image_format_ends_in_a_message_and_status_2(surefoot, tmp_path):
    status, _, err = surefoot("problems", "CSF", "--plot", tmp_path / "figure1.nonsense")
    assert (status, "image format" in err) == (2, True)


def test_problems_with_many_inputs_cannot_be_drawn(surefoot, tmp_path):
    status, _, err = surefoot("problems", "HM6", "--plot", tmp_path / "figure1.png")
    assert (status, "one or two inputs" in err) == (2, True)


def test_without_matplotlib_the_message_names_the_extra(surefoot, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, _, err = surefoot("problems", "--plot", tmp_path / "figure1.png")
    assert (status, "`plots`" in err) == (2, True)


def test_the_table_is_printed_without_importing_matplotlib():
    code = "import sys, surefoot.problems, surefoot.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
