"""Tiny language models with trained tokenizers, one per family, saved as any checkpoint would be.

`build("roberta", directory)` leaves a directory that `AutoTokenizer` and the `AutoModel…` classes load
without a network. The weights are random, but large enough for log-probabilities to differ visibly between
tokens and between contexts: a scorer that confuses two positions, drops a special token or lets padding
through gives a wrong number.

What each family is there for:

- `bert`, `bert-cased`: WordPiece, lower-cased with accents stripped, and not;
- `roberta`: byte-level BPE whose first token has no leading space, positions counted from pad id + 1;
- `xlm-roberta`: Unigram with a metaspace in front of every word;
- `electra-generator`: embeddings narrower than the hidden states; `albert`: that, and layers sharing weights;
- `distilbert`: no token types; `deberta-v2`: relative attention, no absolute positions;
- `modernbert`: local attention, rotary positions;
- `gpt2`: BOS is the end-of-text token and the tokenizer does not add it; `gpt2-no-bos`: there is none;
- `llama`: the tokenizer adds `<s>` itself, grouped queries, untied head, byte fallback;
- `mistral`: sliding window, `<s>` added by a post-processor;
- `t5`: an encoder-decoder whose decoder starts with the padding token; `bart`: one whose decoder reads `</s>` and `<s>`
  before a text;
- `electra-discriminator`, `bert-headless`: checkpoints that hold no language-modelling head.

The heads of `deberta-v2` and `modernbert` have more rows than there are tokens, as the published ones do.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
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
from transformers import PreTrainedModel, PreTrainedTokenizerFast

MASKED = (
    "bert",
    "bert-cased",
    "roberta",
    "xlm-roberta",
    "electra-generator",
    "albert",
    "distilbert",
    "deberta-v2",
    "modernbert",
)
CAUSAL = ("gpt2", "gpt2-no-bos", "llama", "mistral")
ENCODER_DECODER = ("t5", "bart")
HEADLESS = ("electra-discriminator", "bert-headless")
ALL = MASKED + CAUSAL + HEADLESS

MAX_TOKENS = 64
"""The most tokens, special ones included, of each model; also each tokenizer's `model_max_length`."""

SENTENCES = [
    "Rain",
    "Hello, world!",
    "very very very good",
    "The traveler lost the souvenir.",
    "The keys to the cabinet are on the table.",
    "The old teacher saw the old dog, and the old dog saw the teacher.",
    'Isn\'t it "never" too late?',
    "In 2024, 3 of 10 naïve café owners left - why?",
    "Žluťoučký kůň hledá čistou vodu.",
    "Moje sestra čte nové knihy v malém městě.",
    "মেয়েটি বাজারে যায়।",
    "কৃষক গ্রামে ভাত খায়।",
    "The young nurse and the doctor saw a white horse in the garden, but the teacher bought the small book.",
]
"""Texts of one word to some forty tokens, two of them not in Latin script; no tokenizer has an unknown."""

PAIRS = [
    ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."),
    ("The nurse said she was late.", "The nurse said he was late."),
    ("The teacher saw the dog.", "The teacher saw the very old dog in the garden."),
    ("The traveler lost the souvenir.", "The traveler lost the souvenir souvenir."),
    ("Women buy good books.", "Men never buy good books, do they?"),
    ("No dog ever sleeps.", "The dog ever sleeps."),
    ("Moje sestra čte nové knihy.", "Moje sestra čte nové knihy v malém městě."),
    ("মেয়েটি বাজারে যায়।", "ছেলেটি বাজারে যায়।"),
]
"""(good, bad); each pair shares tokens. The pairs differ in one place or several, in length or not."""

_WORDS = {
    "noun": "teacher nurse doctor dog horse traveler owner sister book cabinet table garden souvenir key "
    "world gardener painter farmer soldier neighbour grandmother lawyer pianist student mechanic window",
    "adjective": "old young small white good late naïve careful wonderful ordinary terrible foreign careless "
    "beautiful unfriendly remarkable thoughtful",
    "verb": "saw bought lost left found painted remembered forgot followed described discovered understood",
    "czech subject": "učitel lékařka sestra kůň babička žák ředitelka zahradník malířka soused tlumočnice",
    "czech verb": "hledá čte kupuje vidí má maluje poslouchá připravuje zapomíná",
    "bengali person": "মেয়েটি ছেলেটি কৃষক শিক্ষক ডাক্তার প্রতিবেশী লেখক",
    "bengali place": "বাজারে গ্রামে ঘরে স্কুলে শহরে নদীতে",
}
_PHRASES = {
    "place": [
        "in the garden",
        "on the table",
        "at the café",
        "in 2024",
        "to the cabinet",
        "at 10",
        "with 3 keys",
    ],
    "opening": ["Rain", "Men", "Women", "No", "Hello"],
    "question": ["Why", "Is it true that", "He said", "She said"],
    "czech object": ["nové knihy", "čistou vodu", "žlutý klíč", "malý dům", "černého koně", "dlouhý příběh"],
    "czech place": ["v malém městě", "na zahradě", "u široké řeky", "před školou"],
    "bengali act": ["যায়", "ভাত খায়", "বই পড়ে", "গান শোনে", "ছবি আঁকে"],
}


