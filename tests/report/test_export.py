"""Exports: CSV against the raw parquet files, LaTeX against an independent reader and TeX itself, the bibliography."""

from __future__ import annotations

import ast
import csv
import json
import math
import random
import re
import shutil
import struct
import subprocess
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import penchant as pc
import zoo as tiny
from answers import Answer, refused
from builders import write, write_study
from given_notes import left_out, told
from paths import ROOT
from penchant.errors import DataError, MethodError, OutputError
from penchant.instruments.cloze.estimates import measured
from penchant.instruments.registry import instruments, references
from penchant.instruments.run_options import Run
from penchant.records import Signature, with_nan
from penchant.report.export import _frame, _text, export
from penchant.report.latex import escaped, latex_table
from penchant.report.paper import answer_table, paragraph
from penchant.report.print_figure import print_pdf
from penchant.report.references import PENCHANT, cited, unmarked
from penchant.report.sections import Document, Section, StudySection
from penchant.report.tables import Number, P, ReportRow, ReportTable, constant, marked, untold
from penchant.study.manifest import read_manifest
from penchant.study.outcome import Outcome
from penchant.study.read_results import read_outcome
from penchant.study.run import run_study
from penchant.study.study_file import read_study
from penchant.wording.phrases import Note, every_code

Program = Callable[..., Answer]
Zoo = Callable[[str], Path]

LATIN = [
    "50% & more_#1",
    "<b>bold</b> {x} ~^$|",
    "[brackets]",
    "*",
    "-1",
    "quotes \"x\", ‘y’ \\ `z` -- ''",
    "two\nlines\r, comma",
    "β ½ − ± · … ≤ “δ” «κ» † Δ",
]
OTHERS = ["বাংলা ভাষা", "اللغة العربية", "日本語の文"]
AWKWARD = [*LATIN, *OTHERS]
NAMES = ("bert & 50%_#{1}", "ber\u0301t <2> [$x^2~] বাংলা")
"""Directories of models, whose names are those of the models."""


def write_jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def write_awkward(folder: Path, models: Sequence[Path | str]) -> None:
    """Minimal pairs and cloze sentences with awkward names and texts, and their study file."""
    texts = [
        *tiny.PAIRS,
        ('She said "no", & he_ 50% <b>.', 'She said "no, & he_ 50% <b> .'),
        ("মেয়েটি যায়।", "মেয়েটি যাই।"),
    ]
    pairs_ = [
        {"good": good, "bad": bad, "group": AWKWARD[(i + j) % len(AWKWARD)]}
        for i, (good, bad) in enumerate(texts)
        for j in range(2)
    ]
    write_jsonl(folder / "pairs 100%_&.jsonl", pairs_)
    gaps = [
        ("s1", "The old [MASK] saw the dog.", -1, LATIN[0]),
        ("s2", '"[MASK]" & <late>, 50%_!', -0.5, LATIN[0]),
        ("s3", "The keys to the [MASK] are on the table.", 1, LATIN[6]),
        ("s4", "মেয়েটি [MASK] যায়।", 0.5, OTHERS[0]),
    ]
    with_model = [
        {"id": id_, "text": text, "expected": rho, "group": group, "model": f"label {id_}"}
        for id_, text, rho, group in gaps
    ]
    (folder / "set").mkdir()
    write_jsonl(folder / "set" / "sentences.jsonl", with_model)
    words = sorted({word.strip(".,!") for sentence in tiny.SENTENCES for word in sentence.split()})
    write_jsonl(
        folder / "set" / "lexicon.jsonl", [{"word": w, "valence": (-1, 0.5)[i % 2]} for i, w in enumerate(words)]
    )
    about = {
        "language": "en",
        "scale": {"low": "old & 1%", "high": "new_2"},
        "sentences": "sentences.jsonl",
        "lexicon": ["lexicon.jsonl"],
    }
    write(folder / "set" / "set.yaml", about)
    pairs = {"minimal-pairs": {"data": ["pairs 100%_&.jsonl"], "resamples": 100}}
    cloze = {"cloze": {"data": "set", "k": 60, "resamples": 100, "draws": 100}}
    write_study(folder / "study.yaml", [*models], pairs, cloze)


