"""What the command refuses: the status 2, nothing printed, and a message with the remedy."""

import pytest
from at_k.cli.command import main
from conftest import ROOT
from run_command import error_of, write_json_lines

COOL = str(ROOT / "shared/at_k/samples/smollm2_cool.jsonl")
NUMERIC = "--check-correct-fn numeric"
ROWS = [{"id": f"q{i}", "samples": ["a", "b"], "answer": "a"} for i in range(3)]
OUTCOMES = [{"id": i, "outcomes": [int(i > j % 4) for j in range(12)]} for i in range(5)]
GROUPED = [row | {"topic": "xxyxz"[i], "weight": 1 + i} for i, row in enumerate(OUTCOMES)]
FILES: dict[str, list[dict]] = {
    "new": OUTCOMES,
    "old": OUTCOMES,
    "grouped": GROUPED,
    "grouped2": GROUPED,
    "unequal": [{"id": "q-16", "correct": [1, 0, 1]}, {"id": "q-17", "correct": [1, 0]}],
    "unequal2": [{"id": "q-16", "correct": [1, 0, 1]}, {"id": "q-17", "correct": [1, 0]}],
    "words": [{"id": 0, "verdict": "pass"}, {"id": 1, "verdict": "maybe"}],
    "words2": [{"id": 0, "verdict": "pass"}, {"id": 1, "verdict": "maybe"}],
    "texts": [{"id": 0, "response": "12"}, {"id": 1, "response": "13"}],
    "texts2": [{"id": 0, "response": "12"}, {"id": 1, "response": "13"}],
    "a": ROWS,
    "other_ids": [row | {"id": f"p{i}"} for i, row in enumerate(ROWS)],
    "fewer": ROWS[:2],
    "more": [*ROWS, ROWS[0] | {"id": "new"}],
    "no_ids": [{"samples": ["a"], "answer": "a"}],
    "hostile_text": [
        {"id": "q-16", "responses": ["1"], "answer": "1"},
        {"id": "q-17", "responses": ["1"], "answer": "Question 0 of predictions[0]"},
    ],
    "flags": [{"id": 1, "k": 2, "prediction": "x", "k=1": 0}] * 2,
    "negative": [{"outcomes": [1, -1, -3]}],
    "rewards": [{"step": 2, "prompt": "p", "completion": x, "reward_total": 0.5} for x in "ab"],
}
MAYBE = "Question 1 has the outcome 'maybe' in verdict: name those that are correct with --corr"
NOTHING = "Question 0 has the sample '12' in response, and there is nothing to check it against: "
NAME_IT = "name the column of references, or a file of them, with --references"
N_IS_2 = "question 1 has n = 2 scored samples|Question 1 has the id 'q-17'."
AVERAGE = "--average groups is the mean of the scores of groups"
MACRO = "--average has 'macro', which is none of questions, groups"
WEIGHT = "question_weights[0] is 'x': a weight is 0, or a"
NO_SUCH = "no command 'gpasssk'. Did you mean 'gpassk'? The commands are bayes_at_n,"
LISTS = "--help` lists the flags, and which take several values"
COLUMNS = "The columns are id, k, prediction, 'k=1'. Give"
NEGATIVE = (
    "Question 0, sample 1 is -1.0: an outcome is 0 or False if incorrect|max_at_k and bayes_at_n "
    "take graded scores and rewards, as floats such as|--correct-at-least, of at_k.read in Python"
)


