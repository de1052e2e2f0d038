"""Double-double arithmetic, and rising factorials that never overflow.

A double-double number is the unevaluated sum of two doubles and carries about 32 decimal digits.
The probabilities in `distributions` are quotients of products of factorials. In double-double
arithmetic they keep all the digits of a double, from 1 down to 1e-300 and for up to a million
samples, and a variance stays accurate when it is the difference of two numbers that agree in
their first fifteen digits.

Source: T. J. Dekker, A floating-point technique for extending the available precision,
Numerische Mathematik 18 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True, slots=True)
class DoubleDouble:
    """An array of double-double numbers, hi + lo.

    Attributes:
        hi: the numbers rounded to doubles.
        lo: what the rounding left over, of the same shape.
    """

    hi: np.ndarray
    lo: np.ndarray

    def __getitem__(self, index) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        """The sum, rounded to a double-double number."""
        hi, lo = _two_sum(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(hi, lo + (self.lo + other.lo)))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + -other

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:
        """The product, rounded to a double-double number."""
        hi, lo = _two_product(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(hi, lo + (self.hi * other.lo + self.lo * other.hi)))

    @staticmethod
    def from_doubles(values) -> DoubleDouble:
        """Return the doubles `values` with lo = 0."""
        hi = np.array(values, dtype=float)
        return DoubleDouble(hi, np.zeros_like(hi))

    @staticmethod
    def from_fraction(number: Fraction) -> DoubleDouble:
        """Return a fraction, rounded."""
        hi = float(number)
        return DoubleDouble(np.array(hi), np.array(float(number - Fraction(hi))))

    @staticmethod
    def concatenate(arrays: list[DoubleDouble]) -> DoubleDouble:
        """Join arrays along the last axis."""
        return DoubleDouble(
            np.concatenate([array.hi for array in arrays], axis=-1),
            np.concatenate([array.lo for array in arrays], axis=-1),
        )

    def sum(self) -> DoubleDouble:
        """Return the pairwise sum over the last axis."""
        total = self
        while (size := total.hi.shape[-1]) > 1:
            half = size // 2
            pairs = total[..., :half] + total[..., half : 2 * half]
            total = pairs if size % 2 == 0 else DoubleDouble.concatenate([pairs, total[..., -1:]])
        return total[..., 0]

    def suffix_sums(self) -> DoubleDouble:
        """Return, for each position of the last axis, the sum from there to the end."""
        sums, shift = self, 1  # of `shift` numbers from each position
        while shift < self.hi.shape[-1]:
            longer = sums[..., :-shift] + sums[..., shift:]
            sums, shift = DoubleDouble.concatenate([longer, sums[..., -shift:]]), 2 * shift
        return sums


@dataclass(frozen=True, slots=True)
class ScaledDoubleDouble:
    """An array of numbers mantissa * 2**exponent, for magnitudes outside the range of doubles.

    Attributes:
        mantissa: double-double numbers.
        exponent: integers of the same shape.
    """

    mantissa: DoubleDouble
    exponent: np.ndarray

    def __getitem__(self, index) -> ScaledDoubleDouble:
        return ScaledDoubleDouble(self.mantissa[index], self.exponent[index])

    def __mul__(self, other: ScaledDoubleDouble) -> ScaledDoubleDouble:
        return ScaledDoubleDouble(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def inverse(self) -> ScaledDoubleDouble:
        """Return 1 / numbers, which are not 0."""
        return ScaledDoubleDouble(_inverse(self.mantissa), -self.exponent)

    def prefix_products(self) -> ScaledDoubleDouble:
        """Return the products of the first 1, 2, .., all numbers of the last axis."""
        products, shift = self, 1  # of `shift` numbers up to each position
        while shift < self.exponent.shape[-1]:
            first, longer = products[..., :shift], products[..., shift:] * products[..., :-shift]
            longer = scaled(longer.mantissa, longer.exponent)
            products = ScaledDoubleDouble(
                DoubleDouble.concatenate([first.mantissa, longer.mantissa]),
                np.concatenate([first.exponent, longer.exponent], axis=-1),
            )
            shift *= 2
        return products

    def to_double_double(self) -> DoubleDouble:
        """Return the numbers without a separate exponent; those below the smallest double are 0."""
        # The clip changes no result, as no double has such an exponent; ldexp takes a C int.
        exponent = np.minimum(np.maximum(self.exponent, -4000), 4000).astype(np.intc)
        with np.errstate(under="ignore"):
            return DoubleDouble(
                np.ldexp(self.mantissa.hi, exponent), np.ldexp(self.mantissa.lo, exponent)
            )


# --- Rising and falling factorials --------------------------------------------------------


def factorial_powers(
    start: np.ndarray, k: int, step: int, *parameters: float
) -> ScaledDoubleDouble:
    """Return x (x + step) .. (x + (j - 1) step) for j = 0 .. k: (.., k + 1) from (..) numbers x.

    Args:
        start: integers.
        k: the largest number of factors.
        step: 1 for rising factorials, -1 for falling ones.
        parameters: doubles that are added to `start`, without rounding, to give x.
    """
    factors = DoubleDouble.from_doubles(start[..., None] + step * np.arange(k))
    for parameter in parameters:
        factors = factors + DoubleDouble.from_doubles(parameter)
    one = DoubleDouble.from_doubles(np.ones((*start.shape, 1)))
    return scaled(DoubleDouble.concatenate([one, factors])).prefix_products()


def scaled(numbers: DoubleDouble, times_two_to: np.ndarray | int = 0) -> ScaledDoubleDouble:
    """Return numbers with mantissas from 1/2 to 1, or 0.

    Args:
        numbers: that are multiplied by 2**times_two_to.
        times_two_to: integers.
    """
    hi, exponent = np.frexp(numbers.hi)
    mantissa = DoubleDouble(hi, np.ldexp(numbers.lo, -exponent))
    return ScaledDoubleDouble(mantissa, exponent.astype(np.int64) + times_two_to)


def _inverse(numbers: DoubleDouble) -> DoubleDouble:
    """Return 1 / numbers by a step of Newton's method."""
    start = DoubleDouble.from_doubles(1 / numbers.hi)
    return start + start * (DoubleDouble.from_doubles(1.0) - numbers * start)


# --- Error-free transformations ---------------------------------------------------------


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and the rounding error."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def _fast_two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and the rounding error, if |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a * b rounded, and the rounding error."""
    product = a * b
    a_top, b_top = _upper_half(a), _upper_half(b)
    a_rest, b_rest = a - a_top, b - b_top
    error = ((a_top * b_top - product) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest
    return product, error


def _upper_half(a: np.ndarray) -> np.ndarray:
    """Return the first 26 bits of each double (Veltkamp's split)."""
    scaled = 134217729.0 * a  # 2**27 + 1
    return scaled - (scaled - a)
