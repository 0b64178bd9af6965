"""Studies on a network file system: no database is open there, what has ended is published, one process writes.

The file system here is a local one that is taken for a network's.
"""

import multiprocessing
import os
import time
from pathlib import Path

import pytest
from optuna.study import StudyDirection

from surefoot.errors import InvalidInputError, StorageLostError, StorageReplacedError
from surefoot.runs import file_systems
from surefoot.runs.file_systems import is_network
from surefoot.runs.running import run
from surefoot.runs.storage import close_storage, load_study, make_durable, open_storage, opened

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2
31 22 0:41 / /scratch\040two rw,relatime - lustre mds@tcp:/scratch rw,flock
32 30 0:42 / /home/local rw - xfs /dev/sdb rw
"""


@pytest.fixture
def network(monkeypatch):
    monkeypatch.setattr("surefoot.runs.storage.is_network", lambda path: True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/p.db", True),
        ("/homes/p.db", False),
        ("/scratch two/p.db", True),
        ("/home/local/p.db", False),
        ("/var/p.db", False),
    ],
)
def test_network_file_systems_are_known_by_their_mounts(path, expected, tmp_path, monkeypatch):
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(file_systems, "_MOUNTS", tmp_path / "mountinfo")
    assert is_network(path) is expected


def test_whoever_may_read_a_study_there_still_may(make_problem, reporter, network):
    problem = make_problem("import sys; print(sys.argv[1])", n_evals=2)
    run(problem, reporter=reporter)
    path = problem.folder / "p.db"
    path.chmod(0o664)
    before = os.umask(0o077)
    try:
        with opened(path, write=True) as storage:
            load_study(storage).set_user_attr("told", "something")
            make_durable(storage)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o664


def test_no_database_is_open_there_and_every_end_is_published(make_problem, reporter, network):
    problem = make_problem("import sys; print(sys.argv[1])", n_evals=3)
    seen = []

    def look(study) -> None:
        descriptors = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        there = [Path(path).name for path in descriptors if path.startswith(str(problem.folder))]
        with opened(problem.default_storage) as storage:
            seen.append((there, sum(t.state.is_finished() for t in load_study(storage).trials)))

    reporter.saved = look
    run(problem, reporter=reporter)
    assert seen == [(["p.db.lock"], 1), (["p.db.lock"], 2), (["p.db.lock"], 3)]


def test_the_points_are_those_of_a_run_on_a_local_disk(make_problem, reporter, monkeypatch):
    code = "import sys; print(float(sys.argv[1]) ** 2)"
    here = run(make_problem(code, name="here", n_evals=6, n_init=4), reporter=reporter)
    monkeypatch.setattr("surefoot.runs.storage.is_network", lambda path: True)
    there = run(make_problem(code, name="there", n_evals=6, n_init=4), reporter=reporter)
    assert [e.x for e in there.history.evaluations] == [e.x for e in here.history.evaluations]


def test_kill_9_loses_nothing_that_was_reported(make_problem, ledger, start_worker, network):
    problem = make_problem(ledger.code(0.2), n_evals=8, n_init=8)
    for n_kills, n_ends in enumerate((2, 5), 1):
        worker = start_worker(problem)
        while len(ledger.ends()) < n_ends:
            time.sleep(0.01)
        worker.kill()
        worker.join()
        with opened(problem.default_storage) as storage:
            assert ledger.check(load_study(storage)) >= n_ends - n_kills  # the last one was perhaps not reported
    last = start_worker(problem)
    last.join(60)
    with opened(problem.default_storage) as storage:
        assert ledger.check(load_study(storage)) == 8
    with opened(problem.default_storage, write=True):
        assert sorted(path.name for path in problem.folder.glob(".*tmp")) == []


def test_what_a_killed_process_had_begun_to_publish_is_removed(tmp_path, network):
    for name in (".p.db-494dde43.tmp", ".q.db-494dde43.tmp"):
        (tmp_path / name).write_bytes(b"SQLite format 3")
    with opened(tmp_path / "p.db", write=True, create=True) as storage:
        make_durable(storage)
    assert sorted(path.name for path in tmp_path.glob(".*")) == [".q.db-494dde43.tmp"]


def hold(path, ready, done) -> None:
    storage = open_storage(path, create=True)
    make_durable(storage)
    ready.set()
    done.wait(60)
    close_storage(storage)


def test_a_second_writer_is_told_who_the_first_is(tmp_path, network):
    context = multiprocessing.get_context("fork")
    ready, done = context.Event(), context.Event()
    first = context.Process(target=hold, args=(tmp_path / "p.db", ready, done))
    first.start()
    assert ready.wait(60)
    storage = open_storage(tmp_path / "q.db", create=True)  # another file is nobody's
    close_storage(storage)
    with (
        pytest.raises(StorageLostError, match=f"locked by process {first.pid} on "),
        opened(tmp_path / "p.db", write=True),
    ):
        pass
    done.set()
    first.join()


@pytest.mark.parametrize("same_number", [False, True])
def test_what_another_machine_wrote_is_not_overwritten(tmp_path, network, same_number):
    """Mounts of sshfs on two machines do not share locks, and show the other's file under the number of the last."""
    path = tmp_path / "p.db"
    storage = open_storage(path, create=True)
    make_durable(storage)
    if not same_number:
        path.rename(tmp_path / "mine.db")
    path.write_bytes(b"another's")
    storage.create_new_study([StudyDirection.MINIMIZE], "s")
    with pytest.raises(StorageReplacedError, match="written by another process"):
        make_durable(storage)
    with pytest.raises(StorageReplacedError):
        close_storage(storage)
    assert path.read_bytes() == b"another's"


def test_a_log_that_was_left_there_is_not_passed_over(tmp_path, network):
    close_storage(open_storage(tmp_path / "p.db", create=True))
    (tmp_path / "p.db-wal").write_bytes(b"something")
    with pytest.raises(InvalidInputError, match="expected no log beside"):
        open_storage(tmp_path / "p.db", create=True)
