"""Leaderboards: agreement with `compare`, ranks and letters, simultaneous limits, errors."""

import itertools
import json
import math
import re
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.runs.differences import Simultaneous, studentized_range_tail
from at_k.runs.leaderboard import letters, ranks
from scipy.stats import norm, studentized_range
from scored import cons_at_k


def some_runs(number: int, seed: int = 0, questions: int = 40, samples: int = 8) -> dict:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 1.0, (questions, 1))
    return {
        f"run {i}": (rng.random((questions, samples)) < p ** (1 / (1 + i / 2))).astype(int)
        for i in range(number)
    }


def rows_of(board: dict, key: str) -> dict[str, dict]:
    return {row["run"]: row for row in board["runs"] if row["key"] == key}


# --- Agreement with compare ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "k", "interval"),
    [
        ("pass@k", [1, 4], "sampling"),
        ("pass^k", 2, "questions"),
        ("GeoSpectrum@k", [2, 4], "sampling"),
        ("max@k", [1, 2, 4], "questions"),
        ("avg@N", None, "sampling"),
        ("bayes@N", None, "posterior"),
        ("score_agg", None, "questions"),
    ],
)
def test_two_runs_have_the_numbers_of_compare(metric, k, interval):
    runs = some_runs(2)
    names = list(runs)
    board = at_k.leaderboard(runs, metric, k, interval)
    compared = at_k.compare(runs[names[0]], runs[names[1]], metric, k, interval)
    for pair in board["pairs"]:
        key = pair["key"]
        sign = 1 if pair["a"] == names[1] else -1
        for suffix in ("", "_band"):
            limits = [compared[f"{key}{suffix}_lo"], compared[f"{key}{suffix}_hi"]]
            limits = [sign * limit for limit in limits[::sign]]
            found = [pair[f"{suffix}_{limit}".strip("_")] for limit in ("lo", "hi")]
            assert found == pytest.approx(limits, abs=1e-12)
        assert pair["difference"] == pytest.approx(sign * compared[key], abs=1e-15)
        assert rows_of(board, key)[names[1]]["score"] == compared[f"{key}_b"]


