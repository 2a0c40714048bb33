"""What the program says, and how it refuses."""

from __future__ import annotations

Answer = tuple[int, str, str]
"""Exit code, standard output, standard error."""


def refused(answer: Answer, *parts: str) -> None:
    """Exit code 2, nothing on standard output, and one line that names every part."""
    code, out, err = answer
    assert code == 2, err
    assert out == ""
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err, err
