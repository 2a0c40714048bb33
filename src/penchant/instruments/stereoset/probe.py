"""StereoSet (Nadeem et al. 2021): which of three sentences does a model find most probable?

A cluster has a stereotypical (s), an anti-stereotypical (a) and an unrelated sentence (u) on one target term. SS is
the percentage of clusters with s > a, LMS that of the comparisons s > u and a > u that hold, and ICAT is
LMS · min(SS, 100 − SS)/50.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import PrivateAttr

from penchant.corpus.sampling import spread
from penchant.engine.normalising import USUAL, constants
from penchant.engine.scorer import language_model
from penchant.errors import MethodError
from penchant.files import cited
from penchant.instruments.base import Measured, Model, Probe, beginning
from penchant.instruments.fields import written
from penchant.instruments.session import Session
from penchant.instruments.stereoset.data import ROLES, Cluster, ClusterSet, Part, read_stereoset
from penchant.instruments.stereoset.estimates import cautions_of, estimates_of
from penchant.instruments.stereoset.scoring import asked_of, require_scorable, score, way_for
from penchant.instruments.stereoset.settings import StereoSetSettings
from penchant.instruments.unknown import known_items, known_texts, signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate, Signature


class StereoSet(StereoSetSettings, Probe):
    """Preference for stereotypes (SS), for sentences that mean something (LMS), and both in one number (ICAT).

    `run` returns items (one row a cluster) and a summary: SS, LMS and ICAT by part, score, bias type and target term,
    as means over target terms and over clusters, and SS by which of the two sentences has more tokens.
    """

    _read: dict[tuple[Path, tuple[Part, ...]], ClusterSet] = PrivateAttr(default_factory=dict)

    def clusters(self, base: Sequence[Path] = (Path(),)) -> ClusterSet:
        """The clusters, checked and cached. Raises DataError naming file and cluster."""
        key = self.find(self.data, base), tuple(self.parts())
        if key not in self._read:
            self._read[key] = read_stereoset(*key)
        return self._read[key]

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Cluster]:
        """The clusters that are scored: all, or in a pilot some of every bias type and part."""
        clusters = self.clusters(base).clusters
        if self.limit is None:
            return list(clusters)
        return spread(
            clusters,
            self.limit,
            seed=self.seed,
            content=lambda cluster: [cluster.context, *(cluster.sentences[role] for role in ROLES)],
            group=lambda cluster: f"{cluster.part}\0{cluster.bias_type}",
        )

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """The file that the clusters are read from."""
        return [self.find(self.data, base)]

    def texts(self, base: Sequence[Path] = (Path(),)) -> list[tuple[str, str]]:
        """What is read of every cluster, with its place."""
        return [(text, cluster.place) for cluster in self.asked(base) for text in cluster.texts()]

    def read_by(self, model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """The texts, without those that are left out."""
        return known_texts(model, texts, self.on_unknown)

    def settle(self, model: Model) -> Self:
        """The probe with method and normalisations decided. Raises MethodError where they do not fit the model."""
        way = way_for(self.method, language_model(model))
        require_scorable(way, self.parts())
        hows = self.normalisations() or (["none"] if way.means else list(USUAL))
        if way.means and hows != ["none"]:
            told = f"normalisation '{next(how for how in hows if how != 'none')}' does not apply to {way.name}"
            raise MethodError(f"{told}, which is a mean already", hint="use none")
        return self.model_copy(update={"method": way.name, "normalise": hows, "part": self.parts()})

    @classmethod
    def implied(cls, signature: Signature) -> Collection[str]:
        """The constant of `pen`, and the normalisations where they are all that apply to the method."""
        means = signature.get("method", "").startswith("stereoset")
        usual = signature.get("normalise") == ("none" if means else ",".join(USUAL))
        return {"pen-alpha", *(("normalise",) if usual else ())}

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """The clusters, then how they are scored."""
        lm = language_model(model)
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
        """The signature with the normalisation of the estimate."""
        return signature.with_(normalise=estimate.by["normalise"])

    def measure(self, session: Session) -> Measured:
        """Score the three sentences of every cluster."""
        way = way_for(self.method, session.lm)
        scorable, without_blank = asked_of(way, session.lm.kind, self.asked(session.base))
        clusters, unknown = known_items(
            session.lm,
            scorable,
            lambda cluster: cluster.texts(),
            lambda cluster: cluster.place,
            self.on_unknown,
            "clusters",
        )
        session.expect(len(clusters), inputs=len(ROLES))
        items = score(session, way, clusters)
        return Measured(items, (*self.clusters(session.base).cautions, *without_blank, *unknown))

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """SS, LMS and ICAT, and SS by length, by part and score."""
        return estimates_of(measured.items, self)

    def cautions(self, measured: Measured, estimates: Sequence[Estimate]) -> Iterable[str]:
        """Cautions about ties, unequal token lengths, and scores that move with them."""
        return cautions_of(measured.items, estimates, self)
