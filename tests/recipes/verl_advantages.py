"""An advantage estimator of verl for pass@k or max@k. Needs verl, and torch.

Set `algorithm.adv_estimator=at_k`. The estimator has to be registered in the process of Ray that
trains, not only where you start it: verl imports this file in each of its processes if
`VERL_USE_EXTERNAL_MODULES=verl_advantages` is set, and the file's folder is in `PYTHONPATH`, where
Ray starts. Each row of a batch is a sample, so an agent has to return one output for each session.
"""

import at_k
import numpy as np
import torch
from verl.trainer.ppo.core_algos import get_adv_estimator_fn, register_adv_est

K = 4


@register_adv_est("at_k")
def at_k_advantages(token_level_rewards, response_mask, index, config=None, **_):
    """Return (advantages, returns), both (batch, response length).

    Args:
        token_level_rewards: (batch, response length), the reward of a sample is their sum.
        response_mask: (batch, response length). A sample whose mask is 0 everywhere was rejected
            and is not scored. A prompt with fewer than K scored samples has the advantages 0.
        index: (batch,) the id of each sample's prompt, in any order.
        config: the section `algorithm` of verl.
    """
    rewards = token_level_rewards.detach().sum(dim=-1)
    is_scored = response_mask.bool().any(dim=-1).cpu().numpy()
    ids, prompt = np.unique(index, return_inverse=True)
    is_used = is_scored & (np.bincount(prompt, is_scored, len(ids)) >= K)[prompt]
    weights = torch.zeros_like(rewards)
    if is_used.any():
        used = torch.as_tensor(is_used, device=rewards.device)
        groups = prompt[is_used]
        weights[used] = at_k.advantages(rewards[used], K, score="max@k", groups=groups)
    advantages = weights.unsqueeze(-1) * response_mask
    return advantages, advantages


index = np.array(["a", "b"] * 4, dtype=object)
rewards = torch.zeros(8, 3, dtype=torch.bfloat16)
rewards[:, 2] = torch.tensor([1, 0, 0, 0, 0, 0, 0, 1])
mask = torch.ones_like(rewards)
advantages, _ = get_adv_estimator_fn("at_k")(rewards.requires_grad_(), mask, index)
assert (advantages.dtype, advantages.requires_grad) == (torch.bfloat16, False)
assert advantages.tolist() == [[1.0] * 3, *[[0.0] * 3] * 6, [1.0] * 3], advantages

# With k = n, the weights are those of verl's own estimator, which has no k.
real = torch.zeros(8, 3)
real[:, 2] = torch.tensor([0.5, 0.1, 0.2, 0.9, 0.4, 0.3, 0.1, 0.2])
theirs, _ = get_adv_estimator_fn("grpo_passk")(
    real, torch.ones(8, 3), index, config={"norm_adv_by_std_in_grpo": False}
)
ours, _ = at_k_advantages(real, torch.ones(8, 3), index)
assert torch.allclose(ours, theirs), (ours, theirs)

# Rejected samples have no advantage and change no other one. "d" has no K scored samples.
more = torch.cat([real, torch.full((5, 3), 100.0)])
mask = torch.ones(13, 3)
mask[8:10] = 0
mask[0, 2] = 0  # behind the end of the response
masked, _ = at_k_advantages(more, mask, np.append(index, ["a", "c", "d", "d", "d"]))
assert torch.equal(masked, torch.cat([ours, torch.zeros(5, 3)]) * mask), masked
