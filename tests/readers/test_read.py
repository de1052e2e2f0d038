"""`at_k.read`: what it returns is what `compute` takes."""

import at_k
from conftest import ROOT

SAMPLES = ROOT / "shared" / "at_k" / "samples" / "smollm2_cool.jsonl"


def test_what_is_read_can_be_scored():
    arguments = at_k.read(SAMPLES, groups="topic")
    assert list(arguments) == ["predictions", "references", "groups"]
    scores = at_k.load("gpassk").compute(
        **arguments, check_correct_fn="numeric", k=1, include="pass@k"
    )
    assert round(scores["pass@1"], 3) == 0.419
