"""The documentation site: ``sphinx-build -W docs docs/_build/html``.  Asks no other host for anything."""

import os
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "2")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from comitia import __version__

project = "comitia"
author = "The comitia developers"
copyright = author  # noqa: A001  Sphinx's name for it
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_api",
]
exclude_patterns = ["_build", "_ext", "guide/figures"]
templates_path = ["_templates"]
default_role = "py:obj"
nitpicky = False
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 3
math_number_all = False

autodoc_typehints = "none"
autodoc_preserve_defaults = True
autosummary_generate = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = [("svg", 72)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {"savefig.bbox": "tight", "svg.fonttype": "none", "font.family": "DejaVu Sans"}
plot_apply_rcparams = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "image_scrapers": ("figures.drawn",),
    "filename_pattern": r"[/\\][a-z]\w*\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "min_reported_time": 0,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "order.Telling",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "comitia"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "start": []}
html_theme_options = {
    "icon_links": [{"name": "Source", "url": "https://github.com/comitia/comitia", "icon": "fa-brands fa-github"}],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "navigation_with_keys": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
