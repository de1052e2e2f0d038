"""The scores as plain functions of already-graded outcomes.

Point estimates are means over questions of unbiased estimates, unless the function says otherwise.
A function `<name>_ci` returns posterior summaries. No random numbers are used.
"""
