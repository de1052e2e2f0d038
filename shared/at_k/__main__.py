"""`python -m at_k` is the command `at-k`."""

from __future__ import annotations

from .cli.command import main

if __name__ == "__main__":
    raise SystemExit(main())
