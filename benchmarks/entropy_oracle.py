"""Do ES and PES find what they approximate? `python -m benchmarks.entropy_oracle [--draws N] [--states N] [--d D …]`.

Oracle    On a grid of 200 points the posterior is one Gaussian vector. Of 10^6 draws of it, each has its arg-min x*,
          and at every grid point an evaluation y with its noise. Cutting y into 64 intervals that are equally likely,
          the entropy of x* among all draws less its mean entropy among those of an interval is the information
          I(x*; y) that ES and PES approximate, each in its own way. Entropies of counts are corrected for their bias
          (Miller and Madow: + (cells that are not empty - 1) / (2 draws)).
States    Functions drawn from a process with a squared exponential or Matérn kernel, 3 d to 8 d observations, and the
          posterior with the true hyperparameters; only those whose arg-min is uncertain, with an entropy of 1 nat at
          least: elsewhere there is nothing to learn, and nothing to rank.
Judged    Spearman's correlation over the grid, points that tell less than 1 % of the most counting as ties; and how
          many grid points the oracle puts before the policy's favourite. The oracle is judged too, by other draws.
          ES and PES ask where in the cube the minimum lies. "Of the grid" they are told that it is at one of the grid's
          points, which is what the oracle is asked: in two dimensions, where the grid is coarse, that is another
          question.
          What ES and PES are made of (how many representers, draws and intervals) was chosen on the first 20 states:
          --skip 20 judges them on others.
Shapes    grid (200, d); information (200,).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import spearmanr

from surefoot.acquisition.registry import policy_at
from surefoot.acquisition.score import JointScore
from surefoot.acquisition.step import Step
from surefoot.gp.kernels import get_kernel
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import Posterior, condition
from surefoot.numerics.designs import generator
from surefoot.paper.markdown import markdown

N_GRID = 200
N_BINS = 64
POLICIES = ("ES", "PES", "ES, of the grid", "PES, of the grid", "MES", "MES-R")
OF_GRID = ", of the grid"  # behind a policy that is asked what the oracle is asked: which point of the grid is lowest
AGAIN = "the oracle again"
LEAST_ENTROPY = 1.0  # nats, of x* on the grid
TIE = 0.01  # of the largest information
_CHUNK = 20_000
_REACH, _PER_SD = 6, 256  # compiled: a table of intervals of y to 6 standard deviations, 256 cells to each


def grid(d: int) -> np.ndarray:
    """200 points of the unit interval or square, borders included."""
    if d == 1:
        return np.linspace(0.0, 1.0, N_GRID)[:, None]
    axes = np.meshgrid(np.linspace(0.0, 1.0, 20), np.linspace(0.0, 1.0, 10))
    return np.stack([axis.ravel() for axis in axes], axis=1)


@dataclass(frozen=True)
class State:
    """A posterior (of one run), and the least value seen (1, 1)."""

    posterior: Posterior
    f_best: np.ndarray


def make_state(d: int, number: int) -> State:
    """Random state `number`, certain or not."""
    rng = np.random.default_rng([d, number])
    kernel = get_kernel(("se", "matern52")[number % 2])
    n = int(rng.integers(3 * d, 8 * d + 1))
    ell = float(rng.uniform(0.12, 0.4) if d == 1 else rng.uniform(0.2, 0.5))
    X = rng.random((n, d))
    C = kernel.value(((X[:, None] - X[None]) ** 2).sum(axis=-1) / ell**2)
    y = np.linalg.cholesky(C + 1e-8 * np.eye(n)) @ rng.standard_normal(n)
    y = (y - y.mean()) / y.std()
    theta = np.log([[ell] * d + [10.0 ** rng.uniform(-6.0, -2.0)]])
    return State(condition(make_data(X[None], y[None]), theta, kernel), np.asarray([[y.min()]]))


def uncertain_states(d: int, count: int) -> Iterator[tuple[int, State]]:
    """The first `count` states whose arg-min is uncertain, with their numbers."""
    number = 0
    while count > 0:
        state = make_state(d, number)
        if _entropy(np.bincount(_draws(state, grid(d), 4000, 1)[0], minlength=N_GRID)) > LEAST_ENTROPY:
            yield number, state
            count -= 1
        number += 1


def _gaussian(state: State, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean (200,) and a root (200, 200) of the covariance on the grid, and the variance of noise."""
    joint = state.posterior.joint(x[None])
    values, vectors = np.linalg.eigh(joint.covariance[0])
    return joint.mean[0], vectors * np.sqrt(np.maximum(values, 0.0)), float(state.posterior.noise[0])


