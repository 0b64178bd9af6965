"""Which array library is in use, and the few operations that need a body per library.

Purpose  The engine is written once against an array namespace `xp` (NumPy or PyTorch, from array-api-compat).
         Only this file may ask which of the two it is.
Shapes   Leading axes are batches; matrices are the last two. Nothing here raises for a bad matrix:
         `cholesky` returns a status per matrix instead.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, cast

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np
import scipy.linalg.lapack as lapack
import scipy.special as special
import threadpoolctl
from scipy.linalg.blas import dtrmm

from surefoot.errors import DeviceMemoryError, InvalidInputError, MissingExtraError, described, shown

Array = Any  # numpy.ndarray or torch.Tensor; both follow the array API standard
Namespace = Any

SERIAL_BELOW = 2000  # order of the matrices from which several BLAS threads are used
_STRIP = 512  # rows of a triangular product at once on a GPU

__all__ = [
    "Array",
    "Namespace",
    "cholesky",
    "clip",
    "engine",
    "inverse_from_triangular",
    "like",
    "log_ndtr",
    "namespace",
    "ndtr",
    "sq_differences",
    "sq_distances",
    "to_host",
    "triangular_inverse",
    "triangular_matmul",
]


def namespace(x: Array) -> Namespace:
    """The array namespace of `x`."""
    if type(x) is np.ndarray:  # the common case, 20 times faster than the general look-up
        return numpy_namespace
    return array_api_compat.array_namespace(x)


def _is_numpy(x: Array) -> bool:
    return type(x) is np.ndarray


def reference_on(device: str) -> Array:
    """An empty array that stands for a device: "cpu" is NumPy; "torch" is PyTorch on the CPU, "cuda" on a GPU."""
    if not isinstance(device, str):
        raise InvalidInputError(f"expected a device by name; got {shown(device)}; try device='cuda', or 'cpu'")
    if device == "cpu":
        return np.zeros(0)
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(
            f"expected PyTorch for the device {shown(device)}; got {described(error)}; try the device cpu, or "
            "pip install 'surefoot[torch]', built for your GPU"
        ) from None
    try:
        if device.startswith("cuda") and _processes > 1:  # what is cached beyond it is given back first
            torch.cuda.set_per_process_memory_fraction(min(1.0, 3.0 / _processes))
        reference = torch.zeros(0, dtype=torch.float64, device="cpu" if device == "torch" else device)
        reference.cpu()  # what cannot come back is of no use
        return reference
    except (RuntimeError, AssertionError, TypeError) as error:  # TypeError: a device without float64
        raise InvalidInputError(
            f"expected a device that PyTorch can use here, in float64; got {shown(device)} "
            f"({str(error).splitlines()[0]}); try the device cpu, or a PyTorch built for your GPU; "
            f"it sees {torch.cuda.device_count()} of them"
        ) from None


def to_host(x: Array) -> np.ndarray:
    """`x` as a NumPy array in host memory."""
    if _is_numpy(x):
        return cast(np.ndarray, x)
    return cast(np.ndarray, x.detach().cpu().numpy())


def sorts_by_shape(reference: Array) -> bool:
    """Whether the runs of a batch are sorted by the shape of their work, so that each has the bits it has alone.

    On NumPy, where a batch is a loop over matrices anyway. On a GPU every launch counts, and bits are not promised.
    """
    return _is_numpy(reference)


def like(values: Any, reference: Array) -> Array:
    """`values` (host data) as an array of the library and on the device of `reference`, dtype kept."""
    values = np.asarray(values)
    if _is_numpy(reference):
        return values
    xp = namespace(reference)
    return xp.asarray(values, device=array_api_compat.device(reference))


@functools.cache
def _thread_pools() -> Any:
    return threadpoolctl.ThreadpoolController()


@contextlib.contextmanager
def _control_of_blas() -> Iterator[None]:
    """From threadpoolctl 3.8 on one thread controls BLAS and the limits of all others do nothing: be that thread."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", lambda force: None)
    release(force=True)
    try:
        yield
    finally:
        release(force=True)


