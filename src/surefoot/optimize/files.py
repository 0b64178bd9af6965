"""Files read and written whole; whatever the system says against it is an error in three parts."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

from surefoot.errors import FileError, InvalidInputError, MissingFileError, shown


@contextlib.contextmanager
def _told(path: Any, purpose: str) -> Iterator[None]:
    """System errors as ours."""
    try:
        yield
    except InvalidInputError:
        raise
    except FileNotFoundError:
        hint = "an existing path" if purpose == "read" else "a path in an existing folder"
        raise MissingFileError(f"expected a file that can be {purpose}; got {shown(path)}; try {hint}") from None
    except (OSError, ValueError) as error:  # ValueError: text that is not UTF-8, a NUL or a surrogate in the path
        said = getattr(error, "strerror", None) or type(error).__name__
        raise FileError(
            f"expected a file that can be {purpose}; got {shown(path)} ({said}); try another path, or its permissions"
        ) from error


def as_path(path: Any) -> str:
    """A path as text."""
    try:
        text = os.fspath(path)
        if isinstance(text, str):
            return text
    except Exception:
        pass
    raise InvalidInputError(f"expected a path as text; got {shown(path)}; try 'history.json'")


def read_text(path: Any) -> str:
    """All of a regular file, as UTF-8: a pipe could be waited for without end."""
    with _told(path, "read"):
        if not stat.S_ISREG(os.stat(as_path(path)).st_mode):
            raise FileError(f"expected a regular file; got {shown(path)}, which is none; try a path to a file")
        with open(as_path(path), encoding="utf-8") as file:
            return file.read()


def write_whole(path: Any, text: str) -> None:
    """Replace a file at once when the new text is complete on disk; its mode and links to it stay.

    What is no regular file (a pipe, /dev/stdout) is written to as it is.
    """
    with _told(path, "written"):
        target = os.path.realpath(as_path(path))
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
            return
        beside = os.path.join(os.path.dirname(target), f".surefoot-{secrets.token_hex(8)}.tmp")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less what the umask takes
            with open(descriptor, "w", encoding="utf-8") as file:
                if mode is not None:
                    os.chmod(beside, stat.S_IMODE(mode))
                file.write(text)
                file.flush()
                os.fsync(descriptor)
            os.replace(beside, target)
        except BaseException:  # a full disk, Ctrl-C: leave nothing behind
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
