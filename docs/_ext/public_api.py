"""The API reference: a page for each public name, written from the ``__all__`` of the public modules."""

import enum
import inspect
import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

# A name that two modules have is described where it comes first; `comitia` has many of the others'.
MODULES = {
    "comitia.ensembles": "Ensembles",
    "comitia.losses": "Losses",
    "comitia.measures": "Measures",
    "comitia.aggregation": "Aggregation",
    "comitia.relevance": "Relevance: beliefs, readings and pools",
    "comitia.report": "Results of comparisons",
    "comitia.report.figures": "Figures",
    "comitia.datasets": "Datasets",
    "comitia.columns": "Columns",
    "comitia.experiments": "Experiments",
    "comitia.statistics": "Statistics",
    "comitia.learners": "Learners: many models fitted at once",
    "comitia": "comitia: comparisons, model files, and shortcuts",
    "comitia.model_file": "Model files",
}
# What comes from scikit-learn, tuples and exceptions is described there.
FOREIGN = (
    "get_metadata_routing, get_params, set_params, set_fit_request, set_predict_request, set_score_request, "
    "set_partial_fit_request, set_inverse_transform_request, set_transform_request, set_output, get_feature_names_out, "
    "count, index, with_traceback, add_note, args"
)


def homes() -> dict[str, str]:
    """Return for each public name the module that describes it."""
    found: dict[str, str] = {}
    for module in MODULES:
        for name in public(module):
            found.setdefault(name, module)
    return found


def public(module: str) -> list[str]:
    return sorted(import_module(module).__all__, key=lambda name: (name.lower(), name))


def write_pages(app: Sphinx, _config: object) -> None:
    folder = Path(app.srcdir) / "api"
    pages = {"index.rst": contents()}
    home = homes()
    for module, title in MODULES.items():
        pages[f"{module}.rst"] = module_page(module, title, home)
        pages |= {f"{module}.{name}.rst": page(module, name) for name in public(module) if home[name] == module}
    folder.mkdir(exist_ok=True)
    for stale in {path.name for path in folder.glob("*.rst")} - set(pages):
        (folder / stale).unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def contents() -> str:
    order = ["comitia", *(module for module in MODULES if module != "comitia")]
    lines = [
        heading("API reference"),
        "All that is public, and nothing else: what these modules list. A name is imported from the module on whose "
        "page it stands; the usual ones also from ``comitia`` itself.\n",
        ".. toctree::\n   :maxdepth: 1\n",
        *(f"   {module}" for module in order),
    ]
    return "\n".join(lines) + "\n"


def module_page(module: str, title: str, home: dict[str, str]) -> str:
    own = [name for name in public(module) if home[name] == module]
    other = [name for name in public(module) if home[name] != module]
    about = inspect.getdoc(import_module(module)) or ""
    text = heading(title) + f".. py:module:: {module}\n   :no-index:\n\n.. currentmodule:: {module}\n\n{about}\n\n"
    rows = [(f":doc:`{name} <{module}.{name}>`", summary(getattr(import_module(module), name))) for name in own]
    text += table(rows)
    if other:
        text += "\nAlso from here\n--------------\n\n"
        text += ", ".join(f":doc:`{name} <{home[name]}.{name}>`" for name in other) + "\n"
    hidden = "".join(f"   {module}.{name}\n" for name in own)
    return text + f"\n.. toctree::\n   :hidden:\n\n{hidden}"


def table(rows: list[tuple[str, str]]) -> str:
    lines = [".. list-table::", "   :widths: 30 70", "   :class: api", ""]
    for name, about in rows:
        lines += [f"   * - {name}", f"     - {about}".rstrip()]
    return "\n".join(lines) + "\n"


def page(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    text = heading(name) + f".. currentmodule:: {module}\n\n"
    if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
        return text + f".. autoclass:: {name}\n   :members:\n   :inherited-members:\n   :exclude-members: {FOREIGN}\n"
    if inspect.isroutine(thing):
        return text + f".. autofunction:: {name}\n"
    return text + f".. autodata:: {name}\n   :no-value:\n"


def summary(thing: object) -> str:
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"{type(thing).__name__}" if not isinstance(thing, dict) else ", ".join(f"``{key}``" for key in thing)
    doc = inspect.getdoc(thing) or ""
    first = doc.split("\n\n")[0].replace("\n", " ").strip()
    return bars(first.split(".  ")[0])


def escape_bars(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep |y| a number of labels, where reStructuredText sees a substitution."""
    literal = False
    for place, line in enumerate(lines):
        if line and not line.startswith(" "):
            literal = False
        if "|" in line and not literal and not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``|:math:`.*?`)", line)
            lines[place] = "".join(part if part.startswith(("``", ":math:")) else bars(part) for part in parts)
        literal = literal or line.endswith("::")


def bars(text: str) -> str:
    return text.replace("|", r"\|")


def heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def find_elsewhere(app: Sphinx, env, node, contnode) -> nodes.reference | None:
    """Follow ``comitia.FLoss`` and ``FLoss`` to the page of ``comitia.losses.FLoss``."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].removeprefix("~")
    head, _, name = target.rpartition(".")
    home = homes().get(name)
    if home is None or (head and not head.startswith("comitia")):
        return None
    page = f"api/{home}.{name}"
    reference = nodes.reference("", "", internal=True)
    reference["refuri"] = app.builder.get_relative_uri(node.get("refdoc", env.docname), page)
    reference += contnode
    return reference


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    app.connect("missing-reference", find_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
