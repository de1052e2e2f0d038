"""Call math_verify once in the fork server, so that requests start with its caches filled.

The first calls take as long as hundreds of later ones, because math_verify builds its grammar and
SymPy its tables.
"""

from at_k.checkers.named import verify_math

verify_math(r"so it is $\frac{1}{2} x^2 + 3 = \sqrt{2}$.", r"\boxed{0.5}")
verify_math("1/2 = 0.5", "(1, 2)")
