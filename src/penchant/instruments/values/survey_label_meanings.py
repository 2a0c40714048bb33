"""Detection of stance, missing answers and gender in English, German, French, Spanish and Czech labels."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

_AGREES = re.compile(
    r"\bagree|\bfavou?r|\bsupport|^(\w+ )?for$|\byes$|^yes\b"
    r"|\bstimm.*\bzu\b|\bzustimm|\beinverstanden|\bdafür\b|\bbefürwort|\bunterstütz|\btrifft.*\bzu\b|\bja$|^ja\b"
    r"|\bd'accord|\bpour$|\bsoutien|\boui$|^oui\b|\bs'applique"
    r"|\bde acuerdo|\ba favor\b|\bapoy|\bs[ií]$|^s[ií]\b|\bse aplica"
    r"|\bsouhlas|\bpodpor|\bpro$|\bano$|^ano\b|\bplatí"
)
_DISAGREES = re.compile(
    r"\bdisagree|\boppos|\bagainst\b|\bunfavou?r|\bno$|^no[,.;]"
    r"|\blehn.*\bab\b|\bablehn|\bdagegen\b|\bnein$|^nein\b"
    r"|\bdésaccord|\bcontre$|\bdéfavor|\bnon$|^non[,.;]"
    r"|\bdesacuerdo|\ben contra\b|\bopuest|\bdesfavor"
    r"|\bnesouhlas|\bproti\b|\bnepodpor|\bne$|^ne[,.;]|\bneplatí"
)
_NOT = re.compile(r"\b(not|don't|nicht|kein\w*|pas|no|non|nada)\b")
_BETWEEN = re.compile(r"\b(neither|nor|weder|ni|ani)\b")
_NO_ANSWER = re.compile(
    r"\b(don't know|do not know|dk|no answer|not answered|refused|refusal|not applicable|n/a|missing"
    r"|weiss nicht|weiss ich nicht|keine antwort|keine angabe|k\. ?a|verweigert|entfällt"
    r"|ne sai[st] pas|nsp|sans réponse|pas de réponse|refus|non applicable"
    r"|no sabe|no sé|no contesta|no responde|ns/nc|rechaza|no aplicable"
    r"|neví|nevím|bez odpovědi|neodpověděla?|odmítla?|netýká se)\b"
)


_FEMININE = re.compile(r"^(females?|wom[ae]n|girls?|weiblich|frau(en)?|feminine?|féminin|femmes?|mujer(es)?|žen[ay])$")
_MASCULINE = re.compile(r"^(males?|m[ae]n|boys?|männlich|mann|männer|masculine?|hommes?|hombres?|muž|muži)$")


def gender(name: str) -> Literal["feminine", "masculine"] | None:
    """Return the gender that a group's name or a code's label denotes, such as feminine for women, or None."""
    text = _plain(name).strip()
    return "feminine" if _FEMININE.search(text) else "masculine" if _MASCULINE.search(text) else None


def stance(label: str) -> Literal["agree", "disagree"] | None:
    """Return the stance of a label; None if it expresses neither agreement nor disagreement, or both."""
    text = _plain(label)
    text = re.sub(r"^\W*\d*\W*|\W+$", "", text)  # "(1) Yes." is "yes"
    agrees, disagrees = _AGREES.search(text), _DISAGREES.search(text)
    if _BETWEEN.search(text) or bool(agrees) == bool(disagrees) or is_no_answer(label):
        return None
    return "disagree" if disagrees or _NOT.search(text) else "agree"


def is_no_answer(label: str) -> bool:
    """Return whether a label denotes a missing answer."""
    text = _plain(label)
    return not _BETWEEN.search(text) and _NO_ANSWER.search(text) is not None


def _plain(label: str) -> str:
    return unicodedata.normalize("NFC", label).casefold().replace("’", "'")
