"""Rewards of training as groups of one size, and weights in the container of the rewards.

No library of tensors is imported. A new tensor is made by a method of the given one, or by the
array namespace that it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.checks import check_count, entries_of, is_list_like, is_scalar, short
from ..core.containers import plain_entry, to_array
from ..core.counts import one_size
from ..core.samples import as_outcomes, read_samples

_LARGEST_REWARD = 1e150  # Its square is a double.


@dataclass(frozen=True)
class RewardGroups:
    """The rewards of all samples, and the prompt of each.

    Attributes:
        values: (S,) rewards in the order of the caller, NaN for samples that are not scored.
        prompts: M, the number of prompts.
        size: number of samples of each prompt, if all have the same number and the samples of a
            prompt follow each other; otherwise 0.
        index: (S,) the index of each sample's prompt if `size` is 0, otherwise None.
        names: the ids of the prompts for messages, or None if they have none.
        in_rows: whether the caller's samples have two indices, for messages.
    """

    values: np.ndarray
    prompts: int
    size: int = 0
    index: np.ndarray | None = None
    names: list[Any] | None = None
    in_rows: bool = False

    @cached_property
    def prompt(self) -> np.ndarray:
        """Return the index of each sample's prompt, (S,)."""
        if self.index is not None:
            return self.index
        return np.arange(len(self.values)) // self.size

    def weights_of_samples(
        self, weigh: Callable[[np.ndarray, str], np.ndarray], unscored: str = "zero"
    ) -> np.ndarray:
        """Return a weight for each sample, (S,).

        `weigh` takes the (G, n) rewards of G prompts with n scored samples each, and the name of
        the first prompt for messages. It returns (G, n) weights. Samples that are not scored have
        the weight 0, or with `unscored` = "mean" the mean weight of the prompt's scored samples.
        """
        is_scored = ~np.isnan(self.values)
        if self.size and is_scored.all():  # This is the usual case, and fast.
            return weigh(self.values.reshape(-1, self.size), self.prompt_name(0)).reshape(-1)
        sizes = np.bincount(self.prompt[is_scored], minlength=self.prompts)
        order = np.flatnonzero(is_scored)
        order = order[np.argsort(self.prompt[order], kind="stable")]
        start = np.cumsum(sizes) - sizes
        result = np.zeros(len(self.values))
        for n in np.unique(sizes).tolist():
            prompts = np.flatnonzero(sizes == n)
            index = order[start[prompts, None] + np.arange(n)]
            result[index] = weigh(self.values[index], self.prompt_name(int(prompts[0])))
        if unscored == "mean":
            means = np.bincount(self.prompt, result, self.prompts) / sizes
            result[~is_scored] = means[self.prompt[~is_scored]]
        return result

    def prompt_name(self, prompt: int) -> str:
        """Return the name of a prompt for messages."""
        return f"prompt {prompt}" if self.names is None else f"prompt {self.names[prompt]!r}"

    def require(self, valid: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that names the first scored sample with a False in `valid`, (S,)."""
        if valid.all():
            return
        invalid = ~valid & ~np.isnan(self.values)
        if invalid.any():
            sample = int(np.argmax(invalid))
            prompt = int(self.prompt[sample])
            where = f"rewards[{sample}] of {self.prompt_name(prompt)}"
            if self.in_rows:
                where = f"rewards[{prompt}][{sample - int(np.argmax(self.prompt == prompt))}]"
            raise ValueError(f"{where} is {self.values[sample]:g}: {wanted}.")


# --- Reading ------------------------------------------------------------------------------


def read_rewards(rewards, groups=None, group_size=None) -> RewardGroups:
    """Return rewards with the prompt of each, for the arguments of `advantages`.

    Raises TypeError if the rewards are not an array, a tensor or a list, or cannot hold weights;
    and ValueError if a reward is not a number, or if the groups do not fit the rewards.
    """
    _require_floats(rewards)
    has_rows = rewards.ndim > 1 if _is_array(rewards) else any(map(is_list_like, rewards))
    is_flat = len(rewards) > 0 and not has_rows
    rows = read_samples([rewards] if is_flat else rewards, "rewards")
    rows = rows if rows.are_numbers else as_outcomes(rows)
    values = rows.values.astype(float, copy=False)
    if rows.multiplicity is not None:
        values = np.where(rows.is_scored, values, math.nan)
    if is_flat:
        result = _flat_groups(values, groups, group_size)
    elif groups is not None or group_size is not None:
        raise ValueError(
            "groups and group_size are for flat rewards, and these have a row for each prompt."
        )
    else:
        size = one_size(rows.sizes)
        index = None if size else np.repeat(np.arange(len(rows)), rows.sizes)
        result = RewardGroups(values, len(rows), size, index, in_rows=True)
    result.require(
        (values >= -_LARGEST_REWARD) & (values <= _LARGEST_REWARD),
        "a reward is a number from -1e150 to 1e150, or None or NaN if the sample is not scored",
    )
    return result


def _require_floats(rewards) -> None:
    """Raise a TypeError unless rewards are arrays or tensors that can hold weights, or lists."""
    if not (_is_array(rewards) or isinstance(rewards, (list, tuple))):
        raise TypeError(
            f"rewards is a {type(rewards).__module__}.{type(rewards).__name__}: give an array of "
            f"NumPy, a tensor of torch or JAX, or a list."
        )
    for row in [rewards] if _is_array(rewards) else rewards:
        dtype = str(row.dtype) if _is_array(row) else "float"
        if "float" not in dtype or "float8" in dtype:
            raise TypeError(
                f"rewards has the dtype {dtype}, which cannot hold the weights: convert it to "
                f"floats, such as float32."
            )


def _flat_groups(values: np.ndarray, groups, group_size) -> RewardGroups:
    """Return the groups of (S,) flat values. Raises ValueError unless one argument is given."""
    if groups is not None and group_size is not None:
        raise ValueError("groups and group_size are both given: give one of them.")
    if groups is not None:
        return _groups_by_id(values, groups)
    if group_size is None:
        raise ValueError(
            f"rewards is flat: give group_size, the number of samples of each prompt (for one "
            f"prompt {len(values)}), or groups, with the prompt of each sample."
        )
    size = check_count("group_size", group_size)
    if len(values) % size:
        raise ValueError(
            f"{len(values)} rewards are no groups of group_size = {size}: the last prompt has "
            f"{len(values) % size}. Give groups, with the prompt of each sample."
        )
    return RewardGroups(values, len(values) // size, size)


def _groups_by_id(values: np.ndarray, groups) -> RewardGroups:
    """Return the groups of (S,) flat values; `groups` has the id of the prompt of each value."""
    ids = to_array(groups).tolist() if _is_array(groups) else entries_of("groups", groups)
    if len(ids) != len(values):
        raise ValueError(f"groups has {len(ids)} ids for {len(values)} rewards: give one for each.")
    ids = ids if {*map(type, ids)} <= {str, int} else [*map(plain_entry, ids)]
    for sample, label in enumerate(ids):
        if not isinstance(label, (str, int, float, bytes)) or label != label:
            raise ValueError(f"groups[{sample}] is {short(label)}: an id is a text or a number.")
    codes: dict[Any, int] = {}
    index = np.array([codes.setdefault(label, len(codes)) for label in ids])
    return RewardGroups(values, len(codes), index=index, names=[*codes])


def _is_array(values) -> bool:
    """Return whether the values are an array or a tensor that `weights_like` can imitate."""
    if is_scalar(values):
        return False
    # Arrays of NumPy have __array_namespace__ since NumPy 2.
    return isinstance(values, np.ndarray) or any(
        hasattr(values, name) for name in ("new_tensor", "__array_namespace__")
    )


# --- Writing ------------------------------------------------------------------------------


def weights_like(rewards, weights: np.ndarray) -> Any:
    """Return (S,) weights in the shape, type, dtype and device of the rewards, without gradient."""
    if isinstance(rewards, (list, tuple)):
        if not (isinstance(rewards[0], (list, tuple)) or _is_array(rewards[0])):
            return weights.tolist()
        ends = np.cumsum([len(row) for row in rewards])
        rows = np.split(weights, ends[:-1])
        return [weights_like(row, part) for row, part in zip(rewards, rows, strict=True)]
    weights = weights.reshape(tuple(rewards.shape))
    if hasattr(rewards, "new_tensor"):
        return rewards.new_tensor(weights)
    if isinstance(rewards, np.ndarray):
        return np.asarray(weights, rewards.dtype)
    namespace = rewards.__array_namespace__()
    return namespace.asarray(weights, dtype=rewards.dtype, device=rewards.device)
