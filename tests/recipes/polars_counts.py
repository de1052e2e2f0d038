"""Count the samples of a lazy frame with polars, and score the counts. Needs polars."""

import at_k
import polars as pl

samples = pl.LazyFrame({"question_id": [i // 4 for i in range(4000)]}).with_row_index("i")
counts = (
    samples.with_columns(correct=pl.col("i") % 3 == 0)
    .group_by("question_id", maintain_order=True)
    .agg(n=pl.len(), correct=pl.col("correct").sum())
)

scores = at_k.load("gpassk").compute(**at_k.read(counts), k=[1, 4], include=["pass@k"])
assert scores == {"pass@1": 0.3335, "pass@4": 1.0}, scores
