"""Defects in the writing of paired sentences, apart from the intended contrast of a pair.

They are acceptability marks, missing final punctuation, wrongly decoded letters, irregular white space, inconsistent
quotation marks and inconsistent capitals, all of which affect the scores of a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penchant.plurals import first_of
from penchant.tables.missing_values import missing_word
from penchant.tables.wrong_encodings import misread
from penchant.wording.phrases import Note

NAMED = 3
"""Maximum number of lines that a caution lists for each sentence of the pairs."""


class LocatedSentence(NamedTuple):
    """One sentence of a pair, its file, and its line in the file as a string ("line 3")."""

    text: str
    file: str
    line: str


class Pair(NamedTuple):
    """The two sentences of a pair, and the name of its group."""

    first: LocatedSentence
    second: LocatedSentence
    group: str


Sides = tuple[bool, bool]
"""One flag for each of the two sentences of a pair."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of defect, with the code of its note and the function `sides`, which flags the sentences that have it.

    `contrast` is true if the defect may be the intended contrast of a group.
    """

    code: str
    sides: Callable[[str, str], Sides]
    contrast: bool = False


def cautions(pairs: Sequence[Pair], names: tuple[str, str]) -> Iterator[Note]:
    """Yield a note for each kind of defect found in the pairs.

    The note gives the number of affected sentences and the lines of a few of them, separately for the first and the
    second sentences, which it calls by their `names`. If the defect may be intentional, the note also lists the groups
    of two or more pairs in which every pair has the defect.
    """
    sizes = Counter(pair.group for pair in pairs)
    for kind in _KINDS:
        hit = [(pair, sides) for pair in pairs if any(sides := kind.sides(pair.first.text, pair.second.text))]
        found = [pair.first for pair, (first, _) in hit if first], [pair.second for pair, (_, second) in hit if second]
        told = [f"{name} {len(them):,} ({_places(them)})" for them, name in zip(found, names, strict=True) if them]
        if told:
            counts = Counter(pair.group for pair, _ in hit)
            whole = [repr(group) for group, size in sizes.items() if counts[group] == size > 1] if kind.contrast else []
            yield Note(kind.code, sides=told, groups=first_of(whole, NAMED) if kind.contrast else None)


def _places(sentences: Sequence[LocatedSentence]) -> str:
    parts: list[str] = []
    for number, sentence in enumerate(sentences):
        same = number > 0 and sentence.file == sentences[number - 1].file
        parts.append(sentence.line if same else f"{sentence.file}, {sentence.line}")
    return first_of(parts, NAMED)


# Marks and punctuation ----------------------------------------------------------------------------------------------

_MARK = re.compile(r"\s*(?:[*?#%]+\s*(?=[^\W\d_]|[\"'“‘«„(\[¿¡])|\((?:[*?#%]+)\))")
"""An acceptability mark before a sentence: *, ?, ??, ?*, #, %, or a mark in brackets."""
_MARK_AFTER = re.compile(r"(?:\*+|#+|\?{2,}|\((?:[*?#%]+)\))\s*\Z")
_END = frozenset(".!?…。！？．؟۔।॥։።፧។။᠃᭞;:")
_CLOSING = "\"'”’»›)]}*#"
"""Characters that may follow the final punctuation mark of a sentence."""


def _marked(text: str) -> bool:
    shown = text.strip()
    before, after = shown[:1] in "*?#%(", shown[-1:] in "*#?)"
    return bool((before and _MARK.match(shown)) or (after and _MARK_AFTER.search(shown)))


def beginning_marks(first: str, second: str) -> Sides:
    """Flag the sentences that begin with an acceptability mark; if both begin with # (a hashtag), flag neither."""
    if first.lstrip()[:1] == second.lstrip()[:1] == "#":
        return False, False
    return _begins(first), _begins(second)


def _begins(text: str) -> bool:
    shown = text.strip()
    return shown[:1] in tuple("*?#%(") and _MARK.match(shown) is not None


def without_mark(text: str) -> str:
    """Return a sentence without the acceptability mark at its beginning and the white space around the mark."""
    shown = text.lstrip()
    mark = _MARK.match(shown)
    return shown[mark.end() :].lstrip() if mark else text


def _marks(first: str, second: str) -> Sides:
    """Flag the sentences with an acceptability mark at either end; if both begin with # (a hashtag), flag neither."""
    if first.lstrip()[:1] == second.lstrip()[:1] == "#":
        return False, False
    return _marked(first), _marked(second)


