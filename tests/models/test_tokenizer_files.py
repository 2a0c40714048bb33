"""Tokens are those of the checkpoint's own files: `tokenizers` or SentencePiece alone read the same file and give the
right ones."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import pytest
import sentencepiece
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    LlamaConfig,
    MistralConfig,
    MistralForCausalLM,
)

from builders import language_model
from penchant.errors import ModelError
from penchant.models.load import load_tokenizer
from penchant.models.tokenizer_files import PROBES
from penchant.study.model_check import check
from zoo import train

TEXTS = [*PROBES, "In 1010 it was hot.", "The teacher saw DIE MÄNNER.", "He said (the dogs) DON'T sleep", "২০২৪ সালে"]
SPLIT = {
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
}
_TINY: dict[str, Any] = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 64,
}
_SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<mask>"]
_CORPUS = [text for text in TEXTS for _ in range(6)] + ["(the dogs DON'T 1010 2024"] * 30


def _split(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _byte_bpe(
    pre_tokenizer: pre_tokenizers.PreTokenizer, normalizer: normalizers.Normalizer | None = None, size: int = 600
) -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    return train(models.BPE(), trainer, pre_tokenizer, normalizer, decoder=decoders.ByteLevel(), texts=_CORPUS)


def _metaspace_bpe() -> Tokenizer:
    """A BPE that falls back on bytes and puts no space before a text, as Yi's does."""
    special = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    return train(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        trainers.BpeTrainer(vocab_size=700, special_tokens=special, show_progress=False),
        None,
        normalizers.Replace(" ", "▁"),
        decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]),
        texts=_CORPUS,
    )


def _unigram(normalizer: normalizers.Normalizer) -> Tokenizer:
    trainer = trainers.UnigramTrainer(vocab_size=500, special_tokens=_SPECIAL, unk_token="<unk>", show_progress=False)
    metaspace = pre_tokenizers.Metaspace()
    return train(models.Unigram(), trainer, metaspace, normalizer, decoder=decoders.Metaspace(), texts=_CORPUS)


def _wordpiece() -> Tokenizer:
    """WordPiece that keeps letter case and accents, whatever the configuration beside it says."""
    return train(
        models.WordPiece(unk_token="<unk>"),
        trainers.WordPieceTrainer(vocab_size=700, special_tokens=_SPECIAL),
        pre_tokenizers.WhitespaceSplit(),
        normalizers.NFC(),
        decoder=decoders.WordPiece(),
        texts=_CORPUS,
    )


OWN: dict[str, tuple[str, Callable[[], Tokenizer]]] = {
    "digits in threes": ("GPT2Tokenizer", lambda: _byte_bpe(_split(SPLIT["llama3"]))),
    "small letters": (
        "GPT2TokenizerFast",
        lambda: _byte_bpe(
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        ),
    ),
    "composed letters": (
        "RobertaTokenizer",
        lambda: _byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFC()),
    ),
    "no space first": ("LlamaTokenizer", _metaspace_bpe),
    "accents kept": ("AlbertTokenizer", lambda: _unigram(normalizers.NFC())),
    "compatibility": (
        "XLMRobertaTokenizer",
        lambda: _unigram(normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])),
    ),
    "cased": ("BertTokenizer", _wordpiece),
}


def _write(folder: Path, own: Tokenizer, cls: str) -> Path:
    folder.mkdir()
    own.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": cls, "model_max_length": 64, "unk_token": "<unk>", "mask_token": "<mask>"}
    settings |= {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize("name", OWN)
def test_the_tokens_are_those_of_tokenizer_json(name: str, tmp_path: Path) -> None:
    cls, build = OWN[name]
    own = build()
    home = _write(tmp_path / "m", own, cls)
    config = LlamaConfig(vocab_size=own.get_vocab_size(), hidden_size=8, num_hidden_layers=1, num_attention_heads=2)
    config.save_pretrained(home)
    right = [own.encode(text, add_special_tokens=False).ids for text in TEXTS]
    made: Any = AutoTokenizer.from_pretrained(home)
    assert [made(text, add_special_tokens=False)["input_ids"] for text in TEXTS] != right, "transformers reads it alike"
    _, tokenizer = load_tokenizer(home)
    assert tokenizer.token_ids(TEXTS) == right
    assert tokenizer.mask_id == own.token_to_id("<mask>")


def _sentencepiece(folder: Path, **settings: Any) -> sentencepiece.SentencePieceProcessor:
    folder.mkdir(exist_ok=True)
    (folder / "corpus.txt").write_text("\n".join(text for text in _CORPUS if "\n" not in text), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "corpus.txt"),
        model_prefix=str(folder / "spm"),
        vocab_size=600,
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=3,
        bos_id=1,
        eos_id=2,
        pad_piece="[PAD]",
        unk_piece="[UNK]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        user_defined_symbols=["[MASK]"],
        minloglevel=2,
        **settings,
    )
    processor = sentencepiece.SentencePieceProcessor()
    processor.Load(str(folder / "spm.model"))
    return processor


def test_a_sentencepiece_model_alone_is_read_with_its_replaced_characters(tmp_path: Path) -> None:
    right = _sentencepiece(tmp_path / "m", normalization_rule_name="nmt_nfkc")
    config = DebertaV2Config(vocab_size=right.GetPieceSize(), **_TINY)
    DebertaV2ForMaskedLM(config).save_pretrained(tmp_path / "m")
    (tmp_path / "m" / "tokenizer_config.json").write_text('{"tokenizer_class": "DebertaV2Tokenizer"}')
    _, tokenizer = load_tokenizer(tmp_path / "m")
    for text in ("he said…", "ﬁne", "a ½ b", "№ 3", "the dogs"):
        assert tokenizer.strings(tokenizer.token_ids([text])[0]) == right.EncodeAsPieces(text)


