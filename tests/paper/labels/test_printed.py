"""The transcription of the paper's tables."""

import pytest

from surefoot import problems
from surefoot.paper.labels.comparisons import agreement, totals
from surefoot.paper.labels.printed import EVALUATIONS, KERNELS, POLICIES, paper_labels, paper_totals

each_table = pytest.mark.parametrize("table", [(kernel, n) for kernel in KERNELS for n in EVALUATIONS])


@each_table
def test_every_table_has_a_label_for_each_problem_and_policy(table):
    expected = [(p.abbreviation, policy) for p in problems.ALL for policy in POLICIES]
    assert list(paper_labels()[table]) == expected


@each_table
def test_the_labels_sum_to_the_printed_totals(table):
    labels = paper_labels()[table]
    assert {key: round(100 * share) for key, share in totals(labels).items()} == paper_totals()[table]


def test_the_two_kernels_agree_on_81_percent_of_the_labels():
    se, matern52 = (
        {(n, *key): label for n in EVALUATIONS for key, label in paper_labels()[kernel, n].items()}
        for kernel in KERNELS
    )
    found = agreement(se, matern52)
    assert (found.equal, found.n) == (175, 216)  # 81.0 %, as the paper says [NH18, A.4]


def test_single_cells_are_those_of_the_paper():
    labels = paper_labels()
    assert labels["se", 200]["HM3", "MES"] == -1  # "it is outperformed by MES in two benchmark functions only"
    assert labels["se", 200]["RAS", "MES"] == -1
    assert labels["matern52", 1000]["SH10", "EI"] == -1  # "worse than EI in only one test function"
    assert labels["matern52", 600]["SHU", "RND"] == -1
