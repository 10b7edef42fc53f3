"""Figures of the examples, also those that pyplot does not know: what ``Results.figure`` draws."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def drawn(block, block_vars: dict, gallery_conf: dict) -> str:
    text = matplotlib_scraper(block, block_vars, gallery_conf)
    paths = []
    for figure in [value for value in block_vars["example_globals"].values() if isinstance(value, Figure)]:
        if hasattr(figure, "number") or getattr(figure, "in_gallery", False):
            continue
        paths.append(next(block_vars["image_path_iterator"]))
        figure.savefig(paths[-1], dpi=100)
        figure.in_gallery = True
    title = block_vars["src_file"].replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".py").replace("_", " ")
    return text + (figure_rst(paths, gallery_conf["src_dir"], fig_titles=title) if paths else "")
