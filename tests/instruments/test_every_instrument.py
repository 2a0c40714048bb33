"""Properties of every instrument.

Its template runs, its settings come back from a result, and its report names the intervals and tests that were computed
and no others.
"""

from __future__ import annotations

import json
import math
import os
import pydoc
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import penchant as pc
import test_validity
from answers import Answer
from penchant.instruments.probe_field_types import Written
from penchant.instruments.registry import instruments, placed, template_files
from penchant.records import ALONE
from penchant.records import BaseResult as AnyResult
from penchant.report.export import export
from penchant.report.item_browser import KEYS, ItemTable
from penchant.report.page import write_report
from penchant.report.sections import Document, StudySection
from penchant.report.significance import deciding
from penchant.report.verdicts import NO, YES
from penchant.report.verdicts import Answer as Verdicts
from penchant.study.catalogue import write_template
from penchant.study.read_results import read_outcome
from penchant.study.study_file import read_study
from penchant.study.study_file import schema as study_schema
from penchant.testing import MODELS, conform
from penchant.wording.columns import meaning

NAMES = sorted(instruments())
SECOND = {"weat": ["vectors.txt"], "vector-bias": ["first.txt", "second.txt"]}
"""Models of a template's study, where two of the bundled ones do not fit."""


@dataclass(frozen=True)
class Made:
    """The section of the study that `penchant init` writes, as the report is given it."""

    section: StudySection

    def texts(self) -> list[str]:
        """All that the report says in words: methods, limits, titles and notes of tables, captions of figures."""
        tables = [text for table in self.section.tables() for text in (table.title, table.note)]
        figures = [text for figure in self.section.figures() for text in (figure.title, figure.text)]
        return [*self.section.methods(), *self.section.section.limits(self.section.results), *tables, *figures]

    def frames(self) -> list[pl.DataFrame]:
        """The estimates of every model, and of the comparison."""
        frames = [result.summary for result in self.section.results]
        return frames if self.section.comparison is None else [*frames, self.section.comparison]

    def computed(self) -> set[str]:
        """Every interval and test of the tables, as estimates name them."""
        columns = [frame[column] for frame in self.frames() for column in ("how", "test")]
        return {text for column in columns for text in column.unique() if text}


@pytest.fixture(scope="module")
def made() -> Callable[[str], Made]:
    """The study that `penchant init` writes for an instrument, run once, with two models, to see that it conforms."""

    @cache
    def get(name: str) -> Made:
        outcome = conform(instruments()[name], SECOND.get(name, MODELS))
        (section,) = placed(outcome.results, outcome.comparisons)
        return Made(section)

    return get


