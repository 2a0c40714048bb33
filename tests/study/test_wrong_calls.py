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


PROBE: Any = pc.MinimalPairs(PAIRS)
WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda lm: pc.score(lm, ["x"], metod="pll"), "unknown parameter 'metod' — did you mean method"),
    (lambda lm: pc.score(lm), "missing a required argument: 'texts'"),
    (lambda lm: pc.score(lm, "x", method=3), "method must be str or None, got 3"),
    (lambda lm: pc.score(lm, "x", batch_tokens="many"), "batch_tokens must be int or None, got 'many'"),
    (lambda lm: pc.score(lm, "x", batch_tokens=-1), "batch_tokens is -1"),
    (lambda lm: pc.surprisal(lm, "x", batch_tokens=-1, method="pll"), "batch_tokens is -1"),
    (lambda lm: PROBE.run(lm, cach="x"), "run(): unknown parameter 'cach'"),
    (lambda lm: PROBE.run(lm, cache=3), "run(): cache must be str or Path or None, got 3"),
    (lambda lm: PROBE.run(lm, batch_tokens="many"), "run(): batch_tokens must be int or None"),
    (lambda lm: PROBE.run(lm, batch_tokens=-5), "run(): batch_tokens is -5, but must be between 1 and 16,777,216"),
    (lambda lm: PROBE.run(lm, batch_tokens=0), "run(): batch_tokens is 0"),
    (lambda lm: pc.Signature("x"), "signature: must consist of (key, value) pairs"),
    (lambda lm: pc.Signature((("a", "1"), ("a", "2"))), "signature: a key appears twice in a, a"),
    (lambda lm: pc.Signature((("A b", "1"),)), "signature: a key must consist of lower-case letters"),
    (lambda lm: pc.score(lm, "the c\x00at"), "contains the character NUL"),
    (lambda lm: pc.score(lm, ["x", "the c\x01at"]), "text 2: the text contains the control character U+0001"),
    (lambda lm: pc.score(lm, None), "None is not a text"),
    (lambda lm: pc.score(lm, ["x", 2]), "text 2: an int is not a text"),
    (lambda lm: pc.score(lm, b"x"), "a bytes is not a text"),
    (lambda lm: pc.score(lm, ["x", float("nan")]), "text 2: is missing (NaN) — give texts only"),
    (lambda lm: pc.score(lm, ["x", None]), "text 2: is missing (None) — give texts only"),
    (
        lambda lm: pc.score(lm, pl.DataFrame({"a": ["x"], "b": "y"})),
        "several columns, expected one — give one of them, as in data['a']",
    ),
    (lambda lm: pc.score(lm, {"n": [1], "text": ["x"]}), "as in data['text']"),
    (lambda lm: pc.score(lm, pl.DataFrame({"id": [1], "ok": "x", "Text": "y"})), "as in data['Text']"),
    (lambda lm: pc.score(lm, pl.DataFrame({"id": [1], "ok": "x"})), "as in data['ok']"),
    (lambda lm: pc.score(lm, {}), "a dict has no columns"),
    (lambda lm: pc.score(3, "x"), "an int is not a model"),
    (lambda lm: pc.score("no-such-model", "x"), "no-such-model"),
    (lambda lm: pc.fill(lm, "A [MASK].", k="ten"), "k must be int, got 'ten'"),
    (lambda lm: pc.fill(lm, ["A [MASK]."]), "text must be str"),
    (lambda lm: pc.embed(lm, "A rose.", spans=[(2, 99)]), "characters 2 to 99 are not a span of 'A rose.'"),
    (lambda lm: pc.load(3), "spec must be str or Path, got 3"),
    (lambda lm: pc.load("bundled:modern", dtype=16), "dtype must be str, got 16"),
    (lambda lm: pc.check(None), "None is not a model"),
    (lambda lm: pc.audit(3, PAIRS), "an int is not a model"),
    (lambda lm: pc.audit([3], PAIRS), "an int is not a model"),
    (lambda lm: pc.check(lm, [3]), "text 1: an int is not a text"),
    (lambda lm: pc.check(lm, pl.DataFrame({"text": ["x"], "n": 1})), "a DataFrame has several columns"),
    (lambda lm: pc.audit(lm, []), "no pairs"),
    (lambda lm: pc.Cloze(SENTENCES, renormalise=True), "did you mean rated_only?"),
    (lambda lm: pc.audit([], PAIRS), "no tokenizer"),
    (lambda lm: pc.embed(lm, "A rose.", spans=[3]), "span 1: 3 is not a span"),
    (lambda lm: pc.read_pairs(3), "an int is neither a file nor a table"),
    (lambda lm: pc.read_pairs([]), "contains no rows"),
    (lambda lm: pc.read_pairs(["a.tsv", "b.tsv"]), "read them one by one"),
    (lambda lm: pc.read_pairs([("a", "b"), ("c", "")]), "the data, row 2 ('bad'): the field is blank"),
    (lambda lm: pc.read_cloze(SENTENCES, columns="text"), "columns must be a mapping, got 'text'"),
    (lambda lm: pc.read_stimuli(None), "None is neither a file nor a table"),
    (lambda lm: pc.read_stimuli({**LISTS, "X": 3}), "set X: an int is not a list of words"),
    (lambda lm: pc.read_stimuli({**LISTS, "X": "rose"}), "set X: a str is not a list of words"),
    (lambda lm: pc.WEAT({"c": {**LISTS, "Y": "ant"}}), "set Y of c: a str is not a list of words"),
    (lambda lm: pc.read_stimuli({**LISTS, "A": ["love", float("nan")]}), "set A, word 2: is missing (NaN)"),
    (lambda lm: pc.SEAT({**LISTS, "A": ["love", None]}), "set A, word 2: is missing (None)"),
    (lambda lm: pc.CEAT({**LISTS, "A": ["love", " "]}), "set A, word 2: the word is blank"),
    (lambda lm: pc.WEAT({**LISTS, "A": [5, "love"]}), "set A, word 1: an int is not a word — give a text, as in '5'"),
    (lambda lm: pc.read_stimuli([("c", "X", "rose"), ("c", "X", float("nan"))]), "the data, row 2 ('word')"),
    (lambda lm: pc.WEAT([{"set": "X", "w": 5}], columns={"word": "w"}), "the data, row 1 ('w'): an int is not a word"),
    (lambda lm: pc.WEAT(pl.DataFrame({"category": [None], "set": ["X"]})), "the data, row 1 ('category')"),
    (lambda lm: pc.read_occurrences([], {"rose": ["rose"]}), "contains no rows"),
    (lambda lm: pc.read_occurrences("t.txt", ["rose"]), "forms must be a mapping, got ['rose']"),
    (lambda lm: pc.read_values(STATEMENTS), "a table of statements is not a whole set"),
    (lambda lm: pc.read_values({"statements": STATEMENTS}), "the data ('templates'): is missing"),
    (lambda lm: pc.read_values({"like": "political-values-en"}), "the data ('statements'): is missing"),
    (lambda lm: pc.read_values({"statements": [], "like": "political-values-en"}), "statements: contains no rows"),
    (lambda lm: pc.read_values({"statements": STATEMENTS, "like": "political-values-es"}), "did you mean"),
    (lambda lm: pc.read_survey(ANSWERS, []), "no statements were given"),
    (lambda lm: pc.read_survey(ANSWERS, None), "statements: None is not a text"),
    (lambda lm: pc.read_survey(ANSWERS, ["a"]), "no column is named after a statement"),
    (lambda lm: pc.read_survey({"file": ANSWERS, "scal": (1, 7)}, ["eq1"]), "survey ('scal'): unknown key"),
    (lambda lm: pc.Values("political-values-en", survey=[]), "Values, survey: is an empty list"),
    (lambda lm: pc.synthetic_survey({}, {}, {"f": "3"}, statements={}), "group 'f' needs a positive whole number"),
    (lambda lm: pc.MinimalPair, "penchant: has no attribute 'MinimalPair' — did you mean MinimalPairs"),
    (lambda lm: lm.tokeniser, "a model: has no attribute 'tokeniser' — did you mean tokenizer"),
    (lambda lm: pc.MinimalPairs(PAIRS).rn(lm), "MinimalPairs: has no attribute 'rn' — did you mean run"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(), "missing a required argument: 'model' — its parameters are model, cache"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(modle=lm), "unknown parameter 'modle' — did you mean model"),
    (lambda lm: pc.MinimalPairs(PAIRS).run(lm, {}), "too many positional arguments"),
    (lambda lm: setattr(pc.MinimalPairs(PAIRS), "level", 0.9), "cannot be changed — create a new probe"),
    (lambda lm: pc.MinimalPairs({"good": 3, "bad": 4}), "the data ('good'): an int is not a column"),
    (lambda lm: pc.MinimalPairs([]), "is an empty list"),
    (lambda lm: pc.Result.load(3), "directory must be str or Path, got 3"),
    (lambda lm: pc.Signature.parse(3), "text must be str, got 3"),
    (lambda lm: pc.run({"study": "s"}, "out", models=[3]), "models: an int is not a model"),
    (lambda lm: pc.run("s.yaml", "out", data=3), "data: an int is not a name"),
    (lambda lm: pc.run({"probes": [{"cloze": {"data": pl.DataFrame()}}]}, "out"), "the data: contains no rows"),
    (lambda lm: pc.compare(1, 2), "an int is not a result"),
    (lambda lm: pc.compare("a", pc.MinimalPairs(PAIRS, resamples=100).run(lm)), "a: no such directory"),
    (lambda lm: pc.run(3, "out"), "run(): an int is not a study"),
    (lambda lm: pc.run("missing.yaml", "out"), "missing.yaml: no such study file"),
    (lambda lm: pc.run({"study": "s"}, "out"), "models: is missing"),
    (lambda lm: pc.report("missing"), "missing: no such directory"),
    (lambda lm: pc.report(), "missing a required argument"),
    (lambda lm: pc.export("missing", "latex"), "missing: no such directory"),
    (lambda lm: pc.MinimalPairs(dat="x"), "unknown parameter 'dat' — did you mean data?"),
    (lambda lm: pc.MinimalPairs(), "MinimalPairs, data: is missing"),
    (lambda lm: pc.MinimalPairs(PAIRS, level=2), "MinimalPairs, level: input should be less than 1, got 2"),
    (lambda lm: pc.MinimalPairs([("a", "b", "c", "d")]), "the data, row 1: has 4 unnamed values"),
    (lambda lm: pc.MinimalPairs([("g", "a", "b")]), "row 1: has 3 unnamed values"),
    (lambda lm: pc.read_pairs([("a", "b"), ["a", "b", "g"]]), "with the columns good, bad and group"),
    (lambda lm: pc.audit(lm, iter([("g", "a", "b")])), "row 1: has 3 unnamed values"),
    (lambda lm: pc.FairPairs(original=PAIRS, fair=[("g", "a", "b")]), "fair, row 1: has 3 unnamed values"),
    (lambda lm: pc.MinimalPairs(PAIRS, columns={"ok": "good"}), "MinimalPairs, columns: unknown key 'ok'"),
    (lambda lm: pc.MinimalPairs(PAIRS, columns={"goood": "ok"}), "unknown key 'goood' — did you mean good? use one of"),
    (lambda lm: pc.Cloze(SENTENCES, columns={"satz": "text"}), "key 'satz' — swap key and value"),
    (lambda lm: pc.Cloze("s", corpora={"lo": "a", "high": "b"}), "Cloze, corpora: unknown key 'lo' — did you mean low"),
    (lambda lm: pc.WEAT(LISTS, columns={"w": "x"}), "unknown key 'w' — use one of category, set, word, label"),
    (lambda lm: pc.MinimalPairs({"ok": ["a"], "ko": ["b"]}).run(lm), "name your columns with columns="),
    (lambda lm: pc.MinimalPairs({"good": ["a"], "bad": []}), "have different lengths: good has 1, bad has 0"),
    (lambda lm: pc.MinimalPairs([("a", "b"), 3]), "the data, row 2: an int is not a row"),
    (lambda lm: pc.MinimalPairs([{"good": "a", "bad": object()}]), "the data, row 1: cannot be converted to JSON"),
    (lambda lm: pc.MinimalPairs({}), "contains no rows"),
    (lambda lm: pc.MinimalPairs(PAIRS, 3), "parameters must be passed by name"),
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
