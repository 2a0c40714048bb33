"""Records passed between layers: Item, Estimate, Signature and Result."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import quote, unquote

from penchant._version import __version__
from penchant.call_checks import asked
from penchant.errors import DataError, StudyError, UnknownKeyError, encodable, one_line, one_of
from penchant.text_io import opened, read_text
from penchant.wording.phrases import Method, Note, Notes, has_words, in_words, notes_json, present, read_notes

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Item:
    """A stimulus from the user's data.

    `texts` maps each role to its text (`{"good": …, "bad": …}`), and `labels` each factor to its level (`{"paradigm":
    "inchoative"}`). `place` is its location in the user's file ("pairs.tsv, line 7").
    """

    id: str
    texts: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    place: str = ""


SIDES = ("first", "second")
"""The columns with the two models of a comparison; differences are first minus second."""


def pair_of(row: Mapping[str, Any]) -> str:
    """Return the names of the two models in a row of a comparison, "A − B"."""
    return " − ".join(str(row[side]) for side in SIDES)


ALONE = "alone"
"""The family name of a test whose p-value is not adjusted."""


@dataclass(frozen=True, slots=True)
class Test:
    """A p-value `p`, two-sided unless `method` says otherwise, and the p-value `adjusted` for a family of tests.

    `family` is the name of the family and `of` its number of tests. If there is no family, `family` is "", `of` is 0
    and `adjusted` is NaN.
    """

    __test__: ClassVar[bool] = False  # keeps pytest from collecting this class
    p: float
    method: Method | None = None
    adjusted: float = math.nan
    family: str = ""
    of: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its confidence interval and its test, if any.

    `low` and `high` are the confidence limits at `level`, computed by `method`. An estimate that cannot be computed is
    NaN, and `notes` contain the reason. `by` maps factors to the levels of the subset that the estimate describes.
    """

    measure: str
    value: float
    n: int
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    method: Method | None = None
    test: Test | None = None
    notes: Notes = ()
    by: Mapping[str, str] = field(default_factory=dict)

    @property
    def p(self) -> float:
        """The p-value; NaN if there is no test."""
        return self.test.p if self.test else math.nan

    @property
    def how(self) -> str:
        """Description of the interval's method."""
        return str(self.method or "")

    @property
    def note(self) -> str:
        """Text of the notes."""
        return in_words(self.notes)

    def tested(self, p: float, method: Method | None) -> Estimate:
        """Return a copy with the p-value and the method of a test."""
        return replace(self, test=Test(float(p), method))

    def noted(self, *notes: Note | None, first: bool = False) -> Estimate:
        """Return a copy with additional notes, after the existing ones or, if `first`, before them; None is skipped."""
        more = present(*notes)
        return replace(self, notes=(*more, *self.notes) if first else (*self.notes, *more)) if more else self

    def row(self) -> dict[str, str | float | int]:
        """Return the estimate as a flat table row that begins with the levels of `by`.

        Methods and notes are given as text and as codes with parameters (JSON).
        """
        test = self.test or Test(math.nan)
        known = test.p == test.p
        return {
            **self.by,
            "measure": self.measure,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n": self.n,
            "how": self.how,
            "p": test.p,
            "p_holm": test.adjusted,
            "tests": test.of or int(known),
            "test_family": test.family or (ALONE if known else ""),
            "test": str(test.method or ""),
            "note": self.note,
            "method": self.method.json() if self.method else "",
            "test_method": test.method.json() if test.method else "",
            "notes": notes_json(self.notes),
        }


_KEY = re.compile(r"[a-z][a-z0-9-]*\Z")
_UNSAFE = re.compile("[%|\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def _is_field(part: object) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and all(isinstance(each, str) for each in part)


@dataclass(frozen=True, slots=True, repr=False)
class Signature(Mapping[str, str]):
    """The settings behind an estimate, short enough to cite: `penchant:0.1.0|probe:minimal-pairs|model:…|seed:0`.

    An ordered mapping of keys to values. `Signature.parse(str(s)) == s` for all values: `|`, `%`, line breaks, control
    characters and changes of writing direction are percent-encoded.
    """

    fields: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.fields, tuple) or not all(map(_is_field, self.fields)):
            hint = "use Signature.parse(TEXT) or Signature.of(PROBE, KEY=VALUE)"
            raise StudyError("must consist of (key, value) pairs", where="signature", hint=hint)
        keys = [key for key, _ in self.fields]
        if len(set(keys)) != len(keys):
            raise StudyError(f"a key appears twice in {', '.join(keys)}", where="signature")
        for key in keys:
            if not _KEY.match(key):
                raise StudyError(
                    f"a key must consist of lower-case letters, digits and '-', got {key!r}", where="signature"
                )

    @classmethod
    def of(cls, probe: str, /, **fields: object) -> Signature:
        r"""Return a signature for this version of penchant.

        Underscores in keyword names are replaced by hyphens, and bytes of file names that are not UTF-8 by codes, such
        as \udcff.
        """
        named = tuple((key.replace("_", "-"), encodable(str(value))) for key, value in fields.items())
        return cls((("penchant", __version__), ("probe", probe), *named))

    @classmethod
    @asked
    def parse(cls, text: str) -> Signature:
        """Return the signature represented by a string; raise StudyError if it is not valid."""
        fields = []
        for part in text.split("|"):
            key, colon, value = part.partition(":")
            if not colon:
                raise StudyError(f"'{part}' has no ':'", where="signature", hint="write key:value|key:value")
            fields.append((key, unquote(value)))
        return cls(tuple(fields))

    def with_(self, **changes: object) -> Signature:
        """Return a copy with some values replaced, or new keys added at the end."""
        new = {key.replace("_", "-"): str(value) for key, value in changes.items()}
        updated = tuple((key, new.pop(key, value)) for key, value in self.fields)
        return Signature(updated + tuple(new.items()))

    def __getitem__(self, key: str) -> str:
        for name, value in self.fields:
            if name == key:
                return value
        raise UnknownKeyError(f"has no key '{key}'", where="a signature", hint=one_of(str(key), list(self)))

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return "|".join(f"{k}:{_UNSAFE.sub(lambda m: quote(m[0], safe=''), v)}" for k, v in self.fields)


