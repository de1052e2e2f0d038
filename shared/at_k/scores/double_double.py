"""Double-double arithmetic.

A double-double number is the unevaluated sum of two doubles and carries about 32 decimal digits.
The probabilities in `distributions` are products of many ratios. In double-double arithmetic they
keep all the digits of a double for up to a million samples, and a variance stays accurate when it
is the difference of two numbers that agree in their first fifteen digits.

Source: T. J. Dekker, A floating-point technique for extending the available precision,
Numerische Mathematik 18 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True, slots=True)
class DoubleDouble:
    """An array of double-double numbers: `hi` has the nearest doubles, and `lo` the remainders."""

    hi: np.ndarray
    lo: np.ndarray

    def __getitem__(self, index) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        """Return the sum, rounded to a double-double number."""
        hi, lo = _two_sum(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(hi, lo + (self.lo + other.lo)))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self + -other

    def __mul__(self, other: DoubleDouble) -> DoubleDouble:
        """Return the product, rounded to a double-double number."""
        hi, lo = _two_product(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(hi, lo + (self.hi * other.lo + self.lo * other.hi)))

    @staticmethod
    def from_doubles(values) -> DoubleDouble:
        """Return double-double numbers with these values as hi, and lo = 0."""
        hi = np.array(values, dtype=float)
        return DoubleDouble(hi, np.zeros_like(hi))

    @staticmethod
    def from_fraction(number: Fraction) -> DoubleDouble:
        """Return the double-double number that is nearest to a fraction."""
        hi = float(number)
        return DoubleDouble(np.array(hi), np.array(float(number - Fraction(hi))))

    @staticmethod
    def concatenate(arrays: list[DoubleDouble]) -> DoubleDouble:
        """Return several arrays joined along the last axis."""
        return DoubleDouble(
            np.concatenate([array.hi for array in arrays], axis=-1),
            np.concatenate([array.lo for array in arrays], axis=-1),
        )

    @staticmethod
    def where(condition: np.ndarray, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
        """Return `a` where a condition is true, and `b` elsewhere."""
        return DoubleDouble(np.where(condition, a.hi, b.hi), np.where(condition, a.lo, b.lo))

    def inverse(self) -> DoubleDouble:
        """Return 1 / numbers, which must not be 0, by a step of Newton's method."""
        start = DoubleDouble.from_doubles(1 / self.hi)
        return start + start * (DoubleDouble.from_doubles(1.0) - self * start)

    def prefix_products(self) -> DoubleDouble:
        """Return the products of the first 1, 2, .. numbers along the last axis."""
        # After each step, an entry is the product of the last `shift` numbers up to its position.
        products, shift = self, 1
        while shift < self.hi.shape[-1]:
            longer = products[..., shift:] * products[..., :-shift]
            products = DoubleDouble.concatenate([products[..., :shift], longer])
            shift *= 2
        return products

    def sum(self) -> DoubleDouble:
        """Return the sum over the last axis, computed pairwise for small rounding errors."""
        total = self
        while (size := total.hi.shape[-1]) > 1:
            half = size // 2
            pairs = total[..., :half] + total[..., half : 2 * half]
            total = pairs if size % 2 == 0 else DoubleDouble.concatenate([pairs, total[..., -1:]])
        return total[..., 0]

    def suffix_sums(self) -> DoubleDouble:
        """Return the sum from each position of the last axis to its end."""
        # After each step, an entry is the sum of the first `shift` numbers from its position.
        sums, shift = self, 1
        while shift < self.hi.shape[-1]:
            longer = sums[..., :-shift] + sums[..., shift:]
            sums, shift = DoubleDouble.concatenate([longer, sums[..., -shift:]]), 2 * shift
        return sums


# --- Error-free transformations ---------------------------------------------------------


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and the rounding error (Knuth's TwoSum)."""
    total = a + b
    rounded_b = total - a
    return total, (a - (total - rounded_b)) + (b - rounded_b)


def _fast_two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and the rounding error, for |a| >= |b| (Dekker's Fast2Sum)."""
    total = a + b
    return total, b - (total - a)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a * b rounded, and the rounding error (Dekker's product)."""
    product = a * b
    a_hi, b_hi = _upper_half(a), _upper_half(b)
    a_lo, b_lo = a - a_hi, b - b_hi
    error = ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo
    return product, error


def _upper_half(a: np.ndarray) -> np.ndarray:
    """Return the first 26 bits of each double (Veltkamp's split)."""
    scaled = 134217729.0 * a  # 2**27 + 1
    return scaled - (scaled - a)
