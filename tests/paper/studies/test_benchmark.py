import csv
import json
import math
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from surefoot.acquisition.registry import PAPER_POLICIES
from surefoot.errors import InvalidInputError
from surefoot.paper.labels.comparisons import labels
from surefoot.paper.studies.benchmark import report, runner
from surefoot.paper.studies.benchmark.runner import Workers, advance_all, load, resume, save
from surefoot.paper.studies.benchmark.study import AGAIN, MAX_TOGETHER, Member, Way, advance, begin, distances, plan
from surefoot.problems import ALL

EVERYTHING = [problem.abbreviation for problem in ALL]


def small(policies=("EI", "ScaledEI"), n_max=24, together=True, names=("CSF",), seeds=2, kernels=("se",)):
    return plan(kernels, policies, names, range(seeds), Way(n_max), together=together)


def test_the_papers_study_has_780_runs():
    groups = plan(("se", "matern52"), PAPER_POLICIES, EVERYTHING, range(5), Way(1000), together=True)
    by_kernel = {k: sum(len(g.members) for g in groups if g.kernel == k) for k in ("se", "matern52", "none")}
    # RND asks no model: the paper counts it under both kernels
    assert by_kernel == {"se": 12 * 6 * 5, "matern52": 12 * 5 * 5, "none": 12 * 5}
    assert by_kernel["se"] + by_kernel["matern52"] + 2 * by_kernel["none"] == 780


@pytest.mark.parametrize("together", [True, False])
def test_every_run_is_planned_once(together):
    groups = plan(("se",), PAPER_POLICIES, EVERYTHING, range(3), Way(200), together=together)
    runs = [r for g in groups for r in g.members]
    assert len(runs) == len(set(runs)) == 12 * 7 * 3


def test_a_gpu_study_has_groups_of_a_size():
    for seeds in (5, 15):
        groups = plan(("se", "matern52"), PAPER_POLICIES, EVERYTHING, range(seeds), Way(1000), together=True)
        sizes = [len(g.members) for g in groups if g.kernel != "none"]
        largest = max(len([r for r in g.members if r.policy == g.members[0].policy]) for g in groups)
        assert max(sizes) <= max(MAX_TOGETHER, largest)  # the runs of one policy stay together
        assert len({g.name for g in groups}) == len(groups)


def test_runs_have_numbers_of_their_own():
    runs = [Member(p, f, s) for p in (*PAPER_POLICIES, AGAIN) for f in EVERYTHING for s in range(20)]
    assert len({r.number for r in runs}) == len(runs)


def test_equal_policies_are_side_by_side_in_a_group():
    for group in plan(("se",), PAPER_POLICIES, EVERYTHING, range(2), Way(200), together=True):
        names = [r.policy for r in group.members]
        assert len([i for i in range(1, len(names)) if names[i] != names[i - 1]]) == len(set(names)) - 1


def test_all_policies_of_a_seed_start_from_the_same_design():
    group = small(policies=("EI", "PI", "ScaledEI", AGAIN))[0]
    state = begin(group)
    for r, one in enumerate(group.members):
        twin = group.members.index(Member("EI", one.problem, one.seed))
        np.testing.assert_array_equal(state.X[r], state.X[twin])
    assert not np.array_equal(state.X[0], state.X[1])  # another seed


def test_the_control_searches_with_other_draws():
    group = small(policies=("ScaledEI", AGAIN), seeds=1, n_max=12)[0]
    state = advance(group, begin(group), "cpu")
    assert not np.array_equal(state.X[0, 10:], state.X[1, 10:])


def test_a_problem_that_the_design_alone_exhausts_is_refused():
    with pytest.raises(InvalidInputError, match="RAS"):
        plan(("se",), ("EI",), ("RAS", "CSF"), range(2), Way(99), together=True)


@pytest.mark.bits
def test_two_slices_give_the_bits_of_one():
    group = small(policies=("MN", "MES", "ScaledEI"))[0]
    whole = advance(group, begin(group), "cpu")
    calls = iter(range(100))
    half = advance(group, begin(group), "cpu", stop=lambda: next(calls) >= 5)
    assert half.n == 15
    rest = advance(group, half, "cpu")
    np.testing.assert_array_equal(whole.X, rest.X)
    np.testing.assert_array_equal(whole.y, rest.y)


