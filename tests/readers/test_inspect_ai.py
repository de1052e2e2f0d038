"""Logs of inspect_ai, against the scores that its own reducers and metrics report in them."""

import json
import warnings

import at_k
import pytest
from inspect_ai.log import read_eval_log
from logs import FIXTURES, json_of, mean_of, pass_at_k_of, write_json
from run_command import error_of, output_of
from scored import gpassk

FOLDER = FIXTURES / "inspect_ai"


def reported(log, scorer, metric="accuracy"):
    """Return what the log reports for a scorer, by reducer."""
    scores = [score for score in log["results"]["scores"] if score["name"] == scorer]
    return {score["reducer"]: score["metrics"][metric]["value"] for score in scores}


def eval_log(name):
    """Return a `.eval` file as inspect_ai reads it."""
    log = read_eval_log(str(FOLDER / name))
    return json.loads(log.model_dump_json(include={"results": True, "reductions": True}))


def test_epochs_in_json_give_the_reduced_scores_of_the_log():
    expected = reported(json_of("inspect_ai/sums.json"), "match")
    scores = pass_at_k_of(FOLDER / "sums.json")
    for k in (1, 2, 4):
        assert scores[f"pass@{k}"] == pytest.approx(expected[f"pass_at_{k}"])
    assert at_k.read(FOLDER / "sums.eval") == at_k.read(FOLDER / "sums.json")


def test_samples_can_be_checked_again():
    arguments = at_k.read(FOLDER / "sums.json", predictions="completion")
    assert arguments["references"] == ["3", "4", "7", "10"]
    checked = gpassk(**arguments, k=[1, 2, 4], include=["pass@k"])
    assert checked == pass_at_k_of(FOLDER / "sums.json")


def test_responses_that_were_cut_off_are_known_by_their_stop_reason(tmp_path):
    def cut_off(sample):
        (choice,) = sample["output"]["choices"]
        choice["stop_reason"] = "max_tokens" if sample["epoch"] < 3 else "stop"

    run = at_k.read(edited(tmp_path, "log.json", cut_off), unfinished="incorrect")
    assert run.columns["finish"] == "stop_reason"
    complete = at_k.read(FOLDER / "sums.json")["predictions"]
    assert run["predictions"] == [[0, 0, *row[2:]] for row in complete]


def test_samples_with_errors_are_not_counted():
    expected = reported(eval_log("sums_failed.eval"), "fails_once")
    assert mean_of(FOLDER / "sums_failed.eval") == pytest.approx(expected["mean"])
    scores = pass_at_k_of(FOLDER / "sums_failed.eval", k=[2])
    assert scores["pass@2"] == pytest.approx(expected["pass_at_2"])
    with pytest.raises(ValueError, match="3 scored samples"):
        # inspect_ai drops the question that has three samples.
        pass_at_k_of(FOLDER / "sums_failed.eval", k=[4])


@pytest.mark.parametrize(
    ("column", "scorer", "metric"),
    [
        ("score_letters", "letters", "accuracy"),
        ("score_closeness", "closeness", "mean"),
        ("score_aspects.short", "short", "accuracy"),
        ("score_aspects.exact", "exact", "accuracy"),
    ],
)
def test_each_scorer_gives_the_mean_of_the_log(column, scorer, metric):
    expected = reported(eval_log("sums_several.eval"), scorer, metric)["mean"]
    for name in ("sums_several.eval", "samples_df.parquet"):
        assert mean_of(FOLDER / name, outcomes=column) == pytest.approx(expected)


def test_scores_are_numbers_and_none_where_there_is_none():
    letters = at_k.read(FOLDER / "samples_df.parquet", outcomes="score_letters")
    assert letters["predictions"] == [[1, 0, 1, 0], [1] * 4, [0] * 4, [0.5, 1, 1, 0]]
    closeness = at_k.read(FOLDER / "samples_df.parquet", outcomes="score_closeness")
    assert closeness["predictions"][3] == [0.5, 1, 1, None]


