"""The failures study on problems with limits: strategies, other optimizers, what is stored, tables and the figure."""

import csv
import importlib.util

import numpy as np
import pytest

from surefoot.engine.suggest import initial_design
from surefoot.errors import InvalidInputError, MissingExtraError, UnknownNameError
from surefoot.optimize.space import Space
from surefoot.paper.studies.failures import limits_tables, report, strategies, study, verdicts
from surefoot.paper.studies.failures.constrained import get_constrained
from surefoot.paper.studies.failures.runs import NEVER, Runs, read_runs, recorded_runs

N = 26
PROBLEM = "three-bar truss"
STRATEGIES = ("default", "label-regression", "ignore", "random")


@pytest.fixture(scope="module", name="done")
def _done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits") / "raw"
    todo = list(study.cases([PROBLEM], STRATEGIES, ("EI",), 3, N))
    list(study.run_study(todo, folder, 1))
    return todo, folder


def test_surefoot_runs_all_seeds_in_one_file_and_others_one_each(done):
    todo, folder = done
    assert [case.n_seeds for case in todo] == [3, 3, 3, 1, 1, 1]
    assert len(list(folder.glob("*.npz"))) == 6
    assert len({case.file_name for case in todo}) == 6


def test_a_file_holds_points_values_and_the_cause_of_every_failure(done):
    todo, folder = done
    problem = get_constrained(PROBLEM)
    low, high = np.asarray(problem.base.bounds).T
    for case in todo:
        with np.load(folder / case.file_name) as data:
            x = low + data["X"] * (high - low)
            assert data["X"].shape == (case.n_seeds, N, 2)
            np.testing.assert_array_equal(data["cause"], problem.cause(x))
            np.testing.assert_array_equal(data["ok"], data["cause"] < 0)
            np.testing.assert_allclose(data["y"][data["ok"]], problem.base(x)[data["ok"]], rtol=1e-12)
            assert np.isnan(data["y"][~data["ok"]]).all()


def test_every_strategy_begins_with_the_same_design(done):
    todo, folder = done
    designs = {seed: [] for seed in range(3)}
    for case in todo:
        with np.load(folder / case.file_name) as data:
            for seed, X in enumerate(data["X"], case.seed):
                designs[seed].append(X[: int(data["n_init"])])
    for seed, found in designs.items():
        assert len(found) == len(STRATEGIES)
        for X in found:
            np.testing.assert_allclose(X, found[0], atol=1e-12)
        own = initial_design(Space.of(get_constrained(PROBLEM).base.bounds), study.settings_of(todo[0]).spec, seed)
        np.testing.assert_allclose(found[0], own, atol=1e-12)


def test_the_default_is_what_a_user_gets_and_the_paper_keeps_its_model():
    user = study.settings_of(study.Case(PROBLEM, "default", "", 2, 30))
    paper = study.settings_of(study.Case("BRA discs", "default", "EI", 2, 30))
    assert (user.kernel, user.warp) == ("auto", "auto")
    assert (paper.kernel, paper.warp, paper.prior, paper.policy) == ("se", "none", "none", "EI")
    old = study.settings_of(study.Case(PROBLEM, "label-regression", "", 2, 30))
    assert (old.failures, old.min_success) == ("label-regression", 0.5)


def test_regret_is_relative_and_a_run_without_success_is_worse_than_any():
    problem = get_constrained("spring")
    values = {0: np.asarray([np.nan, 2.0 * problem.f_star, 1.01 * problem.f_star]), 1: np.full(3, np.nan)}
    runs = Runs("spring", "default", 1, values)
    np.testing.assert_allclose(runs.regret(2, [0, 1]), [0.0, NEVER])
    np.testing.assert_allclose(runs.regret(3, [0]), [-2.0])
    assert runs.failed(3, [0, 1]).tolist() == [0.0, 2.0]
    assert runs.first_success([0, 1]).tolist() == [2.0, np.inf]


