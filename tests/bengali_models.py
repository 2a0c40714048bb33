"""Tiny models of Bengali, tokenizers trained on the sample text: what stands in for the models of the Bangla study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, ElectraConfig, ElectraForPreTraining, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = 256


def bengali_model(kind: str, text: Sequence[str], home: Path) -> Path:
    """A directory with a masked model (`wordpiece`, `unigram`) or a discriminator, which gives vectors only."""
    tokenizer = _tokenizer("unigram" if kind == "unigram" else "wordpiece", text)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": TOKENS,
        "initializer_range": 0.3,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7 if kind == "unigram" else 8)
        if kind == "discriminator":
            model: Any = ElectraForPreTraining(ElectraConfig(embedding_size=32, **sizes))
        else:
            model = BertForMaskedLM(BertConfig(**sizes))
    model.save_pretrained(home / kind)
    tokenizer.save_pretrained(home / kind)
    return home / kind


def _tokenizer(sort: str, text: Sequence[str]) -> PreTrainedTokenizerFast:
    tokenizer: Tokenizer
    trainer: Any
    if sort == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        signs = sorted({c for line in text for c in line if not c.isspace()})
        trainer = trainers.WordPieceTrainer(
            vocab_size=6_000, special_tokens=[*SPECIAL, *(f"##{c}" for c in signs)], show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=4_000, special_tokens=SPECIAL, unk_token="[UNK]", show_progress=False
        )
    tokenizer.train_from_iterator(text, trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **names,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=TOKENS,
    )


def bengali_vectors(sentences: Sequence[Sequence[str]], path: Path) -> Path:
    """Word vectors of the text's words in word2vec's text format."""
    from gensim.models import Word2Vec

    trained = Word2Vec([list(s) for s in sentences], vector_size=24, min_count=1, epochs=2, workers=1, seed=0)
    trained.wv.save_word2vec_format(str(path))
    return path
