"""The fields of errors about inputs, which the command and the pages put into words."""

import pickle
from concurrent.futures import ProcessPoolExecutor

import at_k
import pytest
from at_k.core.checks import FROM_0, Index, InputError, Place, RunName
from at_k.core.computations import GPASSK
from at_k.readers.table import SelectionError, Way


def fails_on_2(prediction, reference):
    if prediction == "2":
        raise KeyError("no such unit")
    return prediction == reference


def score_a_wrong_outcome():
    GPASSK.compute(predictions=[[0, 1], [1, 2]])


def raised(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return caught.value


def test_the_place_of_an_error_is_a_field():
    error = raised(score_a_wrong_outcome)
    assert error.place == Place("predictions", 1, 1)
    assert str(error).startswith("predictions[1][1] is 2: an outcome is 0 or False if incorrect")
    counts = [{"n": 2, "correct": 1}, {"n": 2, "correct": 3}]
    error = raised(GPASSK.compute, predictions=counts)
    assert error.place == Place("predictions", 1, key="correct")
    assert str(error).startswith("predictions['correct'][1] is 3 of 2 samples")
    error = raised(at_k.pass_at_k, [[1, 0], [1]], 2)
    assert error.place == Place("question", 1)
    assert "k is 2, but question 1 has n = 1" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        InputError(RunName("a: "), Place("predictions", 2, 1), " is 2", FROM_0, "."),
        SelectionError(
            ["a, row ", Index(3), " has two."],
            [Way({"where": {"filter": "a=b"}}, "only these samples"), "outcomes"],
        ),
    ],
)
def test_a_pickled_error_keeps_its_fields(error):
    copy = pickle.loads(pickle.dumps(error))
    assert [*map(type, copy.args)] == [*map(type, error.args)]
    assert (str(copy), copy.args, vars(copy)) == (str(error), error.args, vars(error))


def test_an_error_of_another_process_keeps_its_fields():
    with ProcessPoolExecutor(1) as executor:
        error = raised(executor.submit(score_a_wrong_outcome).result)
    assert error.place == Place("predictions", 1, 1)


def test_an_error_of_a_checker_in_a_worker_has_the_place_of_its_sample():
    rows = {"predictions": [["1", "1"], ["3", "2"]], "references": ["1", "3"]}
    error = raised(GPASSK.compute, **rows, check_correct_fn=fails_on_2, num_proc=2)
    assert error.place == Place("predictions", 1, 1)
    assert "on predictions[1][1] raised KeyError" in str(error)
