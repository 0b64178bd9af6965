"""What the tutorials leave behind is removed before each runs, so that every build shows the same."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tutorials" / "scripts"


def tidy(gallery_conf, name: str) -> None:
    """Remove the storage of the Optuna study."""
    for path in FOLDER.glob("study.db*"):
        path.unlink()
