"""Every masked and causal class of transformers that builds from a tiny configuration, with a trained tokenizer.

Weights are random and large enough that padding, neighbours or later tokens show in the numbers.
"""

from __future__ import annotations

import contextlib
import functools
import json
import zlib
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForMaskedLM

from zoo import train

MASKED = """
    albert bert big_bird camembert convbert data2vec-text deberta deberta-v2 distilbert electra ernie esm eurobert
    flaubert fnet funnel gte ibert jina_embeddings_v3 layoutlm longformer megatron-bert mobilebert modernbert mpnet
    mra nomic_bert nystromformer rembert roberta roberta-prelayernorm roformer squeezebert tapas ultrabert xlm
    xlm-roberta xlm-roberta-xl yoso
""".split()  # noqa: SIM905
CAUSAL = """
    apertus arcee biogpt bitnet bloom cohere cohere2 ctrl ernie4_5 exaone4 falcon falcon_mamba gemma gemma2
    gemma3_text glm glm4 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss granite helium jetmoe lfm2 llama mamba ministral
    mistral mixtral modernbert-decoder mpt nemotron olmo olmo2 olmo3 olmoe openai-gpt opt persimmon phi phi3 qwen2
    qwen2_moe qwen3 qwen3_moe seed_oss smollm3 stablelm starcoder2 xglm
""".split()  # noqa: SIM905
NOT_CAUSAL = ["bert", "bert-generation", "electra", "roberta", "roformer", "xlnet"]
"""Encoders that transformers loads under a causal head, here without `is_decoder`, and XLNet."""

TEXTS = [
    "Rain",
    "The old teacher saw the old dog.",
    "It rained.",
    "The keys to the cabinet are on the table.",
    "The teacher, who never saw the dog, bought the small book in the garden.",
    "Snow fell.",
]
_SIZES = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size", "emb_dim"), 16),
    **dict.fromkeys(("intermediate_size", "d_inner", "n_inner", "hidden_dim", "ffn_dim", "ffn_hidden_size"), 32),
    **dict.fromkeys(("decoder_ffn_dim", "encoder_ffn_dim", "dim_feedforward"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads"), 2),
    **dict.fromkeys(("decoder_attention_heads", "num_experts_per_tok", "type_vocab_size"), 2),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads"), 1),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), 128),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "head_dim": 8,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "mask_token_id": 4,
}
_OTHERS: dict[str, dict[str, Any]] = {
    "funnel": {"block_sizes": [1, 1], "block_repeats": [1, 1], "num_decoder_layers": 1},
    "xlnet": {"d_head": 8},
    "gpt_neo": {"attention_types": [[["global"], 2]], "attention_layers": ["global", "global"]},
}


@functools.cache
def tokenizer() -> Tokenizer:
    """Return a WordPiece tokenizer with BERT's template and its special tokens under the first five numbers."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    built = train(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=150, special_tokens=special),
        pre_tokenizers.BertPreTokenizer(),
        normalizers.BertNormalizer(lowercase=True),
        decoder=decoders.WordPiece(),
        texts=TEXTS * 3,
    )
    built.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return built


def network(kind: str, *, causal: bool) -> Any:
    """Return the tiny model of a type of transformers, such as "bert", with large random weights."""
    config: Any = CONFIG_MAPPING[kind]()
    for name, value in {**_SIZES, "vocab_size": tokenizer().get_vocab_size()}.items():
        with contextlib.suppress(NotImplementedError, AttributeError):  # such as a property made of others
            if hasattr(config, name):
                setattr(config, name, value)
    for name, value in _OTHERS.get(kind, {}).items():
        setattr(config, name, value)
    with contextlib.suppress(AttributeError):
        config.layer_types = config.layer_types[:2]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(zlib.crc32(kind.encode()))
        loader: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
        model: Any = loader.from_config(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 2:
                    parameter.copy_(torch.randn_like(parameter) * 0.5)
    return model


def save(kind: str, folder: Path, *, causal: bool) -> Path:
    """Write the tiny model of a type and its tokenizer as a checkpoint; return its folder."""
    home = folder / kind
    network(kind, causal=causal).save_pretrained(home)
    tokenizer().save(str(home / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 100, **special}
    settings |= {"bos_token": "[CLS]", "eos_token": "[SEP]"} if causal else {"mask_token": "[MASK]"}
    (home / "tokenizer_config.json").write_text(json.dumps(settings))
    return home
