"""Tables of labels, ours beside the paper's, and the figures of the benchmark."""

import csv

import numpy as np
import pytest

from surefoot import problems
from surefoot.paper.labels.comparisons import Comparison
from surefoot.paper.labels.printed import KERNELS, POLICIES, paper_labels
from surefoot.paper.labels.tables import labels_table, write_label_tables
from surefoot.paper.markdown import markdown
from surefoot.paper.studies.benchmark.figures import draw_labels, draw_traces


@pytest.fixture(name="tests")
def _tests():
    """Tests that give the paper's own labels at n = 200, but for one cell of the squared exponential."""
    found = {
        (kernel, 200): {
            key: Comparison(-label or 0.1, 0.5 if label == 0 else 0.001)
            for key, label in paper_labels()[kernel, 200].items()
        }
        for kernel in KERNELS
    }
    found["se", 200]["CSF", "EI"] = Comparison(1.0, 0.01)
    return found


def test_a_table_has_a_row_for_each_problem_and_total():
    rows = labels_table(paper_labels()["se", 1000])
    assert [row[0] for row in rows[1:]] == [p.abbreviation for p in problems.ALL] + ["Same", "Better", "Worse"]
    assert rows[0][1:] == list(POLICIES)


def test_totals_are_printed_as_the_paper_prints_them():
    rows = labels_table(paper_labels()["se", 600])
    assert rows[-2] == ["Better", "100 %", "8 %", "17 %", "42 %", "33 %", "33 %"]


def test_a_cell_that_differs_from_the_paper_shows_both_labels():
    rows = labels_table({("CSF", "EI"): -1, ("CSF", "RND"): 1}, {("CSF", "EI"): 0, ("CSF", "RND"): 1})
    assert rows[1] == ["CSF", "**-1** (0)", "1"]


def test_markdown_has_a_rule_below_the_header():
    assert markdown([["a", "b"], ["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


def test_the_summary_counts_the_labels_that_agree(tests, tmp_path):
    text = write_label_tables(tests, tmp_path)
    assert "| squared exponential | 200 | 71 of 72, 99 % [93, 100] |" in text
    assert "| Matérn 5/2 | 200 | 72 of 72, 100 % [95, 100] |" in text
    assert (tmp_path / "labels.md").read_text(encoding="utf-8") == text


def test_the_file_of_tests_marks_the_cell_that_differs(tests, tmp_path):
    write_label_tables(tests, tmp_path)
    with (tmp_path / "labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 144
    assert [(r["kernel"], r["problem"], r["policy"], r["label"]) for r in rows if r["agrees"] == "0"] == [
        ("se", "CSF", "EI", "-1")
    ]


def test_the_labels_are_drawn(tests, tmp_path):
    assert draw_labels(tests, tmp_path / "labels.png").stat().st_size > 10_000


def test_traces_are_drawn_for_runs_of_unequal_length(tmp_path):
    rng = np.random.default_rng(0)
    distances = {
        (p, policy): -np.cumsum(rng.random((5, n)), axis=1)
        for p in ("CSF", "BRA", "CAM", "HM3", "SHU")
        for policy, n in (("ScaledEI", 40), ("mine", 30))
    }
    path = draw_traces(distances, tmp_path / "traces.png", first=10, title="synthetic")
    assert path.stat().st_size > 10_000


def test_the_same_traces_give_the_same_bytes(tmp_path):
    distances = {("CSF", "EI"): -np.cumsum(np.ones((3, 20)), axis=1)}
    first, second = (draw_traces(distances, tmp_path / "traces.png").read_bytes() for _ in range(2))
    assert first == second
