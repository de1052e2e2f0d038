"""The code in the response of a model."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def code_in(response: str, names: Collection[str] = ()) -> str:
    """Return the code in a response: a fenced block, or the whole text if there is no fence.

    Of several blocks, this is the last one that defines one of the names, or else the last one. A
    text with fences that is Python code itself, as in a docstring, stays as it is. A single fence
    ends code that starts with the text, or starts code that ends with it.

    Args:
        response: what the model wrote.
        names: the names that the tests use.

    >>> code_in("So:\\n```python\\nx = 1\\n```\\nDone.")
    'x = 1\\n'
    """
    fences = list(_FENCE.finditer(response)) if "```" in response or "~~~" in response else []
    if not fences or is_code(response):
        return response
    if len(fences) == 1:
        before, after = response[: fences[0].start()], response[fences[0].end() + 1 :]
        return before if before.strip() and is_code(textwrap.dedent(before)) else after
    blocks = [
        response[start.end() + 1 : end.start()]
        for start, end in zip(fences[::2], [*fences[1::2], None], strict=False)
        if end is not None
    ]
    if len(fences) % 2:
        blocks.append(response[fences[-1].end() + 1 :])
    wanted = [block for block in blocks if not {*_DEFINITION.findall(block)}.isdisjoint(names)]
    return (wanted or blocks)[-1]


def is_code(text: str) -> bool:
    """Whether Python can parse a text."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