def test_the_result_is_plain_json_sorted_by_score():
    board = at_k.leaderboard(some_runs(4), k=[1, 8], p_values=True)
    assert json.loads(json.dumps(board)) == board
    assert [row["key"] for row in board["runs"]] == ["pass@1"] * 4 + ["pass@8"] * 4
    for rows in (board["runs"][:4], board["runs"][4:]):
        scores = [row["score"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert len(board["pairs"]) == 2 * math.comb(4, 2)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_p_values_agree_with_the_limits(interval):
    board = at_k.leaderboard(some_runs(5), k=[1, 2], interval=interval, p_values=True)
    for pair in board["pairs"]:
        assert pair["p"] <= pair["p_adjusted"] <= 1
        assert (pair["p"] < 0.05) == (pair["lo"] > 0 or pair["hi"] < 0)
        assert (pair["p_adjusted"] < 0.05) == (pair["band_lo"] > 0 or pair["band_hi"] < 0)
    options = {"interval": interval, "confidence": 1 - board["pairs"][2]["p"]}
    at_the_limit = at_k.leaderboard(some_runs(5), k=[1, 2], **options)["pairs"][2]
    assert min(abs(at_the_limit["lo"]), abs(at_the_limit["hi"])) < 1e-6


def answered(seed: int, accuracy: float) -> dict:
    rng = np.random.default_rng(seed)
    samples = np.where(rng.random((20, 6)) < accuracy, "a", rng.choice(["b", "c", "d"], (20, 6)))
    return {"predictions": samples.tolist(), "references": ["a"] * 20}


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_votes_are_compared_from_answers_and_references(interval):
    runs = {"x": answered(0, 0.3), "y": answered(1, 0.6)}
    board = at_k.leaderboard(runs, "vote@k", interval=interval)
    for name, run in runs.items():
        alone = cons_at_k(**run, k=6, confidence=0.95, interval=interval)
        row = rows_of(board, "vote@6")[name]
        expected = [alone[f"vote@6{suffix}"] for suffix in ("", "_lo", "_hi")]
        assert [row["score"], row["lo"], row["hi"]] == pytest.approx(expected, abs=1e-12)
    compared = at_k.compare(runs["x"], runs["y"], "vote@k", interval=interval)
    assert [key for key in compared if key.endswith("_a")] == [f"vote@{k}_a" for k in (1, 2, 4, 6)]
    outcomes = {
        name: [[sample == "a" for sample in row] for row in run["predictions"]]
        for name, run in runs.items()
    }
    graded = at_k.leaderboard(outcomes, k=4, interval=interval)
    assert at_k.leaderboard(runs, k=4, interval=interval) == graded


def test_clusters_that_a_run_was_read_with_are_used_where_they_apply():
    runs: dict = {name: answered(seed, 0.5) for seed, name in enumerate("xy")}
    clusters = [f"c{i // 2}" for i in range(20)]
    read = {name: run | {"clusters": clusters} for name, run in runs.items()}
    given = at_k.leaderboard(runs, interval="questions", clusters=clusters)
    assert at_k.leaderboard(read) == given
    same_questions = at_k.leaderboard(read, interval="sampling")
    assert same_questions == at_k.leaderboard(runs, interval="sampling")
    with pytest.raises(ValueError, match="x has prior outcomes R0"):
        at_k.leaderboard({"x": runs["x"] | {"R0": [[1]] * 20}, "y": runs["y"]})


# --- Ranks and letters --------------------------------------------------------------------


def test_ranks_follow_from_the_runs_that_are_certainly_better_and_worse():
    board = at_k.leaderboard(some_runs(6), k=4)
    better = dict.fromkeys(rows_of(board, "pass@4"), 0)
    worse = dict(better)
    for pair in board["pairs"]:
        if pair["band_lo"] > 0:
            better[pair["b"]] += 1
            worse[pair["a"]] += 1
        assert pair["band_hi"] >= 0  # a has the higher score
    for name, row in rows_of(board, "pass@4").items():
        assert (row["rank_lo"], row["rank_hi"]) == (1 + better[name], 6 - worse[name])
        assert row["rank_lo"] <= row["rank"] <= row["rank_hi"]
    assert any(row["rank_hi"] < 6 for row in board["runs"])


def test_equal_scores_share_a_rank():
    run, other = [[1, 0], [1, 1]], [[0, 0], [1, 0]]
    board = at_k.leaderboard({"a": run, "b": run, "c": other}, k=1)
    assert [row["rank"] for row in board["runs"]] == [1, 1, 3]
    rank, lo, hi = ranks(np.array([0.5, 0.5, 0.1]), np.zeros((3, 3), dtype=bool))
    assert (rank.tolist(), lo.tolist(), hi.tolist()) == ([1, 1, 3], [1, 1, 1], [3, 3, 3])


def random_differences(rng: np.random.Generator, runs: int, share: float) -> np.ndarray:
    different = np.triu(rng.random((runs, runs)) < share, 1)
    return different | different.T


def groups_of_letters(different: np.ndarray) -> list[set[int]]:
    """Return the runs of each letter, after a check that they are a letter display."""
    marks = [re.findall(r"[a-zA-Z]\d*", text) for text in letters(different)]
    assert all(marks)
    assert marks[0][0] == "a"
    for a, b in itertools.combinations(range(len(marks)), 2):
        assert bool(set(marks[a]) & set(marks[b])) == (not different[a, b])
    names = {name for of_run in marks for name in of_run}
    return [{run for run, of_run in enumerate(marks) if name in of_run} for name in names]


def test_runs_that_differ_if_they_are_far_apart_have_the_letters_of_intervals():
    scores = np.sort(np.random.default_rng(3).random(60))[::-1]
    groups = groups_of_letters(np.abs(np.subtract.outer(scores, scores)) > 0.15)
    windows = [{i for i, x in enumerate(scores) if 0 <= top - x <= 0.15} for top in scores]
    largest = [s for s in windows if not any(s < other for other in windows)]
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))


