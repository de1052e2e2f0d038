"""Score a dataset, a mapped dataset and a streamed one. Needs datasets, which at_k depends on."""

import at_k
from datasets import Dataset

gpassk = at_k.load("gpassk")
rows = {"samples": [["3", "4"], ["7", "8"]], "answer": ["3", "7"]}
dataset = Dataset.from_dict(rows)
wanted = {"k": [1, 2], "include": ["pass@k"]}

columns = gpassk.compute(predictions=dataset["samples"], references=dataset["answer"], **wanted)
assert columns == {"pass@1": 0.5, "pass@2": 1.0}, columns


def count(row):
    return {"n": len(row["samples"]), "correct": row["samples"].count(row["answer"])}


counts = dataset.map(count, remove_columns=["samples", "answer"])
run = at_k.read(counts, columns={"n": "n", "correct": "correct"})
assert gpassk.compute(**run, **wanted) == columns

streamed = dataset.to_iterable_dataset()
for row in streamed:
    gpassk.add(prediction=row["samples"], reference=row["answer"])
assert gpassk.compute(**wanted) == columns
assert gpassk.compute(**at_k.read(streamed), **wanted) == columns