@pytest.fixture(scope="module")
def finished(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result directory of that study, run with two models; tests leave it as it is."""
    folder = tmp_path_factory.mktemp("awkward")
    for model, name in zip(("roberta", "modernbert"), NAMES, strict=True):
        shutil.copytree(zoo(model), folder / name)
    write_awkward(folder, [folder / name for name in NAMES])
    study, probes = read_study(folder / "study.yaml")
    run_study(study, probes, folder / "out", Run(base=[folder]))
    return folder / "out"


@pytest.fixture
def mine(finished: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return Path(shutil.copytree(finished, tmp_path / "mine"))


def as_saved(file: Path) -> pl.DataFrame:
    """A table from its file: what was not computed is NaN, and a summary does not say the model."""
    table = with_nan(pl.read_parquet(file))
    return table.drop("model") if file.stem == "summary" else table


def saved(directory: Path, probe: str, table: str) -> dict[str, pl.DataFrame]:
    """The parquet files of every model of a probe, as they were written."""
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    units = [unit for unit in manifest["units"] if unit["probe"] == probe]
    return {unit["model"]["name"]: as_saved(directory / unit["directory"] / f"{table}.parquet") for unit in units}


def pair_result(paradigms: Sequence[str], model: str, *, dataset: str = "blimp", n: int = 40) -> pc.Result:
    """A result of made-up scores, `n` pairs a paradigm."""
    rng = np.random.default_rng(len(model))
    size = n * len(paradigms)
    longer = rng.integers(-2, 3, size)
    items = pl.DataFrame(
        {
            "dataset": [dataset] * size,
            "file": ["f"] * size,
            "id": [str(i) for i in range(size)],
            "group": [paradigm for paradigm in paradigms for _ in range(n)],
            "phenomenon": ["ph"] * size,
            "good": ["a"] * size,
            "bad": ["b"] * size,
            "score_good": rng.normal(0.5 - 0.3 * longer),
            "score_bad": np.zeros(size),
            "n_tokens_good": 10 + longer,
            "n_tokens_bad": np.full(size, 10),
            "difference": longer,
        }
    )
    recipe = {"data": f"{dataset}#1", "method": "pll", "normalise": "none,mean,pen", "acceptable": "sent_more"}
    signature = Signature.of("minimal-pairs", model=model, level=0.95, resamples=100, seed=0, **recipe)
    probe = pc.MinimalPairs(data=["d"], resamples=100, method="pll", normalise=["none", "mean", "pen"])
    return probe.result(pc.Measured(items), signature)


def cloze_result(groups: Sequence[str], model: str) -> pc.Result:
    """A result of made-up predictions, three sentences a group."""
    rng = np.random.default_rng(len(model))
    rows = [group for group in groups for _ in range(3)]
    points = (-1.0, -0.5, 0.0, 0.5, 1.0)
    items = pl.DataFrame(
        {
            "id": [f"i{i}" for i in range(len(rows))],
            "text": ["text [MASK]"] * len(rows),
            "expected": [points[i % 5] for i in range(len(rows))],
            "group": rows,
            "words": [["one", "two"]] * len(rows),
            "probs": rng.uniform(0, 0.5, (len(rows), 2)).tolist(),
            "valences": rng.choice(points, (len(rows), 2)).tolist(),
            "sources": [["ratings", "ratings"]] * len(rows),
        }
    )
    recipe = {"data": "d#1", "scale": "old < new", "method": "fill", "k": 2, "ratings": "r#1", "lexicon": "none"}
    settings_ = {"corpora": "none", "unrated": "zero", "rated_only": "no", "moved-share": 0.1, "draws": 100}
    numbers = {"level": 0.95, "resamples": 100, "seed": 0}
    signature = Signature.of("cloze", model=model, **recipe, **settings_, **numbers)
    probe = pc.Cloze(data="d", method="fill", k=2, moved_share=0.1, draws=100, resamples=100)
    return probe.result(pc.Measured(measured(items, rated_only=False)), signature)


def outcome(results: Mapping[str, Sequence[pc.Result]]) -> Outcome:
    """A study's outcome with all comparisons."""
    made = Outcome([])
    for place, own in results.items():
        made.results |= {(place, result.signature["model"]): result for result in own}
        if len(own) > 1:
            made.comparisons[place] = pl.concat(pc.compare(a, b) for a, b in combinations(own, 2))
    return made


# --- CSV ----------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def percent(share: float) -> float:
    """A share in percent: its decimal digits with the point two places on."""
    return share if math.isnan(share) else float(f"{share!r}e2" if "e" not in repr(share) else f"{share * 100!r}")


def same(text: str, value: object) -> bool:
    """True if a field gives a value to the last digit; a value that is not a number is an empty field."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return text == ""
    if isinstance(value, list):
        found = json.loads(text)
        return len(found) == len(value) and all(
            a is None if b is None or b != b else a == b for a, b in zip(found, value, strict=True)
        )
    return float(text) == value if isinstance(value, int | float) else text == value


def test_summaries_comparisons_and_items_are_the_saved_ones(finished: Path, tmp_path: Path) -> None:
    written = {path.name: path for path in export(read_outcome(finished).document(), "csv", tmp_path)}
    for probe in ("minimal-pairs", "cloze"):
        for table in ("summary", "items"):
            raw = [
                {"model": model, **{"model (label)" if key == "model" else key: value for key, value in row.items()}}
                for model, frame in saved(finished, probe, table).items()
                for row in frame.to_dicts()
            ]
            found = read(written[f"{probe}-{table}.csv"])
            assert len(found) == len(raw) > 0
            for row, expected in zip(found, raw, strict=True):
                assert set(row) == set(expected)
                for column, value in expected.items():
                    assert same(row[column], value), (probe, table, column, row[column], value)
        comparison = pl.read_parquet(finished / probe / "comparison.parquet").to_dicts()
        for row, expected in zip(read(written[f"{probe}-comparison.csv"]), comparison, strict=True):
            assert all(same(row[column], value) for column, value in expected.items())


def test_awkward_texts_come_back(finished: Path, tmp_path: Path) -> None:
    export(read_outcome(finished).document(), "csv", tmp_path)
    items = read(tmp_path / "minimal-pairs-items.csv")
    assert {row["group"] for row in items} == set(AWKWARD)
    assert 'She said "no", & he_ 50% <b>.' in {row["good"] for row in items}
    assert {unicodedata.normalize("NFC", row["model"].rpartition("@")[0]) for row in items} == {
        unicodedata.normalize("NFC", name) for name in NAMES
    }
    sentences = read(tmp_path / "cloze-items.csv")
    assert [row["model (label)"] for row in sentences] == 2 * ["label s1", "label s2", "label s3", "label s4"]
    assert {row["model"] for row in sentences} == {row["model"] for row in items}


def test_tables_of_minimal_pairs_have_the_summarys_numbers_unrounded(finished: Path, tmp_path: Path) -> None:
    export(read_outcome(finished).document(), "csv", tmp_path)
    raw = saved(finished, "minimal-pairs", "summary")
    rows = read(tmp_path / "minimal-pairs-by-paradigm.csv")
    assert len(rows) == len(AWKWARD) * 2 * 3
    for row in rows:
        own = {
            (line["measure"], line["split"]): line
            for line in raw[row["model"]].to_dicts()
            if (line["scope"], line["group"], line["normalise"]) == ("group", row["paradigm"], row["score"])
        }
        overall, adjusted = own["accuracy", "all"], own["length-adjusted accuracy", "all"]
        assert row["signature"] == overall["signature"]
        assert int(row["pairs"]) == overall["n"]
        for name, line in (("all", overall), ("length-adjusted", adjusted)):
            for column, part in ((name, "value"), (f"{name} low", "low"), (f"{name} high", "high")):
                assert same(row.get(column, ""), percent(line[part]))
        for split in ("A=U", "A>U", "A<U"):
            assert same(row.get(split, ""), percent(own["accuracy", split]["value"]))
            assert int(row[f"{split} n"]) == own["accuracy", split]["n"]


def test_table_of_differences_of_cloze_has_the_comparisons_numbers(finished: Path, tmp_path: Path) -> None:
    export(read_outcome(finished).document(), "csv", tmp_path)
    raw = untold(with_nan(pl.read_parquet(finished / "cloze" / "comparison.parquet"))).to_dicts()
    rows = read(tmp_path / "cloze-differences.csv")
    assert len(rows) == 2 * 4
    for row in rows:
        plain, moved = (
            next(r for r in raw if r["group"] == row["group"] and r["measure"] == f"difference of {row['of']}{suffix}")
            for suffix in ("", ", if raters were off by half a point")
        )
        assert int(row["sentences"]) == plain["n"]
        for column, part in (("value", "value"), ("value low", "low"), ("value high", "high")):
            assert same(row[column], plain[part])
        assert all(same(row[f"raters off by ½ {part}"], moved[part]) for part in ("low", "high"))
        assert "raters off by ½" not in row
        assert same(row["p"], plain["p"])
        assert same(row["p (Holm)"], math.nan if row["group"] == "all" else plain["p_holm"])


def test_columns_of_a_table_worked_by_hand() -> None:
    thirds, ends = Number(1 / 3, 0.1, 0.5), Number(low=-1, high=1)
    first = ("a,\r", 3, thirds, ends, P(1e-9), Number(0.5, n=2), P(0.25), Number())
    table = ReportTable(
        "name",
        "title",
        ("text", "n", "x", "range", "p", "share", "p ", "none"),
        (ReportRow(first, "s1"), ReportRow(("", 4, Number(), Number(), P(math.nan), Number(n=0), "", Number()), "s2")),
    )
    assert _text(_frame(table)) == (
        '"text","n","x","x low","x high","range low","range high","range p","share","share n","share p","none",'
        '"signature"\n'
        '"a,\r",3,0.3333333333333333,0.1,0.5,-1.0,1.0,1e-9,0.5,2,0.25,,"s1"\n'
        '"",4,,,,,,,,0,,,"s2"\n'
    )


def test_lists_are_json() -> None:
    frame = pl.DataFrame({"a": [[1.5, math.nan, None], [], None], "b": [["é", 'x"y'], None, []]})
    assert _text(frame) == '"a","b"\n"[1.5, null, null]","[""é"", ""x\\""y""]"\n"[]",\n,"[]"\n'


# --- LaTeX --------------------------------------------------------------------------------------------------------

COMMANDS_OF = r"""
    \ textbackslash ~ textasciitilde ^ textasciicircum | textbar < textless > textgreater " textquotedbl
    ` textasciigrave ' textquotesingle « guillemotleft » guillemotright “ textquotedblleft ” textquotedblright
    ‘ textquoteleft ’ textquoteright – textendash — textemdash … textellipsis † textdagger · textperiodcentered
    ½ textonehalf ¼ textonequarter ¾ textthreequarters ¶ textparagraph § textsection © textcopyright
    ‹ guilsinglleft › guilsinglright
"""
MATHS_OF = r"""
    − - ± \pm × \times ≤ \leq ≥ \geq ∪ \cup √ \surd ≠ \neq ≈ \approx ∞ \infty ∈ \in ∩ \cap ∖ \setminus
    → \rightarrow ← \leftarrow ↑ \uparrow ↓ \downarrow ¹ ^{1} ² ^{2} ³ ^{3} ₁ _{1} ₂ _{2}
"""


def signs_of(table: str) -> dict[str, str]:
    """Return the signs of a table by what LaTeX calls them."""
    words = table.split()
    return dict(zip(words[1::2], words[::2], strict=True))


COMMANDS = {**signs_of(COMMANDS_OF), "allowbreak": "\u200b"}
MATHS = signs_of(MATHS_OF)
SMALL = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega"
)
MATHS |= {f"\\{name}": letter for name, letter in zip(SMALL.split(), "αβγδεζηθικλμνξπρστυφχψω", strict=True)}
CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
MATHS |= {f"\\{name}": letter for name, letter in zip(CAPITAL.split(), "ΓΔΘΛΞΠΣΥΦΨΩ", strict=True)}
MARKED = (
    "GRAVE-ACCENT ACUTE-ACCENT CIRCUMFLEX-ACCENT TILDE MACRON BREVE DOT-ABOVE DIAERESIS RING-ABOVE "
    "DOUBLE-ACUTE-ACCENT CARON DOT-BELOW CEDILLA OGONEK MACRON-BELOW"
)


def combining(name: str) -> str:
    return unicodedata.lookup(f"COMBINING {name.replace('-', ' ')}")


MARKS = dict(zip("`'^~=u.\"rHvdckb", map(combining, MARKED.split()), strict=True))
MARKS |= {"hat": MARKS["^"], "tilde": MARKS["~"], "bar": MARKS["="], "dot": MARKS["."], "ddot": MARKS['"']}
ATOM = re.compile(
    r"\\(?P<accent>[`'^~=.\"]|[urHvdckb](?=\{))\{(?P<letter>(?:[^{}]|\{[^{}]*\})+)\}|"
    r"\\(?P<command>[a-z]+)\{\}|\\(?P<sign>[{}&%$#_])|\$(?P<maths>[^$]+)\$|(?P<apart>\\kern0pt(?=[-,\\]))|(?P<tie>~)"
    r'|(?P<plain>[^\\{}&%$#_~^|<>"`])'
)
"""What a text may be made of in LaTeX: nothing else stands for itself in every font and engine."""


def understood(tex: str) -> str:
    """The text that LaTeX makes of it, or a failure where it would make something else."""
    found, at = "", 0
    while at < len(tex):
        atom = ATOM.match(tex, at)
        assert atom, f"not safe at {at}: {tex!r}"
        over = re.fullmatch(r"\\(hat|tilde|bar|dot|ddot)\{(.+)\}", atom["maths"] or "")
        if atom["accent"]:
            found += understood(atom["letter"]) + MARKS[atom["accent"]]
        elif atom["command"]:
            found += COMMANDS[atom["command"]]
        elif over:
            found += MATHS.get(over[2], over[2]) + MARKS[over[1]]
        elif atom["maths"]:
            found += MATHS[atom["maths"]]
        else:
            found += "\u00a0" if atom["tie"] else atom["sign"] or atom["plain"] or ""
        at = atom.end()
    return found


def printed(text: str) -> str:
    """Return a text as it is to be printed: white space as a space, a control character as its code."""
    chars = ("\u00a0" if c == "\u00a0" else " " if c.isspace() else c for c in text)
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in ("Cc", "Cs") else c for c in chars)


