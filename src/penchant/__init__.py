"""penchant measures the linguistic preferences and biases of language models.

    import penchant as pc
    lm  = pc.load("bert-base-uncased")
    tab = pc.score(lm, ["The cats sleep."], method="pll")
    res = pc.MinimalPairs(data="blimp/inchoative.jsonl").run(lm)

    load                                   a model by name, directory or file
    Scores                                 a table of sentence scores made elsewhere, in place of a model
    score, surprisal, fill, embed          sentence scores, word surprisal, words for gaps, and vectors from a model
    MinimalPairs, FairPairs, Cloze,        instruments: INSTRUMENT(data, …).run(model) gives a Result: items, summary,
    Values, WEAT, SEAT, CEAT, LogProbBias, signature and charts(); help(pc.Cloze) explains every parameter
    StereoSet, WinoBias, Winogender,
    VectorBias, Amplification, BecPro, Disco,
    Gest, BBQ, Acceptability
    compare                                differences between two results
    check, audit                           checks of a model and of the token lengths of pairs
    run, report, export                    whole studies, like the commands of these names
    read_pairs, read_cloze, read_values,   reading and checking of data without a model
    read_survey, read_stimuli, …

Every argument that accepts a file also accepts a polars or pandas frame, a list of rows or a mapping of columns. Every
error that a caller can fix is a PenchantError. `__init__.pyi` lists the public names; each is imported on first use, so
that `import penchant` is fast and does not load torch.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import lazy_loader

_named, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__ or name.startswith("_"):
            return _named(name)
        try:
            return _named(name)
        except AttributeError:
            from penchant.call_checks import unknown_attribute

            raise unknown_attribute(sys.modules[__name__], name, "penchant") from None


class _Package(ModuleType):
    """The package, whose attribute `report` is always the public function.

    Importing the subpackage `penchant.report` would otherwise replace the function of the same name.
    """

    @property
    def report(self) -> Any:
        """The public function `penchant.report`."""
        return _named("report")

    @report.setter
    def report(self, room: ModuleType) -> None:
        """Ignore the assignment that Python makes when it imports the subpackage."""


sys.modules[__name__].__class__ = _Package
