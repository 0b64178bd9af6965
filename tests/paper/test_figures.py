"""How the figures of the studies are written, and that the results kept in the repository stay small."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from surefoot.paper.figures import save_figure

RESULTS = Path(__file__).parents[2] / "results"


def test_a_figure_is_a_png_with_a_palette_and_a_white_page(tmp_path):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(np.arange(9.0))
    with Image.open(save_figure(figure, tmp_path / "line.png")) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "P", (450, 300))
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_results_hold_tables_and_png_of_less_than_6_megabytes():
    # raw runs are not of the repository
    files = [path for path in RESULTS.rglob("*") if path.is_file() and "raw" not in path.relative_to(RESULTS).parts]
    assert {path.suffix for path in files} <= {".md", ".csv", ".json", ".gz", ".png"}
    assert sum(path.stat().st_size for path in files) < 6e6