HARD = (
    list("\\{}&%$#_~^|<>\"'`-,[]*!? \n\t\x00\x7f\u00a0")
    + list("−–βδΔσρακ½±·…≤≥“”‘’«»†×—ΣγτχΦ∪√")
    + list("aZ0λόéবা\u0302\u0304\u0308\u0331")
)


@given(st.text(st.one_of(st.sampled_from(HARD), st.characters()), max_size=30))
@settings(max_examples=400, deadline=None)
def test_no_text_is_anything_but_itself(text: str) -> None:
    tex = escaped(text)
    assert unicodedata.normalize("NFC", understood(tex)) == unicodedata.normalize("NFC", printed(text))
    assert not re.search(r"--|,,|''|(\\text(less|greater)\{\})\1", tex), "TeX would make one sign of two"


def test_texts_worked_by_hand() -> None:
    assert escaped("50% & more_#1") == r"50\% \& more\_\#1"
    assert escaped("<b>{x}</b> ~^$|\\") == (
        r"\textless{}b\textgreater{}\{x\}\textless{}/b\textgreater{} "
        r"\textasciitilde{}\textasciicircum{}\$\textbar{}\textbackslash{}"
    )
    assert escaped("δ = 1 − ½|ρ − β|") == r"$\delta$ = 1 $-$ \textonehalf{}\textbar{}$\rho$ $-$ $\beta$\textbar{}"
    assert escaped("a -- b, it's ''") == r"a -\kern0pt- b, it's \textquotesingle{}\textquotesingle{}"
    assert escaped("two\nlines\x00") == r"two lines\textbackslash{}x00"
    assert escaped("λόγος βδ বাংলা") == r"λόγος $\beta$$\delta$ বাংলা"
    assert escaped("be\u0301rt") == "bért"
    assert escaped("(x − x\u0304)², P\u0304, σ\u0302") == r"(x $-$ $\bar{x}$)$^{2}$, $\bar{P}$, $\hat{\sigma}$"
    assert escaped("ax\u0304is m\u0331") == r"a\={x}is \b{m}"
    assert escaped("y\u0304") == r"$\bar{y}$"


TABLE = ReportTable(
    "t",
    "Accuracy in %",
    ("model_a", "|A|−|U|", "accuracy", "p "),
    (
        ReportRow(("x&y", "-2", Number(-12.345, -20.5, 1, n=7, form="+.1f"), P(1.2e-5)), "penchant:1|model:x&y"),
        ReportRow(("[z]", "+1", Number(), P(math.nan)), "penchant:1|model:[z]"),
        ReportRow(("*", "0", Number(3, form="+.1f"), P(0)), "penchant:1|model:x&y"),
    ),
    "Note: 5 > 4.",
)


