"""Rewards of training as groups of one size, and weights in the container of the rewards.

No library of tensors is imported: a tensor makes another one like itself, by its own method or by
the array namespace that it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.checks import check_count, entries_of, is_masked, is_scalar, short
from ..core.containers import plain_entry, to_array
from ..core.counts import one_size

_LARGEST_REWARD = 1e150  # whose square is a double


@dataclass(frozen=True)
class RewardGroups:
    """The rewards of all samples, and the prompt of each.

    Attributes:
        values: (S,) rewards in the order of the caller, NaN for samples that are not scored.
        prompts: M.
        size: number of samples of each prompt, if all have the same number and the samples of a
            prompt follow each other; otherwise 0.
        index: (S,) the index of each sample's prompt if `size` is 0, otherwise None.
        names: of the prompts for messages, if they have ids; otherwise None.
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
        """(S,) the index of each sample's prompt."""
        if self.index is not None:
            return self.index
        return np.arange(len(self.values)) // self.size

    def map(
        self, weigh: Callable[[np.ndarray, str], np.ndarray], unscored: str = "zero"
    ) -> np.ndarray:
        """Return (S,) weights.

        Args:
            weigh: takes (G, n) rewards of prompts with n scored samples and the name of the first
                prompt, and returns (G, n) weights.
            unscored: the weight of samples that are not scored: "zero", or the "mean" of the
                weights of the prompt's scored samples.
        """
        is_scored = ~np.isnan(self.values)
        if self.size and is_scored.all():  # the usual case, and fast
            return weigh(self.values.reshape(-1, self.size), self.name(0)).reshape(-1)
        sizes = np.bincount(self.prompt[is_scored], minlength=self.prompts)
        order = np.flatnonzero(is_scored)
        order = order[np.argsort(self.prompt[order], kind="stable")]
        start = np.cumsum(sizes) - sizes
        result = np.zeros(len(self.values))
        for n in np.unique(sizes).tolist():
            prompts = np.flatnonzero(sizes == n)
            index = order[start[prompts, None] + np.arange(n)]
            result[index] = weigh(self.values[index], self.name(int(prompts[0])))
        if unscored == "mean":
            means = np.bincount(self.prompt, result, self.prompts) / sizes
            result[~is_scored] = means[self.prompt[~is_scored]]
        return result

    def name(self, prompt: int) -> str:
        """Return the name of a prompt for messages."""
        return f"prompt {prompt}" if self.names is None else f"prompt {self.names[prompt]!r}"

    def require(self, valid: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not valid.

        Args:
            valid: (S,) bool.
            wanted: what a valid reward is.
        """
        if valid.all():
            return
        invalid = ~valid & ~np.isnan(self.values)
        if invalid.any():
            sample = int(np.argmax(invalid))
            prompt = int(self.prompt[sample])
            where = f"rewards[{sample}] of {self.name(prompt)}"
            if self.in_rows:
                where = f"rewards[{prompt}][{sample - int(np.argmax(self.prompt == prompt))}]"
            raise ValueError(f"{where} is {self.values[sample]:g}: {wanted}.")


# --- Reading ------------------------------------------------------------------------------


def read_rewards(rewards, groups=None, group_size=None) -> RewardGroups:
    """Read rewards of shape (prompts, samples), possibly ragged, or flat ones with their groups.

    Args:
        rewards, groups, group_size: see `advantages`.

    Raises:
        TypeError: if the rewards are not an array, a tensor or a list, or cannot hold weights.
        ValueError: if the groups do not fit the rewards.
    """
    values, sizes = _values_and_sizes(rewards)
    if not len(values):
        raise ValueError("rewards is empty: give at least one sample.")
    if sizes is None:
        result = _flat_groups(values, groups, group_size)
    elif groups is not None or group_size is not None:
        raise ValueError(
            "groups and group_size are for flat rewards, and these have a row for each prompt."
        )
    else:
        size = one_size(sizes)
        index = None if size else np.repeat(np.arange(len(sizes)), sizes)
        result = RewardGroups(values, len(sizes), size, index, in_rows=True)
    result.require(
        (values >= -_LARGEST_REWARD) & (values <= _LARGEST_REWARD),
        "a reward is a number from -1e150 to 1e150, or None or NaN if the sample is not scored",
    )
    return result


def _values_and_sizes(rewards) -> tuple[np.ndarray, np.ndarray | None]:
    """(S,) rewards, and (M,) the number of samples of each prompt, or None if they are flat."""
    if _is_array(rewards):
        array = _float_array("rewards", rewards)
        if array.ndim not in (1, 2):
            raise ValueError(
                f"rewards has the shape {array.shape}: give (prompts, samples), or a flat array "
                f"with groups or group_size."
            )
        return array.reshape(-1), None if array.ndim == 1 else np.full(*array.shape)
    if not isinstance(rewards, (list, tuple)):
        raise TypeError(
            f"rewards is a {type(rewards).__module__}.{type(rewards).__name__}: give an array of "
            f"NumPy, a tensor of torch or JAX, or a list."
        )
    is_row = [isinstance(row, (list, tuple)) or _is_array(row) for row in rewards]
    if not any(is_row):
        return _rewards_of_list("rewards", rewards), None
    if not all(is_row):
        prompt = is_row.index(False)
        raise ValueError(
            f"rewards[{prompt}] is {short(rewards[prompt])}, and another entry is a list: give a "
            f"list of samples for each prompt."
        )
    rows = [_rewards_of_list(f"rewards[{prompt}]", row) for prompt, row in enumerate(rewards)]
    return np.concatenate(rows), np.array([len(row) for row in rows])


def _flat_groups(values: np.ndarray, groups, group_size) -> RewardGroups:
    """The groups of (S,) flat values, by an id for each, or by the number in each group."""
    if groups is not None and group_size is not None:
        raise ValueError("groups and group_size are both given: give one of them.")
    if group_size is not None:
        return _groups_of_size(values, group_size)
    if groups is not None:
        return _groups_by_id(values, groups)
    raise ValueError(
        f"rewards is flat: give group_size, the number of samples of each prompt (for one prompt "
        f"{len(values)}), or groups, with the prompt of each sample."
    )


def _groups_of_size(values: np.ndarray, group_size) -> RewardGroups:
    """The groups of (S,) flat values of which each `group_size` belong to one prompt."""
    size = check_count("group_size", group_size)
    if len(values) % size:
        raise ValueError(
            f"{len(values)} rewards are no groups of group_size = {size}: the last prompt has "
            f"{len(values) % size}. Give groups, with the prompt of each sample."
        )
    return RewardGroups(values, len(values) // size, size)


def _groups_by_id(values: np.ndarray, groups) -> RewardGroups:
    """Return flat rewards with the prompt of each, from an id for each reward."""
    ids = to_array(groups).tolist() if _is_array(groups) else entries_of("groups", groups)
    if len(ids) != len(values):
        raise ValueError(f"groups has {len(ids)} ids for {len(values)} rewards: give one for each.")
    if not {*map(type, ids)} <= {str, int}:
        ids = [plain_entry(label) for label in ids]
        for sample, label in enumerate(ids):
            if not isinstance(label, (str, int, float, bytes)) or label != label:
                raise ValueError(
                    f"groups[{sample}] is {short(label)}: an id is a text or a number."
                )
    names = list(dict.fromkeys(ids))
    codes = {name: code for code, name in enumerate(names)}
    index = np.array([codes[label] for label in ids])
    return RewardGroups(values, len(names), index=index, names=names)


def _is_array(values) -> bool:
    """Whether the values are an array or a tensor, for which `like` makes another one."""
    if is_scalar(values):
        return False
    # Arrays of NumPy have __array_namespace__ since NumPy 2.
    return isinstance(values, np.ndarray) or any(
        hasattr(values, name) for name in ("new_tensor", "__array_namespace__")
    )


def _float_array(name: str, values) -> np.ndarray:
    """Return an array or a tensor as doubles; a TypeError if it cannot hold weights."""
    array = to_array(values)
    dtype = values.dtype if "float8" in str(values.dtype) else array.dtype
    if array.dtype.kind != "f" or dtype != array.dtype:
        raise TypeError(
            f"{name} has the dtype {dtype}, which cannot hold the weights: convert it to "
            f"floats, such as float32."
        )
    if is_masked(values):
        return values.astype(float).filled(math.nan)
    return array.astype(float, copy=False)


def _rewards_of_list(name: str, values) -> np.ndarray:
    """Return a list or an array of numbers as doubles, with NaN for None."""
    if _is_array(values):
        array = _float_array(name, values)
        if array.ndim != 1:
            raise ValueError(f"{name} has the shape {array.shape}: give one number per sample.")
        return array
    if {*map(type, values)} <= {float, int, type(None)}:  # the usual ones
        with suppress(OverflowError):  # an integer that no double can hold
            return np.array(values, dtype=float)
    numbers = np.empty(len(values))
    for sample, entry in enumerate(values):
        number = entry if isinstance(entry, (float, int)) else plain_entry(entry)
        if number is not None and not isinstance(number, (bool, int, float)):
            raise ValueError(
                f"{name}[{sample}] is {short(entry)}: a reward is a number, or None if the sample "
                f"is not scored."
            )
        try:
            numbers[sample] = math.nan if number is None else number
        except OverflowError:
            numbers[sample] = math.inf
    return numbers


# --- Writing ------------------------------------------------------------------------------


def like(rewards, weights: np.ndarray) -> Any:
    """Return (S,) weights in the shape, type, dtype and device of the rewards, without gradient."""
    if isinstance(rewards, (list, tuple)):
        if not (isinstance(rewards[0], (list, tuple)) or _is_array(rewards[0])):
            return weights.tolist()
        ends = np.cumsum([len(row) for row in rewards])
        rows = np.split(weights, ends[:-1])
        return [like(row, part) for row, part in zip(rewards, rows, strict=True)]
    weights = weights.reshape(tuple(rewards.shape))
    if hasattr(rewards, "new_tensor"):
        return rewards.new_tensor(weights)
    if isinstance(rewards, np.ndarray):
        return np.asarray(weights, rewards.dtype)
    namespace = rewards.__array_namespace__()
    return namespace.asarray(weights, dtype=rewards.dtype, device=rewards.device)
