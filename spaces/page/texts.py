"""Texts of a page as HTML with MathML, which browsers show without a script."""

from __future__ import annotations

import re

from latex2mathml.converter import convert
from markdown_it import MarkdownIt


def html_of(markdown: str) -> str:
    """Return the HTML of a text in Markdown with formulas between dollar signs."""
    blocks = re.sub(r"\$\$(.+?)\$\$", _block, markdown, flags=re.DOTALL)
    return MarkdownIt().render(re.sub(r"\$([^$]+?)\$", _inline, blocks))


def _block(formula: re.Match[str]) -> str:
    return f'<div class="formula">{convert(" ".join(formula[1].split()), "block")}</div>'


def _inline(formula: re.Match[str]) -> str:
    # Markdown takes <math> at the start of a line for a block of its own, and <span> for text.
    return f"<span>{convert(' '.join(formula[1].split()))}</span>"