def test_a_table_worked_by_hand() -> None:
    assert latex_table(TABLE, "tab:t") == (
        "% Needs the packages array, booktabs, longtable and pdflscape; with pdflatex also \\usepackage[T1]{fontenc}.\n"
        "% penchant:1|model:x&y\n"
        "% penchant:1|model:[z]\n"
        "\\begin{table}[htbp]\n"
        "\\centering\n"
        "\\caption{Accuracy in \\%}\\label{tab:t}\n"
        "\\medskip\n"
        "{\n"
        "\\small\n"
        "\\setlength{\\tabcolsep}{4pt}\n"
        "\\begin{tabular}{@{}llrr@{}}\n"
        "\\toprule\n"
        "model\\_a & \\textbar{}A\\textbar{}$-$\\textbar{}U\\textbar{} & accuracy & p \\\\\n"
        "\\midrule\n"
        "x\\&y & $-$2 & $-$12.3 [$-$20.5, +1.0] (7) & $1.2\\times10^{-5}$ \\\\\n"
        "{}[z] & +1 & \\textendash{} & \\textendash{} \\\\\n"
        "{}* & 0 & +3.0 & \\textless{} 1e$-$300 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\\par\n"
        "}\n"
        "\\smallskip\n"
        "\\begin{minipage}{\\linewidth}\n"
        "{\\footnotesize\\noindent Note: 5 \\textgreater{} 4.\\par}\n"
        "\\end{minipage}\n"
        "\\end{table}\n"
    )


def plainly(cell: str) -> str:
    """A cell with its mark and its power of ten as the terminal has them."""
    text = re.sub(r"\\rlap\{\\textsuperscript\{([a-z]+)\}\}$", r" \1", cell.removeprefix("{}"))
    return re.sub(r"^\$([\d.]+)\\times10\^\{(-?)(\d+)\}\$$", lambda m: f"{m[1]}e{m[2] or '+'}{int(m[3]):02}", text)


def test_every_number_is_the_terminals(finished: Path, tmp_path: Path) -> None:
    study = read_outcome(finished)
    export(study.document(), "latex", tmp_path)
    for place, results in study.by_place().items():
        section = instruments()[results[0].signature["probe"]].section
        told = [replace(result, summary=untold(result.summary)) for result in results]
        tables = [*section.tables(told), *section.compared(untold(study.comparisons[place]))]
        written = [(f"{t.name}-full" if t.short else t.name, t) for t in tables]
        for name, whole in [*written, *((t.name, t.short) for t in tables if t.short)]:
            table = whole.only([i for i in range(len(whole.columns)) if i not in constant(whole)])
            tex = (tmp_path / f"{place}-{name}.tex").read_text("utf-8")
            lines = [line.removesuffix(r" \\") for line in tex.splitlines() if line.endswith(r" \\")]
            body = [re.split(r" (?<!\\)& ", line) for line in lines if not line.startswith(r"\caption")][
                -len(table.rows) :
            ]
            for cells, row in zip(body, table.rows, strict=True):
                found = [understood(plainly(cell)).replace("\u200b", "") for cell in cells]
                for text, cell in zip(found, row.cells, strict=True):
                    shown = cell if isinstance(cell, str) else marked(cell, table.footnotes())
                    expected = unicodedata.normalize("NFC", printed(shown)).strip()
                    assert text.replace("−", "-") == expected.replace("−", "-")
            comments = {line.removeprefix("% ") for line in tex.splitlines() if line.startswith("% penchant:")}
            assert comments == {row.signature for row in table.rows}


NOTED = ReportTable(
    "t",
    "Accuracy",
    ("data", "pairs", "score", "model", "accuracy", "A=U", "p", "p "),
    (
        ReportRow(("d_1", 7, "none", "m", Number(0.5, notes=told("few pairs")), Number(0.1), P(math.nan), P(0.5))),
        ReportRow(("d_1", 7, "mean", "m", Number(0.25), Number(0.1), P(math.nan), P(0.25))),
        ReportRow(("d_1", 7, "none", "n", Number(notes=told("no pairs")), Number(0.1), P(math.nan), P(0.25))),
    ),
)


def body(table: ReportTable, *, once: bool = True) -> list[str]:
    """The lines of a table between its rules, and its caption first."""
    lines = latex_table(table, "l", once=once).splitlines()
    caption = next(line for line in lines if line.startswith("\\caption"))
    return [caption.removesuffix("\\label{l}"), *(line.removesuffix(r" \\") for line in lines if line.endswith(r" \\"))]


def test_notes_on_single_numbers_are_raised_marks_explained_below() -> None:
    assert body(NOTED)[2:] == [
        r"none & m & 0.50\rlap{\textsuperscript{a}} & 0.10 & 0.5",
        r"mean & m & 0.25 & 0.10 & 0.25",
        r"none & n & \textendash{}\rlap{\textsuperscript{b}} & 0.10 & 0.25",
    ]
    tex = latex_table(NOTED, "l")
    assert "{@{}llr<{\\hspace{4pt}}rr@{}}" in tex, "room for the marks"
    assert tex.index("\\end{tabular}") < tex.index("\\noindent \\textsuperscript{a}~few pairs") < tex.index("~no pairs")


def test_what_is_the_same_in_all_rows_is_said_once() -> None:
    assert body(NOTED)[:2] == [
        "\\caption{Accuracy; data: d\\_\\allowbreak{}1; pairs: 7; p: \\textendash{}}",
        "score & model & accuracy & A=U & p",
    ], "but a measured number stays"
    assert body(NOTED, once=False)[1] == "data & pairs & score & model & accuracy & A=U & p & p"
    one, alike = (
        replace(NOTED, rows=NOTED.rows[:1]),
        ReportTable("t", "t", ("a", "b"), (ReportRow(("x", 1)), ReportRow(("x", 1)))),
    )
    assert constant(one) == constant(alike) == [], "a table keeps what would be all of it"


def placed(*tables: ReportTable) -> Document:
    """A document of one section that has these tables."""
    section = Section("T", "?", lambda _: list(tables), lambda _: [], lambda _: [], None, lambda _: [], lambda _: [])
    return Document([StudySection("t", "T", section, [], None, {})])


OTHER = ReportTable(
    "other", "Other", ("where", "β, for other raters too"), (ReportRow(("d_1, mean", 1)), ReportRow(("d_1, none", 2)))
)
WORDS = ReportTable("words", "Words", ("set", "word"), (ReportRow(("X", "oak")),))


def test_notes_of_a_row_stand_in_the_csv(tmp_path: Path) -> None:
    """In full, each with its column, also those that the terminal shows as one; no column where there is no note."""
    cells = [
        ("a", Number(1.0, notes=left_out(3)), Number(2.0, notes=told("rough"))),
        ("b", Number(1.0), Number(2.0)),
        ("c", Number(1.0, notes=left_out(4)), Number(2.0)),
        ("d", Number(1.0, notes=left_out(5)), Number(2.0)),
    ]
    table = ReportTable("t", "T", ("model", "β", "δ"), tuple(ReportRow(each) for each in cells))
    export(placed(table, OTHER), "csv", tmp_path)
    said = [row["note"] for row in read(tmp_path / "t-t.csv")]
    assert said == ["β: 3 of 9 left out; δ: rough", "", "β: 4 of 9 left out", "β: 5 of 9 left out"]
    assert "note" not in read(tmp_path / "t-other.csv")[0]
    assert {"file": "t-t.csv", "column": "note", "meaning": "cautions for reading the number", "rows": "4"} in [
        *read(tmp_path / "index.csv")
    ]


