"""Stimuli in one spelling, vectors, texts and models in another: every word is found, as it is written first."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from builders import language_model, write, write_vectors
from penchant.engine.scorer import score
from penchant.errors import DataError
from penchant.instruments.associations.ceat import CEAT
from penchant.instruments.associations.logprob import LogProbBias
from penchant.instruments.associations.weat_seat import SEAT, WEAT
from penchant.instruments.vector_bias.probe import VectorBias
from penchant.models.load import LanguageModel
from penchant.models.unicode_form_choice import with_equivalents

Spell = Callable[[str], str]
FORMS: dict[str, Spell] = {
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "as typed": lambda text: text,
}
# X, Y, A, B; with letters that NFC takes apart, accents, presentation forms, Hangul and two marks on a letter.
SCRIPTS = {
    "Bengali": ["মে\u09dfে বউ", "ছেলে পুরুষ", "বি\u09dfে বা\u09dcি", "কাজ পে\u09b6া"],
    "Devanagari": [
        "\u0932\u095cकी मां",
        "\u0932\u095cका बाप",
        "\u0917\u0939\u0930\u093e \u0959\u0941शी",
        "कलम \u0915\u093e\u095bी",
    ],
    "French": ["fiancée mère", "fiancé père", "ménage bébé", "métier école"],
    "Hebrew": ["\ufb2aרה אם", "א\ufb31א אח", "בית \ufb2aלום", "עבודה כסף"],
    "Korean": ["여자 엄마", "남자 아빠", "가정 아이", "직장 돈"],
    "Vietnamese": ["mẹ chị", "bố thợ", "bếp nhà", "việc tiền"],
}
SETS = ("targ1", "targ2", "attr1", "attr2")


def lists(script: str, spell: Spell = FORMS["as typed"]) -> dict[str, list[str]]:
    return dict(zip("XYAB", ([spell(word) for word in part.split()] for part in SCRIPTS[script]), strict=True))


def vectors(folder: Path, words: Sequence[str]) -> tuple[Path, dict[str, np.ndarray]]:
    rows = np.random.default_rng(3).normal(size=(len(words), 8)).round(4)
    path = write_vectors(folder / "vectors.txt", dict(zip(words, rows, strict=True)))
    return path, dict(zip(words, rows.astype(np.float32).astype(float), strict=True))


def d(vector_of: Mapping[str, np.ndarray], sets: Sequence[Sequence[str]]) -> float:
    """Caliskan's effect size, by a look-up word for word."""

    def s(word: str) -> float:
        means = []
        for part in sets[2:]:
            cosines = [
                vector_of[word] @ vector_of[a] / np.linalg.norm(vector_of[word]) / np.linalg.norm(vector_of[a])
                for a in part
            ]
            means.append(np.mean(cosines))
        return float(means[0] - means[1])

    x, y = ([s(word) for word in part] for part in sets[:2])
    return float((np.mean(x) - np.mean(y)) / np.std(x + y, ddof=1))


@pytest.mark.parametrize("there", list(FORMS))
@pytest.mark.parametrize("here", list(FORMS))
@pytest.mark.parametrize("script", list(SCRIPTS))
def test_static_vectors(tmp_path: Path, script: str, here: str, there: str) -> None:
    given, held = lists(script, FORMS[here]), lists(script, FORMS[there])
    path, vector_of = vectors(tmp_path, ["other", *(word for part in held.values() for word in part)])
    right = d(vector_of, list(held.values()))
    result = WEAT(given, resamples=100).run(path)
    assert result.summary["value"][0] == pytest.approx(right, abs=1e-6)
    assert result.items["word"].to_list() == [word for part in given.values() for word in part]
    moved = [w for a, b in zip(given.values(), held.values(), strict=True) for w, v in zip(a, b, strict=True) if w != v]
    told = [caution for caution in result.cautions if "equivalent spelling" in caution]
    assert len(told) == bool(moved)
    assert all(caution.startswith(f"{len(moved)} of 8 stimuli") for caution in told)
    assert all(word in caution for caution in told for word in moved)
    bias = VectorBias(given, measures=("mac",), resamples=100).run(path)
    assert not bias.items["vector"].null_count()
    assert [caution for caution in bias.cautions if "equivalent spelling" in caution] == told


def test_the_spelling_that_is_written_goes_before_the_others(tmp_path: Path) -> None:
    words = ["e\u0301te\u0301", "été", "b", "c", "d"]
    path, vector_of = vectors(tmp_path, words)
    for word in words[:2]:
        result = WEAT({"X": [word], "Y": ["b"], "A": ["c"], "B": ["d"]}, resamples=100).run(path)
        assert result.items["cosines"][0][0] == pytest.approx(
            vector_of[word] @ vector_of["c"] / np.linalg.norm(vector_of[word]) / np.linalg.norm(vector_of["c"])
        )
        assert not [caution for caution in result.cautions if "spelling" in caution]


