"""What `advantages` takes and returns: shapes, types and groups, and the errors about them."""

import math
from fractions import Fraction

import at_k
import numpy as np
import pytest
from container_types import Tensor

ROWS = [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
WEIGHTS = at_k.advantages(ROWS, 2)
FLAT, FLAT_WEIGHTS = [x for row in ROWS for x in row], [x for row in WEIGHTS for x in row]


class NewTensor(Tensor):
    """A stand-in for a tensor of torch on a device, which makes others like itself."""

    device = "cuda:1"

    def new_tensor(self, values):
        return {"values": values, "dtype": self.dtype, "device": self.device}


# --- Shapes and types ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_arrays_keep_their_type_and_shape(dtype):
    rewards = np.array(ROWS, dtype=dtype)
    weights = at_k.advantages(rewards, 2)
    assert (weights.dtype, weights.shape) == (dtype, (3, 4))
    np.testing.assert_array_equal(weights, np.array(WEIGHTS, dtype=dtype))
    assert at_k.advantages(rewards.reshape(-1), 2, group_size=4).shape == (12,)
    np.testing.assert_array_equal(at_k.advantages(rewards.T.copy().T, 2), weights)


def test_the_rewards_are_not_changed():
    for rewards in (np.array(ROWS), np.random.default_rng(0).normal(size=(3, 4))):
        before = rewards.copy()
        for baseline in ("marginal", "none", "leave-one-out", "centered"):
            weights = at_k.advantages(rewards, 1, "max@k", baseline)
            weights += 1  # they share no memory with the rewards
            np.testing.assert_array_equal(rewards, before)


@pytest.mark.parametrize("dtype", ["torch.float32", "torch.bfloat16"])
def test_tensors_make_tensors_like_themselves(dtype):
    result = at_k.advantages(NewTensor(ROWS, dtype), 2)
    assert (result["dtype"], result["device"]) == (dtype, "cuda:1")
    np.testing.assert_array_equal(result["values"], WEIGHTS)
    rows = at_k.advantages([NewTensor(row, dtype) for row in ROWS], 2)
    assert [list(row["values"]) for row in rows] == WEIGHTS


def test_lists_of_any_numbers_become_lists_of_floats():
    rows = [[True, False, 0, 1], (0, np.float32(0), np.True_, Fraction(0)), [np.array(0.0)] * 4]
    assert at_k.advantages(rows, 2) == WEIGHTS
    assert at_k.advantages([Tensor(x) for x in FLAT], 2, group_size=4) == FLAT_WEIGHTS
    arrays = [np.array(row) for row in ROWS]
    assert [list(row) for row in at_k.advantages(arrays, 2)] == WEIGHTS


def test_prompts_may_have_different_numbers_of_samples():
    rows = [[1, 0, 0], [0, 1, 1, 0, 1], [1, 0], [0, 0, 1]]
    for score, baseline in (("pass@k", "none"), ("max@k", "marginal"), ("maj@k", "marginal")):
        weights = at_k.advantages(rows, 2, score, baseline)
        assert weights == [at_k.advantages([row], 2, score, baseline)[0] for row in rows]


def test_samples_without_a_reward_have_the_weight_0_and_do_not_count():
    for score in ("pass@k", "max@k"):
        full = at_k.advantages([[1, 0, 0], [0, 1, 1]], 2, score, "none")
        rows = [[1, None, 0, 0], [math.nan, 0, 1, 1]]
        weights = at_k.advantages(rows, 2, score, "none")
        assert weights == [[full[0][0], 0, *full[0][1:]], [0, *full[1]]]
        array = np.array(rows, dtype=float)
        np.testing.assert_array_equal(at_k.advantages(array, 2, score, "none"), weights)
        masked = np.ma.masked_invalid(array)
        np.testing.assert_array_equal(at_k.advantages(masked, 2, score, "none"), weights)


def test_groups_in_any_order_and_of_any_type():
    random = np.random.default_rng(1)
    order = random.permutation(12)
    for ids in (["a", "b", "c"], [7, 3, 5], [0.5, 1.5, 2.5]):
        groups = np.repeat(np.array(ids), 4)[order]
        shuffled = np.array(FLAT)[order]
        for labels in (groups, groups.tolist(), groups.astype(object)):
            weights = at_k.advantages(shuffled, 2, groups=labels)
            np.testing.assert_array_equal(weights, np.array(FLAT_WEIGHTS)[order])
    weights = at_k.advantages(FLAT, 2, groups=NewTensor([1] * 4 + [0] * 4 + [2] * 4))
    assert weights == FLAT_WEIGHTS == at_k.advantages(FLAT, 2, group_size=4)
    ragged = at_k.advantages([1, 0, 1, 0, 0], 2, groups=["a", "b", "b", "a", "a"])
    assert ragged == pytest.approx([2 / 3, 0, 1, 0, 0])