def test_a_short_table_is_printed_beside_the_full_one(tmp_path: Path) -> None:
    """Upright, where the full one is rotated; columns that are chosen are all of one table."""
    wide = tuple(f"a column of numbers {i}" for i in range(9))
    whole = ReportTable(
        "t", "T", ("model", *wide), (ReportRow(("m", *map(Number, range(9)))), ReportRow(("n", *map(Number, range(9)))))
    )
    both = replace(whole, short=replace(whole.only([0, 1, 2]), title="Less of it"))
    export(placed(both), "latex", tmp_path)
    short, full = ((tmp_path / name).read_text("utf-8") for name in ("t-t.tex", "t-t-full.tex"))
    assert "landscape}" not in short and "Less of it" in short and wide[2] not in short
    assert "landscape}" in full and wide[8] in full
    assert [rf"\input{{{name}}}" in (tmp_path / "preview.tex").read_text("utf-8") for name in ("t-t", "t-t-full")]
    export(placed(both), "latex", tmp_path / "chosen", columns=[wide[8]])
    assert (
        not (tmp_path / "chosen" / "t-t-full.tex").exists() and wide[8] in (tmp_path / "chosen" / "t-t.tex").read_text()
    )


def test_scores_and_columns_are_chosen_by_name(tmp_path: Path) -> None:
    document = placed(NOTED, OTHER, WORDS)
    export(document, "csv", tmp_path, scores="mean")
    assert [row["score"] for row in read(tmp_path / "t-t.csv")] == ["mean"]
    assert [row["where"] for row in read(tmp_path / "t-other.csv")] == ["d_1, mean"]
    assert (tmp_path / "t-words.csv").exists(), "it has no scores"
    chosen = tmp_path / "chosen"
    export(document, "csv", chosen, scores=["none"], columns="accuracy,β, for other raters too,model,score")
    assert list(read(chosen / "t-t.csv")[0]) == ["accuracy", "model", "score", "note", "signature"]
    assert [row["score"] for row in read(chosen / "t-t.csv")] == ["none", "none"]
    assert list(read(chosen / "t-other.csv")[0]) == ["β, for other raters too", "signature"]
    assert not (chosen / "t-words.csv").exists(), "none of its columns was chosen"
    export(document, "latex", tmp_path, columns=["data", "A=U p", "accuracy"])
    heads = [line for line in (tmp_path / "t-t.tex").read_text("utf-8").splitlines() if "A=U p" in line]
    assert heads == [r"score & model & data & A=U p & accuracy \\"], "what tells rows apart, and what is asked for"
    assert r"\input{t-t}" in (preview := (tmp_path / "preview.tex").read_text("utf-8"))
    assert "t-other" not in preview and "t-words" not in preview


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        ({"scores": "nine"}, ["no table contains the score 'nine'", "did you mean none?", "none, mean"]),
        (
            {"columns": "modell,score"},
            ["no table contains the column 'modell'", "did you mean model?", "other raters"],
        ),
        ({"columns": " , "}, ["no column is given", "use one of data, pairs"]),
    ],
)
def test_a_name_that_no_table_has_is_refused(tmp_path: Path, choice: dict[str, str], parts: list[str]) -> None:
    with pytest.raises(MethodError) as refusal:
        export(
            placed(NOTED, OTHER), "latex", tmp_path / "new", scores=choice.get("scores"), columns=choice.get("columns")
        )
    assert all(part in str(refusal.value) for part in parts), str(refusal.value)
    assert not (tmp_path / "new").exists()


def test_the_program_and_python_choose_alike(penchant: Program, finished: Path, tmp_path: Path) -> None:
    args = ["--scores", "none,pen", "--columns", "model,score,all", "-o", str(tmp_path / "a")]
    code, out, err = penchant("export", str(finished), "--to", "latex", *args)
    assert code == 0, err
    assert str(tmp_path / "a" / "minimal-pairs-accuracy.tex") in out
    assert "token-length-bias" not in out
    pc.export(finished, "latex", out=tmp_path / "b", scores=["none", "pen"], columns=["model", "score", "all"])
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert b"mean &" not in files["minimal-pairs-accuracy.tex"]
    for form in ("figures", "paper"):
        refused(penchant("export", str(finished), "--to", form, "--scores", "none"), "only for tables", "latex or csv")
    refused(penchant("export", str(finished), "--to", "latec"), "unknown format 'latec'", "did you mean latex?")
    refused(penchant("export", str(finished), "--to", "csv", "--columns", "modle"), "'modle'", "did you mean model")


def big(rows: int, name: str, columns: int = 2) -> ReportTable:
    heads = ("name", *(f"accuracy {i}" for i in range(columns)))
    number = Number(12.34, 10, 20, n=1000, form=".1f")
    return ReportTable(
        "big", "Big", heads, tuple(ReportRow((f"{name}{i}", *[number] * columns), f"s{i % 2}") for i in range(rows))
    )


def test_a_long_table_runs_over_pages_and_repeats_its_head() -> None:
    assert "longtable" not in latex_table(big(39, "x"), "l").split("\n", 1)[1]
    tex = latex_table(big(40, "x"), "l")
    assert "\\begin{longtable}" in tex
    assert tex.count("name & accuracy 0 & accuracy 1 \\\\") == 2
    assert tex.index("\\endfirsthead") < tex.index("\\endhead") < tex.index("x0 &")
    assert [line.partition(" ")[0] for line in tex.splitlines() if line.startswith("x")] == [f"x{i}" for i in range(40)]


def test_a_wide_table_breaks_its_texts_then_stands_on_its_side() -> None:
    name = "organisation/a_model_with_quite_a_long_name@0123456789abcdef0123456789abcdef"
    broken = latex_table(big(3, name, 3), "l")
    assert "}p{" in broken
    assert "organisation/\\allowbreak{}a\\_\\allowbreak{}model" in broken
    assert "landscape" not in broken.split("\n", 1)[1]
    assert "\\begin{landscape}" in latex_table(big(3, name, 6), "l")
    tall = ReportTable("t", "t", ("a", "b", "c"), (ReportRow((name * 3, name * 3, 1)),))
    assert "\\begin{landscape}" in latex_table(tall, "l"), "upright a row would have more than four lines"


def test_methods_cite_and_set_code(finished: Path, tmp_path: Path) -> None:
    export(read_outcome(finished).document(), "latex", tmp_path)
    methods = (tmp_path / "methods.tex").read_text("utf-8")
    assert methods.startswith("\\paragraph{Minimal pairs}\n")
    assert "\n\\paragraph{Cloze valence}\n" in methods
    assert "\\texttt{pll}" in methods
    assert "summed~\\cite{salazar2020}" in methods
    assert "[@" not in methods
    assert "`" not in methods
    keys = {key for group in re.findall(r"\\cite\{([^}]*)\}", methods) for key in group.split(",")}
    entries = re.findall(r"^@[a-z]+\{([a-z0-9]+),$", (tmp_path / "references.bib").read_text("ascii"), re.MULTILINE)
    assert len(entries) == len(set(entries))
    assert set(entries) == keys | {"penchant"}
    assert "In this study: Arabic, Bengali, CJK, Hiragana." in (tmp_path / "preview.tex").read_text("utf-8")


