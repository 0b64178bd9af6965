"""Values that nobody expects."""

from __future__ import annotations

import datetime
import math
import random
from collections import OrderedDict, UserDict, UserList
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np


def _raising(*names: str) -> Any:
    def method(self: Any, *_: Any, **__: Any) -> Any:
        raise RuntimeError(f"no {names[0]}")

    return type(f"Bad{names[0].strip('_').title()}", (), dict.fromkeys(names, method))()


class _ArrayEqual:
    """Compares as an array does."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return np.asarray([True, False])


class _Long(list):  # type: ignore[type-arg]
    """A list that lies about its length."""

    def __len__(self) -> int:
        return 10**6


def _deep(n: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(n):
        found = [found]
    return found


def odd_value(rng: random.Random) -> Any:
    """One of them."""
    return rng.choice(_MAKERS)(rng)


def _constant(value: Any) -> Any:
    return lambda rng: value


_SIMPLE = [
    None, True, False, 0, 1, -1, 2, -3, 2**70, -(2**70), 10**400, 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, math.nan,
    math.inf, -math.inf, "", "x", "0.5", "nan", "\ud800", "a\0b", "ü" * 300, b"", b"\xff", 1 + 2j, (), [], {}, set(),
    frozenset({1}), range(3), [[]], [None], [1, [2]], [[0, 1], [2]], [(0, 1), (0, 1)], [(0, 1)], (0, 1),
    (1, 0), (0, 0), (0, math.nan), (0, math.inf), ("a", "b"), (0, "b"), ((0, 1), 2), {"a": (0, 1)}, {1: (0, 1)},
    {"a": 0.5}, {"a": None}, {None: 1}, [0.5, 0.5], [[0.5, 0.5]], [[0.5, 0.5], [0.1, 0.2]], [0.5, "x"], [0.5, None],
    Decimal("0.5"), Decimal("nan"), Fraction(1, 3), datetime.date(2020, 1, 1), Path("/nowhere"), int, object, len,
    ValueError("x"), NotImplemented, Ellipsis, slice(2), memoryview(b"ab"), bytearray(b"ab"), OrderedDict(a=(0, 1)),
    UserDict({"a": (0, 1)}), UserList([(0, 1), (0, 1)]), np.nan, np.float32(0.5), np.int64(3), np.bool_(True),
    np.str_("x"), np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.ma.masked,
]  # fmt: skip
_ARRAYS = [
    lambda rng: np.asarray([]),
    lambda rng: np.asarray(0.5),
    lambda rng: np.asarray([0.5, 0.5]),
    lambda rng: np.full((2, 2), 0.5),
    lambda rng: np.full((2, 2, 2), 0.5),
    lambda rng: np.asarray([1 + 2j, 0.5]),
    lambda rng: np.asarray(["a", "b"]),
    lambda rng: np.asarray([None, object()]),
    lambda rng: np.asarray([np.nan, np.inf]),
    lambda rng: np.asarray([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    lambda rng: np.ma.masked_array([0.5, 0.5], mask=[True, False]),
    lambda rng: np.asarray([[0, 1], [0, 1]], dtype=object),
    lambda rng: np.asarray([2**63], dtype=np.uint64),
    lambda rng: rng.random(),
    lambda rng: rng.randint(-5, 5),
    lambda rng: [rng.random() for _ in range(rng.randint(0, 4))],
    lambda rng: [(rng.uniform(-2, 1), rng.uniform(0, 2)) for _ in range(rng.randint(0, 4))],
    lambda rng: {rng.choice("abc"): rng.choice(_SIMPLE) for _ in range(rng.randint(0, 3))},
    lambda rng: [rng.choice(_SIMPLE) for _ in range(rng.randint(0, 3))],
    lambda rng: (i for i in range(3)),
    lambda rng: iter([(0, 1), (0, 1)]),
    lambda rng: map(float, [0.5, 0.5]),
    lambda rng: lambda x: 0.0,
    lambda rng: _deep(rng.choice([50, 5000])),
    lambda rng: _ArrayEqual(),
    lambda rng: _Long([(0, 1)]),
    lambda rng: _raising("__repr__"),
    lambda rng: _raising("__str__", "__repr__"),
    lambda rng: _raising("__len__", "__getitem__"),
    lambda rng: _raising("__iter__"),
    lambda rng: _raising("__eq__"),
    lambda rng: _raising("__hash__"),
    lambda rng: _raising("__float__"),
    lambda rng: _raising("__array__"),
    lambda rng: _raising("__bool__"),
    lambda rng: [_raising("__repr__"), 1],
]
_MAKERS: list[Any] = [*map(_constant, _SIMPLE), *_ARRAYS, *_ARRAYS]


def shown(value: Any) -> str:
    """For people, whatever it is."""
    try:
        text = repr(value)
    except BaseException:
        text = f"a {type(value).__name__} without a repr"
    return " ".join(text.encode("utf-8", "backslashreplace").decode().split())[:120]
