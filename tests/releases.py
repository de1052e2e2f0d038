"""The published `score_agg` of releases of eval-ai-library, and a table of its scores.

    python tests/releases.py

Writes scores/published_score_agg.json, with which the tests compare. The releases cannot be
installed side by side, and need many libraries. So each wheel is downloaded from a package index,
and only the module that defines the function is loaded from it.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
import zipimport
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec
from pathlib import Path

# The release for each value of the parameter `compat`.
RELEASES = {"0.3": "0.3.3", "0.7": "0.7.10", "0.8": "0.8.2"}
TABLE = Path(__file__).with_name("scores") / "published_score_agg.json"

Arguments = tuple[list[float], float, float, float]  # verdicts, temperature, penalty, eps_for_neg_p


def published_score_agg(release: str, folder: Path) -> Callable[..., float]:
    """Return the function of a release. Its wheel is downloaded unless it is in the folder."""
    name = f"eval_ai_library-{release}-*.whl"
    if not list(folder.glob(name)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", folder, f"eval-ai-library=={release}"], check=True)
    (wheel,) = folder.glob(name)
    # Load utils.py alone: the package would import all its dependencies.
    spec = zipimport.zipimporter(str(wheel / "eval_lib")).find_spec("utils")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score_agg


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        functions = {
            name: published_score_agg(each, Path(folder)) for name, each in RELEASES.items()
        }
    table = [
        [*arguments, {name: result(function, arguments) for name, function in functions.items()}]
        for arguments in (*random_arguments(800), *arguments_with_exponents_near_zero())
    ]
    lines = ",\n".join(json.dumps(row) for row in table)
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def result(function: Callable[..., float], arguments: Arguments) -> float | str:
    """Return the score, or the name of the error."""
    try:
        return function(*arguments)
    except ArithmeticError as error:
        return type(error).__name__


def random_arguments(number: int) -> Iterator[Arguments]:
    # Means of the weights in the table of verdicts are often ties when rounded to 4 decimals.
    rng = random.Random(0)
    weights = [
        lambda: rng.choice([1.0, 0.9, 0.7, 0.3, 0.0]),
        rng.random,
        lambda: 10 ** rng.uniform(-320, 0),
    ]
    for case in range(number):
        weight = rng.choices(weights, [6, 3, 1])[0]
        verdicts = [weight() for _ in range(rng.randint(1, 12))]
        if case % 10 == 9:
            verdicts = [1.0] * rng.randint(3, 30) + [0.0]
        ranges = [(0.1, 1), (0.44, 0.46), (-1, 1.5)]
        temperature = rng.choice(
            [0.1, 0.3, 0.5, 0.7, 1.0, *(rng.uniform(*each) for each in ranges)]
        )
        options = rng.choice([(0.1, 1e-9), (0.25, 1e-6), (0.0, 1e-3), (1.0, 0.1)])
        yield verdicts, temperature, *options


def arguments_with_exponents_near_zero() -> Iterator[Arguments]:
    zero = 0.1 + 0.9 * 8 / 20.25
    near = [zero + step * math.ulp(zero) for step in range(-30, 31)]
    for verdicts, temperature in itertools.product([[1.0, 0.9, 0.3], [0.7, 0.0], [0.0]], near):
        yield verdicts, temperature, 0.1, 1e-9


if __name__ == "__main__":
    main()
