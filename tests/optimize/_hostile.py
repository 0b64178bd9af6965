"""Generated arguments that nobody should pass: seeded, so that a failure can be repeated."""

import decimal
import fractions
import itertools
import math
import types
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np


class _Hostile:
    """Looks harmless until it is looked at."""


def _raising(*names: str) -> type:
    def refuse(self: object, *args: object, **kwargs: object) -> Any:
        raise RuntimeError("hostile")

    return type("Raises" + "".join(names), (_Hostile,), dict.fromkeys(names, refuse))


class EqualsArray(_Hostile):
    def __eq__(self, other: object) -> Any:
        return np.asarray([True, False])

    __hash__ = _Hostile.__hash__


class EqualsNobodyKnows(_Hostile):
    def __eq__(self, other: object) -> Any:
        return EqualsArray()

    __hash__ = _Hostile.__hash__


class ClassRaises(_Hostile):
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise AttributeError("hostile")


class HostileFloat(float):
    def __le__(self, other: object) -> bool:
        raise RuntimeError("hostile")

    __ge__ = __lt__ = __gt__ = __eq__ = __le__  # type: ignore[assignment]
    __hash__ = float.__hash__


class HostileList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("hostile")


class HostileDict(dict):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("hostile")

    keys = values = items = __iter__  # type: ignore[assignment]


class EndlessList(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 2**60


def _recursive_list() -> list[Any]:
    found: list[Any] = [1.0]
    found.append(found)
    return found


def _recursive_dict() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["a"] = found
    return found


def _masked() -> Any:
    return np.ma.masked_array([1.0, 2.0], mask=[True, False])


_PLAIN: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: 0,
    lambda: 1,
    lambda: 2,
    lambda: -3,
    lambda: 0.5,
    lambda: -0.5,
    lambda: 1e308,
    lambda: 5e-324,
    lambda: math.nan,
    lambda: math.inf,
    lambda: -math.inf,
    lambda: 10**400,
    lambda: -(10**5000),
    lambda: 1j,
    lambda: np.complex128(1 + 2j),
    lambda: decimal.Decimal("0.5"),
    lambda: fractions.Fraction(1, 2),
    lambda: "",
    lambda: "a",
    lambda: "0.5",
    lambda: "\ud800",
    lambda: "x" * 5000,
    lambda: "a\0b",
    lambda: b"ab",
    lambda: bytearray(b"ab"),
    lambda: memoryview(b"ab"),
    lambda: int,
    lambda: len,
    lambda: (v for v in [1.0, 2.0]),
    lambda: itertools.count(),
    lambda: range(2),
    lambda: range(10**12),
    lambda: {1.0, 2.0},
    lambda: types.MappingProxyType({"a": 1.0}),
    lambda: np.float32(0.5),
    lambda: np.int64(5),
    lambda: np.bool_(True),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.longdouble("1e4000"),
    lambda: np.asarray(0.5),
    lambda: np.asarray([]),
    lambda: np.asarray([0.5, 0.5]),
    lambda: np.asarray([0.5, 1j]),
    lambda: np.asarray([[0.1, 0.2], [0.3, 0.4]]),
    lambda: np.asarray([["a", "b"]]),
    lambda: np.asarray([None, [1.0]], dtype=object),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    _masked,
    _recursive_list,
    _recursive_dict,
    lambda: [1.0, [2.0, 3.0]],
    lambda: [[0.1, 0.2], [0.3]],
    lambda: [(0.1, 0.2), None],
    lambda: [[]],
    lambda: [],
    lambda: {},
    lambda: {"a": 0.5},
    lambda: {1: (0, 1), "1": (0, 1)},
    lambda: {None: 1.0},
    lambda: Exception("x"),
    lambda: slice(2),
    lambda: HostileFloat(0.5),
    lambda: HostileList([0.1, 0.2]),
    lambda: HostileDict(a=(0, 1)),
    lambda: EndlessList([0.1, 0.2]),
    ClassRaises,
    EqualsArray,
    EqualsNobodyKnows,
    *(
        _raising(*names)
        for names in (
            ["__repr__"],
            ["__repr__", "__str__"],
            ["__eq__"],
            ["__eq__", "__hash__"],
            ["__hash__"],
            ["__bool__"],
            ["__len__"],
            ["__len__", "__iter__", "__getitem__"],
            ["__iter__"],
            ["__array__"],
            ["__float__", "__index__", "__int__"],
            ["__getattr__"],
            ["__getattribute__"],
            ["__call__"],
            ["__fspath__"],
            ["__le__", "__ge__", "__lt__", "__gt__"],
        )
    ),
]


def hostile(rng: Random, depth: int = 0) -> Any:
    """One argument; now and then several in a list, tuple, dict or array."""
    if depth < 2 and rng.random() < 0.25:
        inner = [hostile(rng, depth + 1) for _ in range(rng.randrange(4))]
        kind = rng.randrange(4)
        if kind == 0:
            return tuple(inner)
        if kind == 1:
            return {f"k{i}": value for i, value in enumerate(inner)}
        if kind == 2:
            array = np.empty(len(inner), dtype=object)
            for i, value in enumerate(inner):
                array[i] = value
            return array
        return inner
    return rng.choice(_PLAIN)()


# --- damaged documents


def damaged_bytes(rng: Random, whole: bytes) -> bytes:
    """A file with some bytes changed, lost, repeated or cut off."""
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(max(1, len(data)))
        kind = rng.randrange(4)
        if kind == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del data[at : at + rng.randrange(1, 30)]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randrange(1, 30)]
        else:
            data = data[: max(1, at)]
    return bytes(data)


_JSON = (None, True, 0, -1, 3, 1e999, -0.5, "", "ok", "failed", "x" * 50, [], [[]], {}, [1, 2], {"a": 1}, 10**30)


def damaged_document(rng: Random, document: Any) -> Any:
    """A JSON document with one of its nodes replaced, removed or repeated."""
    path, node = [], document
    while isinstance(node, (dict, list)) and node and rng.random() < 0.85:
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        path.append(key)
        node = node[key]
    return _replaced(rng, document, path)


def _replaced(rng: Random, node: Any, path: list[Any]) -> Any:
    if not path:
        return rng.choice([*_JSON, math.nan])
    copy = dict(node) if isinstance(node, dict) else list(node)
    if len(path) == 1 and rng.random() < 0.3:
        if isinstance(copy, list) and rng.random() < 0.5:
            copy.insert(path[0], copy[path[0]])
        else:
            del copy[path[0]]
        return copy
    copy[path[0]] = _replaced(rng, copy[path[0]], path[1:])
    return copy
