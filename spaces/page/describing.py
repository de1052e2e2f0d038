"""Help to describe a Space: its examples, its numbers in HTML, and its curves."""

from typing import Any

from at_k.cli.formats import Scope as Scope
from at_k.cli.formats import enumerated as enumerated
from at_k.core.credits import required_samples as required_samples

from .space import Example

COOL, WARM = "smollm2_cool.jsonl", "smollm2_warm.jsonl"
"""Files of samples that the project ships: of a small model at temperatures 0.2 and 0.8."""


def model_example(name: str, *files: str, **options: Any) -> Example:
    """Return an example of files of a small model, with the checker `numeric` and `options`."""
    return Example(name, files=files, checker="numeric", options=options)


def percent(share: float) -> str:
    """Return a share in percent as emphasized HTML. Below 1 % and above 99 % it has a decimal."""
    is_extreme = 0 < share < 0.01 or 0.99 < share < 1
    text = f"{100 * share:.1f} %" if is_extreme else f"{100 * share:.0f} %"
    if 0 < share < 0.0005:
        text = "less than 0.1 %"
    elif 0.9995 <= share < 1:
        text = "more than 99.9 %"
    return f"<strong>{text}</strong>"


def decimal(value: float) -> str:
    """Return a number with three decimals as emphasized HTML."""
    return f"<strong>{round(value, 3) + 0.0:.3f}</strong>"  # adding 0 avoids -0.000


def curve_ks(maximum: int) -> list[int]:
    """Return the k values of a curve from 1 to `maximum`, in increasing order.

    If `maximum` is at most 8, they are all integers. Otherwise they are the powers of two, and
    `maximum`.
    """
    if maximum <= 8:
        return list(range(1, maximum + 1))
    return sorted({*(2**i for i in range(maximum.bit_length())), maximum})
