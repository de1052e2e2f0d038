"""Help to describe a Space: its examples, its numbers in HTML, and its curves."""

from typing import Any

from at_k.cli.formats import Scale
from at_k.cli.formats import Scope as Scope
from at_k.cli.formats import enumerated as enumerated
from at_k.core.credits import required_samples as required_samples

from .space import Example

COOL, WARM = "smollm2_cool.jsonl", "smollm2_warm.jsonl"
"""Files of samples that the project ships: of a small model at temperatures 0.2 and 0.8."""


def model_example(name: str, *files: str, **options: Any) -> Example:
    """Return an example of files of a small model, with the checker `numeric` and `options`."""
    return Example(name, files=files, checker="numeric", options=options)


def score_html(score: float, scale: Scale) -> str:
    """Return a score as emphasized HTML. Below 1 % and above 99 % percentages have a decimal."""
    text = _percent(score) if scale.percent else scale.number(score)
    return f"<strong>{text}</strong>"


def _percent(share: float) -> str:
    """Return a share in percent as text."""
    is_extreme = 0 < share < 0.01 or 0.99 < share < 1
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    if 0.9995 <= share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.1f} %" if is_extreme else f"{100 * share:.0f} %"


def curve_ks(maximum: int) -> list[int]:
    """Return the k values of a curve: up to 8 all, and then powers of two and `maximum`."""
    if maximum <= 8:
        return list(range(1, maximum + 1))
    return sorted({*(2**i for i in range(maximum.bit_length())), maximum})
