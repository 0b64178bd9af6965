"""How every figure of a study is written: a PNG of few colours, sharp on a page and small in a repository."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from surefoot.optimize.plots import pyplot

DPI = 150


def save_figure(figure: Any, path: Path) -> Path:
    """Write the figure, the same bytes for the same figure, and close it."""
    from PIL import Image  # matplotlib requires it

    with io.BytesIO() as whole:
        figure.savefig(whole, format="png", dpi=DPI)
        pyplot().close(figure)
        with Image.open(whole) as image:
            # a palette takes a third of the bytes; dithering would put grain on areas of one colour
            image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    return path