def test_sections_of_one_instrument_are_told_apart(tmp_path: Path) -> None:
    result = pair_result(["p"], "m")
    export(outcome({"minimal-pairs": [result], "minimal-pairs-2": [result]}).document(), "latex", tmp_path)
    assert re.findall(r"\\paragraph\{(.*)\}", (tmp_path / "methods.tex").read_text("utf-8")) == [
        "Minimal pairs",
        "Minimal pairs (minimal-pairs-2)",
    ]


# --- LaTeX itself -------------------------------------------------------------------------------------------------


def tex(folder: Path, *command: str) -> str:
    """Run a program of TeX, which must find no error; what it printed."""
    done = subprocess.run([*command], cwd=folder, capture_output=True, timeout=300, check=False)
    out = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, out[-3000:]
    return out


def needs(*programs: str, file: str = "booktabs.sty") -> pytest.MarkDecorator:
    missing = [program for program in programs if not shutil.which(program)]
    if not missing and shutil.which("kpsewhich"):
        found = subprocess.run(["kpsewhich", file], capture_output=True, check=False)
        missing = [] if found.returncode == 0 else [file]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


STRICT = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")


def compiled(folder: Path, engine: str) -> str:
    """Compile a preview with its bibliography: the log of the last run."""
    tex(folder, engine, *STRICT, "preview")
    assert "Warning--" not in tex(folder, "bibtex", "preview")
    tex(folder, engine, *STRICT, "preview")
    tex(folder, engine, *STRICT, "preview")
    return (folder / "preview.log").read_text("utf-8", "replace")


@needs("pdflatex", "bibtex")
def test_pdflatex_sets_the_preview(tmp_path: Path) -> None:
    names = ["bert-base-uncased@86b5e09", "organisation/some_longer_model-v2@0f1e2d3", "m & 50% {#} [$x^2~] <b>"]
    study = outcome(
        {
            "minimal-pairs": [pair_result(LATIN, name) for name in names],
            "cloze": [cloze_result(["Early Modern English", "e\u0301te\u0301", *LATIN], name) for name in names],
        }
    )
    export(study.document(), "latex", tmp_path)
    log = compiled(tmp_path, "pdflatex")
    for fault in ("Overfull \\hbox", "undefined", "multiply", "Missing character"):
        assert fault not in log
    references = (tmp_path / "preview.bbl").read_text("ascii")
    for key in ("warstadt2020", "salazar2020", "ueda2024", "bonett2012", "penchant"):
        assert f"\\bibitem{{{key}}}" in references


@needs("pdflatex", "bibtex")
def test_a_paper_has_a_table_a_figure_and_a_paragraph(tmp_path: Path) -> None:
    """It compiles; every work that it cites is in its bibliography; the table has the numbers of the verdicts."""
    names = ["bert-base-uncased@86b5e09", "organisation/some_longer_model-v2@0f1e2d3"]
    study = outcome({"minimal-pairs": [pair_result(LATIN, name) for name in names]})
    (section,) = study.document().sections
    written = export(study.document(), "paper", tmp_path)
    assert [path.name for path in written] == [
        *("minimal-pairs-answers.tex", "minimal-pairs-figure.pdf", "minimal-pairs-figure.tex"),
        *("methods.tex", "references.bib", "paper.tex"),
    ]
    table = answer_table(section)
    assert table is not None and len(table.columns) <= 6
    verdicts = [each for answer in section.answers() for each in answer.verdicts if each.row]
    numbers = [cell for row in table.rows for cell in row.cells if isinstance(cell, Number)]
    assert [each.row["value"] for each in verdicts if each.row] == pytest.approx([each.value / 100 for each in numbers])
    said = paragraph(section)
    assert 100 <= len(said.split()) <= 200
    assert all(name in said for name in names) and f"used {len(section.results[0].items)} items" in said
    assert "No item was left out." in said
    first, second = section.results
    lost = Note("unknown-skipped", lost=11, of=40, noun="pairs", model=names[0], named=["11 with 'ä'"])
    without = paragraph(replace(section, results=[replace(first, left_out=(lost,)), second]))
    assert re.search(r"Left out: 11 of 40 pairs [^.]*bert-base-uncased", without) and "No item" not in without
    changed = replace(second, signature=second.signature.with_(method="lp"))
    for name, method in ((names[0], first.signature["method"]), (names[1], "lp")):
        assert re.search(rf"`{method}` \([^)]*{re.escape(name)}", paragraph(replace(section, results=[first, changed])))
    tex(tmp_path, "pdflatex", *STRICT, "paper")
    assert "Warning--" not in tex(tmp_path, "bibtex", "paper")
    tex(tmp_path, "pdflatex", *STRICT, "paper")
    tex(tmp_path, "pdflatex", *STRICT, "paper")
    log = (tmp_path / "paper.log").read_text("utf-8", "replace")
    for fault in ("Overfull \\hbox", "undefined", "multiply", "Missing character"):
        assert fault not in log
    keys = re.findall(r"@([a-z0-9]+)[];]", said)
    assert set(keys) == set(re.findall(r"bibitem\{(.*?)\}", (tmp_path / "paper.bbl").read_text("ascii")))


@needs("xelatex", "bibtex", file="fontspec.sty")
def test_xelatex_sets_the_preview_of_any_script(finished: Path, tmp_path: Path) -> None:
    export(read_outcome(finished).document(), "latex", tmp_path)
    log = compiled(tmp_path, "xelatex")
    assert "undefined" not in log
    missing = re.findall(r"There is no (.)", log)
    assert all(unicodedata.name(char).split()[0] in ("BENGALI", "ARABIC", "CJK", "HIRAGANA") for char in missing)


def hard_strings() -> list[str]:
    draw = random.Random(0)
    signs = "".join(map(chr, range(0x21, 0x7F))) + "−–βδΔσρακ½±·…≤“”‘’«»†"
    ends = [sign for sign in signs if sign not in "[*"]
    drawn = ("".join([draw.choice(ends), *draw.choices(signs, k=7)]) for _ in range(300))
    return ["[x]", "*", "---", ",,", "<<>>", "''``", *drawn]


FOREIGN = set("▁।␤＋－＝＠�")
"""Signs of tokenizers, of texts that are read and of pages, which no table has."""


COMBINING = list(map(chr, range(0x300, 0x370)))
"""Marks that stand over the character before them."""
READS = ("tokenizer_files.py", "gguf_files.py", "latex.py", "wrong_encodings.py", "text_defects.py")
"""The modules whose signs are those that texts are looked through for."""


def strings(path: Path) -> set[str]:
    """The strings of a module, without those that explain it."""
    tree = ast.parse(path.read_text("utf-8"))
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in explained)
    return {node.value for node in texts if isinstance(node.value, str)}


