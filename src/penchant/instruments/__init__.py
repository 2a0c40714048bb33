"""Instruments, each in a folder, and the modules that they share."""

from pathlib import Path

from penchant.instruments.result import Presentation, present_with
from penchant.wording.phrases import register


def _presentation() -> Presentation:
    from penchant.instruments.notebook_display import Sections

    return Sections()


present_with(_presentation)
for _folder in Path(__file__).parent.iterdir():
    register(_folder)
