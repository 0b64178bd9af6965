"""The paper's Nelder-Mead searches on a GPU, each in a thread block of its own: simplex.cu, compiled when first used.

Where it cannot be used (no GPU, an old PyTorch, failures to be weighted, a user's own policy) the lock-step form of
numerics/nelder_mead.py does the same in many small launches.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from surefoot.acquisition.raw import RawTarget
from surefoot.acquisition.target import Target
from surefoot.backend import Array, contiguous, cuda_kernel, empty, like, namespace, on_cuda
from surefoot.gp.posterior import Posterior
from surefoot.numerics.nelder_mead import Rules

KERNELS = ("se", "matern52")  # enum Kernel of simplex.cu
POLICIES = ("MN", "LCB", "PI", "EI", "ScaledEI", "MES")  # enum Policy
MAX_D = 16
TRIALS = 4
_DEFAULT_SHARED = 45_000  # bytes of dynamic shared memory that every GPU grants without asking


@functools.cache
def source() -> str:
    """The text of simplex.cu."""
    return files("surefoot.acquisition").joinpath("simplex.cu").read_text(encoding="utf-8")


def is_usable(target: Target, starts: Array) -> bool:
    """Whether the kernel covers this search."""
    return (
        on_cuda(starts)
        and not target.weights
        and type(target.surrogate) is Posterior
        and target.surrogate.mask is None
        and target.policy.name in POLICIES
        and target.surrogate.kernel.name in KERNELS
        and starts.shape[-1] <= MAX_D
        and cuda_kernel(source(), "minimize_simplex") is not None
    )


@dataclass(frozen=True)
class Start:
    """Where the searches of a target start."""

    raw: RawTarget
    x: Array  # (R, S, d)
    sides: Array  # (R, S, d) of the first simplex
    slack: Array  # (R, 1) absolute tolerance on the value


def arguments(starts: Sequence[Start], rules: Rules) -> tuple[list[Any], Array, Array]:
    """The kernel's arguments in their order, and among them where the end points and their values will be.

    All targets go into one launch: simplices of every policy fill the GPU side by side.
    """
    xp = namespace(starts[0].x)
    targets = [start.raw.target for start in starts]
    x0 = xp.concat([start.x for start in starts], axis=0)
    R, S, d = x0.shape
    # of a policy: kappa (LCB), f_best (PI, EI, ScaledEI), samples of the minimum (MES); MN has none
    own = [target.score.parameters[0] if target.score.parameters else target.f_best for target in targets]
    width = max(parameters.shape[1] for parameters in own)
    padded = [xp.broadcast_to(p, (p.shape[0], width)) for p in own]  # those with one parameter repeat it
    which = [POLICIES.index(target.policy.name) for target in targets for _ in range(target.f_best.shape[0])]
    zeros = [s.raw.zero if s.raw.target.policy.is_level else 0.0 * s.raw.zero for s in starts]
    posts = [t.surrogate for t in targets if isinstance(t.surrogate, Posterior)]  # all of them: is_usable

    def all_of(field: str) -> Array:
        return xp.concat([getattr(post, field) for post in posts], axis=0)

    inv_ell = all_of("inv_ell")
    L_inv_T = xp.matrix_transpose(xp.concat([post.factor.L_inv for post in posts], axis=0))
    x, f = empty((R, S, d), x0), empty((R, S), x0)
    arrays = [
        all_of("X") * inv_ell, inv_ell, L_inv_T, all_of("z"), all_of("c"), all_of("s2"),
        xp.concat(padded, axis=0), xp.concat(zeros, axis=0), xp.concat([start.slack for start in starts], axis=0),
        xp.astype(like(which, x0), xp.int32), x0, xp.concat([start.sides for start in starts], axis=0),
    ]  # fmt: skip
    numbers = [
        posts[0].X.shape[1], d, S, KERNELS.index(posts[0].kernel.name), width, rules.most_moves(d),
        int(rules.walled), rules.f_tol, rules.x_tol,
    ]  # fmt: skip
    return [*map(contiguous, arrays), x, f, empty((R, S), x0, "int32"), *numbers], x, f


def minimize_on_gpu(starts: Sequence[Start], rules: Rules) -> list[tuple[Array, Array]]:
    """Of each target: end points (R, S, d) of the searches and the negated raw policy there, from its zero (R, S)."""
    kernel = cuda_kernel(source(), "minimize_simplex")
    args, x, f = arguments(starts, rules)
    n = starts[0].raw.target.surrogate.X.shape[1]
    # a block reads L^-1 as fast as its threads can ask for it
    threads = 512 if n > 300 else 256
    shared = 8 * TRIALS * max(n, 2 * threads)
    if shared > _DEFAULT_SHARED:
        kernel.set_shared_memory_config(shared)
    kernel(grid=(f.shape[0] * f.shape[1], 1, 1), block=(threads, 1, 1), args=args, shared_mem=shared)
    ends = list(itertools.accumulate(start.x.shape[0] for start in starts))
    parts = [slice(end - start.x.shape[0], end) for end, start in zip(ends, starts, strict=True)]
    return [(x[part], f[part]) for part in parts]
