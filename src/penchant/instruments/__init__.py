"""The instruments, a folder each, and their common modules."""

from pathlib import Path

from penchant.instruments.result import Presentation, present_with
from penchant.wording.phrases import register


def _presentation() -> Presentation:
    """Return the presentation of results; its modules are imported at the first call, as few commands show one."""
    from penchant.instruments.notebook_display import Sections

    return Sections()


present_with(_presentation)
for _folder in Path(__file__).parent.iterdir():
    register(_folder)
