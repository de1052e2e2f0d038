"""The caption of a chart: what its limits are for, and what was scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .results import Row


@dataclass(frozen=True)
class ChartDetails:
    """What results do not say about themselves, and a caption does; see `at_k.charts`."""

    questions: int | None = None
    n: int | str | None = None
    checker: str | None = None
    confidence: float | None = None
    interval: str | None = None
    caption: str | None = None

    def caption_of(self, *sentences: str) -> str:
        """Return the caption that is given, or these sentences and one on what was scored."""
        if self.caption is not None:
            return self.caption
        return " ".join(sentence for sentence in (*sentences, self._scored()) if sentence)

    def _scored(self) -> str:
        parts = []
        if self.questions is not None:
            parts.append(f"{self.questions} question{'s' * (self.questions != 1)}")
        if self.n is not None:
            each = " each" if parts else " per question"
            parts.append(f"{self.n} sample{'s' * (self.n != 1)}{each}")
        if self.checker is not None:
            parts.append(f"checked with {self.checker}")
        scored = ", ".join(parts)
        return f"{scored[0].upper()}{scored[1:]}." if scored else ""

    def limits(self, rows: Iterable[Row], mark: str) -> str:
        """Return the sentence on confidence limits, or "" if no score has any.

        Args:
            rows: the rows of the scores.
            mark: what shows the limits: "Bands" or "Bars".

        Raises:
            ValueError: if the results name other intervals than the caller.
        """
        rows = [row for row in rows if "lo" in row]
        if not rows:
            return ""
        named = sorted({row["interval"] for row in rows if "interval" in row} - {self.interval})
        if named and self.interval not in (None, "auto"):
            raise ValueError(
                f"interval is {self.interval!r}, but the limits in the results are by the method "
                f"{' and '.join(named)}: leave out interval."
            )
        percent = "" if self.confidence is None else f"{100 * self.confidence:.6g} % "
        limits = f"{percent}confidence limits"
        if any("band_lo" in row for row in rows):
            limits += f" at each k (dark) and simultaneous {percent}band over all k (pale)"
        elif mark == "Bands":
            limits = f"pointwise {limits}"
        sentence = f"{mark}: {limits}"
        scope = self._scope(rows)
        return f"{sentence} {scope}." if scope else f"{sentence}."

    def _scope(self, rows: Iterable[Row]) -> str:
        """Return the question that the limits answer, or "" if it is unknown."""
        methods = {row.get("interval", self.interval) for row in rows}
        others = "for other questions like these"
        if methods == {"questions"}:
            return others
        if None in methods or "auto" in methods:
            return ""
        also = f" (by the method questions, {others})" if "questions" in methods else ""
        return f"for the same questions, sampled again{also}"
