"""Arithmetic with twice the digits of a double, and factorials that never overflow.

The laws of `draws` are quotients of products of factorials. Kept this way, a probability
keeps all the digits of a double, from 1 down to 1e-300 and for a thousand or a million
samples alike, and a variance survives the subtraction of two numbers that agree in their
first fifteen digits.

Source of the arithmetic: T. J. Dekker, A floating-point technique for extending the
available precision, Numerische Mathematik 18 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

_BITS = 160  # of each integer mantissa: far more than the 106 that a Wide can hold


@dataclass(frozen=True, slots=True)
class Wide:
    """An array of unevaluated sums hi + lo of two doubles: about 32 digits."""

    hi: np.ndarray
    lo: np.ndarray

    def __getitem__(self, index) -> Wide:
        return Wide(self.hi[index], self.lo[index])

    def __neg__(self) -> Wide:
        return Wide(-self.hi, -self.lo)

    def __add__(self, other: Wide) -> Wide:
        hi, lo = _two_sum(self.hi, other.hi)
        return Wide(*_fast_two_sum(hi, lo + (self.lo + other.lo)))

    def __sub__(self, other: Wide) -> Wide:
        return self + -other

    def __mul__(self, other: Wide) -> Wide:
        hi, lo = _two_product(self.hi, other.hi)
        return Wide(*_fast_two_sum(hi, lo + (self.hi * other.lo + self.lo * other.hi)))

    @staticmethod
    def of(values) -> Wide:
        """Doubles as they are."""
        hi = np.array(values, dtype=float)
        return Wide(hi, np.zeros_like(hi))

    @staticmethod
    def product(a: np.ndarray, b: np.ndarray) -> Wide:
        """The product of doubles, exactly."""
        return Wide(*_two_product(a, b))

    @staticmethod
    def concatenate(parts: list[Wide]) -> Wide:
        """Join along the last axis."""
        return Wide(
            np.concatenate([part.hi for part in parts], axis=-1),
            np.concatenate([part.lo for part in parts], axis=-1),
        )

    def sum(self) -> Wide:
        """Sum over the last axis, by halves."""
        total = self
        while (size := total.hi.shape[-1]) > 1:
            half = size // 2
            pairs = total[..., :half] + total[..., half : 2 * half]
            total = pairs if size % 2 == 0 else Wide.concatenate([pairs, total[..., -1:]])
        return total[..., 0]

    def suffix_sums(self) -> Wide:
        """At each place of the last axis, the sum from there to the end."""
        hi, lo = self.hi.copy(), self.lo.copy()
        step = 1
        while step < hi.shape[-1]:
            reach = Wide(hi, lo)[..., :-step] + Wide(hi, lo)[..., step:]
            hi[..., :-step], lo[..., :-step] = reach.hi, reach.lo
            step *= 2
        return Wide(hi, lo)


@dataclass(frozen=True, slots=True)
class Scaled:
    """An array of numbers mantissa x 2^exponent, for what no double can hold."""

    mantissa: Wide
    exponent: np.ndarray

    def __getitem__(self, index) -> Scaled:
        return Scaled(self.mantissa[index], self.exponent[index])

    def __mul__(self, other: Scaled) -> Scaled:
        return Scaled(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def where(self, mask: np.ndarray) -> Scaled:
        """These numbers where the mask holds, 0 elsewhere."""
        return Scaled(Wide(self.mantissa.hi * mask, self.mantissa.lo * mask), self.exponent)

    def to_wide(self) -> Wide:
        """As doubles; 0 for what is below them."""
        # Beyond +-4000 there is no double, and ldexp wants a C int.
        exponent = np.minimum(np.maximum(self.exponent, -4000), 4000).astype(np.intc)
        with np.errstate(under="ignore"):
            return Wide(np.ldexp(self.mantissa.hi, exponent), np.ldexp(self.mantissa.lo, exponent))


def rising_factorials(base: Fraction, size: int) -> tuple[Scaled, Scaled]:
    """base (base + 1) ... (base + m - 1) for m = 0 .. size, and their inverses.

    Base 1 gives the factorials. The base is a double or a sum of doubles, and positive.
    The table may be longer than was asked for.
    """
    return _rising_factorials(base, 1 << max(6, (int(size) - 1).bit_length()))


@lru_cache(maxsize=8)
def _rising_factorials(base: Fraction, size: int) -> tuple[Scaled, Scaled]:
    # A double is a fraction over a power of two, so integers carry the product and
    # the power goes to the exponent. Cut back to _BITS at each step, it is off by
    # less than m / 2^_BITS, a rounding of which nothing is left in a Wide.
    numerator, denominator = base.as_integer_ratio()
    shift = denominator.bit_length() - 1
    mantissa, exponent = 1 << _BITS, 0
    mantissas, exponents = [mantissa], [exponent]
    for _ in range(size):
        mantissa *= numerator
        excess = mantissa.bit_length() - 1 - _BITS
        mantissa = mantissa >> excess if excess >= 0 else mantissa << -excess
        exponent += excess - shift
        mantissas.append(mantissa)
        exponents.append(exponent)
        numerator += denominator
    scale = np.array(exponents)
    one = 1 << 2 * _BITS
    return (
        Scaled(_from_integers(mantissas), scale),
        Scaled(_from_integers([one // mantissa for mantissa in mantissas]), -scale),
    )


def _from_integers(mantissas: list[int]) -> Wide:
    """Integers as multiples of 2^-_BITS."""
    tops = [float(mantissa) for mantissa in mantissas]
    rests = [float(mantissa - int(top)) for mantissa, top in zip(mantissas, tops, strict=True)]
    return Wide(np.ldexp(tops, -_BITS), np.ldexp(rests, -_BITS))


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def _fast_two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    product = a * b
    a_top, b_top = _top_half(a), _top_half(b)
    a_rest, b_rest = a - a_top, b - b_top
    error = ((a_top * b_top - product) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest
    return product, error


def _top_half(a: np.ndarray) -> np.ndarray:
    """The first 26 bits of each double."""
    spread = 134217729.0 * a  # 2^27 + 1
    return spread - (spread - a)
