"""The one way functions are compiled here: cached on disk, NumPy's division rules, NaN stays NaN."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

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


def njit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on the first call; later processes load the result from the cache beside the source."""
    compiled = numba.njit(cache=True, fastmath=FAST, error_model="numpy")(function)
    return cast(Callable[P, R], compiled)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """As njit, for small functions of inner loops: a call left standing would keep the loop scalar."""
    compiled = numba.njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)(function)
    return cast(Callable[P, R], compiled)