def corpus() -> list[str]:
    """Return what the tokenizers are trained on: English, Czech and Bengali text, the same at every call."""
    choices = {slot: words.split() for slot, words in _WORDS.items()} | _PHRASES
    draw = random.Random(20240229)

    def pick(slot: str) -> str:
        return draw.choice(choices[slot])

    sentences = [*SENTENCES, *(text for pair in PAIRS for text in pair)]
    for _ in range(150):
        sentences += [
            f"The {pick('adjective')} {pick('noun')} {pick('verb')} the {pick('noun')} {pick('place')}.",
            f"{pick('opening')}, said the {pick('noun')}, is never {pick('adjective')}!",
            f'{pick("question")} "the {pick("noun")}s are very {pick("adjective")}"?',
            f"{pick('czech subject')} {pick('czech verb')} {pick('czech object')} {pick('czech place')}.",
            f"{pick('bengali person')} {pick('bengali place')} {pick('bengali act')}।",
        ]
    return sentences


def build(name: str, directory: Path) -> Path:
    """Return `directory/name`, holding that model and its tokenizer; they are made if they are not there.

    The directory appears whole or not at all, so several processes may build the same model at once.

    Raises:
        KeyError: the zoo has no model of that name.
    """
    make_tokenizer, make_model = _ZOO[name]
    home = directory / name
    if home.is_dir():
        return home
    directory.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=directory))
    try:
        tokenizer = make_tokenizer()
        with torch.random.fork_rng(devices=[]):
            model = make_model(tokenizer)
        _randomise(model, seed=zlib.crc32(name.encode()))
        tokenizer.save_pretrained(draft)
        model.save_pretrained(draft)
        try:
            draft.rename(home)
        except OSError:  # another process was first; its copy is as good
            if not home.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return home


def altered(
    model: Path, to: Path, *, weights: Callable[[dict[str, torch.Tensor]], None] | None = None, **config: object
) -> Path:
    """Copy a checkpoint, with weights that a function changes in place and other values in its configuration."""
    shutil.copytree(model, to)
    if weights is not None:
        tensors = load_file(to / "model.safetensors")
        weights(tensors)
        save_file(tensors, to / "model.safetensors", {"format": "pt"})
    if config:
        content = json.loads((to / "config.json").read_text("utf-8"))
        (to / "config.json").write_text(json.dumps({**content, **config}), "utf-8")
    return to