TURKISH = {"X": ["İstanbul", "ISPARTA"], "Y": ["Ankara", "İZMİR"], "A": ["iyi"], "B": ["kötü"]}


def test_the_letter_case_of_a_language(tmp_path: Path) -> None:
    words = ["istanbul", "ısparta", "ankara", "izmir", "iyi", "kötü"]
    path, vector_of = vectors(tmp_path, words)
    right = d(vector_of, [words[:2], words[2:4], ["iyi"], ["kötü"]])
    named = {name: {"words": part} for name, part in TURKISH.items()}
    categories = {"C": {name: name for name in TURKISH}}
    set_file = write(tmp_path / "set.yaml", {"language": "tr", "lists": named, "categories": categories})
    for probe in (WEAT(set_file, resamples=100), WEAT(TURKISH, language="tr", resamples=100)):
        result = probe.run(path)
        assert result.summary["value"][0] == pytest.approx(right, abs=1e-6)
        assert len(result.items) == 6
    assert "language" not in WEAT(set_file, resamples=100).run(path).signature
    assert WEAT(TURKISH, language="tr").run(path).signature["language"] == "tr"
    bias = VectorBias(TURKISH, language="tr", measures=("mac",), resamples=100).run(path)
    assert not bias.items["vector"].null_count() and bias.signature["language"] == "tr"


# Models -----------------------------------------------------------------------------------------------------------


def bert(folder: Path, words: Sequence[str]) -> LanguageModel:
    """A tiny BERT whose vocabulary has whole words, and nothing for others."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *dict.fromkeys(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="[MASK]", **names).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, initializer_range=0.5, **sizes)
        BertForMaskedLM(config).save_pretrained(folder)
    return language_model(folder)


FRAME = "se\u0301 {word} a\u0300"
CONTEXT = "{target} se\u0301 {attribute}"


def stimuli(folder: Path, script: str, spell: Spell) -> Path:
    """A set with templates and contexts."""
    named = {name: {"words": part, "templates": "t"} for name, part in lists(script, spell).items()}
    document = {
        "lists": named,
        "templates": {"t": [spell(FRAME)]},
        "contexts": {"c": [{"structure": "S1", "text": spell(CONTEXT)}]},
        "categories": {"C": {**{name: name for name in named}, "contexts": "c"}},
    }
    return write(folder / "set" / "set.yaml", document)


@pytest.mark.parametrize("script", list(SCRIPTS))
def test_models_read_the_spelling_that_they_know(tmp_path: Path, script: str) -> None:
    """The same numbers whatever the spelling of the stimuli; and what is known as it is written is read so."""
    for there in FORMS:
        words = [word for part in lists(script, FORMS[there]).values() for word in part]
        frame = [FORMS[there](word) for word in f"{FRAME} {CONTEXT}".split()]
        model = bert(tmp_path / there, [*words, *frame])
        sentences = tmp_path / "sentences.txt"
        numbers = []
        for here in FORMS:
            path = stimuli(tmp_path, script, FORMS[here])
            sentences.write_text("".join(f"{FORMS[here]('sé ' + word)}\n" for word in words), "utf-8")
            ceat = CEAT(path, sentences=str(sentences), segments=("all",), samples=(10,), resamples=100)
            results = [SEAT(path, resamples=100).run(model), LogProbBias(path, resamples=100).run(model)]
            results.append(ceat.run(model))
            assert [len(result.items) for result in results] == [8, 16, 8]
            numbers.append([result.summary["value"].to_list() for result in results])
            moved = [w for part in lists(script, FORMS[here]).values() for w in part if w not in words]
            for result in results:
                told = [caution for caution in result.cautions if "equivalent spelling" in caution]
                assert len(told) == bool(moved) and all(c.startswith(f"{len(moved)} of 8") for c in told)
            texts = results[0].items["text"].to_list()
            assert texts == [FORMS[here](FRAME).replace("{word}", word) for word in results[0].items["word"]]
        for other in numbers[1:]:
            for one, two in zip(numbers[0], other, strict=True):
                assert np.allclose(one, two, atol=2e-3, equal_nan=True)


def test_places_are_those_of_the_text_as_it_is_written(tmp_path: Path) -> None:
    model = bert(tmp_path, ["été", "à", "la"])
    read = with_equivalents(model)
    text = "la e\u0301te\u0301 a\u0300 x"
    (encoding,), (known,) = read.tokenizer.encode([text]), model.tokenizer.encode(["la été à x"])
    assert encoding.ids == known.ids and model.tokenizer.encode([text])[0].ids != known.ids
    assert [text[slice(*span)] for span in encoding.spans] == text.split()
    assert read.tokenizer.encode(["la x", "été"]) == model.tokenizer.encode(["la x", "été"])


def test_score_reads_a_text_as_it_stands(tmp_path: Path) -> None:
    model = bert(tmp_path, ["été", "la"])
    assert len(score(model, ["la été"])) == 1
    with pytest.raises(DataError, match="unknown to the tokenizer"):
        score(model, ["la e\u0301te\u0301"])
