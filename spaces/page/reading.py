"""The file reader of at_k, as the pages use it.

A bundled Space has no at_k. There, spaces/bundle.py replaces this file with the modules that
define these names.
"""

from at_k.cli.reading import PER_QUESTION, QUESTIONS, REFERENCES, as_outcome, read_questions

__all__ = ["PER_QUESTION", "QUESTIONS", "REFERENCES", "as_outcome", "read_questions"]
