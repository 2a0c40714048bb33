"""A call that cannot be made is one line of penchant, which says what to do, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import penchant
from given_data import ANSWERS, LISTS, PAIRS, STATEMENTS

pc: Any = penchant  # calls that a type checker would refuse
SENTENCES = [("a", "The [MASK].", 1, "g")]


@pytest.fixture(scope="module")
def lm() -> Any:
    return pc.load("bundled:modern")


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda lm: pc.score(lm, ["x"], metod="pll"), "unknown parameter 'metod' — did you mean method"),
    (lambda lm: pc.score(lm), "missing a required argument: 'texts'"),
    (lambda lm: pc.score(lm, "x", method=3), "method is str or None, got 3"),
    (lambda lm: pc.score(lm, "x", batch_tokens="many"), "batch_tokens is int or None, got 'many'"),
    (lambda lm: pc.score(lm, "x", batch_tokens=-1), "batch_tokens is -1"),
    (lambda lm: pc.surprisal(lm, "x", batch_tokens=-1, method="pll"), "batch_tokens is -1"),
    (lambda lm: pc.Run(cach="x"), "Run(): unknown parameter 'cach'"),
    (lambda lm: pc.Run(cache=3), "Run(): cache is str or Path or None, got 3"),
    (lambda lm: pc.Run(batch_tokens="many"), "Run(): batch_tokens is int or None"),
    (lambda lm: pc.Run(batch_tokens=-5), "Run(): batch_tokens is -5, and a batch has 1 to 16,777,216 tokens"),
    (lambda lm: pc.Run(batch_tokens=0), "Run(): batch_tokens is 0"),
    (lambda lm: pc.Signature("x"), "signature: is made of pairs"),
    (lambda lm: pc.Signature((("a", "1"), ("a", "2"))), "signature: names each key once"),
    (lambda lm: pc.Signature((("A b", "1"),)), "signature: a key is lower-case letters"),
    (lambda lm: pc.score(lm, "the c\x00at"), "holds the character NUL"),
    (lambda lm: pc.score(lm, ["x", "the c\x01at"]), "text 2: the text holds the control character U+0001"),
    (lambda lm: pc.score(lm, None), "None is no text"),
    (lambda lm: pc.score(lm, ["x", 2]), "text 2: an int is no text"),
    (lambda lm: pc.score(lm, b"x"), "a bytes is no text"),
    (lambda lm: pc.score(lm, ["x", float("nan")]), "text 2: is missing (NaN) — give texts only"),
    (lambda lm: pc.score(lm, ["x", None]), "text 2: is missing (None) — give texts only"),
    (lambda lm: pc.score(lm, pl.DataFrame({"a": ["x"], "b": "y"})), "columns — give one of them, as in data['a']"),
    (lambda lm: pc.score(lm, {"n": [1], "text": ["x"]}), "as in data['text']"),
    (lambda lm: pc.score(lm, pl.DataFrame({"id": [1], "ok": "x", "Text": "y"})), "as in data['Text']"),
    (lambda lm: pc.score(lm, pl.DataFrame({"id": [1], "ok": "x"})), "as in data['ok']"),
    (lambda lm: pc.score(lm, {}), "a dict has no columns"),
    (lambda lm: pc.score(3, "x"), "an int is no model"),
    (lambda lm: pc.score("no-such-model", "x"), "no-such-model"),
    (lambda lm: pc.fill(lm, "A [MASK].", k="ten"), "k is int, got 'ten'"),
    (lambda lm: pc.fill(lm, ["A [MASK]."]), "text is str"),
    (lambda lm: pc.embed(lm, "A rose.", spans=[(2, 99)]), "characters 2 to 99 are no part of 'A rose.'"),
    (lambda lm: pc.load(3), "spec is str or Path, got 3"),
    (lambda lm: pc.load("bundled:modern", dtype=16), "dtype is str, got 16"),
    (lambda lm: pc.check(None), "None is no model"),
    (lambda lm: pc.audit(PAIRS, 3), "an int is no model"),
    (lambda lm: pc.audit(PAIRS, [3]), "an int is no model"),
    (lambda lm: pc.check(lm, [3]), "text 1: an int is no text"),
    (lambda lm: pc.check(lm, pl.DataFrame({"text": ["x"], "n": 1})), "a DataFrame has several columns"),
    (lambda lm: pc.audit([], lm), "no pairs"),
    (lambda lm: pc.audit(PAIRS, []), "no tokenizer"),
    (lambda lm: pc.embed(lm, "A rose.", spans=[3]), "span 1: 3 is no span"),
    (lambda lm: pc.read_pairs(3), "an int is no file and no table"),
    (lambda lm: pc.read_pairs([]), "holds no rows"),
    (lambda lm: pc.read_pairs(["a.tsv", "b.tsv"]), "read them one by one"),
    (lambda lm: pc.read_pairs([("a", "b"), ("c", "")]), "the data, row 2 ('bad'): the field is blank"),
    (lambda lm: pc.read_cloze(SENTENCES, columns="text"), "columns is a mapping, got 'text'"),
    (lambda lm: pc.read_stimuli(None), "None is no file and no table"),
    (lambda lm: pc.read_stimuli({**LISTS, "X": 3}), "set X: an int is no list of words"),
    (lambda lm: pc.read_stimuli({**LISTS, "X": "rose"}), "set X: a str is no list of words"),
    (lambda lm: pc.WEAT({"c": {**LISTS, "Y": "ant"}}), "set Y of c: a str is no list of words"),
    (lambda lm: pc.read_stimuli({**LISTS, "A": ["love", float("nan")]}), "set A, word 2: is missing (NaN)"),
    (lambda lm: pc.SEAT({**LISTS, "A": ["love", None]}), "set A, word 2: is missing (None)"),
    (lambda lm: pc.CEAT({**LISTS, "A": ["love", " "]}), "set A, word 2: the word is blank"),
    (lambda lm: pc.WEAT({**LISTS, "A": [5, "love"]}), "set A, word 1: an int is no word — give a text, as in '5'"),
    (lambda lm: pc.read_stimuli([("c", "X", "rose"), ("c", "X", float("nan"))]), "the data, row 2 ('word')"),
    (lambda lm: pc.WEAT([{"set": "X", "w": 5}], columns={"word": "w"}), "the data, row 1 ('w'): an int is no word"),
    (lambda lm: pc.WEAT(pl.DataFrame({"category": [None], "set": ["X"]})), "the data, row 1 ('category')"),
    (lambda lm: pc.read_occurrences([], {"rose": ["rose"]}), "holds no rows"),
    (lambda lm: pc.read_occurrences("t.txt", ["rose"]), "forms is a mapping, got ['rose']"),
    (lambda lm: pc.read_values(STATEMENTS), "a table of statements alone is no set"),
    (lambda lm: pc.read_values({"statements": STATEMENTS}), "the data ('templates'): is missing"),
    (lambda lm: pc.read_values({"like": "political-values-en"}), "the data ('statements'): is missing"),
    (lambda lm: pc.read_values({"statements": [], "like": "political-values-en"}), "statements: holds no rows"),
    (lambda lm: pc.read_values({"statements": STATEMENTS, "like": "political-values-es"}), "did you mean"),
    (lambda lm: pc.read_survey(ANSWERS, []), "no statement is named"),
    (lambda lm: pc.read_survey(ANSWERS, None), "statements: None is no text"),
    (lambda lm: pc.read_survey(ANSWERS, ["a"]), "no column is named like a statement"),
    (lambda lm: pc.read_survey({"file": ANSWERS, "scal": (1, 7)}, ["eq1"]), "survey ('scal'): unknown key"),
    (lambda lm: pc.Values("political-values-en", survey=[]), "Values, survey: is an empty list"),
    (lambda lm: pc.synthetic_survey({}, {}, {"f": "3"}, statements={}), "group 'f' has a number of respondents"),
    (lambda lm: pc.MinimalPair, "penchant: has no 'MinimalPair' — did you mean MinimalPairs"),
    (lambda lm: lm.tokeniser, "a model: has no 'tokeniser' — did you mean tokenizer"),
    (lambda lm: pc.MinimalPairs(PAIRS).rn(lm), "MinimalPairs: has no 'rn' — did you mean run"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(), "missing a required argument: 'model' — it takes model, run"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(modle=lm), "unknown parameter 'modle' — did you mean model"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(lm, {}), "a dict is not a Run"),
    (lambda lm: setattr(pc.MinimalPairs(PAIRS), "level", 0.9), "cannot be changed — make another probe"),
    (lambda lm: pc.MinimalPairs({"good": 3, "bad": 4}), "the data ('good'): an int is no column"),
    (lambda lm: pc.MinimalPairs([]), "is an empty list"),
    (lambda lm: pc.Result.load(3), "directory is str or Path, got 3"),
    (lambda lm: pc.Signature.parse(3), "text is str, got 3"),
    (lambda lm: pc.run({"study": "s"}, "out", models=[lm]), "models: a LanguageModel is not a name"),
    (lambda lm: pc.run("s.yaml", "out", data=3), "data: an int is not a name"),
    (lambda lm: pc.run({"probes": [{"cloze": {"data": pl.DataFrame()}}]}, "out"), "a DataFrame cannot be part of"),
    (lambda lm: pc.compare(1, 2), "an int is not a result"),
    (lambda lm: pc.compare("a", pc.MinimalPairs(PAIRS, resamples=100).run(lm)), "a: no such directory"),
    (lambda lm: pc.run(3, "out"), "study is str or Path or a mapping, got 3"),
    (lambda lm: pc.run("missing.yaml", "out"), "missing.yaml: no such study file"),
    (lambda lm: pc.run({"study": "s"}, "out"), "models: is missing"),
    (lambda lm: pc.report("missing"), "missing: no such directory"),
    (lambda lm: pc.report(), "missing a required argument"),
    (lambda lm: pc.export("missing", "latex"), "missing: no such directory"),
    (lambda lm: pc.MinimalPairs(dat="x"), "unknown parameter 'dat' — did you mean data?"),
    (lambda lm: pc.MinimalPairs(), "MinimalPairs, data: is missing"),
    (lambda lm: pc.MinimalPairs(PAIRS, level=2), "MinimalPairs, level: input should be less than 1, got 2"),
    (lambda lm: pc.MinimalPairs([("a", "b", "c", "d")]), "the data, row 1: has 4 parts without names"),
    (lambda lm: pc.MinimalPairs([("g", "a", "b")]), "row 1: has 3 parts without names"),
    (lambda lm: pc.read_pairs([("a", "b"), ["a", "b", "g"]]), "with the columns good, bad and group"),
    (lambda lm: pc.audit(iter([("g", "a", "b")]), lm), "row 1: has 3 parts without names"),
    (lambda lm: pc.FairPairs(original=PAIRS, fair=[("g", "a", "b")]), "fair, row 1: has 3 parts without names"),
    (lambda lm: pc.MinimalPairs(PAIRS, columns={"ok": "good"}), "MinimalPairs, columns: unknown key 'ok'"),
    (lambda lm: pc.MinimalPairs(PAIRS, columns={"goood": "ok"}), "unknown key 'goood' — did you mean good? use one of"),
    (lambda lm: pc.Cloze(SENTENCES, columns={"satz": "text"}), "key 'satz' — write it the other"),
    (lambda lm: pc.Cloze("s", corpora={"lo": "a", "high": "b"}), "Cloze, corpora: unknown key 'lo' — did you mean low"),
    (lambda lm: pc.WEAT(LISTS, columns={"w": "x"}), "unknown key 'w' — use one of category, set, word, label"),
    (lambda lm: pc.MinimalPairs({"ok": ["a"], "ko": ["b"]}).run(lm), "name yours with columns="),
    (lambda lm: pc.MinimalPairs({"good": ["a"], "bad": []}), "not of one length: good has 1, bad has 0"),
    (lambda lm: pc.MinimalPairs([("a", "b"), 3]), "the data, row 2: an int is no row"),
    (lambda lm: pc.MinimalPairs([{"good": "a", "bad": object()}]), "the data, row 1: cannot be taken as data"),
    (lambda lm: pc.MinimalPairs({}), "holds no rows"),
    (lambda lm: pc.MinimalPairs(PAIRS, 3), "takes its parameters by name"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(3), "an int is not a model"),
    (lambda lm: pc.Cloze(data="early-modern-60", k=0), "Cloze, k: input should be greater than or equal to 1, got 0"),
    (lambda lm: pc.WEAT(LISTS, compat="x"), "unknown compat 'x'"),
]


@pytest.mark.parametrize(("call", "part"), WRONG, ids=[part for _, part in WRONG])
def test_a_wrong_call_is_one_line(
    lm: Any, call: Callable[[Any], Any], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pc.PenchantError) as error:
        call(lm)
    assert part in str(error.value)
    assert "\n" not in str(error.value) and "pydantic" not in str(error.value)
    assert not list(tmp_path.iterdir())
