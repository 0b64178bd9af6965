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


class MissingExtraError(SurefootError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class SurefootWarning(UserWarning):
    """Base of all warnings issued by surefoot."""


class NumericalWarning(SurefootWarning):
    """A computation went on, but with less accuracy than usual."""
