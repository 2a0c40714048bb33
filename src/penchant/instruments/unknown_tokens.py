"""Items with text unknown to a model's tokenizer: they stop a study, or are skipped and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, TypeVar, cast, get_args

from penchant.errors import MOST_ALIKE, DataError, MethodError, one_of, places
from penchant.models.load import LanguageModel
from penchant.models.tokenizer import Encoding, Tokenizer
from penchant.models.unicode_form_choice import EquivalentTokenizer
from penchant.plurals import first_of, for_one, of_all
from penchant.wording.phrases import Note

OnUnknown = Literal["stop", "skip"]
T = TypeVar("T")
_MOST_NAMED = 20
_MOST_SHOWN = 6
_CHUNK = 1_024


def require_known(on_unknown: str) -> OnUnknown:
    """Return `on_unknown` if it is a valid option. Raises MethodError otherwise."""
    if on_unknown not in get_args(OnUnknown):
        raise MethodError(f"invalid value '{on_unknown}' for on_unknown", hint=one_of(on_unknown, get_args(OnUnknown)))
    return cast(OnUnknown, on_unknown)


def unknown_parts(model: LanguageModel, texts: Iterable[str]) -> Iterator[str]:
    """Yield the first substring of each text that is unknown to the tokenizer, or "" if there is none.

    The tokenizer's unknown token is not reported if it is written in the text.
    """
    stream = iter(texts)
    while part := list(islice(stream, _CHUNK)):
        for text, encoding in zip(part, model.tokenizer.encode(part), strict=True):
            yield unknown_part(model.tokenizer, text, encoding)


def unknown_part(tokenizer: Tokenizer, text: str, encoding: Encoding) -> str:
    """Return the first substring of an encoded text that is unknown to the tokenizer, or "" if there is none."""
    if tokenizer.unknown_id not in encoding.ids:
        return ""
    written = str(tokenizer.hf.unk_token)
    pieces = (text[slice(*span)] for token, span in _tokens(encoding) if token == tokenizer.unknown_id)
    return next((piece for piece in pieces if piece.strip() != written), "")


def _tokens(encoding: Encoding) -> Iterable[tuple[int, tuple[int, int]]]:
    return zip(encoding.tokens, encoding.spans, strict=True)


def known_texts(
    model: LanguageModel, texts: Sequence[tuple[str, str]], on_unknown: OnUnknown
) -> Sequence[tuple[str, str]]:
    """Return the (text, location) pairs; if `on_unknown` is "skip", only those that the model's tokenizer knows."""
    if on_unknown == "stop":
        return texts
    parts = unknown_parts(model, (text for text, _ in texts))
    return [text for text, part in zip(texts, parts, strict=True) if not part]


def known_items(
    model: LanguageModel,
    items: Sequence[T],
    texts: Callable[[T], Sequence[str]],
    place: Callable[[T], str],
    on_unknown: OnUnknown,
    noun: str,
) -> tuple[list[T], tuple[Note | str, ...]]:
    """Return the items without unknown text, and notes on items skipped or encoded in an equivalent spelling.

    `noun` is the plural noun for the items. Raises DataError if every item has unknown text or, if `on_unknown` is
    "stop", if any item has; in the latter case the message names up to six locations and counts the affected items.
    """
    parts = unknown_parts(model, (text for item in items for text in texts(item)))
    first = [next((part for part in list(islice(parts, len(texts(item)))) if part), "") for item in items]
    lost = [(place(item), part) for item, part in zip(items, first, strict=True) if part]
    respelt = [place(item) for item in items if any(text in respelt_in(model) for text in texts(item))]
    told = tuple(told_respelt(respelt, len(items), noun, f"the tokenizer of {model.name}"))
    if not lost:
        return list(items), told
    if on_unknown == "stop":
        raise unknown_error(lost, len(items), noun)
    if len(lost) == len(items):
        every = f"every one of the {len(items)} {noun}" if len(items) > 1 else f"the only {for_one(1, noun)}"
        raise DataError(
            f"{every} contains text unknown to the tokenizer of {model.name}",
            where=lost[0][0],
            hint="use a model whose vocabulary covers the text",
        )
    skipped = Note("unknown-skipped", lost=len(lost), of=len(items), noun=noun, model=model.name, named=_by_part(lost))
    return [item for item, part in zip(items, first, strict=True) if not part], (skipped, *told)


def respelt_in(model: LanguageModel) -> Mapping[str, str]:
    """Return the texts that a model's tokenizer encoded in an equivalent spelling, mapped to that spelling."""
    tokenizer = model.tokenizer
    return tokenizer.respelt if isinstance(tokenizer, EquivalentTokenizer) else {}


def told_respelt(found: Sequence[str], total: int, noun: str, where: str) -> Iterator[Note | str]:
    """Yield a note if a tokenizer knows the text of some items only in a canonically equivalent spelling.

    `found` are the locations of these items, `total` is the number of all items, and `where` names the tokenizer.
    """
    if found:
        yield Note("respelt", found=len(found), of=total, noun=noun, where=where, shown=first_of(found, _MOST_NAMED))


def _by_part(lost: Sequence[tuple[str, str]]) -> list[str]:
    """List (location, unknown substring) pairs as strings, with one entry for a substring found at many locations.

    The entry names all of these locations, or only the first if there are more than `_MOST_NAMED` pairs. At most
    `_MOST_NAMED` of the other pairs have an entry each, and a last entry counts the rest.
    """
    by_part: dict[str, list[str]] = {}
    for where, part in lost:
        by_part.setdefault(part, []).append(where)
    many = {part for part, wheres in by_part.items() if len(wheres) > MOST_ALIKE}
    few = len(lost) <= _MOST_NAMED
    named = [
        f"{len(wheres)} with '{part}' ({places(wheres) if few else f'first {wheres[0]}'})"
        for part, wheres in by_part.items()
        if part in many
    ]
    single = list(dict.fromkeys(f"{where} ('{part}')" for where, part in lost if part not in many))
    more = len(single) - _MOST_NAMED
    return [*named, *single[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def unknown_error(lost: Sequence[tuple[str, str]], total: int, noun: str) -> DataError:
    """Return the one-line error for items with text unknown to a tokenizer.

    `lost` are (location, unknown substring) pairs, `total` is the number of all items, `noun` their plural noun.
    """
    parts = [f"'{part}'" for part in dict.fromkeys(part for _, part in lost)]
    first, *others = list(dict.fromkeys(where for where, _ in lost))[:_MOST_SHOWN]
    also = f"; also {places([first, *others]).removeprefix(f'{first}, ')}" if others else ""
    count = of_all(len(lost), total, noun) + also + (", …" if len(lost) > _MOST_SHOWN else "")
    return DataError(
        f"the model's vocabulary lacks {first_of(parts, _MOST_SHOWN)} ({count})",
        where=first,
        hint="choose a model whose vocabulary covers them, or leave such items out with on_unknown: skip",
    )


def signed_unknown(on_unknown: OnUnknown) -> dict[str, object]:
    """Return the signature field for the treatment of items with unknown text; empty if they stop the study."""
    return {} if on_unknown == "stop" else {"on_unknown": on_unknown}
