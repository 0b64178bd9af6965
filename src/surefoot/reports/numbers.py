"""Numbers as a person writes them."""

from __future__ import annotations

import math
import platform
from importlib import metadata

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\N{MINUS SIGN}"
NO_BREAK = "\N{NO-BREAK SPACE}"


def number(value: float, digits: int = 6) -> str:
    """A number with so many significant digits: 0.3979, −12.5, 2.6 × 10⁻⁵."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else f"{MINUS}∞")
    return _tidy(f"{value:.{digits}g}")


def power(value: float, digits: int = 6) -> str:
    """A number, powers of ten in short: 0.1, 20, 10⁷ (ticks of logarithmic axes, bounds)."""
    text = number(value, digits)
    return text.replace("1 × 10", "10") if text.lstrip(MINUS).startswith("1 × 10") else text


def significant(value: float, digits: int = 3) -> str:
    """A number with just so many significant digits, zeros kept, for columns: 1.90, 35.0."""
    return number(value, digits) if not math.isfinite(value) else _tidy(f"{value:#.{digits}g}")


def _tidy(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.rstrip(".").replace("-", MINUS)
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}" if exponent else mantissa


def fixed(value: float, places: int) -> str:
    """A number with so many decimals."""
    return f"{value:z.{places}f}".replace("-", MINUS)  # z: a negative number that rounds to zero is zero


def percent(share: float, places: int = 0) -> str:
    """A share in per cent: 22 %."""
    return f"{fixed(100 * share, places)}{NO_BREAK}%"


def versions(*packages: str) -> list[tuple[str, str]]:
    """Python and the named packages, those that are installed."""
    found = [("Python", platform.python_version())]
    for package in packages:
        try:
            found.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    return found
