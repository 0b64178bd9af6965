"""Every exception and warning that surefoot raises on purpose, one line of meaning each.

A message has three parts: what was expected, what came, what to try.
"""


class SurefootError(Exception):
    """Base of all errors raised by surefoot."""


class InvalidInputError(SurefootError, ValueError):
    """The caller passed something that cannot be used; nothing already told is lost."""


class UnknownNameError(InvalidInputError):
    """A policy, kernel, search, problem or setting of that name does not exist."""


class SpaceExhaustedError(SurefootError):
    """Every point of a finite space has been evaluated: nothing new can be suggested."""


class TooManyFailuresError(SurefootError):
    """So many evaluations failed that going on makes no sense; `result` holds everything evaluated."""

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


class SurefootWarning(UserWarning):
    """Base of all warnings issued by surefoot."""


class NumericalWarning(SurefootWarning):
    """A computation went on, but with less accuracy than usual."""
