"""What the labels of answers say: agreement, disagreement, or that there is no answer.

In English, German, French, Spanish and Czech; a label that says none of these in so many words says nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

_AGREES = re.compile(r"\bagree|\bstimm.*\bzu\b|\bzustimm|\beinverstanden|\bd'accord|\bde acuerdo|\bsouhlas")
_DISAGREES = re.compile(r"\bdisagree|\blehn.*\bab\b|\bablehn|\bdésaccord|\bdesacuerdo|\bnesouhlas")
_NOT = re.compile(r"\b(not|don't|nicht|kein\w*|pas|no|nada)\b")
_BETWEEN = re.compile(r"\b(neither|nor|weder|ni|ani)\b")
_NO_ANSWER = re.compile(
    r"\b(don't know|do not know|dk|no answer|not answered|refused|refusal|not applicable|n/a|missing"
    r"|weiss nicht|weiss ich nicht|keine antwort|keine angabe|k\. ?a|verweigert|entfällt"
    r"|ne sai[st] pas|nsp|sans réponse|pas de réponse|refus|non applicable"
    r"|no sabe|no sé|no contesta|no responde|ns/nc|rechaza|no aplicable"
    r"|neví|nevím|bez odpovědi|neodpověděla?|odmítla?|netýká se)\b"
)


def stance(label: str) -> Literal["agree", "disagree"] | None:
    """Whether a label says agreement or disagreement; None if it says neither, or both."""
    text = _plain(label)
    agrees, disagrees = _AGREES.search(text), _DISAGREES.search(text)
    if _BETWEEN.search(text) or bool(agrees) == bool(disagrees) or is_no_answer(label):
        return None
    return "disagree" if disagrees or _NOT.search(text) else "agree"


def is_no_answer(label: str) -> bool:
    """Whether a label says that there is no answer."""
    text = _plain(label)
    return not _BETWEEN.search(text) and _NO_ANSWER.search(text) is not None


def _plain(label: str) -> str:
    return unicodedata.normalize("NFC", label).casefold().replace("’", "'")
