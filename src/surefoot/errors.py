"""Every exception and warning that surefoot raises on purpose, one line of meaning each; `Failed` is for its users.

A message has three parts: what was expected, what came, what to try. `shown` and `described` put what came into words,
whatever it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_MAX_SHOWN = 500  # characters of an object in a message
MAX_REASON = 1_000  # characters of a reason that are kept
_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd") | {ord("\r"): "\n"}


class SurefootError(Exception):
    """Base of all errors raised by surefoot."""


class InvalidInputError(SurefootError, ValueError):
    """The caller passed something that cannot be used; nothing already told is lost."""

    place: tuple[str, ...] = ()  # of what is wrong in a file: the keys that lead there


class UnknownNameError(InvalidInputError):
    """A policy, kernel, search, problem or setting of that name does not exist."""


class FileError(InvalidInputError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class Failed(Exception):  # noqa: N818 - a failure is data here, "error" would say bug
    """For your function to raise: the evaluation failed, and what is known of it all the same.

    outputs   numbers by name that it had by then
    progress  the share of the simulation that it reached, 0 to 1
    """

    def __init__(
        self, reason: str = "failed", *, outputs: Mapping[str, float] | None = None, progress: float = math.nan
    ) -> None:
        super().__init__(reason)
        self.outputs = {} if outputs is None else outputs
        self.progress = progress


class SpaceExhaustedError(SurefootError):
    """Every point of a finite space has been evaluated: nothing new can be suggested."""


class TooManyFailuresError(SurefootError):
    """So many evaluations failed that going on makes no sense; `result` holds everything evaluated."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class RunStoppedError(SurefootError):
    """An exception that cannot carry the result itself ended a run: `result` does, `__cause__` is the exception."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class WorkersLostError(SurefootError):
    """The executor broke: it takes no more work, and what was under way is lost (not learned from)."""


class StorageLostError(SurefootError):
    """The storage of a run does not answer any more; everything reported is kept, and the run can be continued."""


class StorageReplacedError(StorageLostError):
    """The file of a running study was deleted or replaced; what it held is in a rescued copy."""


class SuggestionError(SurefootError):
    """The engine failed where it must not: a defect of surefoot. Everything evaluated is kept."""


class MissingExtraError(SurefootError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class DeviceMemoryError(SurefootError, MemoryError):
    """A GPU has too little memory for the model; every evaluation is kept."""


class SurefootWarning(UserWarning):
    """Base of all warnings issued by surefoot."""


class NumericalWarning(SurefootWarning):
    """A computation went on, but with less accuracy than usual."""


def shown(value: Any, most: int = _MAX_SHOWN) -> str:
    """repr(value) for a message: short, and no exception even if the object's own repr raises."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__} whose repr raises>"
    return text if len(text) <= most else text[: most - 1] + "…"


def described(error: BaseException) -> str:
    """Type and message of an exception, even if its own str raises."""
    try:
        return as_reason(f"{type(error).__name__}: {error}")
    except Exception:
        return f"{type(error).__name__}: (a message that cannot be shown)"


def as_reason(text: Any) -> str:
    """A reason that every file can hold: text of bounded length without lone surrogates and control characters."""
    try:
        whole = str(text)
    except Exception:
        whole = shown(text)
    cut = whole if len(whole) <= MAX_REASON else whole[: MAX_REASON - 1] + "…"
    return encodable(cut)


def one_line(text: str) -> str:
    """A text on one line, without what a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def encodable(text: str) -> str:
    """Text that any storage and file can hold: lone surrogates (bytes that were no UTF-8) become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_CONTROLS)