def test_several_logs_in_a_data_frame_are_refused(tmp_path, capsys):
    import pandas

    frame = pandas.read_parquet(FOLDER / "samples_df.parquet")
    other = frame.assign(eval_id="other", log="other.eval")
    file = tmp_path / "both.parquet"
    pandas.concat([frame, other]).to_parquet(file)
    flags = ("--outcomes", "score_letters", "--k", 1)
    assert "different values of eval_id" in error_of(capsys, "max_at_k", file, *flags)
    assert "max@1" in output_of(capsys, "max_at_k", file, *flags, "--where", "eval_id=other")


def test_the_scorer_of_one_log_in_a_data_frame_need_not_be_named(tmp_path):
    import pandas

    frame = pandas.read_parquet(FOLDER / "samples_df.parquet")
    scores = [name for name in frame if name.startswith("score_")]
    other = frame.drop(columns=scores).assign(eval_id="other", score_match="C")
    both = pandas.concat([frame, other])
    assert at_k.read(both, where={"eval_id": "other"})["predictions"] == [[1] * 4] * 4
    # Only scores are read as such: an id or a target may be a letter or a word too.
    ids = dict(zip(dict.fromkeys(other["id"]), ("yes", "true", "C", "I"), strict=True))
    choices = other.assign(id=other["id"].map(ids), target="C", completion="C")
    run = at_k.read(choices, predictions="completion")
    assert (run.ids, run["references"]) == (["yes", "true", "C", "I"], ["C"] * 4)


def test_an_eval_file_that_is_damaged_is_an_error(capsys, tmp_path):
    file = tmp_path / "log.eval"
    file.write_bytes((FOLDER / "sums.eval").read_bytes()[:-200])
    assert "log.eval is no log of inspect_ai" in error_of(capsys, "gpassk", file)
    file.write_bytes(b"PK")
    assert "log.eval is no log of inspect_ai" in error_of(capsys, "gpassk", file)


@pytest.mark.parametrize("backend", ["pyarrow", "numpy_nullable", None])
def test_a_data_frame_is_the_same_as_its_file(backend):
    import pandas

    given = {"dtype_backend": backend} if backend else {}
    frame = pandas.read_parquet(FOLDER / "samples_df.parquet", **given)
    for column in ("score_closeness", "score_letters", "score_aspects.short"):
        expected = at_k.read(FOLDER / "samples_df.parquet", outcomes=column)
        assert at_k.read(frame, outcomes=column) == expected


def edited(folder, name, edit, **fields):
    """Write a log of JSON in which a function has edited each sample."""
    log = json_of("inspect_ai/sums.json")
    log["eval"] |= fields
    for sample in log["samples"]:
        edit(sample)
    return write_json(folder / name, log)


def fail(sample):
    sample["scores"], sample["error"] = {}, {"message": "no reply", "traceback": ""}


def test_a_question_with_an_error_in_every_epoch_is_asked_about_by_its_id(tmp_path, capsys):
    file = edited(
        tmp_path, "log.json", lambda sample: fail(sample) if sample["id"] == "sum-2" else None
    )
    with pytest.raises(ValueError, match="question sums sum-2 has no outcome that is scored"):
        at_k.read(file)
    with pytest.warns(UserWarning, match=r"1 of 4 questions have no sample.*: .sums sum-2.\.$"):
        arguments = at_k.read(file, missing="drop")
    assert arguments == {"predictions": [[1, 0, 1, 0], [1] * 4, [0, 1, 1, 0]]}
    with pytest.warns(UserWarning, match="sum-2"):
        checked = at_k.read(file, predictions="completion", missing="drop")
    assert checked["references"] == ["3", "4", "10"]
    counted = at_k.read(file, missing="incorrect")["predictions"]
    assert counted == [[1, 0, 1, 0], [1] * 4, [False] * 4, [0, 1, 1, 0]]
    flags = ("--k", 1, "--include", "pass@k", "--missing")
    printed = output_of(capsys, "gpassk", file, *flags, "incorrect")
    assert "(4 of them missing, after an error, counted as incorrect)" in printed
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command prints them
        printed = output_of(capsys, "gpassk", file, *flags, "drop")
    assert "3 questions, 4 samples each" in printed


