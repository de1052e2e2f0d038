"""Count samples with Ray Data, and check samples in Ray tasks. Needs ray[data]."""

import at_k
import ray

ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)


@ray.remote
def count_correct(first, last):
    """Return n and the number of correct samples of a shard of questions, 4 samples each."""
    return [(4, sum(i % 3 == 0 for i in range(4 * q, 4 * q + 4))) for q in range(first, last)]


shards = ray.get([count_correct.remote(start, start + 250) for start in range(0, 1000, 250)])
n, correct = zip(*(counts for shard in shards for counts in shard), strict=True)
assert at_k.pass_at_k(at_k.Counts(n, correct), 1) == 0.3335
ray.shutdown()