def test_of_two_runs_of_a_seed_the_longer_one_is_read(done, tmp_path):
    todo, folder = done
    for case in study.cases([PROBLEM], ("random",), (), 2, N + 4):
        study.run_case(case, tmp_path)
    for case in todo:
        (tmp_path / case.file_name).write_bytes((folder / case.file_name).read_bytes())
    random = next(r for r in read_runs(tmp_path, [PROBLEM]) if r.strategy == "random")
    assert [len(random.values[seed]) for seed in range(3)] == [N + 4, N + 4, N]
    assert random.seeds(N + 4) == [0, 1]


def _fake(strategy, best, failed, n=100, seeds=20):
    values = {}
    for seed in range(seeds):
        y = np.full(n, np.nan)
        y[failed + seed % 3 :] = best * (1.0 + 0.01 * seed)
        values[seed] = y
    return Runs("spring", strategy, 0, values)


def test_the_tests_say_where_the_default_is_better_and_where_worse():
    f_star = get_constrained("spring").f_star
    runs = [_fake("default", 2 * f_star, 30), _fake("ep", 3 * f_star, 60), _fake("tpe", 1.5 * f_star, 30)]
    found = {(v.strategy, v.what): v.sign for v in verdicts.verdicts(runs)}
    assert found == {("ep", "regret"): 1, ("ep", "failed"): 1, ("tpe", "regret"): -1, ("tpe", "failed"): 0}
    text = verdicts.verdict_table(runs, verdicts.verdicts(runs))
    assert "| ep | 1 / 0 of 1 | 1 / 0 of 1 | 20 |" in text
    assert "| tpe | 0 / 1 of 1 | 0 / 0 of 1 | 20 |" in text


def test_runs_that_are_no_pairs_are_compared_with_all_their_seeds():
    f_star = get_constrained("spring").f_star
    runs = [_fake("default", 2 * f_star, 30), _fake("ep", 3 * f_star, 60, seeds=6), _fake("tpe", f_star, 30, seeds=4)]
    found = verdicts.verdicts(runs, paired=False)
    assert {(v.strategy, v.what): v.sign for v in found if v.strategy == "ep"} == {
        ("ep", "regret"): 1,
        ("ep", "failed"): 1,
    }
    assert all(np.isnan(v.p) for v in found if v.strategy == "tpe")


def test_where_little_succeeds_failures_are_compared_with_the_default_before():
    f_star = get_constrained("spring").f_star
    runs = [_fake("default", 2 * f_star, 30), _fake("label-regression", 3 * f_star, 60)]
    text = limits_tables.rare_table(runs, verdicts.verdicts(runs))
    first = 32 / limits_tables.median_of_random("spring")
    assert f"| spring | 0.75 % | 31 | 61 | 0.51 | better | 32 | {first:.2f} |" in text
    assert limits_tables.rare_table(runs[:1], []) == ""


def test_random_search_needs_the_median_of_a_geometric_distribution():
    share = limits_tables.share_that_succeeds("spring")
    n = limits_tables.median_of_random("spring")
    assert (1.0 - share) ** n <= 0.5 < (1.0 - share) ** (n - 1)


def test_tables_and_figure_are_written(done, tmp_path):
    todo, folder = done
    texts = list(report.write(todo, folder, tmp_path))
    assert "| three-bar truss |" in texts[0]
    rows = list(csv.DictReader((tmp_path / "limits.csv").read_text().splitlines()))
    assert {row["strategy"] for row in rows} == set(STRATEGIES)
    rows = list(csv.DictReader((tmp_path / "limits-runs.csv").read_text().splitlines()))
    assert [row["seeds"] for row in rows] == ["0 1 2"] * 4
    assert all(len(row["log10_regret"].split()) == 3 for row in rows)
    assert (tmp_path / "limits.png").stat().st_size > 5_000


def test_runs_whose_files_are_gone_stay_in_the_tables(done, tmp_path):
    todo, folder = done
    list(report.write(todo, folder, tmp_path))
    kept = {name: (tmp_path / name).read_text() for name in ("limits.md", "limits-runs.csv")}
    (tmp_path / "limits.png").unlink()
    assert len(list(report.write(todo, tmp_path / "raw", tmp_path))) == 2
    for name, text in kept.items():
        assert (tmp_path / name).read_text() == text
    assert (tmp_path / "limits.png").stat().st_size > 5_000