def test_a_log_without_any_score_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no sample that is scored"):
        at_k.read(edited(tmp_path, "log.json", fail))


def test_metadata_of_samples_are_columns_for_groups_and_clusters(tmp_path):
    topics = {"sum-0": "small", "sum-1": "small", "sum-2": "large", "sum-3": "large"}

    def with_topic(sample):
        sample["metadata"] = {"topic": topics[sample["id"]], "template": sample["id"][:3]}

    file = edited(tmp_path, "log.json", with_topic)
    clusters = {"clusters": "metadata_template"}
    arguments = at_k.read(file, groups="metadata_topic", columns=clusters)
    assert arguments["groups"] == ["small", "small", "large", "large"]
    assert arguments["clusters"] == ["sum"] * 4


def test_a_folder_is_read_with_the_scorer_of_each_task_and_the_newest_complete_log(tmp_path):
    def rename(sample):
        sample["scores"] = {"includes": sample["scores"]["match"]}

    edited(tmp_path / "logs", "one.json", lambda sample: None)
    edited(tmp_path / "logs", "two.json", rename, task="other", task_id="other")
    arguments = at_k.read(tmp_path / "logs")
    outcomes = at_k.read(FOLDER / "sums.json")["predictions"]
    assert arguments == {"predictions": outcomes * 2, "groups": ["sums"] * 4 + ["other"] * 4}

    started = edited(tmp_path / "logs", "again.json", fail, created="2999-01-01")
    write_json(started, json.loads(started.read_text()) | {"status": "error"})
    with pytest.warns(UserWarning, match=r"without .*again\.json"):
        assert at_k.read(tmp_path / "logs") == arguments
    edited(tmp_path / "logs", "again.json", lambda sample: None, model="m", task_id="third")
    with pytest.raises(ValueError, match="are not parts of one run: their model is"):
        at_k.read(tmp_path / "logs")


def test_a_log_that_is_retried_counts_once_however_the_files_are_named(tmp_path, capsys):
    log = json_of("inspect_ai/sums.json")
    retry = write_json(tmp_path / "b.json", log)
    about = log["eval"] | {"created": "2000-01-01"}
    failed = log | {"status": "error", "eval": about, "results": None}
    failed = write_json(tmp_path / "a.json", failed)
    expected, names = at_k.read(FOLDER / "sums.json"), [str(failed), str(retry)]
    for source in (tmp_path, names, names[::-1], str(tmp_path / "*.json")):
        with pytest.warns(UserWarning, match=r"several logs of a task.*without .*a\.json"):
            assert at_k.read(source, pool="files") == expected
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command prints them
        assert output_of(capsys, "gpassk", *names, "--k", 1).startswith("inspect_ai")
    with pytest.warns(UserWarning, match="status 'error', and 16 of 16 samples"):
        at_k.read(failed)
    failed.write_text(failed.read_text()[:-9])  # its header is whole, and it is not read
    with pytest.warns(UserWarning, match=r"several logs of a task.*without .*a\.json"):
        assert at_k.read(tmp_path) == expected
    failed.write_text(json.dumps(log | {"status": "error", "eval": about}))
    other = log["eval"] | {"model": "another"}
    write_json(retry, log | {"eval": other})
    with (
        pytest.raises(ValueError, match="their model is"),
        pytest.warns(UserWarning, match="not complete"),
    ):
        at_k.read(names, pool="files")


def test_scores_that_no_sample_has_are_no_candidates(tmp_path):
    def add(sample):
        sample["scores"]["absent"] = {"value": float("nan")}

    file = edited(tmp_path, "log.json", add)
    assert at_k.read(file) == at_k.read(FOLDER / "sums.json")
