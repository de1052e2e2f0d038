"""Count the samples of a Dask data frame, and check samples on a Dask cluster. Needs dask."""

import at_k
import dask.dataframe as dd
import pandas as pd
from dask.distributed import Client


def is_even(prediction, reference):
    return int(prediction) % 2 == reference


if __name__ == "__main__":
    samples = pd.DataFrame({"question_id": [i // 4 for i in range(4000)]})
    samples["passed"] = samples.index % 3 == 0
    frame = dd.from_pandas(samples, npartitions=4)
    counts = frame.groupby("question_id").passed.agg(["count", "sum"]).compute()
    gpassk = at_k.load("gpassk")
    given = {"n": counts["count"], "correct": counts["sum"]}
    scores = gpassk.compute(predictions=given, k=[1, 4], include=["pass@k"])
    assert scores == {"pass@1": 0.3335, "pass@4": 1.0}, scores

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        checked = gpassk.compute(
            predictions=[["1", "2", "4", "6"]],
            references=[0],
            check_correct_fn=is_even,
            executor=client.get_executor(),
            k=1,
            include=["pass@k"],
        )
    assert checked == {"pass@1": 0.75}, checked