def own_signs() -> dict[str, set[str]]:
    """The characters beyond ASCII in what penchant says, but for letters of words, with the modules that have them."""
    places: dict[str, set[str]] = {}
    package = Path(pc.__file__ or "").parent
    words = [*package.glob("wording/*.yaml"), *package.glob("instruments/*/text.yaml")]
    for path in (*package.rglob("*.py"), *words):
        said = {path.read_text("utf-8")} if path in words else strings(path)
        signs = {sign for text in said for sign in re.findall(f".[{''.join(COMBINING)}]+|.", text, re.DOTALL)}
        for char in signs - set(COMBINING):
            if len(char) > 1 and path.name not in READS:  # a mark over a letter, which alone is no sign
                places.setdefault(char, set()).add(path.name)
            elif len(char) == 1 and char > "\x7f" and unicodedata.category(char)[0] not in "CZ" and char not in FOREIGN:
                name = unicodedata.name(char)
                word = name.startswith("LATIN ") or (char > "\uffff") or path.name in READS
                places.setdefault(char, set()).update([] if word else [path.name])
    return {char: modules for char, modules in places.items() if modules}


def test_every_sign_that_penchant_says_is_a_command() -> None:
    signs = own_signs()
    assert {"≠", "↑", "−", "α", "²", "x\u0304"} <= signs.keys()
    assert {char: modules for char, modules in signs.items() if not escaped(char).isascii()} == {}


def test_signs_that_need_another_engine_are_named(tmp_path: Path) -> None:
    study = outcome({"minimal-pairs": [pair_result(["p"], "m ∅ ⊗")]})
    export(study.document(), "latex", tmp_path)
    assert "In this study: the signs ∅ ⊗." in (tmp_path / "preview.tex").read_text("utf-8")


@needs("pdflatex")
def test_pdflatex_takes_every_sign(tmp_path: Path) -> None:
    rows = tuple(ReportRow((text, i)) for i, text in enumerate([*hard_strings(), *own_signs()]))
    (tmp_path / "table.tex").write_text(
        latex_table(ReportTable("t", "".join(HARD[20:40]), ("text", "n"), rows), "t"), "utf-8"
    )
    preamble = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{array,booktabs,longtable,pdflscape}"
    (tmp_path / "all.tex").write_text(preamble + r"\begin{document}\input{table}\end{document}", "utf-8")
    tex(tmp_path, "pdflatex", *STRICT, "all")
    assert "Missing character" not in (tmp_path / "all.log").read_text("utf-8", "replace")


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("xelatex", marks=needs("xelatex", "pdftotext", file="fontspec.sty")),
        pytest.param("lualatex", marks=needs("lualatex", "pdftotext", file="luaotfload.sty")),
    ],
)
def test_unicode_engines_print_every_sign(tmp_path: Path, engine: str) -> None:
    texts = hard_strings()
    rows = tuple(ReportRow((text, 1000 + i)) for i, text in enumerate(texts))
    (tmp_path / "table.tex").write_text(latex_table(ReportTable("t", "t", ("text", "n"), rows), "t"), "utf-8")
    preamble = r"\documentclass{article}\usepackage{fontspec,array,booktabs,longtable,pdflscape}"
    (tmp_path / "all.tex").write_text(preamble + r"\begin{document}\input{table}\end{document}", "utf-8")
    tex(tmp_path, engine, *STRICT, "all")
    lines = tex(tmp_path, "pdftotext", "-layout", "all.pdf", "-").splitlines()
    found = {int(line.split()[-1]): "".join(line.split()[:-1]) for line in lines if re.search(r" 1\d\d\d$", line)}
    # What a reader of PDF makes of a fraction, of an apostrophe and of a capital Delta.
    alike = str.maketrans({"'": "’", "∆": "Δ", "½": "1⁄2"})
    assert {i: text.translate(alike) for i, text in found.items()} == {
        1000 + i: text.translate(alike) for i, text in enumerate(texts)
    }


REFERENCES = {key: reference for each in instruments().values() for key, reference in references(each).items()}

# --- The bibliography ---------------------------------------------------------------------------------------------


def test_what_the_methods_cite_is_there() -> None:
    files = [each.folder / "text.yaml" for each in instruments().values()]
    sources = [file.read_text("utf-8") for file in files]
    used = {key for source in sources for key in re.findall(r"@([a-z]+[0-9]{4})\b", source)}
    assert {"salazar2020", "ueda2024", "cuscito2024"} <= used
    used |= {key for *_, cited in every_code() for key in cited}
    assert used <= set(REFERENCES)


def test_references_worked_by_hand() -> None:
    assert REFERENCES["salazar2020"].short == "Salazar et al. 2020"
    assert REFERENCES["misra2023"].short == "Misra et al. 2023"
    assert REFERENCES["kauf2023"].short == "Kauf and Ivanova 2023"
    assert REFERENCES["holm1979"].short == "Holm 1979"
    assert PENCHANT.short == "The penchant authors 2026"
    assert REFERENCES["mantel1959"].text == (
        "Nathan Mantel and William Haenszel. 1959. Statistical Aspects of the Analysis of Data from Retrospective "
        "Studies of Disease. Journal of the National Cancer Institute, 22(4), 719–748. https://doi.org/10.1093/jnci/22.4.719"
    )
    assert REFERENCES["lau2020"].text == (
        "Jey Han Lau, Carlos Armendariz, Shalom Lappin, Matthew Purver and Chang Shu. 2020. How Furiously Can "
        "Colorless Green Ideas Sleep? Sentence Acceptability in Context. Transactions of the Association for "
        "Computational Linguistics, 8, 296–310. https://doi.org/10.1162/tacl_a_00315"
    )
    assert REFERENCES["efron1993"].bibtex == (
        "@book{efron1993,\n  author = {Efron, Bradley and Tibshirani, Robert J.},\n  year = {1993},\n"
        "  title = {An Introduction to the Bootstrap},\n  publisher = {Chapman \\& Hall},\n  address = {New York},\n"
        "  doi = {10.1007/978-1-4899-4541-9},\n}"
    )


def test_penchant_is_cited_as_its_citation_file_says() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    own = PENCHANT
    assert own.fields["title"] == said["title"]
    assert own.fields["author"] == f"{{{said['authors'][0]['name']}}}"
    assert own.fields["howpublished"].endswith(said["version"]) and said["version"] == pc.__version__


@pytest.mark.parametrize("key", list(REFERENCES))
def test_references_are_well_formed(key: str) -> None:
    fields = REFERENCES[key].fields
    family = fields["author"].partition(",")[0]
    assert key == family.lower().replace(" ", "") + fields["year"]
    if "pages" in fields:
        first, last = (int(page.lstrip("E")) for page in fields["pages"].split("–"))
        assert first < last
    assert re.fullmatch(r"10\.\d{4,5}/\S+", fields.get("doi", "10.1000/x"))
    entry = REFERENCES[key].bibtex
    assert entry.isascii()
    assert entry.count("{") == entry.count("}")
    for name, value in re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE):
        if name not in ("doi", "url"):
            assert not re.search(r"(?<!\\)[&%#_~^<>]", value), value


def test_cited_each_once_in_order() -> None:
    found = cited(
        ["A [@holm1979], b [@nangia2020; @blodgett2021].", "C [@holm1979; @kauf2023] and user@example2020."], REFERENCES
    )
    assert [reference.key for reference in found] == ["holm1979", "nangia2020", "blodgett2021", "kauf2023"]
    assert unmarked("summed [@salazar2020; @holm1979].", REFERENCES) == "summed (Salazar et al. 2020; Holm 1979)."
    with pytest.raises(DataError, match="nobody1900"):
        cited(["[@nobody1900]"], REFERENCES)
    with pytest.raises(DataError, match="nobody1900"):
        unmarked("[@holm1979; @nobody1900]", REFERENCES)