class _OneThread:
    """BLAS on one thread while anybody wants it: the first who comes limits it, the last who leaves gives it back.

    Were it each one's own affair, two suggestions in two threads would restore each other's limit: one would go on with
    several threads, which round otherwise, and BLAS would stay at one thread for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None
        if hasattr(os, "register_at_fork"):  # a child has none of the parent's threads
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock, self._users = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                with _control_of_blas():
                    self._limit = _thread_pools().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                with _control_of_blas():
                    self._limit.restore_original_limits()


_one_thread = _OneThread()


@contextlib.contextmanager
def engine(n: int) -> Iterator[None]:
    """Run the engine on matrices of order n: with the BLAS threads that pay, and without floating-point warnings.

    Below SERIAL_BELOW one thread: threads that wait for each other on small matrices cost more than they do (on a
    busy machine a suggestion of 0.1 s was seen to take 30 s with one thread per core). Infinities and NaN are
    handled where they arise, by a status or a rejected step; NumPy need not tell the user of them.
    """
    with _one_thread if n < SERIAL_BELOW else contextlib.nullcontext(), np.errstate(all="ignore"):
        try:
            yield
        except RuntimeError as error:
            if type(error).__name__ != "OutOfMemoryError":  # PyTorch's, which may not be imported
                raise
            release_gpu()
            raise DeviceMemoryError(
                f"expected a GPU with memory for {n} evaluations; got {str(error).splitlines()[0]}; "
                "try a smaller max_points, or the device cpu from here on"
            ) from error


def clip(x: Array, low: Any, high: Any) -> Array:
    """x limited to [low, high]; None: no limit. (The namespaces' own clip costs 25 microseconds a call.)"""
    if _is_numpy(x):
        x = x if low is None else np.maximum(x, low)
        return x if high is None else np.minimum(x, high)
    return x.clamp(low, high)


# --- linear algebra -----------------------------------------------------------------------------------------


def cholesky(K: Array) -> tuple[Array, Array]:
    """Lower Cholesky factors of K (..., n, n), which is destroyed, and whether each exists (...).

    A factor that does not exist is replaced by the identity, so that what follows stays finite.
    """
    xp = namespace(K)
    n = K.shape[-1]
    if not _is_numpy(K):
        import torch

        L, info = torch.linalg.cholesky_ex(K)
        ok = (info == 0) & torch.isfinite(torch.diagonal(L, dim1=-2, dim2=-1)).all(-1)
        eye = torch.eye(n, dtype=K.dtype, device=K.device)
        return torch.where(ok[..., None, None], L, eye), ok
    flat = K.reshape(-1, n, n)
    ok = np.empty(flat.shape[0], dtype=bool)
    for i, matrix in enumerate(flat):
        # The transpose of a C-ordered symmetric matrix is Fortran-ordered: LAPACK works in place, no copy.
        factor, info = lapack.dpotrf(matrix.T, lower=0, clean=1, overwrite_a=1)
        ok[i] = info == 0 and math.isfinite(float(factor[-1, -1]))
        if not ok[i]:
            matrix[...] = np.eye(n)
        elif not np.shares_memory(factor, matrix):  # LAPACK copied because the input was not contiguous
            matrix[...] = factor.T
    return xp.reshape(flat, K.shape), ok.reshape(K.shape[:-2])


def triangular_inverse(L: Array) -> Array:
    """Inverses of the lower triangular L (..., n, n), with L^-1 L = 1 to rounding rather than L L^-1.

    L^-1 k then is as exact as a solution of L v = k. With the other product it may be a thousand times worse where L
    is ill-conditioned [Higham, Accuracy and Stability of Numerical Algorithms, Section 14.2].
    """
    n = L.shape[-1]
    if not _is_numpy(L):
        import torch

        eye = torch.eye(n, dtype=L.dtype, device=L.device).expand(L.shape)
        return torch.linalg.solve_triangular(L, eye, upper=False, left=False)
    out = np.empty_like(L)
    for source, target in zip(L.reshape(-1, n, n), out.reshape(-1, n, n), strict=True):
        target[...], _ = lapack.dtrtri(source, lower=1)  # by rows from below; that of an upper one goes by columns
    return out


def inverse_from_triangular(L_inv: Array) -> Array:
    """The lower triangle (zeros above) of K^-1 = L^-T L^-1, given L^-1 (..., n, n)."""
    n = L_inv.shape[-1]
    if not _is_numpy(L_inv):
        out = L_inv.new_zeros(L_inv.shape)
        for i in range(0, n, _STRIP):  # rows of K^-1 need what lies below them in L^-1: a sixth of the whole product
            out[..., i : i + _STRIP, : i + _STRIP] = L_inv[..., i:, i : i + _STRIP].mT @ L_inv[..., i:, : i + _STRIP]
        return out.tril_()
    out = np.empty_like(L_inv)
    for source, target in zip(L_inv.reshape(-1, n, n), out.reshape(-1, n, n), strict=True):
        target[...] = source
        # In Fortran's eyes `target` is U = L^-T, upper triangular; lauum overwrites it with U U^T = K^-1.
        lapack.dlauum(target.T, lower=0, overwrite_c=1)
    return out


def triangular_matmul(L_inv: Array, V: Array) -> Array:
    """L^-1 V for lower triangular L^-1 (R, n, n) and V (R, n, m), using the triangle where that pays."""
    if not _is_numpy(L_inv) or L_inv.shape[-1] < 128:
        return L_inv @ V
    out = np.empty(V.shape)
    for r in range(V.shape[0]):
        # V^T (m, n) in C order is V in Fortran order: V := L^-1 V by trmm, half the work of a product
        out[r] = dtrmm(1.0, L_inv[r].T, V[r], side=0, lower=0, trans_a=1)
    return out


# --- kernels of our own ---------------------------------------------------------------------------------------


_processes = 1  # that share the GPU


def on_cuda(x: Array) -> bool:
    """Whether x lives on an NVIDIA GPU."""
    return not _is_numpy(x) and bool(x.is_cuda)


@functools.cache
def cuda_kernel(source: str, name: str) -> Any:
    """The CUDA kernel `name` of `source`, compiled for the present GPU; None where this PyTorch has no such compiler.

    Called as kernel(grid=, block=, args=, shared_mem=) with tensors, integers and floats.
    """
    import torch

    try:
        return torch.cuda._compile_kernel(source, name)
    except (AttributeError, OSError):  # PyTorch before 2.9, or without NVRTC
        return None


def share_gpu(n_processes: int) -> None:
    """Say, before PyTorch is imported, how many processes use the GPU at once: each then takes less of its memory.

    Matrices that grow by a row a step never fit into the blocks that the last step freed: rounding sizes up makes
    them fit, where PyTorch would keep blocks of every size until another process finds no memory.
    """
    global _processes
    _processes = n_processes
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:8,garbage_collection_threshold:0.7")


def release_gpu() -> None:
    """Give back memory of the GPU that this process keeps for later, if it uses one at all."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def largest_temporary(x: Array) -> int:
    """Elements of the largest temporary array: what fits the cache on a CPU, 1/24 of the memory on a GPU.

    At most 4 GB. Of all the memory, not of what is free just then: chunks, and so rounding, are the same each time.
    """
    if not on_cuda(x):
        return 1 << 22  # 32 MB
    import torch

    total = int(torch.cuda.get_device_properties(x.device).total_memory)
    return max(1 << 22, min(1 << 29, total // (24 * 8 * _processes)))


def contiguous(x: Array) -> Array:
    """x in C order."""
    return np.ascontiguousarray(x) if _is_numpy(x) else x.contiguous()


def empty(shape: tuple[int, ...], reference: Array, dtype: str = "float64") -> Array:
    """An uninitialized array like `reference`."""
    xp = namespace(reference)
    return xp.empty(shape, dtype=getattr(xp, dtype), device=array_api_compat.device(reference))


# --- distances ----------------------------------------------------------------------------------------------


def sq_differences(x: Array) -> Array:
    """(x_i - x_j)^2 per input, (R, d, n*n), for x (R, n, d): by differences, exact to rounding."""
    xp = namespace(x)
    columns = xp.permute_dims(x, (0, 2, 1))  # (R, d, n)
    diff = columns[:, :, :, None] - columns[:, :, None, :]
    diff *= diff
    return xp.reshape(diff, (*diff.shape[:2], -1))


def sq_distances(a: Array, b: Array) -> Array:
    """|a_i - b_j|^2, (R, m, n), for a (R, m, d) and b (R, n, d).

    By differences and not by |a|^2 - 2ab + |b|^2: close to an observation the latter loses all digits.
    """
    xp = namespace(a)
    if a.shape[-1] == 1:
        diff = a - xp.permute_dims(b, (0, 2, 1))
        return diff * diff
    if _is_numpy(a):
        from scipy.spatial.distance import cdist

        if a.shape[0] == 1:
            return cdist(a[0], b[0], "sqeuclidean")[None]
        return np.stack([cdist(a_r, b_r, "sqeuclidean") for a_r, b_r in zip(a, b, strict=True)])
    total = empty((a.shape[0], a.shape[1], b.shape[1]), a).zero_()
    for i in range(a.shape[-1]):  # one (R, m, n) array at a time: the (R, m, n, d) one may not fit a GPU
        diff = a[:, :, i, None] - b[:, None, :, i]
        total.addcmul_(diff, diff)
    return total


# --- special functions --------------------------------------------------------------------------------------


def ndtr(x: Array) -> Array:
    """Phi(x), the standard normal cdf."""
    if _is_numpy(x):
        return special.ndtr(x)
    import torch

    return torch.special.ndtr(x)


def log_ndtr(x: Array) -> Array:
    """log Phi(x), accurate in both tails."""
    if _is_numpy(x):
        return special.log_ndtr(x)
    import torch

    return torch.special.log_ndtr(x)