def test_recorded_runs_have_the_numbers_of_the_runs(done, tmp_path):
    todo, folder = done
    list(report.write(todo, folder, tmp_path))
    own = read_runs(folder, [PROBLEM])
    again = {r.strategy: r for r in recorded_runs(tmp_path / "limits-runs.csv", study.n_initial)}
    assert again.keys() == {r.strategy for r in own}
    for a in own:
        b = again[a.strategy]
        assert (a.seeds(N), a.all_seeds, a.longest, a.library) == (b.seeds(N), b.all_seeds, b.longest, b.library)
        assert b.seeds(N + 1) == []
        np.testing.assert_allclose(a.regret(N, [0, 2]), b.regret(N, [0, 2]), atol=0.005)  # the table has two digits
        np.testing.assert_array_equal(a.failed(N, [0, 2]), b.failed(N, [0, 2]))
        np.testing.assert_array_equal(a.first_success([1]), b.first_success([1]))


def test_a_combination_that_ran_anew_takes_the_place_of_its_record(done, tmp_path):
    todo, folder = done
    list(report.write(todo, folder, tmp_path))
    path = tmp_path / "limits-runs.csv"
    path.write_text(path.read_text().replace(",default,", ",variant,", 1).replace(",random,", ",default,", 1))
    list(report.write(todo, folder, tmp_path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert sorted(row["strategy"] for row in rows) == sorted([*STRATEGIES, "variant"])


def test_on_the_papers_problems_the_default_is_compared_policy_by_policy(tmp_path):
    todo = list(study.cases(["HM3 half-space 50 %"], ("default", "ignore"), ("EI", "PI"), 6, 32))
    list(study.run_study(todo, tmp_path, 1))
    texts = list(report.write(todo, tmp_path, tmp_path))
    assert "| ignore |" in texts[1]
    assert "of 2 |" in texts[1]  # two policies
    assert (tmp_path / "verdicts.md").read_text() == texts[1]


def test_every_significant_difference_is_listed():
    f_star = get_constrained("spring").f_star
    runs = [_fake("default", 2 * f_star, 30), _fake("ep", 3 * f_star, 60)]
    text = verdicts.listed(verdicts.verdicts(runs))
    assert "| spring |  | ep | 100 | better in failures | -30.00 |" in text
    assert "| spring |  | ep | 100 | better in log10 regret |" in text
    assert verdicts.listed([]) == ""


def test_tables_without_runs_are_refused(tmp_path):
    todo = list(study.cases([PROBLEM], ("default",), (), 2, 30))
    with pytest.raises(InvalidInputError, match=r"expected runs in .*; got none; try"):
        list(report.write(todo, tmp_path, tmp_path))


# --- other optimizers


def test_an_unknown_strategy_and_a_missing_package_are_named(monkeypatch):
    with pytest.raises(UnknownNameError, match=r"expected a strategy among default, .*; got 'epp'; try default"):
        strategies.check_strategies(["epp"])
    monkeypatch.setattr(strategies, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"expected smac for the strategy smac; .*surefoot\[peers\]"):
        strategies.check_strategies(["default", "random", "smac"])


def test_no_other_optimizer_runs_on_the_problems_of_the_paper():
    assert {case.strategy for case in study.cases(["BRA discs"], ("ep", "random"), ("EI",), 2, 30)} == {"ep"}


@pytest.mark.filterwarnings("ignore")  # what other libraries warn of is theirs
@pytest.mark.parametrize(
    "name",
    [
        "random",
        "tpe",
        *(pytest.param(name, marks=pytest.mark.peers) for name in ("cmaes", "egobox", "egobox-efi", "smac")),
    ],
)
@pytest.mark.parametrize("problem", ["three-bar truss", "speed reducer"])  # in the second almost everything fails
def test_an_optimizer_spends_its_budget_inside_the_box(name, problem, tmp_path):
    other = strategies.OTHERS[name]
    if other.module and importlib.util.find_spec(other.module) is None:
        pytest.skip(f"{other.module} is not installed")
    case = study.Case(problem, name, "", 1, 36, 1)
    with np.load(study.run_case(case, tmp_path)) as data:
        assert data["y"].shape == (1, 36)
        assert ((data["X"] >= 0.0) & (data["X"] <= 1.0)).all()
        assert str(data["library"]).startswith(other.distribution)
