"""What sphinx-gallery is told about the tutorials: their figures, and what they leave behind."""

from pathlib import Path

from sphinx_gallery.scrapers import figure_rst

FOLDER = Path(__file__).parents[1] / "tutorials" / "scripts"


def tidy(gallery_conf, name: str) -> None:
    """Remove the storage of the Optuna study, so that every build shows the same."""
    for path in FOLDER.glob("study.db*"):
        path.unlink()


def scrape(block, block_vars, gallery_conf) -> str:
    """The variable `figure` of a script, which is drawn where it is set."""
    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110)
    said = [axes.get_title() or axes.get_ylabel() for axes in figure.axes]
    titles = ", ".join(" ".join(text.split()) for text in said if text)
    return figure_rst([path], gallery_conf["src_dir"], titles or "figure")


def _get_sg_image_scraper():
    return scrape
