"""The bundled sets of value statements are what their data statements say, in both languages."""

from __future__ import annotations

import csv
import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch
from transformers import AutoConfig, AutoModelForMaskedLM

import penchant as pc
from answers import Answer
from bengali_models import bengali_model
from czech_gender import speaker_gender
from paths import bundled
from penchant.instruments.values.data import ValuesSet, read_values
from penchant.papers.paper import paper

POSITIVE = [
    ("to bych nikdy neřekla", ["neřekla"]),
    ("jsem vždy volil podle svědomí", ["volil"]),
    ("v dětství jsem četla mnoho knih", ["četla"]),
    ("s takovým zákonem bychom nesouhlasili", ["nesouhlasili"]),
    ("jsem spokojen se životem", ["spokojen"]),
    ("jsem spokojená s prací", ["spokojená"]),
    ("jsem hrdý na svou zemi", ["hrdý"]),
    ("na dějiny své země jsem hrdá", ["hrdá"]),
    ("v cizině se cítím nesvobodná", ["nesvobodná"]),
    ("jsem žena a mám svá práva", ["žena"]),
    ("chodí ráda na procházky", ["ráda"]),
    ("o svém životě rozhoduje sám", ["sám"]),
    ("měla by mít právo odmítnout příkaz", ["měla"]),
    ("měl by platit nižší daně", ["měl"]),
    ("chtěla cestovat častěji", ["chtěla"]),
    ("nikdy nechtěla mít psa", ["nechtěla"]),
    ("v neděli měl volno", ["měl"]),
    ("je hrdá na dějiny své země", ["hrdá"]),
    ("je přesvědčen, že zákony platí pro všechny", ["přesvědčen"]),
    ("kdyby mohl, pomáhal by i cizím lidem", ["mohl", "pomáhal"]),
    ("chce být bohatá", ["bohatá"]),
    ("nechtěla by, aby se daně zvýšily", ["nechtěla"]),
    ("lidem, kteří trpí nouzí, by pomohla", ["pomohla"]),
    ("kvůli daním odešla do ciziny", ["odešla"]),
    ("je ochotna přispět na bydlení", ["ochotna"]),
]
NEGATIVE = [
    "občané mají právo odmítnout příkaz, který odporuje jejich svědomí",
    "na dějiny své země cítí hrdost",
    "stát by měl mít přístup k soukromým zprávám lidí",
    "vláda by měla snížit daně",
    "měla by vláda snížit daně",
    "lidé by měli mít možnost protestovat",
    "mělo by se víc stavět",
    "je důležité ctít zákony",
    "je krásná zima",
    "naše kultura je vyspělejší než kultura jiných národů",
    "papoušek je do malého bytu příliš hlučný",
    "veřejná kritika vlády naší zemi škodí",
    "škola má děti vést k samostatnosti",
    "hotel u moře je lepší než chata na horách",
    "ve vyvětrané místnosti je příjemněji než ve vydýchané",
    "kniha, která zůstala v dešti, se špatně čte",
    "poslední slovo má mít těhotná žena",
    "jsem proti vyšším daním",
    "člověk by měl být trpělivý",
    "skříň, kterou nelze otevřít, je praktická",
    "stará lípa spadla při bouřce",
    "každý by měl mít právo na obhájce",
    "smysl života se nedá koupit",
    "k lidem s velkou mocí je rozumné přistupovat s nedůvěrou",
]
REVERSED = {"anti-authoritarianism": 4, "cultural liberalism": 4, "economic equity": 3, "tribalism": 3}
NUMBERS = {"anti-authoritarianism": 9, "cultural liberalism": 9, "economic equity": 8, "tribalism": 8}


@pytest.fixture(scope="module")
def sets() -> dict[str, ValuesSet]:
    return {language: read_values(bundled(f"political-values-{language}")) for language in ("cs", "en")}


@pytest.mark.parametrize(("text", "expected"), [*POSITIVE, *((text, []) for text in NEGATIVE)])
def test_the_check_of_the_speakers_gender(text: str, expected: list[str]) -> None:
    assert speaker_gender(text) == expected


def test_no_czech_clause_carries_the_speakers_gender(sets: dict[str, ValuesSet]) -> None:
    clauses = list(sets["cs"].clauses())
    assert len(clauses) == 100 + 34 + 34
    assert {clause.text: found for clause in clauses if (found := speaker_gender(clause.text))} == {}


@pytest.mark.parametrize("language", ["cs", "en"])
def test_numbers(sets: dict[str, ValuesSet], language: str) -> None:
    own = sets[language]
    assert own.language == language
    assert (len(own.statements), len(own.negations), len(own.calibration)) == (34, 34, 100)
    for value, n in NUMBERS.items():
        members = [s for s in own.statements if s.value == value]
        assert len(members) == n
        assert sum(s.reversed for s in members) == REVERSED[value]
    assert [(t.variant, t.group) for t in own.templates] == [
        (variant, group) for variant in ("said", "wrote", "view") for group in ("feminine", "masculine")
    ]


