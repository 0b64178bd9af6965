"""The paper's Nelder-Mead searches on a GPU, each in a thread block of its own: simplex.cu, compiled when first used.

Where it cannot be used (no GPU, an old PyTorch, failures to be weighted, a user's own policy) the lock-step form of
numerics/nelder_mead.py does the same in many small launches.
"""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Any

from surefoot.acquisition.success import Target
from surefoot.backend import Array, contiguous, cuda_kernel, empty, namespace, on_cuda
from surefoot.numerics.nelder_mead import FIRST_SIZE, X_TOL, iteration_limit

KERNELS = ("se", "matern52")  # enum Kernel of simplex.cu
POLICIES = ("MN", "LCB", "PI", "EI", "ScaledEI", "MES")  # enum Policy
MAX_D = 16
TRIALS = 4
_THREADS = 256
_DEFAULT_SHARED = 45_000  # bytes of dynamic shared memory that every GPU grants without asking


@functools.cache
def source() -> str:
    """The text of simplex.cu."""
    return files("surefoot.acquisition").joinpath("simplex.cu").read_text()


def is_usable(target: Target, starts: Array) -> bool:
    """Whether the kernel covers this search."""
    return (
        on_cuda(starts)
        and target.success is None
        and target.post.mask is None
        and target.policy.name in POLICIES
        and target.post.kernel.name in KERNELS
        and starts.shape[-1] <= MAX_D
        and cuda_kernel(source(), "minimize_simplex") is not None
    )


def arguments(target: Target, starts: Array, f_tol: float) -> tuple[list[Any], Array, Array]:
    """The kernel's arguments in their order, and among them where the end points and their values will be."""
    xp = namespace(starts)
    post, policy = target.post, target.policy.name
    R, S, d = starts.shape
    parameters = target.score.parameters[0] if target.score.parameters else target.f_best  # MN has none
    x, f = empty((R, S, d), starts), empty((R, S), starts)
    arrays = [
        post.X * post.inv_ell, post.inv_ell, xp.matrix_transpose(post.L_inv), post.z, post.c, post.s2,
        parameters, starts,
    ]  # fmt: skip
    numbers = [
        post.X.shape[1], d, S, KERNELS.index(post.kernel.name), POLICIES.index(policy), parameters.shape[1],
        iteration_limit(d), FIRST_SIZE, f_tol, X_TOL,
    ]  # fmt: skip
    return [*map(contiguous, arrays), x, f, empty((R, S), starts, "int32"), *numbers], x, f


def minimize_on_gpu(target: Target, starts: Array, f_tol: float) -> tuple[Array, Array]:
    """End points (R, S, d) of the searches from `starts` and the negated raw policy there (R, S)."""
    R, S, _ = starts.shape
    kernel = cuda_kernel(source(), "minimize_simplex")
    args, x, f = arguments(target, starts, f_tol)
    shared = 8 * TRIALS * max(target.post.X.shape[1], 2 * _THREADS)
    if shared > _DEFAULT_SHARED:
        kernel.set_shared_memory_config(shared)
    kernel(grid=(R * S, 1, 1), block=(_THREADS, 1, 1), args=args, shared_mem=shared)
    return x, f
