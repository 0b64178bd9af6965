"""Files that evaluations are made with: a change is said, between two runs and in one."""

import os
import sys

import pytest

from surefoot.runs.contents import digests_of, files_of
from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened
from surefoot.runs.study import CHANGES


@pytest.fixture
def problem(make_problem, tmp_path):
    (tmp_path / "mesh.dat").write_text("1.0")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "steam").write_text("hot")

    def make(n_evals=2, code="print(1.0)", **objective):
        return make_problem(code, n_evals=n_evals, objective={"copy": ["mesh.dat"], "link": ["tables"], **objective})

    return make


def said(reporter) -> list[str]:
    return [note for note in reporter.notes if "has changed" in note]


@pytest.mark.parametrize(("name", "told"), [("mesh.dat", "mesh.dat"), ("tables/steam", "tables")])
def test_a_file_that_changed_between_two_runs_is_named(problem, reporter, tmp_path, name, told):
    run(problem(), reporter=reporter)
    run(problem(3), reporter=reporter)
    assert said(reporter) == []
    (tmp_path / name).write_text("2.0")
    run(problem(4), reporter=reporter)
    assert said(reporter) == [f"the objective has changed since this study was begun: other contents of {told}"]
    with opened(problem().default_storage) as storage:
        (entry,) = load_study(storage).user_attrs[CHANGES]
    assert entry["trials"] == 3


def test_a_program_that_was_built_again_is_named(problem, reporter, tmp_path):
    run(problem(), reporter=reporter)
    run(problem(3, code="print(2.0)"), reporter=reporter)
    assert said(reporter) == ["the objective has changed since this study was begun: other contents of program.py"]


def test_a_file_that_changes_while_it_runs_is_named_once(problem, reporter, tmp_path):
    code = f"""
import os
if os.environ["SUREFOOT_TRIAL"] == "2":
    open({str(tmp_path / "mesh.dat")!r}, "a").write("!")
print(1.0)
"""
    run(problem(6, code=code), reporter=reporter)
    assert said(reporter) == ["the objective has changed since this study was begun: other contents of mesh.dat"]
    with opened(problem().default_storage) as storage:
        (entry,) = load_study(storage).user_attrs[CHANGES]
    assert entry["trials"] == 3


def test_a_file_that_was_only_touched_is_the_same(problem, reporter, tmp_path):
    run(problem(), reporter=reporter)
    os.utime(tmp_path / "mesh.dat", (1, 1))
    run(problem(3), reporter=reporter)
    assert said(reporter) == []


def test_the_folder_may_be_moved(problem, tmp_path):
    files = files_of(problem().evaluator, tmp_path)
    assert sorted(files) == ["mesh.dat", "program.py", "tables"]
    moved = {name: tmp_path.parent / "moved" / name for name in files}
    digests = digests_of(files)
    os.rename(tmp_path, tmp_path.parent / "moved")
    assert digests_of(moved) == digests


def test_python_files_and_files_named_in_steps_are_known_and_others_are_not(make_problem, tmp_path):
    (tmp_path / "post.py").write_text("")
    (tmp_path / "geo").write_text("")
    before = [[sys.executable, "-c", "pass", "{here}/geo", "{folder}/out", "{here}/{a}"]]
    results = {"m": {"python": "post.py:f"}}
    problem = make_problem("", objective={"before": before, "results": results})
    assert sorted(files_of(problem.evaluator, tmp_path)) == ["geo", "post.py", "program.py"]
