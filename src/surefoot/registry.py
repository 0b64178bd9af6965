"""How something new gets a name that settings know."""

from __future__ import annotations

from typing import Protocol, TypeVar

from surefoot.errors import InvalidInputError, shown


class Named(Protocol):
    """Something with a name."""

    @property
    def name(self) -> str:
        """As settings spell it."""


T = TypeVar("T", bound=Named)


def add_new(
    registry: dict[str, T], new: T, kind: type[T], what: str, calls: tuple[str, ...], reserved: tuple[str, ...] = ()
) -> None:
    """Add it under its name, which must be free.

    calls: its fields that are functions; reserved: names that mean something else.
    """
    if not isinstance(new, kind) or not isinstance(new.name, str) or not new.name.strip():
        raise InvalidInputError(
            f"expected a {kind.__name__} with a name; got {shown(new)}; try {kind.__name__}('mine', ...)"
        )
    fields = {name: getattr(new, name) for name in calls}
    wrong = [f"{name}={shown(field)}" for name, field in fields.items() if not callable(field)]
    if wrong:
        raise InvalidInputError(
            f"expected {', '.join(calls)} of a {what} as functions; got {', '.join(wrong)}; try docs/howto/extending.md"
        )
    if new.name in (*registry, *reserved, "auto", "none"):
        raise InvalidInputError(f"expected a new {what}; got {new.name!r}, which is taken; try another name")
    registry[new.name] = new
