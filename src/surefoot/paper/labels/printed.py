"""What the paper printed: the labels of its six test tables and their totals, read from the data files beside this one.

A label compares ScaledEI with another policy on one problem: 1 better, 0 no significant difference, -1 worse.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib import resources

from surefoot.paper.labels.comparisons import Labels

KERNELS = ("se", "matern52")
EVALUATIONS = (1000, 600, 200)  # n of the tables, in the paper's order
POLICIES = ("RND", "MN", "LCB", "PI", "EI", "MES")  # the columns; MES has the squared exponential in all six tables


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = resources.files("surefoot.paper.labels").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))


@cache
def paper_labels() -> dict[tuple[str, int], Labels]:
    """The labels as printed: (kernel, n) -> (problem, policy) -> label [NH18, Tables 2-4 and 6-8]."""
    tables: dict[tuple[str, int], Labels] = {}
    for row in _rows("labels.csv"):
        table = tables.setdefault((row["kernel"], int(row["n"])), {})
        table[row["problem"], row["policy"]] = int(row["label"])
    return tables


@cache
def paper_totals() -> dict[tuple[str, int], dict[tuple[str, str], int]]:
    """The rows Same, Better, Worse as printed: (kernel, n) -> (outcome, policy) -> % of the problems."""
    tables: dict[tuple[str, int], dict[tuple[str, str], int]] = {}
    for row in _rows("totals.csv"):
        table = tables.setdefault((row["kernel"], int(row["n"])), {})
        table[row["outcome"], row["policy"]] = int(row["percent"])
    return tables