@pytest.mark.whole
@pytest.mark.parametrize("name", NAMES)
def test_what_init_writes_runs_as_it_is(
    name: str, penchant: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penchant.progress.FIRST_LINE", math.inf)  # on a slow machine too
    code, out, err = penchant("init", name, "mine")
    assert (code, err) == (0, f"next: penchant run mine/{name}.yaml -o mine/results\n")
    assert [Path(line).name for line in out.splitlines()] == [file.name for file in template_files(instruments()[name])]
    code, out, err = penchant("run", f"mine/{name}.yaml", "-o", "out")
    assert code == 0, err
    assert len(out.splitlines()) + len(err.splitlines()) <= 12
    (result, *_) = read_outcome(tmp_path / "out").results.values()
    assert result.signature["probe"] == name
    assert len(result.items) and result.summary["value"].is_not_nan().any()
    code, _, err = penchant("init", name, "mine")
    assert code == 2 and "already exists" in err  # nothing is overwritten


@pytest.mark.whole
@pytest.mark.parametrize("name", NAMES)
def test_the_headline_has_a_row_for_each_model_and_level(name: str, made: Callable[[str], Made]) -> None:
    section, headline = made(name).section, instruments()[name].headline
    found = [(each.summary, headline.table(each.summary, each.signature["model"])) for each in section.results]
    if section.comparison is not None:
        found.append((section.comparison, headline.table(section.comparison)))
    for whole, table in found:
        keys = table.columns[: table.columns.index("value")]
        assert len(table) == len(table.select(keys).unique()) > 0
        shared = [key for key in table.columns if key in whole.columns]
        assert len(table.join(whole, on=shared, how="semi", nulls_equal=True)) == len(table)


@pytest.mark.whole
@pytest.mark.parametrize("name", NAMES)
def test_every_column_has_a_meaning(name: str, made: Callable[[str], Made]) -> None:
    section = made(name).section
    frames = [*(each.items for each in section.results), *made(name).frames()]
    columns = {column for frame in frames for column in frame.columns}
    assert not [column for column in sorted(columns) if not meaning(column, section.section.meanings)]


@pytest.mark.parametrize("name", NAMES)
def test_it_conforms(name: str, made: Callable[[str], Made]) -> None:
    assert made(name).section.results


OPTIONAL = {
    *("equivalence", "limit", "on_unknown", "compat", "space", "ties", "marks", "neutral", "language"),
    *("elicit", "reply", "orders", "samples", "temperature", "question", "phrases"),
}
"""Settings that are signed only where they are not the default."""
UNSIGNED = ("columns", "same", "acceptable")
"""Settings that are signed in other words, or only with some data."""


@pytest.mark.parametrize("name", NAMES)
def test_settings_come_back_as_typed_fields_and_are_signed(name: str, made: Callable[[str], Made]) -> None:
    probe = instruments()[name].probe
    for result in made(name).section.results:
        settings = probe.of(json.loads(json.dumps(result.settings)))
        assert settings.saved() == result.settings
        cited = set()
        for field, info in probe.model_fields.items():
            how = next((part for part in info.metadata if isinstance(part, Written)), Written())
            key = field.replace("_", "-")
            if how.citation or field in UNSIGNED:
                cited.add(field)
                continue
            if field in OPTIONAL and key not in result.signature:
                assert getattr(settings, field) == info.get_default()
                continue
            assert key in result.signature, f"{field} is not in the signature"
            # The value is one that the field itself takes, of its own type.
            value = getattr(settings, field)
            adapter: Any = pytest.importorskip("pydantic").TypeAdapter(info.annotation)
            assert adapter.validate_python(value) == value
            assert not isinstance(value, str) or info.annotation not in (int, float, bool)
        assert cited  # every instrument names files


@pytest.mark.parametrize("name", NAMES)
def test_every_estimate_has_a_row_on_the_page_of_validity(name: str, made: Callable[[str], Made]) -> None:
    test_validity.assert_rows(made(name).frames(), test_validity.counted())


@pytest.mark.parametrize("name", NAMES)
def test_charts_are_as_their_schema_asks(name: str, made: Callable[[str], Made]) -> None:
    """Pages leave this check out, for the time that it takes."""
    placed = made(name).section
    checked = placed.section.figures(placed.results)
    charts = [chart for figure in checked for chart in (figure.chart, figure.narrow) if chart is not None]
    assert charts and all("$schema" in chart.to_dict() for chart in charts)
    shown = placed.figures()
    assert [replace(figure, finding="").spec() for figure in shown] == [figure.spec() for figure in checked]
    assert any(figure.finding for figure in shown) and all(figure.n for figure in shown)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="not installed: pdflatex")