def _gguf(file: Path, own: Tokenizer, pre: str | None) -> Path:
    """A tiny llama with byte-level merges in a GGUF file that names their division `pre`, or none."""
    state = json.loads(own.to_str())["model"]
    vocabulary = sorted(state["vocab"], key=state["vocab"].get)
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_tokenizer_model("gpt2")
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocabulary)
    writer.add_token_types([3 if token in _SPECIAL else 1 for token in vocabulary])
    writer.add_token_merges([" ".join(merge) for merge in state["merges"]])
    return _written(writer, len(vocabulary), file)


def _written(writer: gguf.GGUFWriter, vocabulary: int, file: Path) -> Path:
    """The file of a writer that has a tokenizer, with a tiny llama."""
    width, heads = 32, 2
    numbers = {
        "context_length": 64,
        "embedding_length": width,
        "block_count": 1,
        "feed_forward_length": 32,
        "head_count": heads,
        "head_count_kv": heads,
        "rope_dimension_count": width // heads,
        "layer_norm_rms_eps": 1e-5,
        "vocab_size": vocabulary,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    for name, number in numbers.items():
        getattr(writer, f"add_{name}")(number)
    generator = torch.Generator().manual_seed(0)
    shapes = {"token_embd.weight": (vocabulary, width), "output.weight": (vocabulary, width)}
    shapes |= {f"blk.0.{name}.weight": (width, width) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    shapes |= {f"blk.0.{name}.weight": (32, width) for name in ("ffn_gate", "ffn_up", "ffn_down")}
    for name, shape in shapes.items():
        writer.add_tensor(name, torch.randn(shape, generator=generator).numpy())
    for name in ("output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"):
        writer.add_tensor(name, torch.ones(width).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.parametrize(
    ("split", "pre"), [("qwen2", "qwen2"), ("qwen2", "stablelm2"), ("qwen2", None), ("llama3", None)]
)
def test_a_gguf_file_is_divided_as_its_merges_were_learned(split: str, pre: str | None, tmp_path: Path) -> None:
    own = _byte_bpe(_split(SPLIT[split]), size=900)
    _, tokenizer = load_tokenizer(_gguf(tmp_path / "m.gguf", own, pre))
    assert tokenizer.token_ids(TEXTS) == [own.encode(text, add_special_tokens=False).ids for text in TEXTS]


def test_a_gguf_file_whose_division_cannot_be_told_is_refused(tmp_path: Path) -> None:
    whole = _byte_bpe(_split(r"[\s\S]{1,9}"), size=900)
    with pytest.raises(ModelError, match=r"tokenizer\.ggml\.pre") as refused:
        load_tokenizer(_gguf(tmp_path / "m.gguf", whole, "a-new-one"))
    assert "m.gguf" in refused.value.where


@pytest.mark.parametrize("space", [True, False])
def test_a_gguf_file_says_whether_a_space_comes_first(space: bool, tmp_path: Path) -> None:
    right = _sentencepiece(
        tmp_path / "spm",
        model_type="bpe",
        byte_fallback=True,
        add_dummy_prefix=space,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    size = right.GetPieceSize()
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([right.IdToPiece(number) for number in range(size)])
    writer.add_token_scores([right.GetScore(number) for number in range(size)])
    kinds = [2 if right.IsUnknown(n) else 3 if right.IsControl(n) else 6 if right.IsByte(n) else 1 for n in range(size)]
    writer.add_token_types(kinds)
    writer.add_add_space_prefix(space)
    _, tokenizer = load_tokenizer(_written(writer, size, tmp_path / "m.gguf"))
    for text in ("the dogs", "He said (the dogs) DON'T sleep", "In 1010 it was hot.", "ছেলে"):
        assert tokenizer.token_ids([text])[0] == right.EncodeAsIds(text)


@pytest.fixture
def mistral(tmp_path: Path) -> Path:
    """A Mistral checkpoint of an old version with more than 100,000 tokens, of which transformers warns."""
    own = _byte_bpe(_split(SPLIT["qwen2"]))
    state = json.loads(own.to_str())
    known = len(state["model"]["vocab"])
    state["model"]["vocab"] |= {f"zq{number}zq": known + number for number in range(100_100 - known)}
    own = Tokenizer.from_str(json.dumps(state))
    home = _write(tmp_path / "mistral", own, "PreTrainedTokenizerFast")
    config = MistralConfig(vocab_size=own.get_vocab_size(), num_key_value_heads=1, **_TINY)
    MistralForCausalLM(config).save_pretrained(home)
    saved = json.loads((home / "config.json").read_text())
    (home / "config.json").write_text(json.dumps(saved | {"transformers_version": "4.50.0"}))
    return home


def test_what_transformers_warns_of_is_said(mistral: Path) -> None:
    with pytest.warns(UserWarning, match=r"tokenizer\.json"):
        lm = language_model(mistral)
    assert len(lm.cautions) == 1
    assert {f.verdict for f in check(lm, ["The teacher saw the dog."]) if f.name == "loading"} == {"warn"}


def test_a_sound_model_loads_without_a_warning(zoo: Callable[[str], Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not language_model(zoo("llama")).cautions
