"""Write a chart to a file: ``python -m at_k.charts.written FILE < SPECIFICATION``.

The renderer of charts ends its process where it gets too little memory, so the command lets this
module run in a process of its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .figure import Figure


def write_chart(file: str) -> int:
    """Write the chart whose Vega-Lite specification is on standard input; return the status.

    The file appears whole: a process that is killed leaves at most a file with `.part` in its name.
    """
    path = Path(file).resolve()
    # With the process in its name: no other process writes to it, and no chart is called so.
    part = path.with_name(f"{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        Figure.from_json(sys.stdin.buffer.read().decode()).save(part)
        os.replace(part, path)
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        part.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(write_chart(sys.argv[1]))
