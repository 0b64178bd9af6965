"""Kills, torn results and full files where an evaluation has a deck, copies, steps and results."""

import random
import sys
import time

import pytest

from surefoot.runs.running import run
from surefoot.runs.storage import load_study, opened

POST = "import os; n = os.path.getsize('result.json'); assert n > 0"
SOLVE = """
import json, re
text = open("deck.txt").read()
assert text.endswith("END\\n") and open("mesh.dat").read() == "x" * 200000
sys.argv[1:] = re.findall(r"[AB]=(\\S+)", text)
"""
WRITE = "\njson.dump({'loss': value}, open('result.json', 'w'))\n"


@pytest.fixture
def with_deck(make_problem, ledger, tmp_path):
    """A problem whose solver reads a deck and a mesh that were laid out for it, and leaves a file with its result."""

    def make(n_evals, sleep=0.05, write=WRITE):
        (tmp_path / "deck.in").write_text("A={a}\nB={b}\n" + "filler\n" * 2000 + "END\n")
        (tmp_path / "mesh.dat").write_text("x" * 200_000)
        code = "import sys\n" + SOLVE + ledger.code(sleep) + write
        (tmp_path / "solve.py").write_text(code)
        python = [sys.executable, "-I", "-S"]
        objective = {
            "files": {"deck.txt": "deck.in"},
            "copy": ["mesh.dat"],
            "before": [{"command": [*python, "-c", "open('meshed', 'w')"], "name": "mesher"}],
            "command": [*python, str(tmp_path / "solve.py")],
            "after": [{"command": [*python, "-c", POST], "name": "post"}],
            "results": {"loss": {"json": "result.json", "key": "loss"}, "twice": "2*loss"},
            "name": "loss",
        }
        return make_problem(objective=objective, n_evals=n_evals, n_init=8, max_failures=0)

    return make


@pytest.mark.parametrize("n_kills", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_kill_9_amid_decks_steps_and_results(with_deck, ledger, start_worker, n_kills):
    problem = with_deck(8 + 2 * n_kills)
    rng = random.Random(n_kills)
    for k in range(n_kills):
        n_lines = ledger.n_lines()
        worker = start_worker(problem)
        while k % 2 and worker.is_alive() and ledger.n_lines() == n_lines:
            time.sleep(0.01)
        worker.join(rng.uniform(0.1, 1.0))
        worker.kill()
        worker.join()
    worker = start_worker(problem)
    worker.join(240)
    assert worker.exitcode == 0
    with opened(problem.default_storage) as storage:
        assert ledger.check(load_study(storage)) == problem.n_evals


def test_a_torn_result_is_a_failure_with_its_reason_and_counts_once(with_deck, reporter):
    torn = "\nopen('result.json', 'w').write('{\"loss\": 1.')\n"
    result = run(with_deck(3, sleep=0.0, write=torn), reporter=reporter)
    assert (result.nfev, result.n_failures) == (3, 3)
    assert all("result.json is no JSON" in e.reason for e in result.history.evaluations if "mesh" not in e.reason)


def test_a_result_that_did_not_fit_on_the_disk_is_a_failure_and_counts_once(with_deck, reporter):
    """As where a quota or a limit on the size of files is reached: the file is there and has no bytes."""
    full = "\nimport resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    full += "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nopen('result.json', 'w')\n"
    result = run(with_deck(3, sleep=0.0, write=full), reporter=reporter)
    assert (result.nfev, result.n_failures) == (3, 3)
