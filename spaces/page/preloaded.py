"""Prepare math_verify in the fork server, so that each request need not.

The first calls of math_verify take as long as hundreds of later ones: it builds its grammar, and
SymPy its tables.
"""

from at_k.checkers.named import verify_math

verify_math(r"so it is $\frac{1}{2} x^2 + 3 = \sqrt{2}$.", r"\boxed{0.5}")
verify_math("1/2 = 0.5", "(1, 2)")
