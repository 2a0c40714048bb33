"""Tokenizers of twelve families, each trained on the same English, Bengali, Czech and Mandarin text, so that every
one of them can read all of `TEXTS`. `save` leaves one beside a tiny model with random weights.

| name | what is special about it |
|---|---|
| byte-bpe | GPT-2's byte-level BPE, the space before a word in its first piece |
| byte-bpe-prefix | the same with a space put before the first word, too |
| byte-bpe-digits | Qwen's split: digits alone, punctuation together with the line breaks behind it, NFC |
| spaces-added | runs of blanks are added tokens, as in GPT-NeoX's vocabulary |
| sentencepiece-bpe | Llama's: "▁" before every word, what is not in the vocabulary as bytes |
| sentencepiece-whole | Gemma's: no space before the first word, nothing split before the merges |
| unigram | XLM-R's SentencePiece Unigram |
| unigram-uncased | ALBERT's: accents stripped, small letters |
| wordpiece-cased, wordpiece-uncased | BERT's, continuations marked by "##" |
| word-ends | GPT-1's BPE, which marks the ends of words by "</w>" |
| characters | one token a character, blanks among them |
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AlbertTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    GemmaTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    LlamaTokenizer,
    OpenAIGPTTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
    RobertaTokenizer,
    XLMRobertaTokenizer,
)

from zoo import learned, train

TEXTS = {
    "english": 'The old teacher saw 2024 dogs; he said, "Isn\'t it never too late?"',
    "blanks": "The  old   teacher saw\tthe dog.  ",
    "line breaks": 'The teacher saw "the dogs".\n\n  He never  saw the café.\nThe end.\n',
    "bengali": "মেয়েটি বাজারে ভাত খায়। ছেলেটি বই পড়ে!",
    "czech": "Učitel hledá nové knihy – žlutý klíč v malém městě.",
    "czech, marks apart": unicodedata.normalize("NFD", "Učitel hledá žlutý klíč."),
    "mandarin": "农夫在村里吃饭。老师看见了那只狗，他说：“好！”",
    "mandarin with blanks": "农夫 在 村里\u3000吃饭 。",
    "emoji": "The teacher 👩\u200d🏫 saw the dog 😀!",
}
WORDS = {
    name: words.split("|")
    for name, words in {
        "mandarin": "农夫|在|村里|吃饭|。|老师|看见|了|那|只|狗|，|他|说|：“|好|！”",
        "english": 'The|old|teacher|saw|20|24|dogs|;|he|said|,|"|Isn|\'t|it|never|too|late|?|"',
    }.items()
}
"""Words of two of the texts that are not all parted by white space."""

_SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<mask>"]
_CORPUS = [text for text in TEXTS.values() for _ in range(4)]
_BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
_LETTERS = sorted({letter for text in TEXTS.values() for letter in text + text.lower()} - set(" \n\t\u3000"))
_MAX_TOKENS = 128


def _bpe(
    size: int,
    pre_tokenizer: pre_tokenizers.PreTokenizer,
    special: list[str],
    alphabet: list[str],
    normalizer: normalizers.Normalizer | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Return the result of training a BPE, as keyword arguments of the tokenizer classes."""
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False, **settings
    )
    return learned(train(models.BPE(unk_token="<unk>"), trainer, pre_tokenizer, normalizer, texts=_CORPUS))


def _byte_bpe(split: pre_tokenizers.PreTokenizer | None = None) -> dict[str, Any]:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)
    pre_tokenizer = byte_level if split is None else pre_tokenizers.Sequence([split, byte_level])
    return _bpe(420, pre_tokenizer, _SPECIAL, _BYTES)


