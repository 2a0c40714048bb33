"""The program's output, and the form of its refusals."""

from __future__ import annotations

import re

Answer = tuple[int, str, str]
"""Exit code, standard output, standard error."""


def refused(answer: Answer, *parts: str) -> None:
    """Exit code 2, nothing on standard output, and one line that names every part."""
    code, out, err = answer
    assert code == 2, err
    assert out == ""
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err or part in without_line(err), err


def without_line(message: str) -> str:
    """A message about a key of a document without its line: "set.yaml, templates.0: is missing". The lines are tested
    in test_documents.py."""
    return re.sub(r"(?:, line \d+)?, field '([^']+)':", r", \1:", message)
