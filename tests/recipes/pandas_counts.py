"""Count the samples of a data frame with pandas, and score the counts. Needs pandas."""

import at_k
import pandas as pd

samples = pd.DataFrame({"question_id": [i // 4 for i in range(4000)]})
samples["passed"] = samples.index % 3 == 0
counts = samples.groupby("question_id").passed.agg(n="count", correct="sum").reset_index()

scores = at_k.load("gpassk").compute(**at_k.read(counts), k=[1, 4], include=["pass@k"])
assert scores == {"pass@1": 0.3335, "pass@4": 1.0}, scores