# A line: the words of the command, and parts of the message.
REFUSED = f"""
gpassk {COOL} --k 33 >> question 0 has n = 32
gpassk {COOL} --include pass@1 --k 2 >> include has 'pass@1', and k is 2: leave out k, or
gpassk {COOL} --include pass@4_0.5 >> give 'pass@k', and --k 4
gpassk {COOL} --include G-Pass@4_1.5 >> tau is 1.5
gpassk {COOL} --include pass_hat_k >> Did you mean 'pass^k'?
gpassk {COOL} --outcomes topic --references reference >> leave out references
gpassk new --include vote@k >> It is a score of cons_at_k.
cons_at_k new --include pass^4 >> It is a score of gpassk.
gpassk new --alpha0 2 --interval questions --confidence 0.9 >> only --interval posterior uses
gpassk new --clusters id >> only limits use clusters, and there is no confidence
gpassk a --format csv --return-per-question >> use --format json
gpassk hostile_text {NUMERIC} >> references[1] is 'Question 0 of predictions[0]'|id 'q-17'.
gpassk unequal --k 3 >> {N_IS_2}
compare unequal unequal2 --k 3 >> {N_IS_2}
gate unequal --k 3 --at-least 0.5 >> {N_IS_2}
gpassk words --k 1 >> {MAYBE}
compare words words2 --k 1 >> {MAYBE}
gate words --at-least 0.5 --k 1 >> {MAYBE}
plan words --k 1 >> {MAYBE}
gpassk texts --k 1 >> {NOTHING}{NAME_IT}
compare texts texts2 --k 1 >> {NOTHING}{NAME_IT}
gate texts --at-least 0.5 --k 1 >> {NOTHING}{NAME_IT}
plan texts --k 1 >> {NOTHING}{NAME_IT}
max_at_k rewards >> with --references. Or name outcomes with --outcomes. Question 0
bayes_at_n rewards >> with --references. Or name outcomes with --outcomes. Question 0
gpassk negative >> {NEGATIVE}
max_at_k flags --picked-by absent >> {COLUMNS} --picked-by COLUMN.
cons_at_k flags --vote-weights absent >> {COLUMNS} --vote-weights COLUMN.
max_at_k flags --references absent >> {COLUMNS} --references COLUMN
gpassk grouped --average groups >> {AVERAGE}
compare grouped grouped2 --average groups >> {AVERAGE}
gpassk grouped --average macro >> {MACRO}
compare grouped grouped2 --average macro >> {MACRO}
gpassk grouped --question-weights topic >> {WEIGHT}
compare grouped grouped2 --question-weights topic >> {WEIGHT}
gpassk new --format eval-results --task a >> --format eval-results needs --dataset
gpassk new --source-url a.org >> --source-url is for --format
gpassk new --format eval-results --dataset a/b --task c >> such as G-Pass@4_0.25 and|: select one
gpassk new --plot a.jpg >> must be one of .svg, .pdf, .png, .html
gpassk new --plot a >> must be one of
gpassk new --plot missing/a.svg >> there is no folder
compare a other_ids >> other_ids lacks 3 of the questions of a, such as id 'q0'
compare a fewer >> fewer lacks 1 of the questions of a, such as id 'q2'
compare a more >> a lacks 1 of the questions of more, such as id 'new'
compare a no_ids >> no_ids has no ids, so its questions cannot be paired
compare a no_ids --by-order >> a has 3 questions and no_ids has 1
compare a a2 --check-correct-fn no >> exact_match
compare new >> There is one file: compare needs two or more|--where model=A --where-b model=B
compare new new >> is given twice
compare new old grouped --outcomes-b x >> Flags that end in -b are for the second of two files.
compare new old grouped --names a b >> --names a b: give each of the 3 files a name of its own
compare new old grouped --names a b a >> --names a b a: give each of the 3 files a name of its
compare new old --groups id >> Group 0:
compare new old --include pass_hat_k >> --include has 'pass_hat_k'
gate new >> Give either the least score as --at-least, or a run to compare as --baseline
gate new --at-least 0.5 --baseline b >> Give either the least score as --at-least
gate new --baseline new >> is given twice
gate new --at-least nan >> --at-least is nan: give a finite number
gate new --at-least 60 >> --at-least is 60.0: pass@k is from 0 to 1, so give 0.6 for 60 %
gate new --at-least 60 --include avg@N >> is 60, and avg@N of rewards from 0 to 1
gate new --at-least 5 --include max@k --w -1 4 >> rewards from -1 to 4
gate new --at-least 0.5 --margin 0.1 >> --margin and flags that end in -b belong to
gate new --at-least 1 --where-b model=x >> flags that end in -b belong
gate new --at-least 0.5 --k 1 2 >> There are 2 values of k: a gate has one score
gate new --at-least 0.5 --k 13 >> new: --k is 13, but question 0 has n = 12
gate new --at-least 0.5 --include picked@k >> --include has 'picked@k'
gate new --at-least 0.5 --labels {{"tp":9}} >> There is no column '{{"tp":9}}'.|Give --labels COLUMN
gate new --at-least 0.5 --where nope=a >> There is no column 'nope'.|Give --where COLUMN=VALUE (
gate new --baseline old --margin 2 --include maj@k >> --margin is 2.0: maj@k is from 0 to 1, so
plan >> success rates, such as --rates 0.2 0.8
plan a b c >> There are 3 files: give one pilot run.
plan new --include pass_hat_k >> --include has 'pass_hat_k'
"""
USAGE = f"""
plan pilot --k 1 8 >> `at-k plan {LISTS}
gpassk a --foo 8 >> `at-k gpassk {LISTS}
--foo >> `at-k {LISTS}
gpassk a --includes pass@k >> Did you mean '--include'?
compare a --included pass@k >> Did you mean '--include'?
gpasssk a >> {NO_SUCH}
gpassk a --k 1,4 >> --k: '1,4' is not a whole number: separate several by spaces
bayes_at_n a --confidence no >> --confidence: 'no' is not a number
bayes_at_n a --confidence 95% >> --confidence: '95%' is not a number: give 0.95
gate a --at-least 80.5% >> --at-least: '80.5%' is not a number: give 0.805
score_agg a --weights {{a:1}} >> --weights: '{{a:1}}' is invalid JSON
gpassk a --check-correct-fn none:f >> --check-correct-fn: none:f cannot be imported as
"""


def cases(table):
    return [tuple(line.split(" >> ")) for line in table.strip().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, rows in FILES.items():
        write_json_lines(folder / name, rows)
    write_json_lines(folder / "a2", ROWS)
    return folder


@pytest.mark.parametrize(("words", "parts"), cases(REFUSED))
def test_input_that_is_refused_is_one_line(capsys, monkeypatch, folder, words, parts):
    monkeypatch.chdir(folder)
    message = error_of(capsys, *words.split())
    for part in parts.split("|"):
        assert part in message


@pytest.mark.parametrize(("words", "part"), cases(USAGE))
def test_flags_that_are_refused_follow_the_usage(capsys, words, part):
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.startswith("usage: at-k")
    assert part in error
