"""A page as PDF, printed by a Chromium that is installed; nothing is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from surefoot.errors import InvalidInputError, MissingExtraError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
_TIMEOUT_S = 120


def find_browser() -> str | None:
    """The path of a Chromium, if there is one."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def browser_command(browser: str, profile: str) -> list[str]:
    """How a page is opened without a window, with a profile that is thrown away afterwards."""
    # root cannot have Chromium's sandbox; the page is ours and holds no script
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [browser, "--headless", "--disable-gpu", "--no-first-run", *_OFFLINE, *sandbox, f"--user-data-dir={profile}"]


def print_pdf(page: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Print an HTML file to a PDF file; returns the path of the latter."""
    browser = find_browser()
    if browser is None:
        raise MissingExtraError(
            f"expected a browser to print with, one of {', '.join(BROWSERS)}; none is installed; "
            "try opening the HTML report and printing it from there"
        )
    path = Path(path)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        made = Path(profile) / "page.pdf"
        command = [*browser_command(browser, profile), "--no-pdf-header-footer", f"--print-to-pdf={made}"]
        try:
            done = subprocess.run(
                [*command, Path(page).resolve().as_uri()], capture_output=True, timeout=_TIMEOUT_S, check=False
            )
            if not made.is_file():
                raise InvalidInputError(
                    f"expected {browser} to print {str(page)!r}; it ended with status {done.returncode}; "
                    "try opening the HTML report and printing it from there"
                )
            shutil.copyfile(made, path)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InvalidInputError(
                f"expected to print to {str(path)!r}; got {error}; try another file, or print the HTML from a browser"
            ) from error
    return path
