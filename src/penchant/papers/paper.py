"""Description of a paper: its claims, what a study of it needs, and the layout of its tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, Field

from penchant.errors import MethodError, one_of
from penchant.tables.yaml_json_documents import SETTINGS, read_yaml

FOLDER = Path(__file__).parent
STUDY = "study.yaml"
Said = Annotated[str, Field(min_length=1)]
Levels = dict[str, str]


class AxisEntry(BaseModel):
    """A row or column of a table, or part of a combined one: its label, and the levels `at` that select its estimates.

    If given, `probe`, `shows`, `scale`, `form` and `rule` replace those of the table. `model` is the paper's model that
    the entry is about; if the study lacks it, the entry shows another model that the probe measured.
    """

    model_config = SETTINGS
    label: str
    at: Levels = {}
    probe: str = ""
    model: str = ""
    shows: Literal["", "value", "n"] = ""
    scale: float | None = None
    form: str = ""
    rule: Literal["", "exact", "sample", "two samples"] = ""


class AxisLevels(BaseModel):
    """Entries for the levels in the results' column `each`, except the levels in `without`.

    `labels` maps levels to their labels; the entries for these levels come first, in the order of `labels`.
    """

    model_config = SETTINGS
    each: Said
    labels: Levels = {}
    without: list[str] = []


Axis = list[AxisEntry] | AxisLevels


class BarredCells(BaseModel):
    """Cells that cannot be compared with the printed numbers, and the reason.

    A cell is selected if it has all the given labels (`row`, `column`, `model`) and the name of the data that were
    measured contains `data`.
    """

    model_config = SETTINGS
    why: Said
    row: str = ""
    column: str = ""
    model: str = ""
    data: str = ""


class CellMark(BaseModel):
    """A mark for cells whose p-value is below `level` or, if `below` is false, at least `level`."""

    model_config = SETTINGS
    sign: Said = "*"
    level: float
    below: bool = True

    def marks(self, p: float) -> bool:
        """Return whether a cell with this p-value is marked."""
        return p < self.level if self.below else p >= self.level


class TableLayout(BaseModel):
    """A table of the paper: which estimates its rows and columns show, and how they are compared with the printed ones.

    `item` is the table's name in the paper. `models` puts the models outermost in the rows or columns, or innermost in
    the columns; if it is empty, each entry names the model of the paper that it is about. Under the rule `exact`, a
    number agrees if it rounds to the printed one. Under `sample`, it also agrees if the printed one is compatible with
    the interval. The rule `two samples` is like `sample`, but assumes the same sampling error for the printed number.
    """

    model_config = SETTINGS
    item: Said
    name: Said
    title: Said
    probe: Said
    at: Levels = {}
    models: Literal["", "rows", "columns", "innermost"] = ""
    rows: Annotated[list[Axis], Field(min_length=1)]
    columns: Annotated[list[Axis], Field(min_length=1)]
    shows: Literal["value", "n"] = "value"
    scale: float = 1
    form: str = ".2f"
    counted: bool = False
    rule: Literal["exact", "sample", "two samples"] = "sample"
    mark: CellMark | None = None
    sizes: dict[str, float] = {}
    """Letters that mark effect sizes, with the smallest absolute value that each letter marks."""
    beside: list[str] = []
    """Models of the paper, or people, whose printed numbers stand in columns of their own."""
    barred: list[BarredCells] = []
    note: str = ""
    status: Said
    """The part that can be reproduced here, for the documentation."""

    def sized(self, value: float) -> str:
        """Return the letter of the largest of the `sizes` that the absolute value reaches, or "" if it reaches none."""
        reached = [letter for letter, least in self.sizes.items() if abs(value) >= least]
        return reached[-1] if reached else ""


class FigureLayout(BaseModel):
    """A figure of the paper, and the figure of an instrument that corresponds to it."""

    model_config = SETTINGS
    item: Said
    probe: Said
    figure: Said
    """The name of the figure in the instrument's section."""
    status: Said


class ClaimCheck(BaseModel):
    """A rule that decides a claim: the estimates at the levels `at` must lie above or below `null`.

    If `model` is given, the estimates are the differences between this model and the paper's other models; otherwise,
    they are those of every model except the paper's models in `but`. `scale` and `form` describe how estimates are
    displayed.
    """

    model_config = SETTINGS
    probe: Said
    at: Levels
    expect: Literal["above", "below"]
    null: float = 0
    model: str = ""
    but: list[str] = []
    scale: float = 1
    form: str = "+.2f"


class PaperClaim(BaseModel):
    """A claim of the paper in our words, its place in the paper, and the rules that decide it, if any."""

    model_config = SETTINGS
    text: Said
    where: Said
    checks: list[ClaimCheck] = []
    why: str = ""
    """The reason why the claim is not checked."""


class Paper(BaseModel):
    """A paper: citation, claims, requirements, and the layout of tables and figures."""

    model_config = SETTINGS
    name: Said
    title: Said
    authors: Said
    venue: Said
    url: Said
    read: Said
    """The version from which the printed numbers were taken."""
    models: Levels
    """The labels of the paper's models by their names on the hub."""
    needs: Annotated[list[Said], Field(min_length=1)]
    claims: Annotated[list[PaperClaim], Field(min_length=1)]
    tables: list[TableLayout] = []
    figures: list[FigureLayout] = []
    open: list[Said] = []
    """Items that cannot be reproduced, with reasons."""
    unclear: list[Said] = []
    """Points that are unclear or wrong in the paper, with evidence."""

    @property
    def study(self) -> Path:
        """The study file."""
        return _folder(self.name) / STUDY

    def label(self, model: str) -> str:
        """Return the paper's label of a model given by its name or by a directory of that name, or "" for others."""
        bare = re.sub(r"@[^/]*$", "", model).rstrip("/")
        for name, label in self.models.items():
            if bare == name or (bare.startswith(("/", ".")) and bare.rpartition("/")[2] == name.rpartition("/")[2]):
                return label
        return ""


class PrintedNumber(BaseModel):
    """A number as printed in the paper."""

    model_config = SETTINGS
    text: str

    @property
    def value(self) -> float:
        """The number; NaN if the text is not a number."""
        try:
            return float(self.text.rstrip("*").replace(",", ""))
        except ValueError:
            return float("nan")

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.text.rstrip("*").partition(".")[2])


Key = tuple[str, str, str, str]
"""Item, row, column and model of a printed number."""


def papers() -> list[str]:
    """Return the names of the papers."""
    return [path.parent.name.replace("_", "-") for path in sorted(FOLDER.glob("*/paper.yaml"))]


@cache
def paper(name: str) -> Paper:
    """Return a paper by its name. Raises MethodError for an unknown name."""
    if name not in papers():
        raise MethodError(f"unknown paper '{name}'", hint=one_of(name, papers()))
    return Paper.model_validate(read_yaml(_folder(name) / "paper.yaml").content)


@cache
def published(name: str) -> Mapping[Key, PrintedNumber]:
    """Return the printed numbers of a paper, keyed by item (such as "Table 2"), row, column and model."""
    file = _folder(name) / "published.csv"
    if not file.is_file():
        return {}
    rows = pl.read_csv(file, infer_schema=False).fill_null("")
    return {row[:4]: PrintedNumber(text=row[4]) for row in rows.iter_rows()}


def _folder(name: str) -> Path:
    return FOLDER / name.replace("-", "_")