def test_a_checkpoint_is_read_as_it_was_written(tmp_path):
    group = small()[0]
    state = advance(group, begin(group), "cpu", stop=iter([False, False, True]).__next__)
    save(group, state, tmp_path)
    found, read = load(tmp_path / f"{group.name}.npz")
    assert found == group
    np.testing.assert_array_equal(read.X, state.X)
    np.testing.assert_array_equal(read.warmth.objective.theta, state.warmth.objective.theta)
    whole, gone_on = (advance(group, s, "cpu") for s in (state, read))
    np.testing.assert_array_equal(whole.X, gone_on.X)


def test_checkpoints_of_earlier_versions_are_read(tmp_path):
    path, begun = tmp_path / "old.npz", begin(small()[0])
    runs = [{"policy": m.policy, "problem": m.problem, "seed": m.seed} for m in small()[0].members]
    group = json.dumps({"kernel": "se", "search": "paper", "n_max": 24, "runs": runs})
    np.savez(path, group=group, X=begun.X, y=begun.y, seconds=1.0)
    assert load(path)[0] == small()[0]


def test_the_checkpoint_of_another_study_is_not_taken_for_ours(tmp_path):
    group = small(seeds=2)[0]
    save(group, begin(group), tmp_path)
    other = small(seeds=3)[0]
    (tmp_path / f"{group.name}.npz").rename(tmp_path / f"{other.name}.npz")
    with pytest.raises(InvalidInputError, match="another --out"):
        resume(other, tmp_path)


class OutOfMemoryError(RuntimeError):
    """As PyTorch calls its own."""


def test_a_group_without_memory_is_tried_again_with_fewer_beside_it(tmp_path, monkeypatch):
    groups = small(policies=("EI", "PI", "ScaledEI"), together=False, n_max=12)
    inside, crowded = [], []

    def scarce(group, state, *args, **kwargs):
        inside.append(group)
        try:
            time.sleep(0.05)  # until the others have begun
            crowded.append(len(inside))
            if len(inside) > 1:
                raise OutOfMemoryError
            return advance(group, state, *args, **kwargs)
        finally:
            inside.remove(group)

    monkeypatch.setattr(runner, "advance", scarce)
    with ThreadPoolExecutor(3) as pool:
        assert advance_all(groups, tmp_path, Workers(pool, 3, "cpu"))
    assert max(crowded) > 1
    for group in groups:
        np.testing.assert_array_equal(resume(group, tmp_path).X, advance(group, begin(group), "cpu").X)


def test_a_group_without_memory_for_itself_alone_is_an_error(tmp_path, monkeypatch):
    def scarce(*args, **kwargs):
        raise OutOfMemoryError

    monkeypatch.setattr(runner, "advance", scarce)
    with ThreadPoolExecutor(2) as pool, pytest.raises(InvalidInputError, match="fewer --seeds"):
        advance_all(small(together=False), tmp_path, Workers(pool, 2, "cpu"))


def test_seeds_are_added_to_those_of_an_earlier_run():
    few, rest, all_seeds = (
        [(g, advance(g, begin(g), "cpu")) for g in plan(("se",), ("EI",), ("CSF",), seeds, Way(12), together=False)]
        for seeds in (range(1), range(1, 3), range(3))
    )
    assert len({group.name for group, _ in (*few, *rest, *all_seeds)}) == 3
    added, whole = distances([*rest, *few], "se"), distances(all_seeds, "se")
    np.testing.assert_array_equal(added["CSF", "EI"], whole["CSF", "EI"])


