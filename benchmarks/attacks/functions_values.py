"""Hostile exceptions and values: what a function may raise or return instead of a number."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from benchmarks.attacks.behaviours import ALL, BEHAVIOURS, VALUE, Behaviour, hostile

# --- exceptions


class _SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class _WordlessError(Exception):
    def __str__(self) -> Any:
        return 42


class _Rare(BaseException):
    """Not an Exception."""


class _UnpicklableError(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("two arguments")
        self.lock = threading.Lock()


@hostile("failed", *ALL)
def _raises_what_cannot_be_printed() -> None:
    raise _SilentError


@hostile("failed", *ALL)
def _raises_what_prints_a_number() -> None:
    raise _WordlessError


@hostile("failed", "isolated")
def _raises_no_exception() -> None:
    raise _Rare("rare")


@hostile("failed", *ALL)
def _raises_what_cannot_be_sent() -> None:
    raise _UnpicklableError(1, 2)


@hostile("failed", *ALL)
def _raises_a_lone_surrogate() -> None:
    raise ValueError("\ud800\0\x1b[31m")


@hostile("failed", *ALL)
def _raises_a_megabyte() -> None:
    raise ValueError("x" * 2**20)


@hostile("failed", "plain", "isolated")
def _raises_a_group() -> None:
    raise ExceptionGroup("many", [ValueError(str(i)) for i in range(50)])


@hostile("failed", "plain", "isolated")
def _raises_a_generators_end() -> None:
    raise StopIteration  # the callback's way to stop must not be the function's


# --- values


class _BadArray:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


class _BadFloat:
    def __float__(self) -> float:
        raise RuntimeError("no float")


class _BadAll:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class _BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


_VALUES: dict[str, tuple[str, Any]] = {
    "nan": ("failed", float("nan")),
    "minus_infinity": ("failed", float("-inf")),
    "complex": ("failed", 1 + 2j),
    "text": ("failed", "0.25"),
    "none": ("failed", None),
    "truth": ("failed", True),
    "a_huge_integer": ("failed", 10**400),
    "ragged": ("failed", [[1.0], [1.0, 2.0]]),
    "several": ("failed", [0.1, 0.2]),
    "itself": ("failed", _BadAll),
    "a_date": ("failed", np.datetime64("2020-01-01")),
    "a_masked_value": ("failed", np.ma.masked),
    "bad_array": ("failed", _BadArray()),
    "bad_float": ("failed", _BadFloat()),
    "bad_repr": ("failed", _BadRepr()),
    "one_element": ("value", np.asarray([[VALUE]])),
    "half_precision": ("value", np.float16(VALUE)),
}


def _returning(value: Any) -> Callable[[], Any]:
    return lambda: value


for _name, (_expected, _value) in _VALUES.items():
    BEHAVIOURS[f"returns_{_name}"] = Behaviour(_returning(_value), ("plain", "isolated"), _expected)


def _returns_a_decimal() -> Any:
    return Decimal(1) / 4


BEHAVIOURS["returns_a_decimal"] = Behaviour(_returns_a_decimal, ("plain", "isolated"), "either")
