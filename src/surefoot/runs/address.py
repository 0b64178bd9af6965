"""Where a storage is, as a user writes it; and as it may be shown: no password ever is."""

from __future__ import annotations

import os
import re

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from surefoot.errors import InvalidInputError, shown

_SECRETS = ("password", "sslpassword", "passwd", "pwd")  # keys of an address's query
_KINDS = re.compile(r"(postgres|postgresql|sqlite|mysql)(\+\w+)?:")
_USER_PART = re.compile(r"(:/{0,2}).*@", re.DOTALL)  # greedy: a password may hold an @ or a slash
_QUERY_PART = re.compile(rf"({'|'.join(_SECRETS)})=[^&\s]*", re.IGNORECASE)


def parse_url(place: str | os.PathLike[str]) -> URL:
    """The URL of a storage: sqlite:///…, postgresql://… or the path of a SQLite file."""
    text = os.fspath(place)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"expected the path of a storage in UTF-8; got {shown(text)}; try renaming file or folder, or --storage"
        ) from None
    if "://" not in text and not _KINDS.match(text):
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
        if "@" in (url.host or ""):
            raise ValueError("a part of the password is taken for the host")
    except (ArgumentError, ValueError):  # their words repeat parts of the address, perhaps of the password
        raise InvalidInputError(
            f"expected a storage's address; got {redacted(text)!r}, which cannot be read; "
            "try study.db or postgresql://user@host/database, and %40 for an @ in a password"
        ) from None
    kind = url.get_backend_name()
    if kind == "postgres":
        url, kind = url.set(drivername="postgresql"), "postgresql"
    if kind not in ("sqlite", "postgresql"):
        raise InvalidInputError(
            f"expected a storage in SQLite or PostgreSQL; got {kind!r}; try study.db or postgresql://user@host/database"
        )
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def shown_url(url: URL) -> str:
    """For messages: a path, or the URL without its password."""
    kind = url.get_backend_name()
    if kind == "sqlite":
        return str(url.database)
    hidden = {key: "***" for key in url.query if key.lower() in _SECRETS}
    shown = url.set(drivername=kind).update_query_dict(hidden).render_as_string(hide_password=True)
    return shown.replace("%2A%2A%2A", "***")


def redacted(text: str) -> str:
    """An address that cannot be read, without what may be a password."""
    return _QUERY_PART.sub(r"\1=***", _USER_PART.sub(r"\1***@", text))


def without_secrets(text: str, url: URL) -> str:
    """What a driver said about an address, without its password."""
    found = [str(url.password or "")]
    for key, value in url.query.items():
        if key.lower() in _SECRETS:
            found += [value] if isinstance(value, str) else list(value)
    for secret in filter(None, found):
        text = text.replace(secret, "***")
    return text
