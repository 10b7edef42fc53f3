"""Formulas as MathML, which browsers draw themselves: no script, no fonts from elsewhere."""

from docutils import nodes
from docutils.utils.math import latex2mathml


def inline(self, node: nodes.math) -> None:
    self.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    self.body.append(f'<div class="math" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