def _draws(state: State, x: np.ndarray, n_draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Arg-mins (n,) of functions drawn on the grid, and for each the quantiles (n, 200) of an evaluation everywhere."""
    mean, root, noise = _gaussian(state, x)
    rng = np.random.default_rng(seed)
    f = rng.standard_normal((n_draws, len(x))) @ root.T
    y = f + math.sqrt(noise) * rng.standard_normal(f.shape)
    return np.argmin(mean + f, axis=1), ndtr(y / np.sqrt(np.sum(root * root, axis=1) + noise + 1e-300))


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Entropies of counts along the first axis, corrected for their bias."""
    n = np.maximum(counts.sum(axis=0), 1)
    p = counts / n
    plain = -np.sum(p * np.log(np.where(p > 0.0, p, 1.0)), axis=0)
    return np.asarray(plain + np.maximum(np.sum(counts > 0, axis=0) - 1, 0) / (2.0 * n))


def _counts(state: State, x: np.ndarray, n_bins: int, chunks: range, chunk: int) -> np.ndarray:
    """How often (point, arg-min, interval of y) came, in some chunks of draws."""
    counts = np.zeros((len(x), len(x) * n_bins))
    for seed in chunks:
        star, quantile = _draws(state, x, chunk, seed)
        cell = star[:, None] * n_bins + np.minimum((quantile * n_bins).astype(int), n_bins - 1)
        for j in range(len(x)):
            counts[j] += np.bincount(cell[:, j], minlength=len(x) * n_bins)
    return counts.reshape(len(x), len(x), n_bins)


def _counts_on(device: str, state: State, x: np.ndarray, n_bins: int, chunks: range, chunk: int) -> np.ndarray:
    """The same with PyTorch and its random numbers."""
    import torch

    mean, root, noise = _gaussian(state, x)
    m, r = (torch.as_tensor(a, device=device) for a in (mean, root))
    sd_y = torch.sqrt(torch.sum(r * r, dim=1) + noise + 1e-300)
    first_cell = torch.arange(len(x), device=device) * (len(x) * n_bins)
    counts = torch.zeros(len(x) ** 2 * n_bins, dtype=torch.int64, device=device)
    for seed in chunks:
        rng = torch.Generator(device).manual_seed(seed)
        f, e = (torch.randn(chunk, len(x), dtype=r.dtype, device=device, generator=rng) for _ in range(2))
        f = f @ r.T
        interval = (torch.special.ndtr((f + math.sqrt(noise) * e) / sd_y) * n_bins).long().clamp(max=n_bins - 1)
        cell = first_cell + torch.argmin(m + f, dim=1)[:, None] * n_bins + interval
        counts += torch.bincount(cell.ravel(), minlength=len(counts))
    return np.asarray(counts.double().cpu()).reshape(len(x), len(x), n_bins)


@cache
def _compiled() -> Callable[..., None]:
    """Adds draws f (n, 200) with their errors to counts (point, arg-min, interval of y)."""
    from numba import njit

    @njit(fastmath=True)  # type: ignore[untyped-decorator]
    def add(f: Any, errors: Any, mean: Any, inverse: Any, interval: Any, counts: Any) -> None:
        last = len(interval) - 1
        for k in range(f.shape[0]):
            star = np.argmin(f[k] + mean)
            for j in range(f.shape[1]):
                t = (f[k, j] + errors[k, j]) * inverse[j]
                cell = min(max(int((t + np.float32(_REACH)) * np.float32(_PER_SD)), 0), last)
                counts[j, star, interval[cell]] += 1

    return add  # type: ignore[no-any-return]


def _counts_compiled(state: State, x: np.ndarray, n_bins: int, chunks: range, chunk: int) -> np.ndarray:
    """The same in single precision, compiled by Numba: ten times faster. Errors of y come out of a pool of draws."""
    mean, root, noise = _gaussian(state, x)
    size = np.sum(root * root, axis=0)
    root = root[:, size > 1e-10 * size.max()].astype(np.float32)
    inverse = (1.0 / np.sqrt(np.sum(root * root, axis=1) + noise + 1e-300)).astype(np.float32)
    ends = ndtri(np.arange(1, n_bins) / n_bins)
    middles = (np.arange(2 * _REACH * _PER_SD) + 0.5) / _PER_SD - _REACH
    interval = np.searchsorted(ends, middles).astype(np.int32)
    counts = np.zeros((len(x), len(x), n_bins), np.int32)
    rng = np.random.default_rng([1, chunks.start])
    pool = np.float32(math.sqrt(noise)) * rng.standard_normal((2 * chunk, len(x)), dtype=np.float32)
    for _ in chunks:
        f = rng.standard_normal((chunk, root.shape[1]), dtype=np.float32) @ root.T
        begin = int(rng.integers(chunk))
        _compiled()(f, pool[begin : begin + chunk], mean.astype(np.float32), inverse, interval, counts)
    return counts


def information(
    state: State, x: np.ndarray, n_draws: int, n_bins: int = N_BINS, *, again: int = 0, device: str = "cpu"
) -> np.ndarray:
    """I(x*; y) at every grid point, in nats; `again` numbers independent draws."""
    n_chunks = max(1, n_draws // _CHUNK)
    chunks = range(again * n_chunks, (again + 1) * n_chunks)
    how = state, x, n_bins, chunks, min(n_draws, _CHUNK)
    found = []
    for of_point in COUNTS[device](*how) if device in COUNTS else _counts_on(device, *how):
        share = of_point.sum(axis=0) / of_point.sum()
        found.append(_entropy(of_point.sum(axis=1)) - np.sum(share * _entropy(of_point)))
    return np.asarray(found)


COUNTS = {"cpu": _counts, "compiled": _counts_compiled}


def policy_information(name: str, state: State, x: np.ndarray, seed: int = 0, *, of_grid: bool = False) -> np.ndarray:
    """What a policy says the grid points tell, in nats; of_grid: told that the minimum is at one of them."""
    score = policy_at(name, 0).prepare  # type: ignore[misc]
    assert score is not None
    ready = score(Step(state.posterior, state.f_best, (generator(seed, 0, 0),), places=x[None] if of_grid else None))
    if isinstance(ready, JointScore):
        return np.exp(ready.values(x[None])[0])
    return np.exp(ready(*state.posterior.moments(x[None]))[0][0])


@dataclass(frozen=True)
class Verdict:
    """A policy beside the oracle in one state."""

    spearman: float
    n_before: int  # grid points that tell more than the policy's favourite
    share: float  # what the favourite tells, of the most


def judge(found: np.ndarray, truth: np.ndarray) -> Verdict:
    """Compare a policy's information (200,) with the oracle's."""
    floored = [np.maximum(values, TIE * values.max()) for values in (found, truth)]
    favourite = truth[int(np.argmax(found))]
    return Verdict(
        float(spearmanr(*floored).statistic), int(np.sum(truth > favourite)), float(favourite / np.max(truth))
    )


def rows_of(d: int, states: Iterable[State], n_draws: int, device: str = "cpu") -> list[list[str]]:
    """A row a policy: how it ranks and where its favourites lie."""
    verdicts: dict[str, list[Verdict]] = {name: [] for name in (AGAIN, *POLICIES)}
    x = grid(d)
    for state in states:
        truth, other = (information(state, x, n_draws, again=again, device=device) for again in range(2))
        verdicts[AGAIN].append(judge(other, truth))
        for name in POLICIES:
            found = policy_information(name.removesuffix(OF_GRID), state, x, of_grid=name.endswith(OF_GRID))
            verdicts[name].append(judge(found, truth))
    rows = []
    for name, of_states in verdicts.items():
        spearman, share = [v.spearman for v in of_states], [v.share for v in of_states]
        best = sum(v.n_before < 0.02 * N_GRID for v in of_states)
        rows.append(
            [str(d), name, f"{min(spearman):.2f}", f"{np.median(spearman):.3f}", f"{best} of {len(share)}",
             f"{100 * min(share):.0f} %", f"{100 * float(np.median(share)):.1f} %"]
        )  # fmt: skip
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=10**6)
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--skip", type=int, default=0, help="states that are left out first")
    parser.add_argument("--d", type=int, nargs="+", default=[1, 2], choices=[1, 2])
    parser.add_argument(
        "--device",
        default="cpu",
        help="of the oracle's draws: cpu, compiled (Numba) or cuda (PyTorch); other draws each",
    )
    args = parser.parse_args(argv)
    header = ["d", "policy", "least Spearman", "median", "favourite among the best 2 %", "tells at least", "median"]
    rows = []
    for d in args.d:
        numbered = islice(uncertain_states(d, args.skip + args.states), args.skip, None)
        rows += rows_of(d, (state for _, state in numbered), args.draws, args.device)
    print(
        f"States {args.skip + 1} to {args.skip + args.states} of each dimension, {args.draws:.0e} draws of each.\n\n"
        f"{markdown([header, *rows])}",
        end="",
    )


if __name__ == "__main__":
    main()
