"""Another processor rounds otherwise: what still agrees, and that results are as good there."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from tools.arithmetics import arithmetics

OTHERS = {name: environment for name, environment in arithmetics().items() if environment}
pytestmark = pytest.mark.skipif(not OTHERS, reason="this processor has one arithmetic only")
each_other = pytest.mark.parametrize("other", OTHERS)

PROGRAM = """
import json, sys
import surefoot
from surefoot.numerics.designs import generator

answers = {}
for name in ("BRA", "HM3", "HM6"):
    f = surefoot.problems.get(name)
    optimizer = surefoot.Optimizer(f.bounds, seed=1, n_init=10)
    for _ in range(10):
        x = optimizer.ask()
        answers.setdefault("design", []).append(x)
        optimizer.tell(x, round(f(x), 6))  # values that no rounding of the function itself decides
    answers.setdefault("step", []).append([x - b[0] for x, b in zip(optimizer.ask(), f.bounds, strict=True)])
answers["draws"] = generator(1, 2, 3).standard_normal(5).tolist()
f = surefoot.problems.get("BRA")
answers["regret"] = [surefoot.minimize(f, f.bounds, n_evals=34, n_init=8, seed=s).fun - f.f_star for s in range(9)]
print(json.dumps(answers))
"""


def run(environment: dict[str, str]) -> dict:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers() -> dict[str, dict]:
    return {name: run(environment) for name, environment in {"as found": {}, **OTHERS}.items()}


@each_other
def test_draws_and_designs_are_the_same_bits_on_every_processor(other: str, answers) -> None:
    assert answers[other]["draws"] == answers["as found"]["draws"]
    assert answers[other]["design"] == answers["as found"]["design"]


@each_other
def test_a_step_from_few_points_is_the_same_point_to_five_digits(other: str, answers) -> None:
    for here, there in zip(answers["as found"]["step"], answers[other]["step"], strict=True):
        np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-4)


@each_other
def test_results_are_as_good_with_another_arithmetic(other: str, answers) -> None:
    here, there = (np.log10(np.maximum(answers[name]["regret"], 1e-15)) for name in ("as found", other))
    assert mannwhitneyu(here, there).pvalue > 0.001
    assert np.median(there) < -3.0
