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


# --- Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rewards", "options", "message"),
    [
        ([[1, 0, 0], [1, 0]], {"k": 3}, r"k is 3, but prompt 1 has n = 2 scored samples"),
        ([[1, 0, 0], [1, 0, None]], {"k": 3}, r"k is 3, but prompt 1 has n = 2"),
        ([[1, 0, 0], [1, 0, 1]], {"k": {1: 1, 4: 1}}, r"k is 4, but prompt 0 has n = 3"),
        ([[1], [None]], {"k": 1}, "prompt 1 has n = 0"),
        ([[1], []], {"k": 1}, r"rewards\[1\] is empty"),
        ([1, 0, 1], {"groups": ["x", "y", "x"]}, r"prompt 'y' has n = 1"),
        ([[1, 0], [1, 0]], {"baseline": "centered"}, "prompt 0 has n = 2.*needs k < n"),
        ([[1, 0, 1], [1, 0]], {"baseline": "leave-one-out"}, "prompt 1 has n = 2.*needs k < n"),
        ([[1, 0], [0.5, 1]], {}, r"rewards\[1\]\[0\] is 0.5: for the score 'pass@k'"),
        ([[1, 0], [1, 0, 2]], {"score": [1, 0]}, r"rewards\[1\]\[2\] is 2"),
        ([1, 0, 1, 3], {"group_size": 2}, r"rewards\[3\] of prompt 1 is 3"),
        ([1, 0, 1, 3], {"groups": [*"abab"]}, r"rewards\[3\] of prompt 'b' is 3"),
        ([[1, 0], [1, math.inf]], {"score": "max@k"}, r"rewards\[1\]\[1\] is inf"),
        ([[1, 0], [1, 10**400]], {"score": "max@k"}, r"rewards\[1\]\[1\] is 10"),
        ([[1, 0], [1, "yes"]], {}, r"rewards\[1\]\[1\] is 'yes'"),
        ([[1, 0], [1, [0]]], {}, r"rewards\[1\]\[1\] is \[0\]"),
        ([[1, 0], 1], {}, r"rewards\[1\] is 1: each question has a list"),
        ([1, 0, 1], {}, "rewards is flat: give group_size"),
        ([1, 0, 1], {"group_size": 2}, "3 rewards are no groups of group_size = 2"),
        ([1, 0, 1], {"groups": [1, 1]}, "groups has 2 ids for 3 rewards"),
        ([1, 0], {"groups": [1, None]}, r"groups\[1\] is None"),
        ([1, 0], {"groups": [1, math.nan]}, r"groups\[1\] is nan"),
        ([1, 0], {"groups": [1, 1], "group_size": 2}, "both given"),
        ([[1, 0]], {"group_size": 2}, "for flat rewards"),
        ([1, 0], {"group_size": 0}, "group_size is 0"),
        ([1, 0], {"group_size": True}, "group_size is True"),
        ([], {}, "rewards holds no question"),
        ([[]], {}, r"rewards\[0\] is empty"),
        (np.zeros((3, 0)), {}, r"rewards\[0\] is empty"),
        (np.zeros((1, 2, 2)), {}, "rewards has 3 dimensions"),
        ([np.zeros((1, 2))], {}, r"rewards\[0\]\[0\] is \[0.0, 0.0\]"),
        ([[1, 0]], {"k": 0}, "k is 0"),
        ([[1, 0]], {"k": 1.5}, "k is 1.5"),
        ([[1, 0]], {"k": [1, 2]}, r"a dict of weights such as \{1: 0.5, 8: 0.5\}"),
        ([[1, 0]], {"k": {}}, "k is an empty dict"),
        ([[1, 0]], {"k": {1: math.nan}}, r"k\[1\] is nan"),
        ([[1, 0]], {"baseline": "mean"}, "baseline has 'mean', which is none of marginal, none"),
        ([[1, 0]], {"normalize": True}, "normalize has True, which is none of std"),
        ([[1, 0]], {"score": "best@k"}, "none of max@k, G-Pass@k_0.5"),
        ([[1, 0]], {"score": "pass@2"}, "give 'pass@k', and k=2"),
        ([[1, 0]], {"score": "G-Pass@k"}, "add the threshold"),
        ([[1, 0]], {"score": "G-Pass@k_x"}, "add the threshold"),
        ([[1, 0]], {"score": "G-Pass@k_2"}, "a threshold is a share"),
        ([[1, 0]], {"score": "Geom@k"}, "a product of expected values"),
        ([[1, 0]], {"score": [1, 0, 0]}, "score has 3 credits but k is 2"),
        ([[1, 0]], {"score": [1, -1]}, r"score\[1\] is -1"),
        ([[1, 0]], {"score": None}, r"score has 1 credits|score\[0\] is None"),
    ],
)
def test_errors_say_what_and_where(rewards, options, message):
    with pytest.raises(ValueError, match=message):
        at_k.advantages(rewards, **{"k": 2} | options)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        (np.array([[1, 0]]), "dtype int64, which cannot hold the weights"),
        (np.array([[True, False]]), "dtype bool"),
        ([np.array([1, 0])], "dtype int64"),
        (np.array([["1", "0"]]), "dtype <U1"),
        (np.array([[1.0, None]], dtype=object), "dtype object"),
        ("10", "rewards is a builtins.str"),
        ({"a": [1, 0]}, "rewards is a builtins.dict"),
        (np.array(1.0), "rewards is a numpy.ndarray"),
        (None, "rewards is a builtins.NoneType"),
        (at_k.Counts([4], [2]), "Counts"),
    ],
)
def test_what_cannot_hold_weights_is_a_type_error(rewards, message):
    with pytest.raises(TypeError, match=message):
        at_k.advantages(rewards, 2)