def _ends(text: str) -> bool:
    return text.rstrip().rstrip(_CLOSING).rstrip()[-1:] in _END


def _ending(first: str, second: str) -> Sides:
    """Flag the sentence that ends in punctuation if the other does not."""
    one, other = _ends(first), _ends(second)
    return one and not other, other and not one


# Letters ------------------------------------------------------------------------------------------------------------


def _misreads(first: str, second: str) -> Sides:
    return misread(first), misread(second)


# Blanks -------------------------------------------------------------------------------------------------------------

_FIXED = re.compile("(?<!«)[\u00a0\u202f\u2007](?![;:!?»%])")
"""No-break spaces, except those that French typography puts before punctuation and inside guillemets."""
_HIDDEN = re.compile(
    "[\u200b\u2060\ufeff\u00ad\u200e\u200f\u2028\u2029\u0085]|(?<![^\x00-\u024f])[\u200c\u200d](?![^\x00-\u024f])"
)
"""Invisible characters, except joiners that belong to a script."""


def _fixed(first: str, second: str) -> Sides:
    return _has(_FIXED, first), _has(_FIXED, second)


def _hidden(first: str, second: str) -> Sides:
    return _has(_HIDDEN, first), _has(_HIDDEN, second)


def _has(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text matches a pattern that contains only characters outside ASCII."""
    return not text.isascii() and pattern.search(text) is not None


def _strays(first: str, second: str) -> Sides:
    return _stray(first), _stray(second)


def _stray(text: str) -> bool:
    return text != text.strip() or any(blank in text for blank in ("  ", "\t"))


def _broken(first: str, second: str) -> Sides:
    return _over_lines(first), _over_lines(second)


def _over_lines(text: str) -> bool:
    shown = text.strip()
    return "\n" in shown or "\r" in shown


# Quotation marks and capitals ---------------------------------------------------------------------------------------

_CURLY = re.compile("[“”„‟‘’‚]")
_STRAIGHT = re.compile("[\"']")


def _quotes(first: str, second: str) -> Sides:
    """Flag a sentence that has only curly quotation marks or apostrophes if the other has only straight ones."""
    curly = [_has(_CURLY, text) for text in (first, second)]
    if not any(curly):
        return False, False
    straight = [bool(_STRAIGHT.search(text)) for text in (first, second)]
    one = curly[0] and not straight[0] and straight[1] and not curly[1]
    other = curly[1] and not straight[1] and straight[0] and not curly[0]
    return one, other


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _capitals(first: str, second: str) -> Sides:
    """Flag the sentence that begins with a lower-case letter if the other begins with a capital.

    A sentence that contains the capitalised first word of the other sentence is not flagged.
    """
    one, other = _WORD.search(first), _WORD.search(second)
    if one is None or other is None or one[0][0] == other[0][0]:
        return False, False
    small, capital = ([word[0][0].islower() for word in (one, other)], [word[0][0].isupper() for word in (one, other)])
    if small == [True, False] and capital[1]:
        return other[0] not in _WORD.findall(first), False
    if small == [False, True] and capital[0]:
        return False, one[0] not in _WORD.findall(second)
    return False, False


def _missing(first: str, second: str) -> Sides:
    return missing_word(first), missing_word(second)


_KINDS = (
    _Kind("pairs-marked", _marks),
    _Kind("pairs-missing", _missing),
    _Kind("pairs-punctuation", _ending, contrast=True),
    _Kind("pairs-misread", _misreads),
    _Kind("pairs-no-break", _fixed),
    _Kind("pairs-hidden", _hidden),
    _Kind("pairs-blanks", _strays),
    _Kind("pairs-lines", _broken),
    _Kind("pairs-quotes", _quotes, contrast=True),
    _Kind("pairs-capitals", _capitals, contrast=True),
)

# Cells without a sentence -------------------------------------------------------------------------------------------

_ERROR = re.compile(r"#(?:N/A|NV|N/D|[^\W\d_¡¿ ]?[¡¿]?[\w/]{1,20}[!?])")


def error_value(text: str) -> bool:
    """Return whether a table cell contains only a spreadsheet error, such as #NAME? or #REF!, in any language."""
    shown = text.strip()
    return shown == shown.upper() and _ERROR.fullmatch(shown) is not None
