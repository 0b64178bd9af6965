"""What a tutorial leaves behind is removed before it runs: every build shows the same."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tutorials" / "scripts"


def tidy(gallery_conf, name: str) -> None:
    """Remove the storage of the Optuna study."""
    for path in FOLDER.glob("study.db*"):
        path.unlink()