def test_runs_share_a_letter_exactly_if_they_do_not_differ():
    rng = np.random.default_rng(0)
    for _ in range(150):
        groups_of_letters(random_differences(rng, 6, rng.random()))
    for share in (0.02, 0.5, 0.9):
        groups_of_letters(random_differences(rng, 200, share))
    # Runs 2i and 2i + 1 differ: there are 2^100 largest groups of runs that do not.
    pairs = np.kron(np.eye(100, dtype=bool), ~np.eye(2, dtype=bool))
    groups_of_letters(pairs)


# --- Simultaneous inference ---------------------------------------------------------------


def test_the_studentized_range_agrees_with_scipy():
    for runs, q in itertools.product((2, 3, 6, 40), (0.5, 2.5, 3.5, 5.0)):
        expected = studentized_range.sf(q, runs, np.inf)
        assert studentized_range_tail(q, runs) == pytest.approx(expected, rel=1e-9)


def test_critical_values_are_those_of_tukey_and_sidak():
    for runs in (3, 6, 20):
        angles = np.zeros((math.comb(runs, 2), 0))
        tukey = Simultaneous(runs, angles, independent=True).confidence_of_each(0.95)
        q = studentized_range.ppf(0.95, runs, np.inf)
        assert norm.ppf((1 + tukey) / 2) == pytest.approx(q / math.sqrt(2), abs=1e-6)
        sidak = Simultaneous(runs, angles, independent=False).confidence_of_each(0.95)
        assert sidak == pytest.approx(0.95 ** (1 / len(angles)), abs=1e-9)


@pytest.mark.parametrize("independent", [True, False])
def test_normal_errors_exceed_the_critical_value_as_rarely_as_promised(independent):
    rng, runs, keys, times = np.random.default_rng(1), 5, 4, 20_000
    r = 0.9
    of_keys = r ** np.abs(np.subtract.outer(np.arange(keys), np.arange(keys)))
    sizes = rng.uniform(0.5, 2.0, runs)
    between = np.eye(runs) if independent else 0.6 + 0.4 * np.eye(runs)
    errors = np.einsum(
        "ij,kl,njl->nik",
        np.linalg.cholesky(between * np.outer(sizes, sizes)),
        np.linalg.cholesky(of_keys),
        rng.normal(size=(times, runs, keys)),
    )
    pairs = np.array([*itertools.combinations(range(runs), 2)])
    differences = errors[:, pairs[:, 1]] - errors[:, pairs[:, 0]]
    differences /= differences.std(axis=0)
    angles = np.full((len(pairs), keys - 1), math.acos(r))
    confidence = Simultaneous(runs, angles, independent).confidence_of_each(0.95)
    z = norm.ppf((1 + confidence) / 2)
    coverage = np.mean(np.abs(differences).max(axis=(1, 2)) <= z)
    assert 0.95 - 3 * math.sqrt(0.95 * 0.05 / times) < coverage < 0.985


# --- Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["k", "question", "y", "predictions"])
def test_an_error_names_the_run_even_if_its_message_begins_with_the_same_word(name):
    short, with_text = [[1, 0], [1]], [[1, 0], [1, "?"]]
    rows = {"predictions": [["a"], ["b"]], "references": ["a"]}
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (short, {"k": 2}, f"{name}: k is 2, but question 1 has n = 1"),
        (with_text, {}, f"{name}[1][1] is '?'"),
        (rows, {}, f"{name}: There are 2 lists of predictions but 1 references"),
        ([[1], [0]], {"interval": "sampling"}, f"{name}: one sample of each question does not"),
    ]
    for run, options, message in cases:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            at_k.leaderboard({name: run, "other": [[1, 0], [1, 1]]}, **options)


def test_references_are_numbers_in_one_run_and_texts_in_another():
    runs = {
        "of JSON": {"predictions": [["3"], ["b"]], "references": [3, "b"]},
        "of CSV": {"predictions": [["3"], ["a"]], "references": ["3", "b"]},
    }
    options: dict[str, Any] = {"k": 1, "check_correct_fn": lambda x, reference: x == str(reference)}
    scores = at_k.leaderboard(runs, **options)
    assert [row["score"] for row in scores["runs"]] == [1.0, 0.5]
    runs["of CSV"]["references"] = ["4", "b"]
    with pytest.raises(ValueError, match=r"Question 0 has the reference 3 in of JSON and '4' in"):
        at_k.leaderboard(runs, **options)