@pytest.mark.parametrize("name", NAMES)
def test_tables_and_methods_compile_with_pdflatex(name: str, made: Callable[[str], Made], tmp_path: Path) -> None:
    export(Document([made(name).section]), "latex", tmp_path)
    assert "In this study: none." in (tmp_path / "preview.tex").read_text("utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "preview"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    assert "Missing character" not in (tmp_path / "preview.log").read_text("utf-8", "replace")


def without(result: AnyResult, lost: int) -> pc.Result:
    """A result that lacks every fourth stimulus, the one numbered `lost` of each four. Of associations only targets,
    which the cosines of the others do not count."""
    items, summary = result.items, result.summary
    words = ["word"] if "word" in summary.columns else []  # of which there is an estimate each
    number = pl.struct(words or [key for key in KEYS if key in items.columns]).rank("dense").cast(pl.Int64) % 4
    gone = (number == lost) & (pl.col("side").is_in(["X", "Y"]) if "cosines" in items.columns else True)
    kept = items.filter(~gone)
    assert 0 < len(kept) < len(items)
    if words:
        summary = summary.filter(pl.col("word").is_in(["", *kept["word"].unique()]))
    return pc.Result(result.signature, kept, summary, result.cautions, result.settings)


def cells(table: ItemTable, shared: Iterable[str], model: str) -> dict[tuple[object, ...], list[str]]:
    """The columns, tokens and remark of one model in a table, by the columns about all models that are `shared`."""
    told = [column.values for column in table.columns if not column.model and column.title in shared]
    own = [column.values for column in table.columns if column.model == model]
    own += [part for s in table.strips if s.model == model for part in (s.tokens, s.values, s.note)]
    own.append(table.remarks[model])
    rows = {
        key: [str(values) for values in row]
        for key, row, out in zip(
            zip(*map(pl.Series.to_list, told), strict=True),
            zip(*map(pl.Series.to_list, own), strict=True),
            table.left_out(model),
            strict=True,
        )
        if not out
    }
    assert len(rows) == len(table.remarks[model]) - table.left_out(model).sum()  # each is told from the others
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_items_that_a_model_lacks_move_nothing_of_another(
    name: str, made: Callable[[str], Made], tmp_path: Path
) -> None:
    """Whatever the order of the models, each says of an item what it says alone, and no item is lost."""
    section = made(name).section
    first, second = section.results[0], section.results[-1]
    second = replace(second, signature=second.signature.with_(model="another"))
    unequal = [without(first, 0), without(second, 1)]
    show = section.section.items
    assert show is not None
    seen = []
    for results in (unequal, unequal[::-1]):
        table = show(results)
        every: set[tuple[object, ...]] = set()
        for result in results:
            model = result.signature["model"]
            alone = show([result])
            shared = {column.title for column in alone.columns} & {c.title for c in table.columns if not c.model}
            own = cells(alone, shared, model)
            assert cells(table, shared, model) == own
            every |= set(own)
        assert len(table.columns[0].values) == len(every)
        lost = {model: out for model in table.remarks if (out := table.left_out(model).sum())}
        seen.append((len(every), lost))
        assert set(lost) == {result.signature["model"] for result in results}
    assert seen[0] == seen[1]
    if "on_unknown" in instruments()[name].probe.model_fields:
        return  # test_unequal_items.py writes the report of models that lack something themselves
    document = Document([replace(section, results=unequal, comparison=None)])
    for form in ("csv", "latex"):
        assert export(document, form, tmp_path / form)
    assert all(figure.svg() for figure in document.sections[0].figures())
    write_report(document, tmp_path / "page.html")


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_has_one_row_over_everything_and_no_number_has_two_scopes(
    name: str, made: Callable[[str], Made]
) -> None:
    for frame in made(name).frames():
        keys = frame.columns[: frame.columns.index("value")]
        assert not frame.select(*keys, "n", "signature").is_duplicated().any()  # CEAT has some of its first n samples
        if "scope" not in keys:
            continue
        by = [key for key in keys if key not in ("scope", "group")]
        numbers = [*by, "value", "low", "high", "n", "signature"]
        alone = frame.filter(pl.col("scope") != "overall", pl.col("group").n_unique().over("scope", *by) == 1)
        told = frame.filter(scope="overall").select(numbers)
        twice = alone.join(told, on=numbers, how="semi", nulls_equal=True).filter(pl.col("value").is_not_nan())
        assert twice.is_empty()
        assert frame["measure"][0] in set(frame.filter(scope="overall")["measure"])


VOCABULARY = (
    "BCa",
    "weighted CUSUM",
    "studentised",
    "percentile",
    "expanded",
    "widened",
    "basic bootstrap",
    "Fisher's z",
    "Fisher z",
    "Fisher mid-p",
    "Fisher's exact",
    "Fisher exact",
    "Wilson",
    "Newcombe",
    "Greenland",
    "Bonett",
    "log sd pooled",
    "Feldt",
    "Firth",
    "Wald",
    "MOVER",
    "McNemar",
    "sign-flip",
    "Welch",
    "Cochran",
    "Mantel",
    "Shapiro",
    "Spearman",
    "Pearson",
    "prediction interval",
    "t test",
    "exchange of the two models",
    "Satterthwaite",
    "normal approximation",
    "jackknife",
    "Bonferroni",
    "cluster-robust t",
    "t interval",
    "exact binomial",
    "binomial mid-p",
    "score test",
)
"""Words that name an interval or a test. The same one may be spelled in several ways."""
SAME = {
    "widened": "expanded",
    "Fisher's z": "Fisher.?s? z",
    "Mantel": "Mantel|Greenland",
}


def claims(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in VOCABULARY if re.search(rf"(?<!\w){re.escape(word)}", text)}


GOLDEN = Path(__file__).with_name("verdicts.yaml")
"""The answers of every template's study with two models, each read and approved; PENCHANT_GOLDEN=1 writes them anew."""


@pytest.mark.whole
def test_the_answers_of_all_templates(made: Callable[[str], Made]) -> None:
    found = {
        name: {
            answer.claim: {"question": answer.question, "verdicts": kinds(answer), "answer": answer.sentences}
            for answer in made(name).section.answers()
        }
        for name in NAMES
    }
    if os.environ.get("PENCHANT_GOLDEN"):
        GOLDEN.write_text(yaml.safe_dump(found, allow_unicode=True, sort_keys=False, width=120), "utf-8")
    assert found == yaml.safe_load(GOLDEN.read_text("utf-8"))


def kinds(found: Verdicts) -> dict[str, int]:
    """Return how many verdicts of an answer there are of each kind."""
    return dict(sorted(Counter(verdict.kind for verdict in found.verdicts).items()))


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_rest_on_intervals_and_adjusted_tests(name: str, made: Callable[[str], Made]) -> None:
    """A yes has an interval and an adjusted p that exclude the null, a no an interval within the margin."""
    section = made(name).section
    found = section.answers()
    assert found
    rows = [row for frame in made(name).frames() for row in frame.iter_rows(named=True)]
    for verdict in (verdict for answer in found for verdict in answer.verdicts):
        row = verdict.row
        assert row is not None
        assert any(row["n"] == each["n"] and abs(row["value"]) == abs(each["value"]) for each in rows) or (
            math.isnan(row["value"])
        )
        if verdict.kind == YES:
            assert deciding(row) <= 0.05 and not math.isnan(row["low"])
            assert row["test_family"]
        if verdict.kind == NO:
            assert row["high"] - row["low"] < 2 * verdict.margin
    for sentence in (sentence for answer in found for sentence in answer.sentences):
        assert sentence.endswith(".") and "nan" not in sentence
        assert not re.search(r"\b(significan\w*|because|causes?|due to|proves?|leads? to)\b", sentence)


def by_family(study: Made) -> Iterable[list[dict[str, Any]]]:
    """The rows of every family of tests, of a model or of two of them."""
    for frame in study.frames():
        families: dict[tuple[object, ...], list[dict[str, Any]]] = {}
        for row in frame.iter_rows(named=True):
            if row["test_family"] not in ("", ALONE):
                families.setdefault((row.get("first"), row.get("second"), row["test_family"]), []).append(row)
        yield from families.values()


@pytest.mark.parametrize("name", NAMES)
def test_every_p_value_is_of_a_named_family(name: str, made: Callable[[str], Made]) -> None:
    study = made(name)
    for row in (row for frame in study.frames() for row in frame.iter_rows(named=True)):
        assert (row["test_family"] != "") == (not math.isnan(row["p"])) == (row["tests"] > 0)
        if row["test_family"] == ALONE:
            assert row["tests"] == 1 and math.isnan(row["p_holm"])
    for rows in by_family(study):
        ranked = sorted(rows, key=lambda row: float(row["p"]))
        assert {row["tests"] for row in rows} == {len(rows)}
        largest = 0.0
        for passed, row in enumerate(ranked):
            largest = max(largest, min(1.0, (len(rows) - passed) * row["p"]))
            if name == "disco" and math.isnan(row["p_holm"]):
                continue  # of fills, as published: Bonferroni
            assert row["p_holm"] == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_no_family_holds_an_estimate_over_its_other_members(name: str, made: Callable[[str], Made]) -> None:
    for rows in by_family(made(name)):
        for column, value in rows[0].items():
            aggregates = isinstance(value, str) and (name, column) != ("ceat", "context")  # there: whole sentences
            wholes = {"all", "both", "A and B"} if aggregates else set()
            found = {row[column] for row in rows}
            assert not (found & wholes and found - wholes), (rows[0]["test_family"], column)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_names_what_was_computed_and_nothing_else(name: str, made: Callable[[str], Made]) -> None:
    study = made(name)
    computed = study.computed()
    for word in claims(study.texts()):
        assert any(re.search(SAME.get(word, re.escape(word)), text) for text in computed), word
    methods = " ".join(study.section.methods())
    for word in claims(computed):
        assert word in methods, f"{word} was computed and is not in the methods"


def test_the_words_are_those_that_are_used(made: Callable[[str], Made]) -> None:
    """Guards the test above: an interval or test that no word of the vocabulary tells would escape it."""
    plain = re.compile(
        r"permutation of|combined effect over|draws|drawn at random|moved by|normal, standard|no interval|χ²"
    )
    for name in NAMES:
        for text in made(name).computed():
            assert claims([text]) or plain.search(text), text


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_with_an_interval_is_in_the_methods(name: str, made: Callable[[str], Made]) -> None:
    study = made(name)
    methods = " ".join(study.section.methods())
    for result in study.section.results:
        shown = result.summary.filter(pl.col("low").is_not_nan() & ~pl.col("how").str.starts_with("no interval"))
        for measure in shown["measure"].unique():
            assert measure.translate({ord("["): "(", ord("]"): ")"}) in methods, measure
        assert (shown["how"] != "").all()  # an interval says how it was made


@pytest.mark.parametrize("name", NAMES)
def test_help_explains_every_parameter(name: str) -> None:
    probe = instruments()[name].probe
    assert "Parameters" not in probe.model_json_schema()["description"]
    told = pydoc.plain(pydoc.render_doc(probe))
    for key, info in probe.model_fields.items():
        assert f"{key} : " in told, key
        assert (info.description or "").split()[0] in told


def test_the_study_file_is_explained_too() -> None:
    schema = study_schema()
    parts = [schema, *schema["$defs"].values()]
    for part in parts:
        for key, field in part.get("properties", {}).items():
            assert field.get("description") or "$ref" in field, f"{part['title']}.{key}"


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_is_read_is_named(name: str, tmp_path: Path) -> None:
    """A study notes the hash of each file that a probe names, and so notices a change: none may be read unnamed."""
    files = write_template(name, tmp_path)
    (study,) = (file for file in files if file.name == f"{name}.yaml")
    _, probes = read_study(study)
    for probe in probes:
        named = {file.resolve() for file in probe.files([tmp_path])}
        opened = {path.resolve() for path in _opened(lambda probe=probe: probe.texts([tmp_path]))}  # type: ignore[misc]
        data = {path for path in opened if path.is_relative_to(tmp_path) or path.is_relative_to(probe.folder())}
        assert data - named == set()


_seen: list[str] | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is not None and event == "open" and isinstance(arguments[0], str | Path):
        _seen.append(str(arguments[0]))


sys.addaudithook(_hook)


def _opened(do: Callable[[], object]) -> set[Path]:
    """The files that are opened while something is done."""
    global _seen
    _seen = []
    try:
        do()
        return {Path(name) for name in _seen if not name.endswith((".py", ".pyc"))}
    finally:
        _seen = None
