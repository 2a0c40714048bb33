"""Mistakes in instruments of other packages, told with their place."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from penchant.errors import one_line
from penchant.instruments.registry import instruments

_OURS = Path(__file__).parents[1]


def fault(error: Exception) -> str:
    """Return one line about an error in the code of another package's instrument, or in ours with what that gave: the
    instrument, the error, and the function, file and line; "" for any other error."""
    found = [(name, frame, line) for frame, line in traceback.walk_tb(error.__traceback__) for name in _owners(frame)]
    if not found:
        return ""
    name = found[-1][0]
    inside = [place for place in found if not Path(place[1].f_code.co_filename).is_relative_to(_OURS)]
    _, frame, line = (inside or found)[-1]
    code = frame.f_code
    names = [owner.f_code.co_name for _, owner, _ in inside or found if not owner.f_code.co_name.startswith("<")]
    told = one_line(f"{type(error).__name__}: {error}")
    return f"instrument '{name}': {told} — in {names[-1]}, {code.co_filename}, line {line}"


def _owners(frame: FrameType) -> Iterator[str]:
    """Yield the instrument of another package whose code a frame runs, or whose probe it serves."""
    for name, described in instruments().items():
        home, own = described.folder, frame.f_locals.get("self")
        if not home.is_relative_to(_OURS) and (
            Path(frame.f_code.co_filename).is_relative_to(home) or isinstance(own, described.probe)
        ):
            yield name
