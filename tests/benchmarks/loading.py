"""Measure `evaluate.load` of a metric from a Hub, and what a process imports for it.

    python tests/benchmarks/loading.py [--metric gpassk] [--delay 0.08] [--rounds 5]

A server on the loopback interface stands for the Hub, and answers each request after the delay.
Each load runs in a new process. Its time excludes `import evaluate`; the time of the process
includes it. The table has the fastest of the rounds, as other processes can only slow them down.

`evaluate` sends one more request at each load, which counts downloads. It goes to another host,
and is turned off here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from hub import Hub  # noqa: E402

LOAD = """
import time
import evaluate
started = time.perf_counter()
evaluate.load({name!r})
print(time.perf_counter() - started)
"""


class Load(NamedTuple):
    requests: int
    seconds: float
    process_seconds: float


def measure(hub: Hub, name: str, home: Path) -> Load:
    """Load a metric once in a new process."""
    hub.requests.clear()
    started = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-c", LOAD.format(name=name)],
        cwd=home,
        env=os.environ | {"HF_HOME": str(home)} | hub.environment,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise SystemExit(result.stderr)
    return Load(len(hub.requests), float(result.stdout), time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--metric", default="gpassk")
    parser.add_argument("--delay", type=float, default=0.08, help="seconds per request")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    loads: dict[str, list[Load]] = {"first": [], "later": []}
    with Hub(delay=arguments.delay) as hub:
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory() as home:
                for which in loads.values():
                    which.append(measure(hub, arguments.metric, Path(home)))
    print(f"evaluate.load({arguments.metric!r}), {1000 * arguments.delay:.0f} ms per request")
    print(f"{'load':<8}{'requests':>10}{'load, s':>10}{'process, s':>12}")
    for label, measured in loads.items():
        requests = max(load.requests for load in measured)
        seconds = min(load.seconds for load in measured)
        whole = min(load.process_seconds for load in measured)
        print(f"{label:<8}{requests:>10}{seconds:>10.2f}{whole:>12.2f}")


if __name__ == "__main__":
    main()
