"""The table [slurm] of a problem file, what sbatch is given, and what happens where SLURM is missing or silent."""

import stat

import pytest

from surefoot.errors import InvalidInputError
from surefoot.runs.jobs import options_of, script_text
from surefoot.runs.running import run


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("short", r"a table \[slurm\]"),
        ({"partitions": "short"}, "try partition"),
        ({"partition": "a b"}, "partition in .slurm. as text without spaces"),
        ({"workers": 0}, "workers in .slurm. of at least 1"),
        ({"cpus": 1.5}, "cpus in .slurm. of at least 1"),
        ({"poll_s": 0}, "poll_s in .slurm. between 0.1 and 3600"),
        ({"time": "soon"}, "SLURM's form, or as minutes"),
        ({"time": "0:59"}, "longer than timeout_s = 60"),
        ({"time": 1}, "longer than timeout_s = 60"),
        ({"setup": "module load gcc"}, "setup in .slurm. as a list of texts"),
        ({"options": ["constraint=avx2"]}, "begin with -"),
        ({"options": ["--array=1-10"]}, "a job evaluates one point"),
        ({"options": ["-Jname"]}, "how a run finds its jobs"),
    ],
)
def test_mistakes_are_told_with_what_to_try(make_problem, table, expected):
    with pytest.raises(InvalidInputError, match=expected):
        make_problem("print(1)", objective={"timeout_s": 60}, slurm=table)


@pytest.mark.parametrize("time", [2, "1:30", "02:00:00", "1-12", "1-12:30", "1-12:00:00"])
def test_times_are_taken_as_slurm_takes_them(make_problem, time):
    assert make_problem("print(1)", objective={"timeout_s": 60}, slurm={"time": time}).slurm.time == str(time)


def test_sbatch_is_given_the_resources_and_then_the_options(make_problem, tmp_path):
    table = {"partition": "short", "time": 90, "memory": "4G", "cpus": 2, "gpus": 1, "options": ["--nodes=2"]}
    problem = make_problem("print(1)", slurm={**table, "setup": ["module load gcc"]})
    given = options_of(problem, "name", tmp_path / "50%.out")
    resources = ["--partition=short", "--time=90", "--mem=4G", "--cpus-per-task=2", "--gpus=1", "--nodes=2"]
    assert given[-len(resources) :] == resources
    assert f"--output={tmp_path}/50%%.out" in given
    assert script_text(problem, tmp_path, 1).splitlines()[1:3] == ["set -e", "module load gcc"]


def test_without_slurm_a_run_says_so_before_anything_begins(make_problem, reporter, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInputError, match="expected SLURM's command squeue on the PATH"):
        run(make_problem("print(1)"), slurm=True, reporter=reporter)
    assert reporter.counts is None


def test_while_slurm_does_not_answer_nothing_is_given_up(make_problem, reporter, tmp_path, monkeypatch):
    """Here SLURM's commands are scripts: they fail five times, then sbatch runs what it is given."""
    count, shared = tmp_path / "count", 'echo x >> "$COUNT"; [ $(wc -l < "$COUNT") -gt 5 ] || exit 1'
    for name, does in {"squeue": "true", "sbatch": 'echo 7; for last; do true; done; bash "$last"'}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/bash\n{shared}\n{does}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("COUNT", str(count))
    monkeypatch.setattr("surefoot.runs.jobs._SETTLE_S", 0.2)
    problem = make_problem("print(1)", n_evals=1, slurm={"poll_s": 0.1})
    assert run(problem, slurm=True, reporter=reporter).nfev == 1
    told = [note for note in reporter.notes if "SLURM" in note]
    assert [note.split(",")[0].split(" (")[0] for note in told] == ["waiting for SLURM", "SLURM answers again"]