def _randomise(model: PreTrainedModel, seed: int) -> None:
    """Draw every parameter anew: matrices at 17 times the usual spread, biases off 0, norm gains near 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(0.35 * noise)
            elif name.endswith("weight"):
                parameter.copy_(1 + 0.1 * noise)
            else:
                parameter.copy_(0.3 * noise)


# Tokenizers. Each is trained here and then handed to the class that published checkpoints of its family name.
# transformers 5 rebuilds the normaliser and the pre-tokenizer from that class and takes little more than the
# vocabulary from the file, so the pipeline trained with must be the class's own.


def train(
    model: models.Model,
    trainer: trainers.Trainer,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    normalizer: normalizers.Normalizer | None = None,
    *,
    decoder: decoders.Decoder | None = None,
    texts: Iterable[str] | None = None,
) -> Tokenizer:
    """Train a tokenizer on `texts`, or on the corpus of the zoo."""
    tokenizer = Tokenizer(model)
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(corpus() if texts is None else texts, trainer)
    return tokenizer


def learned(trained: Tokenizer) -> dict[str, Any]:
    """Return what a BPE learned, as keyword arguments of the tokenizer classes."""
    state = json.loads(trained.to_str())["model"]
    return {"vocab": state["vocab"], "merges": [tuple(merge) for merge in state["merges"]]}


def _lstripped(token: str) -> AddedToken:
    """A mask that takes the space before it along, as those of RoBERTa, XLM-R, ALBERT and ModernBERT do."""
    return AddedToken(token, lstrip=True, special=True, normalized=False)


def _wordpiece(*, lower: bool) -> PreTrainedTokenizerFast:
    normalizer = normalizers.BertNormalizer(lowercase=lower)
    # The trainer numbers continuations in an order that changes from run to run and ranks equal pieces by
    # number; naming them first makes the outcome repeatable.
    letters = sorted(set(normalizer.normalize_str("".join(corpus()))) - {" "})
    trained = train(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(
            vocab_size=400 if lower else 450,
            special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"##{c}" for c in letters)],
            show_progress=False,
        ),
        pre_tokenizers.BertPreTokenizer(),
        normalizer,
    )
    return transformers.BertTokenizer(vocab=trained.get_vocab(), do_lower_case=lower, model_max_length=MAX_TOKENS)


def _byte_level(*special: str | AddedToken, normalizer: normalizers.Normalizer | None = None) -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
    )
    pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return train(models.BPE(), trainer, pre_tokenizer, normalizer, decoder=decoders.ByteLevel())


def _unigram(
    special: list[str],
    unknown: str,
    pre_tokenizer: pre_tokenizers.PreTokenizer,
    normalizer: normalizers.Normalizer | None = None,
) -> list[tuple[str, float]]:
    trainer = trainers.UnigramTrainer(vocab_size=450, special_tokens=special, unk_token=unknown, show_progress=False)
    trained = train(models.Unigram(), trainer, pre_tokenizer, normalizer)
    pieces = {piece for piece, _ in json.loads(trained.to_str())["model"]["vocab"]} - set(special)
    # The trainer's scores change in the third decimal from run to run; shares of the text stay as they are.
    text = "▁".join(["", *corpus()] if normalizer is None else ["", *map(normalizer.normalize_str, corpus())])
    text = text.replace(" ", "▁")
    scores = {piece: math.log(max(text.count(piece), 1) / len(text)) for piece in pieces}
    ranked = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    return [*((token, 0.0) for token in special), *ranked]


def _spaced_words() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])


def _roberta_tokenizer() -> PreTrainedTokenizerFast:
    trained = _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    return transformers.RobertaTokenizer(
        **learned(trained), mask_token=_lstripped("<mask>"), model_max_length=MAX_TOKENS
    )


def _xlm_roberta_tokenizer() -> PreTrainedTokenizerFast:
    vocab = _unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<unk>", _spaced_words())
    return transformers.XLMRobertaTokenizer(vocab=vocab, mask_token=_lstripped("<mask>"), model_max_length=MAX_TOKENS)


def _albert_tokenizer() -> PreTrainedTokenizerFast:
    vocab = _unigram(
        ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"],
        "<unk>",
        _spaced_words(),
        normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]),
    )
    return transformers.AlbertTokenizer(vocab=vocab, mask_token=_lstripped("[MASK]"), model_max_length=MAX_TOKENS)


def _t5_tokenizer() -> PreTrainedTokenizerFast:
    vocab = _unigram(["<pad>", "</s>", "<unk>"], "<unk>", _spaced_words())
    return transformers.T5Tokenizer(vocab=vocab, extra_ids=0, model_max_length=MAX_TOKENS)


def _deberta_tokenizer() -> PreTrainedTokenizerFast:
    vocab = _unigram(
        ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"],
        "[UNK]",
        pre_tokenizers.Metaspace(),
        normalizers.Sequence([normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC()]),
    )
    return transformers.DebertaV2Tokenizer(vocab=vocab, model_max_length=MAX_TOKENS)


def _modernbert_tokenizer() -> PreTrainedTokenizerFast:
    trained = _byte_level("[UNK]", "[CLS]", "[SEP]", "[PAD]", _lstripped("[MASK]"), normalizer=normalizers.NFC())
    trained.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(token, trained.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token=_lstripped("[MASK]"),
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=MAX_TOKENS,
    )


def _gpt2_tokenizer() -> PreTrainedTokenizerFast:
    return transformers.GPT2Tokenizer(**learned(_byte_level("<|endoftext|>")), model_max_length=MAX_TOKENS)


def _gpt2_no_bos_tokenizer() -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=_byte_level(), model_max_length=MAX_TOKENS)


def _llama_tokenizer() -> PreTrainedTokenizerFast:
    trained = train(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        trainers.BpeTrainer(
            vocab_size=650,
            special_tokens=["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))],
            show_progress=False,
        ),
        pre_tokenizers.Metaspace(),
    )
    return transformers.LlamaTokenizer(**learned(trained), add_bos_token=True, model_max_length=MAX_TOKENS)


def _mistral_tokenizer() -> PreTrainedTokenizerFast:
    trained = _byte_level("<unk>", "<s>", "</s>")
    trained.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", trained.token_to_id("<s>"))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=MAX_TOKENS,
    )


# Models.

_SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}


def _model(
    architecture: str,
    tokenizer: PreTrainedTokenizerFast,
    *,
    small: dict[str, Any] = _SMALL,
    offset: bool = False,
    wide: bool = False,
    **settings: Any,
) -> PreTrainedModel:
    """A model of a class of transformers and of the `small` sizes. `offset`: positions are counted from behind that of
    the padding; `wide`: the head has rows that stand for no token, up to a multiple of 64."""
    cls = getattr(transformers, architecture)
    behind = tokenizer.pad_token_id + 1 if offset else 0
    ids = {
        "vocab_size": -(-(len(tokenizer) + 1) // 64) * 64 if wide else len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "max_position_embeddings": MAX_TOKENS + behind,
    }
    model: PreTrainedModel = cls(cls.config_class(**small | ids | settings))
    return model


_bert = partial(_model, "BertForMaskedLM")
_bert_headless = partial(_model, "BertModel")
_roberta = partial(_model, "RobertaForMaskedLM", offset=True, type_vocab_size=1)
_xlm_roberta = partial(_model, "XLMRobertaForMaskedLM", offset=True, type_vocab_size=1)
_electra_generator = partial(_model, "ElectraForMaskedLM", embedding_size=24)
_electra_discriminator = partial(_model, "ElectraForPreTraining", embedding_size=24)
_albert = partial(_model, "AlbertForMaskedLM", embedding_size=24)
_distilbert = partial(_model, "DistilBertForMaskedLM", small={"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64})
_deberta = partial(
    _model,
    "DebertaV2ForMaskedLM",
    wide=True,
    relative_attention=True,
    pos_att_type="c2p|p2c",
    position_buckets=8,
    position_biased_input=False,
    share_att_key=True,
    norm_rel_ebd="layer_norm",
)
_gpt2 = partial(_model, "GPT2LMHeadModel", small={"n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 64})
_llama = partial(_model, "LlamaForCausalLM", num_key_value_heads=2)
_mistral = partial(_model, "MistralForCausalLM", num_key_value_heads=2, sliding_window=8)


def _t5(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    small = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    start = {"decoder_start_token_id": tokenizer.pad_token_id}
    return _model("T5ForConditionalGeneration", tokenizer, small=small, **start)


def _bart(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 64}
    small = {"d_model": 32, **{f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in sizes.items()}}
    start = {"decoder_start_token_id": tokenizer.eos_token_id}
    return _model("BartForConditionalGeneration", tokenizer, small=small, **start)


def _modernbert(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    return _model(
        "ModernBertForMaskedLM",
        tokenizer,
        wide=True,
        num_hidden_layers=3,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        local_attention=8,
        global_attn_every_n_layers=3,
    )


_Recipe = tuple[Callable[[], PreTrainedTokenizerFast], Callable[[PreTrainedTokenizerFast], PreTrainedModel]]

_uncased = partial(_wordpiece, lower=True)
_cased = partial(_wordpiece, lower=False)

_ZOO: dict[str, _Recipe] = {
    "bert": (_uncased, _bert),
    "bert-cased": (_cased, _bert),
    "roberta": (_roberta_tokenizer, _roberta),
    "xlm-roberta": (_xlm_roberta_tokenizer, _xlm_roberta),
    "electra-generator": (_uncased, _electra_generator),
    "albert": (_albert_tokenizer, _albert),
    "distilbert": (_cased, _distilbert),
    "deberta-v2": (_deberta_tokenizer, _deberta),
    "modernbert": (_modernbert_tokenizer, _modernbert),
    "gpt2": (_gpt2_tokenizer, _gpt2),
    "gpt2-no-bos": (_gpt2_no_bos_tokenizer, _gpt2),
    "llama": (_llama_tokenizer, _llama),
    "mistral": (_mistral_tokenizer, _mistral),
    "t5": (_t5_tokenizer, _t5),
    "bart": (_roberta_tokenizer, _bart),
    "electra-discriminator": (_uncased, _electra_discriminator),
    "bert-headless": (_uncased, _bert_headless),
}
