# %% [markdown]
"""From samples to a table, a figure and a sentence for a paper.

Needs altair and vl-convert-python for the figures. Each `# %%` starts a cell: editors such as
VS Code, PyCharm and Jupyter (with jupytext) open this script as a notebook.
"""

# %% The samples of one model at two temperatures, which ship with the package
from pathlib import Path

import at_k
from at_k.cli.command import main as at_k_command

samples = Path(at_k.__file__).parent / "samples"
files = {"T = 0.2": samples / "smollm2_cool.jsonl", "T = 0.8": samples / "smollm2_warm.jsonl"}
runs = {name: at_k.read(file) for name, file in files.items()}
first = runs["T = 0.2"]
print(len(first["predictions"]), "questions:", first["predictions"][0][:2], first["references"][0])

# %% The scores of one run, checked with `numeric`, with limits for other questions like these
gpassk = at_k.load("gpassk")
options = {"check_correct_fn": "numeric", "k": [1, 2, 4, 8, 16], "confidence": 0.95}
options["interval"] = "questions"
scores = gpassk.compute(**first, **options, include=["pass@k", "pass^k"])
print({key: round(scores[key], 3) for key in ("pass@1", "pass@1_lo", "pass@1_hi")})

# %% The scores of both runs
results = {
    name: gpassk.compute(**run, **options, include=["pass@k", "pass^k"])
    for name, run in runs.items()
}

# %% The figure: pass@k and pass^k against k
shown = {"checker": "numeric", "confidence": 0.95, "interval": "questions"}
figure = at_k.charts.by_k(results, questions=94, n=32, **shown)
figure.save("curves.pdf")
figure  # noqa: B018 (a notebook shows it)

# %% Which of them is better, question by question? For other questions like these
compared = at_k.compare(runs["T = 0.2"], runs["T = 0.8"], k=[1, 8], check_correct_fn="numeric")
print([round(compared[key], 3) for key in ("pass@8", "pass@8_lo", "pass@8_hi")])

# %% The figure of the difference, with a simultaneous band over k
difference = at_k.charts.difference(
    at_k.compare(runs["T = 0.2"], runs["T = 0.8"], check_correct_fn="numeric"),
    runs=list(runs),
    confidence=0.95,
    interval="questions",
)
difference.save("difference.pdf")

# %% The table and the sentence, ready to paste
names = ["--names", *files]
checked = ["--check-correct-fn", "numeric", "--k", "1", "8"]
paths = [str(file) for file in files.values()]
at_k_command(["compare", *paths, *names, *checked, "--format", "latex"])

# %% How does the score differ between topics? `groups` has a label for each question
groups = gpassk.compute(**at_k.read(files["T = 0.8"], groups="topic"), **options, include="pass@k")
at_k.charts.by_group(groups, "pass@8", **shown).save("topics.pdf")

# %% How many questions would show a difference of 3 points in pass@8?
plan = at_k.plan(first, k=8, check_correct_fn="numeric", difference=0.03, samples=[8, 16, 32])
print({name: plan["cheapest"][name] for name in ("questions", "samples")})
