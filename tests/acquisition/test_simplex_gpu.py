"""simplex.cu, compiled for the host and run one thread to a block, against the lock-step search it replaces."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from surefoot.acquisition.paper_search import BAYESOPT, RELATIVE
from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.registry import policy_at
from surefoot.acquisition.simplex_gpu import POLICIES, TRIALS, Start, arguments, is_usable, source
from surefoot.acquisition.step import Step
from surefoot.acquisition.target import Target
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from surefoot.numerics.designs import generator
from surefoot.numerics.nelder_mead import equal_sides, minimize_simplex, sides_of_coordinates

SHIM = """
#include <cmath>
#define __device__ static
#define __global__
#define __shared__ static
#define __syncthreads()
using std::isnan; using std::isfinite;
struct Dim { int x; };
static Dim threadIdx = {0}, blockDim = {1};
static Dim blockIdx = {0};
static double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
double dynamic[10000];
extern "C" void at_block(int i) { blockIdx.x = i; }
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("kernel")
    text = source().replace("extern __shared__ double dynamic[];", "")
    (folder / "simplex.cpp").write_text(SHIM + text)
    library = folder / "simplex.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, folder / "simplex.cpp"], check=True)
    return ctypes.CDLL(str(library))


def run(kernel, target, starts, slack=0.0, rules=RELATIVE.rules, sides=None):
    sides = equal_sides(starts) if sides is None else sides
    return run_all(kernel, [Start(target, starts, sides, slack + 0.0 * target.zero)], rules)


def run_all(kernel, starts, rules=RELATIVE.rules):
    args, x, f = arguments(starts, rules)
    names = ("n", "d", "n_starts", "kernel", "n_parameters", "max_moves", "walled", "f_tol", "x_tol")
    numbers = dict(zip(names, args[-len(names) :], strict=True))
    arrays = args[: -len(names)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    plain = [ctypes.c_int(v) if isinstance(v, int) else ctypes.c_double(v) for v in numbers.values()]
    assert TRIALS * numbers["n"] < 10_000
    for block in range(f.size):
        kernel.at_block(block)
        kernel.minimize_simplex(*pointers, *plain)
    return x, f, arrays[-1]


def make_target(policy_name, kernel_name, d, n=40, R=2):
    rng = np.random.default_rng(d)
    X = rng.random((R, n, d))
    y = np.sin(5.0 * X).sum(axis=-1) + 0.05 * rng.standard_normal((R, n))
    y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
    theta = np.tile([np.log(0.3)] * d + [np.log(1e-3)], (R, 1))
    post = condition(make_data(X, y), theta, get_kernel(kernel_name))
    f_best = y.min(axis=1, keepdims=True)
    policy = policy_at(policy_name, 0)
    score = policy.prepare(Step(post, f_best, tuple(generator(0, r, 0) for r in range(R)), 2.0))
    zero = np.full((R, 1), 1.7)
    return RawTarget(Target(policy, score, post, f_best), zero, np.ones((R, 1)), np.full((R, 1, d), -0.4)), rng.random(
        (R, 6, d)
    )


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("kernel_name", ["se", "matern52"])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_first_simplex_has_the_values_of_the_engine(kernel, policy, kernel_name, d):
    target, starts = make_target(policy, kernel_name, d)
    x, f, _ = run(kernel, target, starts, rules=replace(RELATIVE.rules, max_moves=0))
    np.testing.assert_allclose(f, -target.values(x), rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("slack", [0.0, 0.1])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_search_ends_where_the_lockstep_search_ends(kernel, policy, d, slack):
    target, starts = make_target(policy, "se", d)
    slacks = slack * np.array([[1.0], [0.1]])
    x, f, moves = run(kernel, target, starts, slacks)
    negated = lambda x, runs: -target.select(runs).values(x)  # noqa: E731
    expected = minimize_simplex(negated, starts, RELATIVE.rules, slack=slacks)
    same = np.abs(x - expected.x).max(axis=-1) < 1e-6
    assert same.mean() >= 0.9  # rounding may decide a tie
    np.testing.assert_allclose(f[same], expected.f[same], rtol=1e-6, atol=1e-300)
    assert slack > 0.0 or moves.max() > 1


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("policy", POLICIES)
def test_as_bayesopt_does_it_the_search_ends_where_the_lockstep_search_ends(kernel, policy, d):
    target, starts = make_target(policy, "se", d)
    sides = sides_of_coordinates(starts, target.origin)
    starts[0, 0, 0] = 0.99  # a vertex outside the box
    x, f, moves = run(kernel, target, starts, rules=BAYESOPT.rules, sides=sides)
    negated = lambda x, runs: -target.select(runs).values(x)  # noqa: E731
    expected = minimize_simplex(negated, starts, BAYESOPT.rules, sides=sides)
    same = np.abs(x - expected.x).max(axis=-1) < 1e-6
    assert same.mean() >= 0.9  # rounding may decide a tie
    np.testing.assert_allclose(f[same], expected.f[same], rtol=1e-6, atol=1e-300)
    assert moves.max() == 9


@pytest.mark.parametrize("u", [-60.0, -37.0, -8.0, -6.1, -5.9, -1.0, 0.0, 2.0, 9.0, 300.0])
def test_the_tails_of_scaled_ei_are_those_of_the_engine(kernel, u):
    raw, starts = make_target("ScaledEI", "se", 2, R=1)
    target = raw.target
    mu, sd = target.surrogate.c[0], np.sqrt(target.surrogate.s2[0])  # far from all data
    f_best = np.array([[mu + u * sd]])
    score = target.policy.prepare(Step(target.surrogate, f_best, ()))
    away = replace(raw, target=Target(target.policy, score, target.surrogate, f_best))
    away.target.surrogate.X[...] += 50.0
    _, f, _ = run(kernel, away, starts, rules=replace(RELATIVE.rules, max_moves=0))
    np.testing.assert_allclose(f, -away.values(starts), rtol=1e-9)


def test_it_is_not_used_on_the_host():
    target, starts = make_target("EI", "se", 2)
    assert not is_usable(target.target, starts)


def test_policies_side_by_side_end_where_each_ends_alone(kernel):
    made = [make_target(policy, "se", 2) for policy in POLICIES]
    x, f, _ = run_all(kernel, [Start(raw, starts, equal_sides(starts), 0.0 * raw.zero) for raw, starts in made])
    alone = [run(kernel, target, starts) for target, starts in made]
    np.testing.assert_array_equal(x, np.concatenate([part[0] for part in alone]))
    np.testing.assert_array_equal(f, np.concatenate([part[1] for part in alone]))
