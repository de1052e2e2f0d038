"""The file reader of at_k, as the pages use it.

A bundled Space has no at_k. There, spaces/bundle.py replaces this file with the modules that
define these names.
"""

from at_k.readers.cells import as_outcome
from at_k.readers.names import PER_QUESTION, USUAL_NAMES, SelectionError
from at_k.readers.questions import read_questions

__all__ = ["PER_QUESTION", "USUAL_NAMES", "SelectionError", "as_outcome", "read_questions"]