def test_a_study_goes_on_to_a_larger_budget(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        assert advance_all(small(n_max=14), tmp_path, Workers(pool, 1, "cpu"))
        longer = small(n_max=18)
        assert advance_all(longer, tmp_path, Workers(pool, 1, "cpu"))
    whole = advance(longer[0], begin(longer[0]), "cpu")
    np.testing.assert_array_equal(load(tmp_path / f"{longer[0].name}.npz")[1].X, whole.X)


def test_a_time_limit_stops_with_what_there_is(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        assert not advance_all(small(n_max=400), tmp_path, Workers(pool, 1, "cpu"), time_limit_s=0.5)
    (path,) = tmp_path.glob("*.npz")
    assert 10 < load(path)[1].n < 400


def test_progress_counts_evaluations_of_all_runs(tmp_path):
    seen = []
    with ThreadPoolExecutor(1) as pool:
        advance_all(small(n_max=13), tmp_path, Workers(pool, 1, "cpu"), show=seen.append)
    assert (seen[-1].done, seen[-1].total) == (4 * 13, 4 * 13)
    assert seen[-1].seconds_left == 0.0


@pytest.mark.bits
def test_a_killed_study_goes_on_to_the_same_traces(tmp_path):
    command = [sys.executable, "-m", "surefoot", "study", "benchmark", "--problem", "CSF", "--policy", "ScaledEI"]
    command += [
        "--policy",
        "EI",
        "--seeds",
        "2",
        "--n-max",
        "40",
        "--no-tables",
        "--workers",
        "1",
        "--checkpoint",
        "0.2",
    ]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen([*command, "--out", str(killed)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60.0
    while not list((killed / "raw").glob("*.npz")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for out in (killed, whole):
        subprocess.run([*command, "--out", str(out)], check=True, stderr=subprocess.DEVNULL)
    for path in (whole / "raw").glob("*.npz"):
        np.testing.assert_array_equal(load(killed / "raw" / path.name)[1].X, load(path)[1].X)


def test_mes_and_rnd_stand_in_the_tables_of_both_kernels():
    groups = small(policies=("RND", "MES", "ScaledEI"), n_max=11, kernels=("se", "matern52"))
    done = [(g, advance(g, begin(g), "cpu")) for g in groups]
    assert {p for _, p in distances(done, "matern52")} == {"RND", "MES", "ScaledEI"}
    np.testing.assert_array_equal(distances(done, "se")["CSF", "MES"], distances(done, "matern52")["CSF", "MES"])


def test_tables_and_figures_of_a_study_with_more_seeds_and_a_control(tmp_path):
    rng = np.random.default_rng(0)
    groups = small(policies=(*PAPER_POLICIES, AGAIN), seeds=7, names=("CSF", "ROS"), n_max=200, together=False)
    done = []
    for group in groups:  # values made up: the tables are looked at, not the optimizer
        state = begin(group)
        y = np.abs(rng.standard_normal((7, 200))) * 10.0 ** -np.linspace(0, 4, 200) + (group.d == 1) * -2.9
        done.append((group, type(state)(state.X, y, state.warmth, 1.0)))
    text = report.write(done, tmp_path, "heading")
    for part in ("heading", "squared exponential, n = 200", "7 seeds instead of 5", "Control"):
        assert part in text
    for name in ("labels.md", "labels.csv", "labels.png", "traces-se.png", "distances.csv"):
        assert (tmp_path / name).stat().st_size > 0
    again = labels(report.recorded_tests(tmp_path)["se", 200])  # from distances.csv alone
    with (tmp_path / "labels.csv").open() as file:
        written = {(row["problem"], row["policy"]): int(row["label"]) for row in csv.DictReader(file)}
    assert again.keys() == written.keys()
    far = [cell for cell in written if cell[0] == "ROS"]  # those of CSF differ by less than the file's decimals
    assert [again[cell] for cell in far] == [written[cell] for cell in far]


def test_an_unfinished_study_has_an_estimate_of_the_time_left(tmp_path):
    seen = []
    with ThreadPoolExecutor(1) as pool:
        advance_all(
            small(n_max=300), tmp_path, Workers(pool, 1, "cpu"), time_limit_s=0.6, slice_s=0.2, show=seen.append
        )
    assert any(math.isfinite(p.seconds_left) and p.seconds_left > 0.0 for p in seen)


@pytest.mark.parametrize(("n_workers", "expected"), [(1, 70.0 + 120.0 + 5.0), (2, 120.0)])
def test_the_time_left_follows_the_pace_of_each_group(n_workers, expected):
    half, new, nearly = small(("EI",), n_max=100, names=("HM3", "BRA", "CSF"), seeds=1, together=False)
    states = {group: begin(group) for group in (half, new, nearly)}
    states[half] = replace(states[half], y=np.zeros((1, 65)), seconds=70.0)  # 2 s for each of 35 steps
    states[nearly] = replace(states[nearly], y=np.zeros((1, 95)), seconds=85.0)  # 1 s for each of 85
    found = runner._left([half, new, nearly], states, n_workers)  # new: 80 steps at 1.5 s, the median
    assert found == pytest.approx(expected, rel=0.1)
