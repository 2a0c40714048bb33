"""Loading of a checkpoint's tokenizer, corrected to split texts as the checkpoint's own files specify."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unicodedata import combining, normalize

from tokenizers import Tokenizer, normalizers

from penchant.errors import ModelError, PenchantError, first_line
from penchant.models.checkpoint_config import quiet
from penchant.models.file_hashes import Digests
from penchant.models.gguf_files import correct_split
from penchant.models.hub import WantedFiles
from penchant.models.model_identity import ModelSource, resolve

PROBES = (
    "In 1010 it was hot; by 12345678 it is 3.50 hotter.",
    "The Teacher SAW die Männer, naïve CAFÉS and ΑΘΗΝΑ.",
    "Isn't it \"never\" too late? (we'll see…) — it's re-done!",
    "  two  blanks\tand a tab ",
    "a line\n\nand another\n",
    "nai\u0308ve Café, e\u0301te\u0301",
    "ﬁne ½ ² Ａ №",
    "Žluťoučký kůň, İstanbul, ijsje",
    "মেয়ে ও ছেলে; मैं घर ज़रा",
    "农夫在村里吃饭。老师看见了那只狗！",
    "كتاب שלום 한국어 😀👩\u200d🏫",
    "iPhone eBay don't_stop x=[1,2];",
)
"""Texts that different tokenizers are likely to split differently.

They contain digits, upper- and lower-case letters, accents, precomposed and combining characters, punctuation, white
space, scripts without spaces between words, and characters that need byte fallback.
"""

_SENTENCEPIECE = ("spm.model", "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model")
"""The usual file names of SentencePiece models."""


def read_tokenizer(source: ModelSource, options: dict[str, Any]) -> Any:
    """Return a checkpoint's tokenizer as a transformers tokenizer; `options` are the arguments of `from_pretrained`.

    transformers takes the normalizer and the pre-tokenizer from the class that tokenizer_config.json names. If the
    checkpoint's own files differ, the model was trained on different tokens, so normalizer and pre-tokenizer are taken
    from the files. Raises ModelError if there is no tokenizer, or if it cannot be made to split texts as the files
    specify.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(source.target, **options)
    except Exception as error:
        raise ModelError(f"cannot be loaded: {first_line(error)}", where=source.given) from error
    if len(set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)) < 2:
        # Without its files, transformers silently builds a tokenizer with an empty vocabulary.
        raise ModelError("the checkpoint has no tokenizer", where=source.given, hint="add its tokenizer.json")
    if source.is_gguf:
        correct_split(tokenizer, Path(source.target) / source.options["gguf_file"], PROBES)
    elif getattr(tokenizer, "is_fast", False) and not type(tokenizer).__module__.startswith("transformers_modules"):
        try:
            _correct(tokenizer, Path(source.target))
        except PenchantError:
            raise
        except Exception as error:
            raise ModelError(f"its tokenizer cannot be read: {first_line(error)}", where=source.given) from error
    return tokenizer


def named_tokenizer(spec: str, digests: Digests, *, code: bool = False) -> tuple[str, Any, tuple[str, ...]]:
    """Return a model's name without hash, its tokenizer as a transformers tokenizer, and the warnings of transformers.

    `digests` stores file hashes; `code` runs code that comes with the checkpoint.
    """
    source = resolve(spec)
    with quiet() as heard, source.parsed_once():
        source = source.fetched(WantedFiles(weights=False, code=code, digests=digests))
        tokenizer = read_tokenizer(source, {**source.options, "trust_remote_code": code})
    return source.label, tokenizer, heard.cautions


def _correct(tokenizer: Any, folder: Path) -> None:
    if (own := folder / "tokenizer.json").is_file():
        _adopt(tokenizer, Tokenizer.from_file(str(own)), own)
        return
    model = next((folder / name for name in _SENTENCEPIECE if (folder / name).is_file()), None)
    if model is not None:
        _follow(tokenizer, model)


def _adopt(tokenizer: Any, own: Any, file: Path) -> None:
    """Replace a transformers tokenizer's backend with `own`, read from a file, keeping added tokens such as a mask.

    Raises ModelError if the ids of the added tokens would change, or if one of the `PROBES` is still split differently.
    """
    built = tokenizer.backend_tokenizer
    own.no_truncation()
    own.no_padding()
    known = own.get_added_tokens_decoder()
    for number, token in sorted(built.get_added_tokens_decoder().items()):
        if number in known and known[number].content == token.content:
            continue
        (own.add_special_tokens if token.special else own.add_tokens)([token])
        if own.token_to_id(token.content) != number:
            raise ModelError(
                f"the token '{token.content}' has id {own.token_to_id(token.content)} in this file, but {number} in "
                "tokenizer_config.json",
                where=str(file),
                hint="save the tokenizer again with the version of transformers that created it",
            )
    if own.post_processor is None:
        own.post_processor = built.post_processor
    own.encode_special_tokens = built.encode_special_tokens
    tokenizer._tokenizer = own
    for text in PROBES:
        if (
            tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
            != own.encode(text, add_special_tokens=False).ids
        ):
            raise ModelError(
                f"transformers splits {text!r} into different tokens than this file specifies",
                where=str(file),
                hint="use a checkpoint whose tokenizer_class is PreTrainedTokenizerFast",
            )


def _follow(tokenizer: Any, file: Path) -> None:
    """Add the character map of the SentencePiece model in `file` to a tokenizer built from it, if the map is missing.

    Raises ModelError if one of the `PROBES` is still split differently.
    """
    from sentencepiece import SentencePieceProcessor
    from transformers.convert_slow_tokenizer import import_protobuf

    model = SentencePieceProcessor()
    try:
        model.Load(str(file))
    except (OSError, RuntimeError):
        return  # a vocabulary of another kind, such as tiktoken's
    proto = import_protobuf().ModelProto()
    proto.ParseFromString(file.read_bytes())
    table, backend = proto.normalizer_spec.precompiled_charsmap, tokenizer.backend_tokenizer
    if _differing(tokenizer, model) and table and "Precompiled" not in repr(backend.normalizer):
        before = [] if backend.normalizer is None else [backend.normalizer]
        backend.normalizer = normalizers.Sequence([normalizers.Precompiled(table), *before])
    if text := _differing(tokenizer, model):
        raise ModelError(
            f"transformers splits {text!r} into different tokens than this SentencePiece model does",
            where=str(file),
            hint="use a checkpoint with a tokenizer.json",
        )


def _differing(tokenizer: Any, model: Any) -> str:
    """Return the first of the `PROBES` that a tokenizer splits differently from its SentencePiece model, or "".

    Tokenizers such as ALBERT's convert texts to lower case and remove accents outside the model, so only lower-case
    probes without accents are compared.
    """
    for text in map(str.lower, PROBES):
        if text != text.strip() or any(map(combining, normalize("NFD", text))):
            continue
        wanted = [None if number == model.unk_id() else model.IdToPiece(number) for number in model.EncodeAsIds(text)]
        numbers = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        pieces = tokenizer.convert_ids_to_tokens(numbers)
        if wanted != [None if piece == tokenizer.unk_token else piece for piece in pieces]:
            return text
    return ""


def of_bytes() -> Any:
    """Return a tokenizer whose tokens are bytes, for models with an unknown tokenizer; it encodes every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)
