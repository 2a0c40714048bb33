"""StereoSet (Nadeem et al. 2021): which of three sentences is most probable under a model.

A cluster has a stereotypical (s), an anti-stereotypical (a) and an unrelated sentence (u) about one target term. SS is
the percentage of clusters with s > a, LMS the percentage of comparisons s > u and a > u that are true, and ICAT is LMS
· min(SS, 100 − SS)/50.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

from penchant.engine.normalisations import USUAL, check_normalise, constants, usual
from penchant.engine.scorer import sentence_model
from penchant.engine.scoring_methods import METHODS
from penchant.errors import MethodError
from penchant.files import cited
from penchant.instruments.base_probe import SENTENCES, Measured, Model, beginning
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import written
from penchant.instruments.session import Session
from penchant.instruments.stereoset.cluster_scores import asked_of, require_scorable, score, way_for
from penchant.instruments.stereoset.data import ROLES, Cluster, ClusterSet, Part, read_stereoset
from penchant.instruments.stereoset.estimates import cautions_of, estimates_of
from penchant.instruments.stereoset.settings import StereoSetSettings
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.records import Estimate, Signature


class StereoSet(StereoSetSettings, ItemProbe[ClusterSet, Cluster]):
    """Preference for stereotypes (SS), for meaningful sentences (LMS), and a combination of the two (ICAT).

    `run` returns items (one row per cluster) and a summary: SS, LMS and ICAT by part, score, bias type and target term,
    as means over target terms and over clusters, and SS by the relative token length of stereotype and anti-stereotype.
    """

    kinds: ClassVar[tuple[str, ...]] = SENTENCES

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the path of the file, and the parts to read."""
        return self.find(self.data, base), tuple(self.parts())

    def read(self, path: Path, parts: tuple[Part, ...]) -> ClusterSet:
        """Read the clusters. Raises DataError naming file and cluster."""
        return read_stereoset(path, parts)

    def items(self, read: ClusterSet) -> Sequence[Cluster]:
        """Return the clusters."""
        return read.clusters

    def texts_of(self, item: Cluster) -> Sequence[str]:
        """Return the texts of a cluster that are scored."""
        return item.texts()

    def group(self, item: Cluster) -> str:
        """Return a name for the part and the bias type of a cluster."""
        return f"{item.part}\0{item.bias_type}"

    def settle(self, model: Model) -> Self:
        """Return the probe with its method and normalisations set. Raises MethodError if they do not suit the model."""
        lm = sentence_model(model)
        way = way_for(self.method, lm)
        require_scorable(way, self.parts(), lm)
        hows = self.normalisations() or (["none"] if way.means else list(usual(lm)))
        for how in () if way.means else hows:
            check_normalise(how, METHODS[way.name], lm)
        if way.means and hows != ["none"]:
            message = f"normalisation '{next(how for how in hows if how != 'none')}' does not apply to {way.name}"
            raise MethodError(f"{message}, which is a mean already", hint="use normalise: none")
        return self.model_copy(update={"method": way.name, "normalise": hows, "part": self.parts()})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """Return the signature keys that the method implies.

        They are `pen-alpha`, the constant of the length penalty, and `normalise` if its value is the method's default.
        """
        means = signature.get("method", "").startswith("stereoset")
        usual = signature.get("normalise") == ("none" if means else ",".join(USUAL))
        return {"pen-alpha", *(("normalise",) if usual else ())}

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the signature fields for the data and the scoring settings."""
        lm = sentence_model(model)
        return {
            "data": cited(self.files(base)),
            "part": written(self, "part"),
            "method": self.method,
            "normalise": written(self, "normalise"),
            **constants(self.normalisations()),
            "ties": self.ties,
            "bos": beginning(lm),
            "dtype": lm.numbers,
            **signed_unknown(self.on_unknown),
        }

    def signed(self, estimate: Estimate, signature: Signature) -> Signature:
        """Return the signature of one estimate, which names only the normalisation of the estimate."""
        return signature.with_(normalise=estimate.by["normalise"])

    def measure(self, session: Session) -> Measured:
        """Score the three sentences of each cluster."""
        lm = sentence_model(session.model)
        way = way_for(self.method, lm)
        scorable, without_blank = asked_of(way, lm.kind, self.asked(session.base))
        clusters, unknown = self.known(session, scorable)
        session.expect(len(clusters), inputs=len(ROLES))
        items = score(session, way, clusters)
        return Measured(items, (*self.read_set(session.base).cautions, *without_blank, *unknown))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return SS, LMS and ICAT, and SS by length, for each part and score."""
        return estimates_of(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Return cautions about ties, unequal token lengths, and an SS that depends on length."""
        return cautions_of(measured.items, estimates, self)