def _gpt2() -> PreTrainedTokenizerFast:
    return GPT2Tokenizer(**_byte_bpe(), bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def _prefixed() -> PreTrainedTokenizerFast:
    return RobertaTokenizer(**_byte_bpe(), add_prefix_space=True, trim_offsets=False)


def _qwen() -> PreTrainedTokenizerFast:
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    learned = _byte_bpe(pre_tokenizers.Split(Regex(pattern), behavior="isolated"))
    return Qwen2Tokenizer(**learned, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")


def _spaces_added() -> PreTrainedTokenizerFast:
    trained = Tokenizer(models.BPE(**_byte_bpe()))
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trained.add_special_tokens(_SPECIAL)
    trained.add_tokens([AddedToken(" " * n, normalized=False) for n in (4, 3, 2)])
    return PreTrainedTokenizerFast(tokenizer_object=trained, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def _sentencepiece_bpe(pre_tokenizer: pre_tokenizers.PreTokenizer) -> dict[str, Any]:
    special = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    known = [letter for letter in _LETTERS if letter < "\u3000"]  # Mandarin and emoji are bytes
    return _bpe(len(special) + len(known) + 160, pre_tokenizer, special, ["▁", *known], limit_alphabet=len(known) + 1)


def _llama() -> PreTrainedTokenizerFast:
    return LlamaTokenizer(**_sentencepiece_bpe(pre_tokenizers.Metaspace()), add_bos_token=False)


def _gemma() -> PreTrainedTokenizerFast:
    learned = _sentencepiece_bpe(pre_tokenizers.Metaspace(prepend_scheme="never"))
    return GemmaTokenizer(**learned, bos_token="<s>", eos_token="</s>", add_bos_token=False)


def _unigram(normalizer: normalizers.Normalizer | None) -> list[tuple[str, float]]:
    trainer = trainers.UnigramTrainer(
        vocab_size=400, special_tokens=_SPECIAL, unk_token="<unk>", initial_alphabet=_LETTERS, show_progress=False
    )
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    vocabulary = json.loads(train(models.Unigram(), trainer, words, normalizer, texts=_CORPUS).to_str())["model"][
        "vocab"
    ]
    pieces = sorted((piece, score) for piece, score in vocabulary if piece not in _SPECIAL)
    return [*((token, 0.0) for token in _SPECIAL), *pieces]


def _xlm_roberta() -> PreTrainedTokenizerFast:
    return XLMRobertaTokenizer(vocab=_unigram(None))


def _albert() -> PreTrainedTokenizerFast:
    steps = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "mask_token": "<mask>"}
    return AlbertTokenizer(vocab=_unigram(normalizers.Sequence(steps)), **names)


def _wordpiece(lower: bool) -> PreTrainedTokenizerFast:
    normalizer = normalizers.BertNormalizer(lowercase=lower)
    # Continuations are named first: the trainer numbers them in an order that changes from run to run.
    letters = sorted(set(normalizer.normalize_str("".join(_LETTERS))) - {" "})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    trainer = trainers.WordPieceTrainer(vocab_size=len(special) + 12, special_tokens=special, show_progress=False)
    model = models.WordPiece(unk_token="[UNK]")
    trained = train(model, trainer, pre_tokenizers.BertPreTokenizer(), normalizer, texts=_CORPUS)
    names = {"bos_token": "[CLS]", "eos_token": "[SEP]"}
    return BertTokenizer(vocab=trained.get_vocab(), do_lower_case=lower, **names)


def _word_ends() -> PreTrainedTokenizerFast:
    normalizer = normalizers.BertNormalizer(lowercase=True)
    letters = sorted(set(normalizer.normalize_str("".join(_LETTERS))))
    learned = _bpe(
        len(_SPECIAL) + 2 * len(letters) + 12,
        pre_tokenizers.BertPreTokenizer(),
        _SPECIAL,
        letters,
        normalizer,
        end_of_word_suffix="</w>",
    )
    return OpenAIGPTTokenizer(**learned, bos_token="<s>", eos_token="</s>")


def _characters() -> PreTrainedTokenizerFast:
    entries = [*_SPECIAL, " ", "\n", "\t", "\u3000", *_LETTERS]
    model = models.WordLevel({entry: number for number, entry in enumerate(entries)}, unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", entries.index("<s>")), ("</s>", entries.index("</s>"))]
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


FAMILIES: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte-bpe": _gpt2,
    "byte-bpe-prefix": _prefixed,
    "byte-bpe-digits": _qwen,
    "spaces-added": _spaces_added,
    "sentencepiece-bpe": _llama,
    "sentencepiece-whole": _gemma,
    "unigram": _xlm_roberta,
    "unigram-uncased": _albert,
    "wordpiece-cased": lambda: _wordpiece(False),
    "wordpiece-uncased": lambda: _wordpiece(True),
    "word-ends": _word_ends,
    "characters": _characters,
}
MARKED = tuple(FAMILIES)[:8]
"""Those whose tokens say where a word begins: with these the surprisals of causal models are corrected."""
WITH_MASK = ("byte-bpe-prefix", "unigram", "unigram-uncased", "wordpiece-cased", "wordpiece-uncased", "characters")


def save(family: str, home: Path, *, causal: bool) -> Path:
    """Leave the tokenizer of a family in `home` beside a causal or a masked model of two layers."""
    tokenizer = FAMILIES[family]()
    tokenizer.model_max_length = _MAX_TOKENS
    torch.manual_seed(len(family))
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.cls_token_id
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": _MAX_TOKENS}
    sizes |= {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    model: Any
    if causal:
        model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=begin, eos_token_id=begin))
    else:
        model = BertForMaskedLM(BertConfig(**sizes, intermediate_size=32))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(12)
    tokenizer.save_pretrained(home)
    model.save_pretrained(home)
    return home
