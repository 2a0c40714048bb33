"""Notes for tests of how notes are shown, with a catalogue of their own."""

from __future__ import annotations

from pathlib import Path

from penchant.wording.phrases import Note, Notes, register

register(Path(__file__).parent / "told")


def told(text: str) -> Notes:
    """Return a note of this text, none for ""."""
    return (Note("told.text", text=text),) if text else ()


def known(share: int, n: int) -> Notes:
    """Return a note with two numbers."""
    return (Note("told.known", share=share, n=n),)


def left_out(n: int) -> Notes:
    """Return a note with a number."""
    return (Note("told.left-out", n=n),)