SETTINGS = "settings.json"
"""The name of the file with the probe's settings in a result directory."""
LEFT_OUT = "left-out.json"
"""The name of the file with the notes on data that were not used."""


@dataclass(frozen=True)
class BaseResult:
    """Result of a probe for one model.

    `items` has one row per stimulus with its scores, and `summary` one row per estimate with its signature. `cautions`
    should be read before the estimates are used. `settings` are the parameters of the probe as JSON types, and
    `left_out` notes on the data that were not used.
    """

    signature: Signature
    items: pl.DataFrame
    summary: pl.DataFrame
    cautions: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    left_out: Notes = ()

    @asked
    def save(self, directory: str | Path) -> list[Path]:
        """Write the tables, signature, settings and notes to a directory, each file atomically; return the paths."""
        import polars as pl

        from penchant.files import write_json, write_parquet, write_text

        out, model = Path(directory), pl.lit(self.signature["model"]).alias("model")
        write_parquet(self.items, out / "items.parquet")
        write_parquet(with_nulls(self.summary.select(model, pl.all())), out / "summary.parquet")
        lines = [str(self.signature), *map(one_line, self.cautions)]
        write_text("\n".join(lines) + "\n", out / "signature.txt")
        write_json(dict(self.settings), out / SETTINGS)
        write_text(f"{notes_json(self.left_out) or '[]'}\n", out / LEFT_OUT)
        return [out / name for name in ("items.parquet", "summary.parquet", "signature.txt", SETTINGS, LEFT_OUT)]


class Saved(NamedTuple):
    """Contents of a result directory."""

    signature: Signature
    items: pl.DataFrame
    summary: pl.DataFrame
    cautions: tuple[str, ...]
    settings: Mapping[str, Any]
    left_out: Notes


def read_result(directory: str | Path) -> Saved:
    """Return the contents of a directory written by `BaseResult.save`.

    Raises StudyError if a file is missing or invalid.
    """
    import polars as pl

    out = Path(directory)
    try:
        first, *cautions = read_text(out / "signature.txt").removesuffix("\n").split("\n")
        tables = []
        for table in ("items.parquet", "summary.parquet"):
            with opened(out / table) as stream:  # polars would expand a path as a pattern, and reject non-UTF-8 names
                tables.append(pl.read_parquet(stream))
    except (DataError, OSError, ValueError, pl.exceptions.PolarsError) as error:
        inside = sorted(each.parent.relative_to(out) for each in out.glob("*/*/signature.txt"))
        hint = f"the results of this study are in {', '.join(map(str, inside))}" if inside else ""
        raise StudyError(f"contains no result ({error})", where=str(out), hint=hint) from error
    summary = with_nan(tables[1].drop("model", strict=False))
    notes = json.dumps(_read_json(out / LEFT_OUT, list, "notes"))
    if not has_words(notes, notes=True):
        raise StudyError("contains no valid notes", where=str(out / LEFT_OUT), hint="measure again")
    settings = _read_json(out / SETTINGS, dict, "settings")
    return Saved(Signature.parse(first), tables[0], summary, tuple(cautions), settings, read_notes(notes))


def _read_json(file: Path, kind: type, content: str) -> Any:
    if not file.exists():
        message = f"has no {file.name}; it may be from an earlier version of penchant"
        raise StudyError(message, where=str(file.parent), hint="measure again with this version of penchant")
    try:
        found = json.loads(read_text(file))
    except (DataError, ValueError, RecursionError) as error:
        raise StudyError(f"cannot be read ({error})", where=str(file), hint="measure again") from error
    if not isinstance(found, kind):
        raise StudyError(f"contains no {content}", where=str(file), hint="measure again")
    return found


def with_nulls(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of estimates with NaN replaced by null, as in files."""
    import polars.selectors as cs

    return table.with_columns(cs.float().fill_nan(None))


def with_nan(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of estimates with null, as in files, replaced by NaN."""
    import polars.selectors as cs

    return table.with_columns(cs.float().fill_null(math.nan))


def summary_table(estimates: Iterable[tuple[Estimate, Signature]]) -> pl.DataFrame:
    """Return a table of estimates, one per row, with the factors of `by` and the signature."""
    import polars as pl

    rows = [{**estimate.row(), "signature": str(signature)} for estimate, signature in estimates]
    return pl.DataFrame(rows, infer_schema_length=None)
