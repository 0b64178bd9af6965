"""The site: `make docs` builds it into build/site, and any warning is an error."""

import os
import sys
from pathlib import Path

import surefoot

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the tutorials, which run while the site is built
os.environ["PYTHONWARNINGS"] = "ignore::DeprecationWarning"

project = "surefoot"
author = "The surefoot developers"
copyright = "The surefoot developers"  # noqa: A001 - Sphinx calls it so
version = release = surefoot.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",  # the three of docs/_ext
    "generated",
    "repository",
]
exclude_patterns = [
    "_build",
    "_ext",
    "reference/_generated",
    "tutorials/gallery/index.rst",
    "tutorials/scripts",
]
smartquotes = False  # "auto" is a text of Python

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the texts say what is expected
python_maximum_signature_line_length = 88
autosummary_generate = False

sphinx_gallery_conf = {
    "examples_dirs": [str(DOCS / "tutorials" / "scripts")],
    "gallery_dirs": [str(DOCS / "tutorials" / "gallery")],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "write_computation_times": False,
    "image_scrapers": ("gallery",),
    "reset_modules": ("matplotlib", "gallery.tidy"),
    "reset_modules_order": "both",
}

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "surefoot"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "surefoot"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_nav_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "back_to_top_button": False,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start/index": []}  # these have no pages below them
