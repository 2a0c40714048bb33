"""BEC-Pro (Bartl et al. 2020) and similar tables: the change in the probability of a person due to a profession.

The association of a person with a profession is log P(person | the sentence with the person masked) minus the same
log-probability with the profession masked as well. Persons of two genders are compared within the same template and
profession.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

from penchant.corpus.priority_sampling import spread
from penchant.errors import DataError
from penchant.files import cited, join_names
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.bec_pro.data import Masked, TamTable, lone, read_tam
from penchant.instruments.bec_pro.estimates import tam_cautions, tam_estimates
from penchant.instruments.bec_pro.scored_sentences import scored
from penchant.instruments.bec_pro.settings import BecProSettings
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import cited_columns, written
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.records import Estimate
from penchant.wording.phrases import Note


class BecPro(BecProSettings, ItemProbe[TamTable, Masked]):
    """Associations between persons and professions: how much a profession raises the probability of a person.

    `run` returns items (one row per sentence: log-probability of the person with the profession visible and masked, and
    their difference) and a summary: mean associations by gender of the person and group of the profession; contrasts
    between the two genders within template and profession, by group and template; and differences in the contrast
    between groups.
    """

    equivalents: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    noun: ClassVar[str] = "sentences"

    def read(self, path: Path) -> TamTable:
        """Read the table. Raises DataError naming file, line and field."""
        return read_tam(path, self.columns, self.contrast, self.same)

    def items(self, read: TamTable) -> Sequence[Masked]:
        """Return the usable rows."""
        return read.rows

    def texts_of(self, item: Masked) -> Sequence[str]:
        """Return the sentence without masks."""
        return (item.sentence,)

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Masked]:
        """Return the rows to score: all, or in a pilot the rows of a sample of (template, profession) pairs."""
        rows = list(self.read_set(base).rows)
        if self.limit is None:
            return rows
        groups = {row.cell: row.group for row in rows}
        drawn = spread(list(groups), self.limit, seed=self.seed, content=lambda cell: cell, group=groups.__getitem__)
        return [row for row in rows if row.cell in set(drawn)]

    def settle(self, model: Model) -> Self:
        """Return the probe unchanged. Raises MethodError if the model is not masked."""
        hint = "the model must see the words on both sides of the person; for causal models, use winobias"
        require_masked(self.name, model, hint)
        return self

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the table, the contrast, and the way in which the profession is masked."""
        same = {"same": join_names(f"{name}={other}" for name, other in self.same.items())} if self.same else {}
        return {
            "data": cited(self.files(base)),
            **cited_columns(dict(self.columns)),
            "contrast": written(self, "contrast"),
            **same,
            "prior": self.prior,
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Score the person in each sentence, with the profession visible and masked."""
        rows, unknown = self.known(session, self.asked(session.base))
        if len({row.gender for row in rows}) < 2:
            raise DataError(
                "the sentences to score have persons of only one gender", where=str(self.find(self.data, session.base))
            )
        session.expect(len(rows), inputs=2)
        return Measured(
            scored(rows, session.scorer, self.prior), (*self.read_set(session.base).cautions, *lone(rows), *unknown)
        )

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return the mean associations and contrasts, by group and template."""
        return tam_estimates(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[Note]:
        """Return cautions about unequal mean numbers of tokens by gender, and tokens that extend beyond the person."""
        return tam_cautions(measured.items, self.contrast)
