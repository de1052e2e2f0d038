"""Write the fixtures of inspect_ai with its own `eval`.

Made with inspect_ai 0.3.285 and pandas 3.1.1 on Python 3.11.7 (`pip install inspect_ai pandas
pyarrow`). Run it as `python make_inspect_ai.py`. The model mockllm/model replays fixed responses.
"""

import os
import shutil
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task, eval
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, match, mean, scorer
from inspect_ai.solver import generate

FOLDER = Path(__file__).parent / "fixtures" / "inspect_ai"

ANSWERS = {"1 + 2": "3", "2 + 2": "4", "3 + 4": "7", "5 + 5": "10"}
RESPONSES = {
    "1 + 2": ["3", "4", "3", "5"],
    "2 + 2": ["4", "4", "4", "4"],
    "3 + 4": ["8", "9", "6", "1"],
    "5 + 5": ["11", "10", "10", "?"],
}


def replay():
    """Return a model that replies with the next of the fixed responses to a question."""
    asked = dict.fromkeys(RESPONSES, 0)

    def respond(messages, *_):
        question = messages[-1].text
        response = RESPONSES[question][asked[question] % 4]
        asked[question] += 1
        output = ModelOutput.from_content("mockllm/model", response)
        output.usage = ModelUsage()  # otherwise it is counted with a tokenizer to be downloaded
        return output

    return get_model("mockllm/model", custom_outputs=respond)


@scorer(metrics=[accuracy()])
def letters():
    """Score with all four letters: correct, incorrect, partial and no answer."""

    async def score(state, target):
        text = state.output.completion
        if text == "?":
            return Score(value="N")
        if text == target.text:
            return Score(value="C")
        return Score(value="P" if len(text) == len(target.text) > 1 else "I")

    return score


@scorer(metrics=[mean()])
def closeness():
    """Score with floats, and without a score where the response is no number."""

    async def score(state, target):
        text = state.output.completion
        if not text.isdigit():
            return Score.unscored(reason="invalid_response_format")
        return Score(value=1 / (1 + abs(int(text) - int(target.text))))

    return score


@scorer(metrics={"short": [accuracy()], "exact": [accuracy()]})
def aspects():
    """Score two aspects in a dict."""

    async def score(state, target):
        text = state.output.completion
        return Score(value={"short": len(text) == 1, "exact": text == target.text})

    return score


@scorer(metrics=[accuracy()])
def fails_once():
    """Raise for one sample, which inspect_ai logs as an error and does not count."""

    async def score(state, target):
        if state.output.completion == "11":
            raise ValueError("no score for 11")
        return Score(value="C" if state.output.completion == target.text else "I")

    return score


REDUCERS = ["mean", "pass_at_1", "pass_at_2", "pass_at_4", "max"]


def run(name, scorers, log_format, folder, **options):
    """Run a task of four questions with four epochs, and return its log."""
    samples = [Sample(input=q, target=a, id=f"sum-{i}") for i, (q, a) in enumerate(ANSWERS.items())]
    task = Task(dataset=samples, solver=generate(), scorer=scorers, name=name)
    (log,) = eval(
        task,
        model=replay(),
        max_connections=1,
        max_samples=1,
        log_dir=str(folder),
        log_format=log_format,
        display="none",
        **options,
    )
    assert log.status == "success", log.error and log.error.message
    return log


def save(log, name):
    """Write a log under a plain name, without the events of each sample."""
    log = read_eval_log(log.location)
    for sample in log.samples:
        sample.events = []
        sample.events_data = None
        sample.attachments = {}
        if sample.error:
            sample.error.traceback = sample.error.traceback_ansi = ""  # has paths of this machine
    log.eval.revision = None
    write_eval_log(log, str(FOLDER / name))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        epochs = Epochs(4, REDUCERS)
        matched = run("sums", [match()], "eval", folder, epochs=epochs)
        save(matched, "sums.eval")
        save(matched, "sums.json")
        scorers = [letters(), closeness(), aspects()]
        several = run("sums_several", scorers, "eval", folder, epochs=Epochs(4, ["mean"]))
        save(several, "sums_several.eval")
        failed = run(
            *("sums_failed", [fails_once()], "eval", folder),
            epochs=epochs,
            fail_on_error=False,
        )
        save(failed, "sums_failed.eval")
        for log in (matched, several, failed):
            print(log.eval.task)
            for each in log.results.scores:
                values = {name: metric.value for name, metric in each.metrics.items()}
                print(" ", each.name, each.reducer, each.scored_samples, values)
        frame = samples_df([str(FOLDER / "sums_several.eval")], quiet=True)
        frame["log"] = "sums_several.eval"
        frame.to_parquet(FOLDER / "samples_df.parquet")
        print(frame.dtypes)
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
