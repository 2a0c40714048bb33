"""GGUF files: caching of parsed files, and correction of their tokenizers' pre-tokenization."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from penchant.errors import ModelError

Patterns = tuple[str, ...]
"""Regular expressions that a pre-tokenizer applies in sequence, as in llama.cpp (src/llama-vocab.cpp)."""

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_QWEN2 = rf"{_ENDINGS}|{_WORD}|\p{{N}}|{_REST}"
_LLAMA3 = rf"{_ENDINGS}|{_WORD}|\p{{N}}{{1,3}}|{_REST}"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+ENDING|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*ENDING"
_SLASHED = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = rf"{_CASED}|\p{{N}}|{_SLASHED}".replace("ENDING", "")
_GPT4O = rf"{_CASED}|\p{{N}}{{1,3}}|{_SLASHED}".replace("ENDING", f"{_ENDINGS}?")
_QWEN35 = (
    rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_PHRASES = r" ?[^(\s|.,!?…。，、।۔،)]+"
_HAN_KANA = "[一-龥぀-ゟ゠-ヿ]+"
_MARKED = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_EAST_ASIAN = "[一-龥ࠀ-一가-퟿]+"

_NAMES: dict[Patterns, str] = {
    (_GPT2,): "gpt-2 gpt2 phi-2 mpt olmo jais trillion granite-docling gigachat a.x-4.0 mellum modern-bert roberta-bpe "
    "jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code",
    (r"\p{N}", _GPT2): "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2",
    (_QWEN2,): "qwen2 stablelm2 hunyuan solar-open grok-2 megrez deepseek-r1-qwen kormo f2llmv2",
    (_QWEN35,): "qwen35",
    (_LLAMA3,): "llama-bpe llama3 llama-v3 glm4 chatglm-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx "
    "smaug-bpe",
    (_TEKKEN,): "tekken",
    (_GPT4O,): "gpt-4o llama4 kanana2 talkie minimax-m2",
    (_PHRASES,): "bloom poro-chat gpt3-finnish",
    (_PHRASES, r"\p{N}"): "viking",
    (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"): "falcon",
    (r"\p{N}{1,3}", _HAN_KANA, _MARKED): "deepseek-v3 hunyuan-dense joyai-llm",
    ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, r"\p{N}"): "deepseek-coder",
    (rf"'(?i:[sdmt]|ll|ve|re)|{_WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",): "bailingmoe",
    (rf"{_ENDINGS}|{_WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",): "seed-coder",
}
_WHOLE_ENTRIES = frozenset(
    ["llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken"]
)
"""Names of pre-tokenizers whose tokenizers keep a word whole if it is a vocabulary entry, regardless of merges."""
_STRAY = 1e-3
"""Maximum fraction of vocabulary entries that the right pre-tokenizer may split (some files are edited by hand)."""


@contextmanager
def read_once() -> Iterator[None]:
    """Return a context in which parsed GGUF files and maps of tensor names are cached. Needs the package gguf.

    transformers would otherwise parse a file again for the configuration, the tokenizer, the weights and every module.
    """
    import gguf
    from gguf.gguf_reader import GGUFReader
    from gguf.tensor_mapping import get_tensor_name_map

    class Reader(GGUFReader):  # type: ignore[misc]
        """A GGUF reader whose fields are slices of a plain array, which are faster than slices of a memory map."""

        @property
        def data(self) -> Any:
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = np.asarray(mapped)

    gguf.GGUFReader, gguf.get_tensor_name_map = cache(Reader), cache(get_tensor_name_map)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = GGUFReader, get_tensor_name_map


def chat_template(file: Path) -> str | None:
    """Return the chat template in a GGUF file, None if it has none. Raises ValueError if the file is damaged."""
    import gguf

    field = gguf.GGUFReader(str(file)).fields.get("tokenizer.chat_template")
    return None if field is None else str(field.contents())


def correct_split(tokenizer: Any, file: Path, texts: Sequence[str]) -> None:
    """Give a tokenizer that transformers built from a GGUF file the pre-tokenizer that was used in training.

    The file names the pre-tokenizer (`tokenizer.ggml.pre`) but does not contain it, and transformers uses GPT-2's for
    unknown names. If the name is missing or unknown, the pre-tokenizer is inferred from the vocabulary: merges learned
    under a pre-tokenizer never cross its boundaries. If several pre-tokenizers fit equally well, their results on
    `texts` are compared. Raises ModelError if the results differ, or if no pre-tokenizer fits.
    """
    kind, name, space = _named(file)
    backend = tokenizer.backend_tokenizer
    if kind == "llama" and space is False and "Metaspace" in repr(backend.pre_tokenizer):
        from tokenizers import pre_tokenizers

        backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="never", split=False)
    if kind != "gpt2":
        return
    known = next((patterns for patterns, names in _NAMES.items() if name in names.split()), None)
    backend.pre_tokenizer = _pre_tokenizer(known or _inferred_split(tokenizer, file, name, texts))
    backend.model.ignore_merges = name in _WHOLE_ENTRIES


def _named(file: Path) -> tuple[str, str, bool | None]:
    """Return the tokenizer kind in a GGUF file, its pre-tokenizer's name or "", and whether it prepends a space.

    The last value is None if the file does not specify whether a space is prepended.
    """
    import gguf

    fields = gguf.GGUFReader(str(file)).fields  # same argument as in transformers, so that the file is parsed once
    kind, name, space = (
        None if (field := fields.get(f"tokenizer.ggml.{key}")) is None else field.contents()
        for key in ("model", "pre", "add_space_prefix")
    )
    return str(kind), "" if name in (None, "default") else str(name), space


def _pre_tokenizer(patterns: Patterns) -> Any:
    from tokenizers import Regex, pre_tokenizers

    splits = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _inferred_split(tokenizer: Any, file: Path, name: str, texts: Sequence[str]) -> Patterns:
    """Return the patterns of the pre-tokenizer under which a vocabulary was learned.

    If several pre-tokenizers fit and give the same tokens for all `texts`, the first is returned. Raises ModelError if
    their tokens differ, or if no pre-tokenizer fits. `name` is the pre-tokenizer's name in the file, for messages.
    """
    backend = tokenizer.backend_tokenizer
    entries = list(_written(set(tokenizer.get_vocab()) - set(tokenizer.get_added_vocab())))
    strays = {patterns: _across(patterns, entries) for patterns in _NAMES}
    fewest = min(strays.values())
    fitting = [patterns for patterns, number in strays.items() if number == fewest]
    readings = set()
    for patterns in fitting:
        backend.pre_tokenizer = _pre_tokenizer(patterns)
        readings.add(tuple(tuple(backend.encode(text, add_special_tokens=False).ids) for text in texts))
    if len(readings) > 1 or fewest > _STRAY * len(entries):
        problem = f"uses an unknown pre-tokenizer, '{name}'" if name else "does not name its pre-tokenizer"
        fits = "several pre-tokenizers that disagree" if len(readings) > 1 else "no known pre-tokenizer"
        raise ModelError(
            f"its tokenizer {problem} (tokenizer.ggml.pre), and its vocabulary fits {fits}",
            where=str(file),
            hint="convert the model again with a current llama.cpp, or use its transformers checkpoint",
        )
    return fitting[0]


def _across(patterns: Patterns, entries: Iterable[str]) -> int:
    split = _pre_tokenizer(patterns)
    return sum(len(split.pre_tokenize_str(entry)) > 1 for entry in entries)


def _written(entries: Iterable[str]) -> Iterator[str]:
    """Yield, decoded to text, the byte-level vocabulary entries that pre-tokenizers may split differently.

    These entries consist of at least two complete characters and are not words in a single letter case.
    """
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = {letter: byte for byte, letter in bytes_to_unicode().items()}
    for entry in entries:
        if not all(letter in letters for letter in entry):
            continue
        try:
            text = bytes(letters[letter] for letter in entry).decode()
        except UnicodeDecodeError:
            continue
        word = text.removeprefix(" ")
        if len(text) > 1 and not (word.isalpha() and (word.islower() or word.isupper())):
            yield text
