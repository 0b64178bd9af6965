"""What a run shows while it goes on."""

import io

from rich.console import Console

from surefoot.runs.progress import ConsoleReporter
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened
from surefoot.runs.study import Counts, counts_of


def shown(counts, terminal, width=80):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=width, color_system=None)
    with ConsoleReporter(console, figures=False) as reporter:
        for count in counts:
            reporter.progress(count)
    return text.getvalue()


FAILED = Counts(10, 3, 1, 0, 1.5, reasons=("trial 2: the mesh [bold]collapsed",))


def test_a_terminal_shows_the_last_reasons_below_the_bar():
    lines = [line.rstrip() for line in shown([Counts(10, 2, 0, 0, 1.5), FAILED], True).splitlines()]
    assert "  trial 2: the mesh [bold]collapsed" in lines


def test_a_long_reason_is_cut_to_the_terminal():
    long = Counts(10, 3, 1, 0, 1.5, reasons=("trial 2: " + "no " * 100,))
    cut = [line for line in shown([long], True, 40).splitlines() if "trial 2" in line]
    assert cut
    assert all(len(line) <= 40 and line.rstrip().endswith("…") for line in cut)


def test_what_a_terminal_would_obey_is_not_shown():
    assert "\x1b[31m" not in shown([Counts(10, 3, 1, 0, 1.5, reasons=("trial 2: \x1b[31mred",))], True)


def test_a_log_says_a_reason_once():
    later = Counts(10, 4, 1, 0, 1.5, reasons=FAILED.reasons)
    lines = shown([Counts(10, 2, 0, 0, 1.5), FAILED, later], False).splitlines()
    assert [line.endswith("; trial 2: the mesh [bold]collapsed") for line in lines if "/10" in line] == [
        False,
        True,
        False,
    ]


def test_the_reasons_are_those_of_the_last_failures(make_problem, reporter):
    code = "import sys\nif float(sys.argv[1]) > 0: raise SystemExit('no mesh')\nprint(1.0)"
    problem = make_problem(code, n_evals=6)
    run(problem, reporter=reporter)
    with opened(problem.default_storage) as storage:
        counts = counts_of(load_study(storage), 6)
    assert counts.failed > 0
    assert len(counts.reasons) == min(3, counts.failed)
    assert all(reason.endswith("exit status 1: no mesh") for reason in counts.reasons)


def test_one_evaluation_is_told_in_the_singular():
    text = " ".join(shown([Counts(10, 1, 0, 0, 1.5, outside=1, forgotten=1)], False, 400).split())
    assert "1 evaluation is forgotten: it does not count and teaches nothing" in text
    assert "1 of 2 evaluations is outside the parameters of today" in text
    assert "the other 1 counts towards n_evals = 10" in text
    text = " ".join(shown([Counts(10, 2, 0, 0, 1.5, outside=2, forgotten=2)], False, 400).split())
    assert "2 evaluations are forgotten: they do not count and teach nothing" in text
    assert "2 of 4 evaluations are outside" in text
    assert "the other 2 count towards" in text
