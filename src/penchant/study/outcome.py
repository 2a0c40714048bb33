"""The outcome of a study: results, comparisons and curves, with verdicts, and the document for its report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from penchant.call_checks import Named, unknown_attribute
from penchant.errors import MethodError, StudyError
from penchant.instruments.registry import placed
from penchant.instruments.result import Result
from penchant.plurals import counted
from penchant.records import SIDES
from penchant.records import BaseResult as AnyResult
from penchant.report import verdicts
from penchant.report.sections import Document, RunFacts, StudySection
from penchant.report.terminal import screen
from penchant.study.manifest import Manifest
from penchant.study.model_differences import Differences

LONGEST = 200
"""Maximum number of characters in the `repr` of an outcome, and in a line of a notebook."""
VERDICTS = "verdicts.parquet"


@dataclass(slots=True, repr=False)
class Outcome:
    """The results of a study, with comparisons, curves and the record of the run.

    `results` has the results by (probe directory, model); `comparisons` (between models) and `curves` (over the
    checkpoints of a training run) have tables by probe directory; `notes` names models that could not be compared;
    `manifests` has the manifest of each result directory; `edited` lists the files edited after the run; `page` is the
    path of the report, if it was written.
    """

    manifests: list[Manifest]
    edited: list[str] = field(default_factory=list)
    results: dict[tuple[str, str], Result] = field(default_factory=lambda: Named("result"))
    comparisons: dict[str, pl.DataFrame] = field(default_factory=lambda: Named("comparison"))
    curves: dict[str, pl.DataFrame] = field(default_factory=lambda: Named("curve"))
    notes: list[str] = field(default_factory=list)
    page: Path | None = None
    _in_memory: ClassVar[str] = "give the directory that the study was written to"

    def __post_init__(self) -> None:
        manifests: object = self.manifests
        if isinstance(manifests, str | Path):
            told = "is created only by run() and open()"
            raise MethodError(told, where="Outcome()", hint=f"penchant.open({str(manifests)!r}) reads a study")

    def __repr__(self) -> str:
        number = counted(len(self.results), "results")
        told = ", ".join(f"{place} with {model}" for place, model in self.results)
        return f"<{number}: {told}>" if len(told) < LONGEST else f"<{number}>"

    def _repr_html_(self) -> str:
        """Return the answers and the path of the report as HTML for a notebook."""
        sections = self.document().sections
        told = "\n\n".join("\n".join(screen(each, LONGEST, 0, named=True)) for each in sections)
        where = "" if self.page is None else f"<p>The report is in <code>{escape(str(self.page))}</code>.</p>"
        return f'<pre style="white-space: pre-wrap">{escape(told)}</pre>{where}'

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, "the outcome of a study")

    def __getitem__(self, name: tuple[str, str]) -> Result:
        """Return the result of a (probe directory, model) pair; the model may be a label from the study's `names`.

        Raises UnknownKeyError if there is no such result.
        """
        if name not in self.results and isinstance(name, tuple) and len(name) == 2:
            place, label = name
            cited = {model for model, called in self.labels.items() if called == label}
            found = [key for key, each in self.results.items() if key[0] == place and each.signature["model"] in cited]
            name = found[0] if len(found) == 1 else name
        return self.results[name]

    def by_place(self) -> dict[str, list[Result]]:
        """Return a mapping from each probe directory to its results, in the order of `results`."""
        places: dict[str, list[Result]] = Named("probe")
        for (place, _), result in self.results.items():
            places.setdefault(place, []).append(result)
        return places

    @property
    def headline(self) -> pl.DataFrame:
        """The main estimates of each instrument, by probe, model and group, with confidence interval and n."""
        tables = [
            each.headline.select(pl.lit(place).alias("probe"), pl.all()) for (place, _), each in self.results.items()
        ]
        return pl.concat(tables, how="diagonal_relaxed")

    @property
    def verdicts(self) -> pl.DataFrame:
        """The verdicts on the claims that each instrument tests, with the underlying estimates; one row per verdict."""
        sections = placed(self.results, self.comparisons, self.curves)
        tables = ((each.place, verdicts.table(each.answers())) for each in sections)
        return pl.concat(table.select(pl.lit(place).alias("probe"), pl.all()) for place, table in tables)

    def differences(self) -> Differences:
        """Return the differences between models as one table with a column `probe`.

        Raises StudyError if no two models were compared.
        """
        if not self.comparisons:
            hint = "list two models in the study, or compare two studies with penchant.compare(DIR, DIR2)"
            raise StudyError("no two models were compared", hint="; ".join([*self.notes, hint]))
        frames = (frame.with_columns(probe=pl.lit(place)) for place, frame in self.comparisons.items())
        table = pl.concat(frames, how="diagonal_relaxed")
        return Differences(table.select("probe", pl.exclude("probe")))

    def document(self) -> Document:
        """Return the document from which reports and exports are made."""
        labels = self.labels
        results = {key: _printed(result, labels) for key, result in self.results.items()}
        comparisons = {place: self._renamed(table, labels) for place, table in self.comparisons.items()}
        remark = f"Edited after the study wrote them: {', '.join(self.edited)}." if self.edited else ""
        sections = [
            replace(section, remark=f"{_pilot(section.results)} {remark}".strip())
            for section in placed(results, comparisons, self.curves)
        ]
        sections = [*sections, *self._paper(sections)]
        runs = [_told(m.facts(self.edited if not n else ()), labels) for n, m in enumerate(self.manifests)]
        return Document(sections, runs, self.notes, self._made_of())

    def _paper(self, sections: Sequence[StudySection]) -> list[StudySection]:
        """Return a list with the section on the paper that the study follows, or an empty list if it follows none."""
        from penchant.papers.section import paper_section  # statistics are slow to load

        names = {str(manifest.asked.study.get("paper") or "") for manifest in self.manifests}
        name = names.pop() if len(names) == 1 else ""
        asked = {unit.model.name: unit.spec for manifest in self.manifests for unit in manifest.units}
        labelled = {self.labels.get(model, model): spec for model, spec in asked.items()}
        return [paper_section(name, sections, {**asked, **labelled})] if name and self.results else []

    def _made_of(self) -> str:
        if len(self.manifests) != 1:
            return ""
        return hashlib.sha256("\n".join([self.manifests[0].results(), *self.edited]).encode()).hexdigest()

    @property
    def labels(self) -> dict[str, str]:
        """A mapping from models' names in signatures to their labels; the first of two studies takes precedence."""
        found: dict[str, str] = {}
        for manifest in reversed(self.manifests):
            names = manifest.asked.study.get("names") or {}
            found |= {unit.model.name: names[unit.spec] for unit in manifest.units if unit.spec in names}
        for name, label in list(found.items()):  # and of names with settings in brackets
            cited = (result.signature["model"] for result in self.results.values())
            found |= {told: label + told.removeprefix(name) for told in cited if told.startswith(f"{name} (")}
        return found

    def _renamed(self, comparison: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
        cited = [result.signature["model"] for result in self.results.values()]
        shown = {name: labels.get(name, name) for name in cited}
        return comparison.with_columns(pl.col(SIDES).replace(shown)) if labels else comparison


def _printed(result: Result, labels: Mapping[str, str]) -> Result:
    name = result.signature["model"]
    return replace(result, signature=result.signature.with_(model=labels[name])) if name in labels else result


def _told(run: RunFacts, labels: Mapping[str, str]) -> RunFacts:
    models = {
        labels.get(name, name): f"{name}, {line}" if name in labels else line for name, line in run.models.items()
    }
    return replace(run, models=models)


def _pilot(results: Sequence[AnyResult]) -> str:
    limits = list(dict.fromkeys(result.signature["limit"] for result in results if "limit" in result.signature))
    return f"A pilot (limit:{', '.join(limits)}): draw no conclusions from it." if limits else ""
