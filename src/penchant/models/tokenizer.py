"""A uniform interface to Hugging Face tokenizers, with character offsets of tokens."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penchant.errors import DataError, ModelError
from penchant.text_io import refused_character


@dataclass(frozen=True, slots=True)
class Encoding:
    """One tokenized text.

    `ids` are the ids of the complete input, including special tokens. For the text's own tokens, `at` are their
    positions in `ids`, `spans` their character offsets and `words` their word indices (None if the tokenizer provides
    none).
    """

    ids: tuple[int, ...]
    at: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[int | None, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The ids of the text's own tokens."""
        return tuple(self.ids[position] for position in self.at)

    def __len__(self) -> int:
        return len(self.at)

    def overlapping(self, text: str, start: int, end: int) -> list[int]:
        """Return the indices of the tokens that overlap the characters start … end of the text.

        A token that contains only the space before a word ("Ġ", "▁") is included with the word.
        """
        inside = [i for i, (s, e) in enumerate(self.spans) if s < end and e > start and text[s:e].strip()]
        while inside and inside[0] > 0 and not text[slice(*self.spans[inside[0] - 1])].strip():
            inside.insert(0, inside[0] - 1)
        return inside


class Tokenizer:
    """A uniform interface to Hugging Face tokenizers, without truncation or padding.

    `special` adds the special tokens of the tokenizer's own template ([CLS] … [SEP]). `prefix` is the id of a token to
    prepend, as for causal models.
    """

    def __init__(self, hf: Any, *, special: bool, prefix: int | None = None) -> None:
        if not getattr(hf, "is_fast", False):
            raise ModelError(
                f"tokenizer {type(hf).__name__} does not provide character offsets",
                hint="use a checkpoint with a tokenizer.json",
            )
        self.hf = hf
        self.special = special
        self.prefix = prefix
        self.mask_id: int | None = hf.mask_token_id
        self.unknown_id: int | None = hf.unk_token_id
        self._special_ids = frozenset(hf.all_special_ids)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Tokenize each text independently. Raises DataError if a text contains a character that is not allowed."""
        for text in texts:
            if wrong := refused_character(text):
                raise DataError(f"the text {wrong}", where=repr(text[:40]), hint="change or remove the text")
        return [self._encoding(encoding) for encoding in self._read(texts, special=self.special).encodings]

    def _read(self, texts: Sequence[str], *, special: bool) -> Any:
        return self.hf(
            list(texts),
            add_special_tokens=special,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )

    def _encoding(self, encoding: Any) -> Encoding:
        in_text = [i for i, added in enumerate(encoding.special_tokens_mask) if not (added and self.special)]
        spans, words = encoding.offsets, encoding.word_ids
        before = () if self.prefix is None else (self.prefix,)
        return Encoding(
            (*before, *encoding.ids),
            tuple(i + len(before) for i in in_text),
            tuple(spans[i] for i in in_text),
            tuple(words[i] for i in in_text),
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens in each text (|S| in formulas), excluding special tokens."""
        return [len(encoding) for encoding in self.encode(texts)]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without added special tokens.

        Unknown tokens, and special tokens written in a text, are allowed.
        """
        ids: list[list[int]] = self._read(texts, special=False)["input_ids"]
        return ids

    @cached_property
    def word_mark(self) -> str | None:
        """The character that marks the start of a word in vocabulary entries ("▁", "Ġ"); None if they have no mark."""
        entries = list(self.hf.get_vocab())
        for mark in ("▁", "Ġ"):
            if sum(entry.startswith(mark) for entry in entries) * 20 > len(entries):
                return mark
        return None

    @cached_property
    def words_end(self) -> NDArray[np.int64]:
        """The sorted ids of tokens that end the preceding word: special tokens, and tokens that begin with white space.

        Requires a `word_mark`, which is treated as white space.
        """
        space = _byte_spaces()[0] if self.word_mark == "Ġ" else _SPACE_BYTES
        ends = {
            token
            for entry, token in self.hf.get_vocab().items()
            if token in self._special_ids or entry.startswith("▁") or entry[:1].isspace() or space.match(entry)
        }
        return np.array(sorted(ends), dtype=np.int64)

    @cached_property
    def words_go_on(self) -> NDArray[np.int64]:
        """The sorted ids of tokens that continue the preceding word: all tokens that are not in `words_end`."""
        return np.setdiff1d(np.array(list(self.hf.get_vocab().values()), dtype=np.int64), self.words_end)

    @cached_property
    def ended_inside(self) -> frozenset[int]:
        """The ids of tokens that end in white space, such as a full stop followed by a line break.

        Requires a `word_mark`.
        """
        space = _byte_spaces()[1] if self.word_mark == "Ġ" else _SPACE_BYTES
        return frozenset(
            token
            for entry, token in self.hf.get_vocab().items()
            if entry.endswith("▁") or entry[-1:].isspace() or space.search(entry)
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the tokenizer and its settings; tokenizers with the same digest encode all texts identically."""
        settings = (self.special, self.prefix, self.mask_id, self.unknown_id, sorted(self._special_ids))
        return hashlib.sha256(f"{settings} {self.hf.backend_tokenizer.to_str()}".encode()).hexdigest()

    @cached_property
    def pieces_digest(self) -> str:
        """SHA-256 of the settings that determine how a text is split into tokens, but not the special tokens around it.

        These settings are the normalizer, the pre-tokenizer, the model with its vocabulary, and added tokens.
        """
        whole = json.loads(self.hf.backend_tokenizer.to_str())
        parts = {name: whole.get(name) for name in ("normalizer", "pre_tokenizer", "model", "added_tokens")}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def chat_mark(self) -> str | None:
        """The prefix token, if it marks the start of a chat turn or the tokenizer has a chat template; else None."""
        if self.prefix is None:
            return None
        (token,) = self.strings([self.prefix])
        chats = "im_start" in token or bool(getattr(self.hf, "chat_template", None))
        return token if chats else None

    def strings(self, ids: Sequence[int]) -> list[str]:
        """Return the vocabulary entries with the given ids."""
        return [str(token) for token in self.hf.convert_ids_to_tokens(list(ids))]

    def decode(self, ids: Sequence[int]) -> str:
        """Decode token ids to text."""
        return str(self.hf.decode(list(ids)))

    def require_sound(self, text: str, encoding: Encoding, where: str, *, gaps: bool = False) -> None:
        """Raise DataError if a text has no tokens, or has special tokens, unknown tokens or dropped control characters.

        `gaps` allows mask tokens.
        """
        if (control := _CONTROL.search(text)) and self.encode([_CONTROL.sub("", text)])[0].ids == encoding.ids:
            message = f"the text contains the control character U+{ord(control[0]):04X}, which the tokenizer drops"
            raise DataError(message, where=where, hint="remove it from the text")
        if not encoding.at:
            raise DataError("the text has no tokens", where=where, hint="remove the empty line or item")
        for token, (start, end) in zip(encoding.tokens, encoding.spans, strict=True):
            if token not in self._special_ids or (token == self.mask_id and gaps):
                continue
            part = text[start:end]
            if token == self.unknown_id:
                raise DataError(
                    f"'{part}' is unknown to the tokenizer, so the model does not see it",
                    where=where,
                    hint="change or remove the text, or use a model whose vocabulary covers it",
                )
            raise DataError(
                f"the text contains the special token '{part}'", where=where, hint="remove it from the text"
            )


_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters that are not white space, except NUL, which `encode` never accepts."""
_SPACE_BYTES = re.compile("<0x(?:09|0[A-D]|1[C-F]|20)>", re.IGNORECASE)
"""Entries that represent one byte of white space in vocabularies with byte fallback."""


@cache
def _byte_spaces() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return regular expressions for white space at the start and at the end of a byte-level vocabulary entry.

    Bytes are written as characters: bytes that are not printable in Latin-1 are mapped to U+0100 and above (GPT-2's
    table).
    """
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    letters = {byte: chr(byte) for byte in printable}
    letters |= {byte: chr(256 + n) for n, byte in enumerate(sorted(set(range(256)) - printable))}
    spaces = (chr(code) for code in range(0x3001) if chr(code).isspace())
    written = "|".join(re.escape("".join(letters[b] for b in sign.encode())) for sign in spaces)
    return re.compile(f"^(?:{written})"), re.compile(f"(?:{written})$")
