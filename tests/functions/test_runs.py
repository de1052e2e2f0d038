"""Functions take a run that `at_k.read` returns, if outcomes are all that it counts with."""

import at_k
import pytest

ROWS = [
    {"id": q, "correct": ok, "half": q % 2, "w": q + 1} for q in range(4) for ok in (1, q % 2, 0)
]
OUTCOMES = [[1, q % 2, 0] for q in range(4)]
FUNCTIONS = {
    "pass_at_k": (2,),
    "pass_hat_k": (2,),
    "g_pass_at_k_tau": (2, 0.5),
    "maj_at_k": (2,),
    "cons_at_k": (2,),
    "auc_at_k": (3,),
    "bayes": (),
    "avg": (),
    "max_at_k": (2,),
    "pass_at_k_ci": (2,),
    "score_agg": (),
    "advantages": (2,),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("groups", [None, "half"])
def test_a_run_gives_what_its_outcomes_give(name, groups):
    function, run = getattr(at_k, name), at_k.read(ROWS, groups=groups)
    assert function(run, *FUNCTIONS[name]) == function(OUTCOMES, *FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_run_with_more_than_outcomes_is_refused(name):
    runs = {
        "question_weights": at_k.read(ROWS, columns={"question_weights": "w"}),
        "clusters": at_k.read(ROWS, columns={"clusters": "half"}),
        "references": at_k.read([{"id": 1, "prediction": "a", "reference": "a"}]),
    }
    for argument, run in runs.items():
        with pytest.raises(ValueError, match=f"is a run with {argument}, which a function"):
            getattr(at_k, name)(run, *FUNCTIONS[name])
