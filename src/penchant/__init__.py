"""penchant measures what a language model is inclined to say.

    import penchant as pc
    lm  = pc.load("bert-base-uncased")
    tab = pc.score(lm, ["The cats sleep."], method="pll")
    res = pc.MinimalPairs(data="blimp/inchoative.jsonl").run(lm)

The public names are those of `__init__.pyi`. They are imported when they are first used, so that `import penchant` is
quick and loads no torch.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import lazy_loader

import penchant.report as _report

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Called(ModuleType):
    """The room of reports, which is also called: `penchant.report(DIRECTORY)` is `penchant.study.face.report`."""

    def __call__(self, *args: Any, **options: Any) -> Path:
        from penchant.study.face import report

        return report(*args, **options)


_report.__class__ = _Called
