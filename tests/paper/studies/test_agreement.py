"""Readings of the paper's search beside its labels, from recorded distances."""

import csv

import numpy as np
import pytest

from surefoot.errors import InvalidInputError
from surefoot.paper.labels.printed import POLICIES, paper_labels
from surefoot.paper.studies.benchmark.agreement import likelihood, read_readings, write

PROBLEMS = sorted({problem for problem, _ in paper_labels()["se", 200]})


def record(folder, labels, *, search="paper", seeds=5, noise=0.01):
    """A study whose distances give these labels of (se, 200): two powers of ten apart, or hardly."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    with (folder / "distances.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["search", "kernel", "problem", "policy", "seed", "n200", "n400"])
        for problem in PROBLEMS:
            for policy in ("ScaledEI", *POLICIES):
                for seed in range(seeds):
                    alternating = 0.1 * (-1.0) ** (seed + (policy == "ScaledEI"))  # hardly: no test sees it
                    distance = -3.0 + 2.0 * labels.get((problem, policy), 0) + noise * rng.standard_normal()
                    writer.writerow([search, "se", problem, policy, seed, f"{distance + alternating:.3f}", ""])
    return folder


def test_a_study_with_the_papers_labels_agrees_with_all_of_them(tmp_path):
    text = write([record(tmp_path / "a", paper_labels()["se", 200])], tmp_path / "out", "`surefoot`")
    assert "| paper | 100 % |" in text
    assert "| paper | 1.00 |" in text
    assert "| paper | 13 of 13 |" in text
    assert (tmp_path / "out" / "agreement.md").read_text(encoding="utf-8") == text


def test_the_guess_that_only_random_search_is_worse_agrees_by_chance(tmp_path):
    text = write([record(tmp_path / "a", {})], tmp_path / "out", "`surefoot`")
    assert "| better than RND, equal to all others | 79 % |" in text
    assert "| better than RND, equal to all others | 0.00 |" in text


def test_the_papers_labels_are_likelier_under_a_study_that_has_them(tmp_path):
    right = record(tmp_path / "right", paper_labels()["se", 200])
    wrong = record(tmp_path / "wrong", {key: -label for key, label in paper_labels()["se", 200].items()})
    (good,), (bad,) = read_readings([right]), read_readings([wrong])
    assert sum(likelihood(good).gains.values()) > 0.0 > sum(likelihood(bad).gains.values())
    assert likelihood(good).share > 0.9
    assert likelihood(bad).share < 0.5


def test_ten_seeds_say_how_far_a_study_agrees_with_itself(tmp_path):
    text = write([record(tmp_path / "a", paper_labels()["se", 200], seeds=10)], tmp_path / "out", "`surefoot`")
    assert "| paper: five seeds beside five others | 100 % |" in text


def test_a_study_with_too_few_seeds_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="5 seeds"):
        read_readings([record(tmp_path / "a", {}, seeds=4)])