@needs("pdflatex", "bibtex")
def test_bibtex_takes_every_reference_and_keeps_capitals(tmp_path: Path) -> None:
    entries = "\n\n".join(reference.bibtex for reference in (*REFERENCES.values(), PENCHANT))
    (tmp_path / "all.bib").write_text(entries, "ascii")
    body = r"\nocite{*}\bibliographystyle{plain}\bibliography{all}"
    text = rf"\documentclass{{article}}\usepackage[T1]{{fontenc}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "all.tex").write_text(text, "ascii")
    tex(tmp_path, "pdflatex", *STRICT, "all")
    assert "Warning--" not in tex(tmp_path, "bibtex", "all")
    tex(tmp_path, "pdflatex", *STRICT, "all")
    set_ = " ".join((tmp_path / "all.bbl").read_text("ascii").translate(str.maketrans("", "", "{}")).split())
    names = ("BERT speaks Shakespearean English", "CrowS-Pairs", "BLiMP", "COMPS", "Norwegian salmon", "Adjusted Wald")
    own = ("penchant: what a language model", "The penchant authors", "$\\chi$", "Sentence acceptability")
    assert [name for name in (*names, *own) if name not in set_] == []


# --- Figures ------------------------------------------------------------------------------------------------------


def test_figures_are_drawn_with_every_name(finished: Path, tmp_path: Path) -> None:
    study = read_outcome(finished)
    written = export(study.document(), "figures", tmp_path)
    expected = [
        f"{place}-{figure.name}{suffix}"
        for place, results in study.by_place().items()
        for figure in instruments()[results[0].signature["probe"]].section.figures(results)
        for suffix in (".svg", ".png", ".pdf")
    ]
    assert [path.name for path in written] == [*expected, "captions.txt"]
    assert "cloze-beta.svg" in expected
    for path in written:
        if path.suffix == ".svg":
            text = "".join(ET.parse(path).getroot().itertext())
            assert "bert & 50%_#{1}@" in text
        elif path.suffix == ".png":
            data = path.read_bytes()
            assert data.startswith(b"\x89PNG\r\n")
            assert min(struct.unpack(">II", data[16:24])) > 100
    figures = [figure for section in study.document().sections for figure in section.figures()]
    captions = written[-1].read_text("utf-8").strip().split("\n\n")
    for caption, figure in zip(captions, figures, strict=True):
        assert caption.split("\n")[1] == figure.caption
        assert " ".join(figure.finding.split()).rstrip(".") in caption and caption.endswith(f"n = {figure.n}.")
    assert any(figure.finding for figure in figures)


def test_a_figure_fits_a_column_of_print(finished: Path) -> None:
    """A column is 88 mm wide, and a page 180 mm by 240 mm; 72 points are 25.4 mm."""
    figures = [figure for section in read_outcome(finished).document().sections for figure in section.figures()]
    widths = []
    for figure in figures:
        pdf, width = print_pdf(figure)
        box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        assert box is not None
        across, down = (float(points) / 72 * 25.4 for points in box.groups())
        assert across == pytest.approx(width, abs=0.5) and across <= 180.5 and down <= 240.5
        widths.append(across)
    assert min(widths) <= 88.5


def test_figures_of_data_sets_with_like_names_do_not_replace_each_other(tmp_path: Path) -> None:
    names = ["a b/c", "a_b_c", "A_B_C", "বাংলা ভাষা"]
    sets = [pair_result(["p"], "m", dataset=name, n=10) for name in names]
    signature = sets[0].signature
    items = pl.concat(result.items for result in sets)
    both = pc.MinimalPairs.of(sets[0].settings).result(pc.Measured(items), signature)
    written = export(outcome({"minimal-pairs": [both]}).document(), "figures", tmp_path)
    assert len(written) - 1 == 3 * len(instruments()["minimal-pairs"].section.figures([both])) >= 3 * 2 * len(names)
    assert len({path.name.casefold() for path in written}) == len(written)
    assert all(path.parent == tmp_path and path.stat().st_size for path in written)
    assert "minimal-pairs-accuracy-4.svg" in {path.name for path in written}


# --- The command --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["latex", "csv", "figures"])
def test_the_program_writes_beside_the_results_and_prints_the_paths(penchant: Program, mine: Path, to: str) -> None:
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    code, out, err = penchant("export", mine, "--to", to)
    assert code == 0, err
    listed = [Path(line) for line in out.splitlines()]
    assert sorted(listed) == sorted(path for path in (mine / to).iterdir() if path.name[0] != ".")
    assert len(listed) >= 8
    assert all(path.read_bytes() == content for path, content in before.items())
    again = {path: path.read_bytes() for path in listed}
    assert penchant("export", mine, "--to", to, "-o", mine.parent / "elsewhere")[0] == 0
    elsewhere = {path: (mine.parent / "elsewhere" / path.name).read_bytes() for path in listed}
    alike = [path for path in listed if path.suffix != ".pdf"]  # the renderer numbers the fonts of a PDF at random
    assert [elsewhere[path] for path in alike] == [again[path] for path in alike]


def test_what_cannot_be_exported_is_one_line(penchant: Program, mine: Path, tmp_path: Path) -> None:
    refused(penchant("export", tmp_path / "nowhere", "--to", "csv"), "nowhere", "no such directory")
    refused(penchant("export", tmp_path, "--to", "csv"), "contains no study")
    refused(penchant("export", mine, "--to", "excel"), "'excel'", "paper", "latex", "csv")
    refused(penchant("export", mine), "--to")
    assert not (mine / "excel").exists()


def test_output_that_cannot_be_written(penchant: Program, mine: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(penchant("export", mine, "--to", "csv", "-o", tmp_path / "file"), "cannot be written", "file")
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(OutputError, match="cannot be written"):
        export(read_outcome(mine).document(), "latex", tmp_path / "file" / "below")
    (tmp_path / "taken" / "methods.tex").mkdir(parents=True)
    refused(penchant("export", mine, "--to", "latex", "-o", tmp_path / "taken"), "methods.tex", "directory")
    assert not list((tmp_path / "taken").glob(".*"))


def test_an_unfinished_study_is_exported_as_far_as_it_went(penchant: Program, mine: Path) -> None:
    manifest = read_manifest(mine / "manifest.json")
    first, *rest = manifest.units
    manifest.units = [first]
    manifest.status, manifest.tables = "running", {}
    manifest.write(mine / "manifest.json")
    for table in mine.glob("*/comparison.parquet"):
        table.unlink()
    assert rest
    code, out, err = penchant("export", mine, "--to", "csv")
    assert code == 0, err
    names = {Path(line).name for line in out.splitlines()}
    assert {"minimal-pairs-accuracy.csv", "minimal-pairs-summary.csv", "minimal-pairs-items.csv"} <= names
    assert not [name for name in names if "cloze" in name or "comparison" in name or "differences" in name]
    assert len({row["model"] for row in read(mine / "csv" / "minimal-pairs-items.csv")}) == 1
    assert penchant("export", mine, "--to", "latex")[0] == 0
    manifest.units = []
    manifest.write(mine / "manifest.json")
    refused(penchant("export", mine, "--to", "csv"), "no model is finished yet")
