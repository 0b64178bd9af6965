"""The script that makes tables, on a small function that fails in several ways."""

import csv
import gzip
import json
import subprocess
import sys
import time

import pytest

from examples.simulators.make_table import HERE

PROBLEM = """
[parameters]
a = {low = 0.0, high = 1.0}
b = {low = 1e-3, high = 1e3, log = true}
[objective]
python = "function.py:evaluate"
name = "cost"
timeout_s = 1
"""
FUNCTION = """
import os, time
from surefoot import Failed

def evaluate(x):
    with open("calls.txt", "a") as log:
        log.write("called\\n")
    if x["a"] < 0.2:
        os._exit(3)
    if x["a"] < 0.3:
        time.sleep(60)
    if x["a"] < 0.6:
        raise Failed("it diverged", outputs={"mass": 2.0}, progress=0.25)
    return {"cost": x["a"] + x["b"], "mass": 1.0}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "problem.toml").write_text(PROBLEM)
    (tmp_path / "function.py").write_text(FUNCTION)
    return tmp_path


def command(folder, n):
    return [sys.executable, str(HERE / "make_table.py"), str(folder), "-n", str(n)]


def make(folder, n):
    return subprocess.run(command(folder, n), capture_output=True, text=True, check=False)


def rows(folder):
    with gzip.open(folder / "table.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def test_a_row_tells_what_came_of_its_point(folder):
    done = make(folder, 24)
    assert done.returncode == 0, done.stderr
    found = rows(folder)
    assert len(found) == 24
    for row in found:
        a = float(row["a"])
        expected = "exited with status 3" if a < 0.2 else "timeout" if a < 0.3 else "it diverged" if a < 0.6 else ""
        assert expected in row["reason"]
        assert row["status"] == ("failed" if expected else "ok")
        assert row["progress"] == ("0.25" if expected == "it diverged" else "")
        assert (row["cost"] != "") == (row["status"] == "ok")
    assert len({row["reason"] for row in found}) == 4
    assert not list(folder.glob("*.runs"))


def test_a_table_that_was_killed_goes_on_where_it_was(folder):
    part = folder / "table.csv.gz.part"
    with subprocess.Popen(command(folder, 12), stdout=subprocess.DEVNULL) as killed:
        while not part.exists() or part.read_text().count("\n") < 5:
            time.sleep(0.05)
        killed.kill()
    calls = (folder / "calls.txt").read_text().count("called")
    done = part.read_text().count("\n")
    assert 5 <= done < 12
    assert make(folder, 12).returncode == 0
    assert (folder / "calls.txt").read_text().count("called") == calls + 12 - done
    assert len({row["a"] for row in rows(folder)}) == 12


def test_rows_of_another_box_are_refused(folder):
    (folder / "table.csv.gz.part").write_text(json.dumps({"a": 0.5, "b": 2.0}) + "\n")
    done = make(folder, 3)
    assert done.returncode == 1
    assert "try deleting it" in done.stderr
