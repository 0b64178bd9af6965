"""The one way functions are compiled here: cached on disk, NumPy's division rules, NaN stays NaN."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from surefoot.errors import MissingExtraError

try:
    import numba
except ImportError as error:  # pragma: no cover - the extra is installed wherever the tests run
    raise MissingExtraError(
        "surefoot.pulmonary expected Numba, which is not installed; try: pip install 'surefoot[pulmonary]'"
    ) from error

P = ParamSpec("P")
R = TypeVar("R")

# Sums may be reordered and multiply-adds fused (this is what lets them use vector instructions). The flags
# that let the compiler assume "no NaN, no infinity" stay off: the failure tests rely on NaN comparing false.
FAST = {"reassoc", "contract", "arcp", "nsz"}
# nogil: simulations in several threads of one process run at once
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}


def _digest() -> str:
    """One fingerprint of all compiled sources."""
    sources = sorted((Path(__file__).parent / "kernels").glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


SOURCES = _digest()


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on the first call; later processes load the result from the cache beside the source."""
    compiled = numba.njit(cache=True, **OPTIONS)(function)
    # Numba's cache notices a change of the file a function stands in, not of files it calls into or takes
    # constants from: a stale mixture of both would compute nonsense. So the stamp covers all kernels. There
    # is no public way to say so; if a later Numba keeps its stamp elsewhere, the test of this fails.
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, SOURCES)
    return cast(Callable[P, R], compiled)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """A part of compiled functions, copied to where it is called; Python cannot call it.

    A call left standing would keep an inner loop scalar. A part that takes records of arrays has one exit: at several,
    Numba counts a reference to every array of every record, which takes longer than the arithmetic.
    """
    # without wrappers, which would take half of the time of compilation
    part = numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function)
    return cast(Callable[P, R], part)
