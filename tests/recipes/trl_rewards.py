"""Log pass@k from the rewards of GRPO, with num_generations samples of each prompt. Needs trl."""

import at_k

NUM_GENERATIONS = 4
gpassk = at_k.load("gpassk")


def correctness(completions, answer, log_metric=None, **_):
    """A reward function of TRL: 1 for the completions that end with the answer.

    TRL passes `log_metric` to log a number beside the rewards.
    """
    rewards = [float(text.endswith(gold)) for text, gold in zip(completions, answer, strict=True)]
    scores = gpassk.compute(
        **at_k.read({"reward": rewards}, group_size=NUM_GENERATIONS),
        k=NUM_GENERATIONS,
        include=["pass@k", "pass^k"],
        keys="safe",
    )
    if log_metric is not None:
        for name, score in scores.items():
            log_metric(name, score)
    return rewards


logged: dict[str, float] = {}
texts = ["it is 3", "4", "3", "3", "7", "7", "so 7", "7"]
assert correctness(texts, ["3"] * 4 + ["7"] * 4, logged.__setitem__) == [1, 0, 1, 1, 1, 1, 1, 1]
assert logged == {"pass_at_4": 1.0, "pass_hat_4": 0.5}, logged