@pytest.mark.parametrize("language", ["cs", "en"])
def test_form_of_the_clauses(sets: dict[str, ValuesSet], language: str) -> None:
    texts = [clause.text for clause in sets[language].clauses()]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert text == unicodedata.normalize("NFC", text)
        assert text[0].islower()
        assert text[-1].isalpha()
        assert 4 <= len(text.split()) <= 14
        assert sum(text in other for other in texts) == 1


def test_a_czech_negation_changes_one_word(sets: dict[str, ValuesSet]) -> None:
    for statement, negation in zip(sets["cs"].statements, sets["cs"].negations, strict=True):
        pairs = list(zip(statement.text.split(), negation.text.split(), strict=True))
        changed = [(a, b) for a, b in pairs if a != b]
        assert len(changed) == 1, statement
        a, b = changed[0]
        assert b in (f"ne{a}", "není" if a == "je" else ""), statement


def test_the_two_languages_correspond(sets: dict[str, ValuesSet]) -> None:
    for kind in ("statements", "calibration"):
        one, other = ([(s.id, s.value, s.reversed) for s in getattr(sets[language], kind)] for language in ("cs", "en"))
        assert one == other
    expected = [
        [row["expected"] for row in csv.DictReader(path.open(encoding="utf-8"))]
        for path in (sets[language].files[2] for language in ("cs", "en"))
    ]
    assert expected[0] == expected[1]


def test_czech_groups_differ_in_one_word_and_english_ones_in_the_pronouns(sets: dict[str, ValuesSet]) -> None:
    for language, most in (("cs", 1), ("en", 2)):
        own = sets[language].templates
        for feminine, masculine in zip(own[::2], own[1::2], strict=True):
            for stance in ("agree", "disagree"):
                words = [re.findall(r"\w+", getattr(t, stance)) for t in (feminine, masculine)]
                changed = [(a, b) for a, b in zip(*words, strict=True) if a != b]
                assert len(changed) == most
                if language == "en":
                    assert {(a.lower(), b.lower()) for a, b in changed} == {("she", "he")}


def stand_ins(zoo: Callable[[str], Path], folder: Path) -> list[Path]:
    """Tiny models of the three architectures of the paper: RoBERTa, BERT, and one with XLM-RoBERTa's tokenizer."""
    roberta = shutil.copytree(zoo("roberta"), folder / "robeczech-base")
    config = AutoConfig.from_pretrained(roberta, max_position_embeddings=258)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        AutoModelForMaskedLM.from_config(config).save_pretrained(roberta)
    settings = json.loads((roberta / "tokenizer_config.json").read_text("utf-8"))
    (roberta / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 256}), "utf-8")
    tables = ("statements.csv", "calibration.csv", "set.yaml")
    text = [line for name in tables for line in (bundled("political-values-cs") / name).read_text("utf-8").splitlines()]
    return [roberta, *(bengali_model(kind, text, folder) for kind in ("wordpiece", "unigram"))]


@pytest.mark.slow  # the set's estimates and claims are tested one by one
def test_the_papers_study_runs_with_stand_ins(
    penchant: Callable[..., Answer], zoo: Callable[[str], Path], tmp_path: Path
) -> None:
    """The study of `penchant paper politics` whole: 34 statements, 100 neutral ones, three wordings, two groups."""
    models = [part for model in stand_ins(zoo, tmp_path) for part in ("-m", model)]
    example = paper("politics").study
    code, _, err = penchant("run", example, *models, "-o", "out", "--cache", "none")
    assert code == 0, err
    verdicts = pc.open(tmp_path / "out").verdicts
    assert verdicts["claim"].unique(maintain_order=True).to_list()[:2] == ["agrees", "mirrored"]
    (folder,) = (tmp_path / "out" / "values").glob("robeczech-base*")
    items = pl.read_parquet(folder / "items.parquet")
    assert len(items) == (100 + 34 + 34) * 6
    assert "Řekla, že souhlasí s tím, že velké majetky by se měly zdaňovat víc než běžné úspory." in set(
        items["sentence_agree"]
    )
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    (section,) = (each for each in pc.open(tmp_path / "out").document().sections if each.place == "paper")
    (ratings,) = (table for table in section.tables() if table.name == "ratings")
    assert len(ratings.rows) == 3 and len(ratings.columns) == 1 + 2 * 4 * 2  # two numbers of four values and two groups
    (numbers,) = (table for table in section.tables() if table.name == "numbers")
    assert [row.cells[4] for row in numbers.rows] == ["0.71", "0.63"]  # printed for RobeCzech
    assert "Ratings by value and group" in page and "What these numbers can and cannot mean" in page
