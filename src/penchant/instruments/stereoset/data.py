"""StereoSet and what has its form: clusters of a stereotypical, an anti-stereotypical and an unrelated sentence.

Intrasentence clusters have a context with a blank, which the three sentences fill; intersentence ones a context that
the three follow. Sentences are kept exactly as written; keys that are not named here are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from penchant.errors import DataError
from penchant.files import sha256_file
from penchant.instruments.stereoset.blanks import BLANK, Fill, fill_of, single
from penchant.reading import stem
from penchant.tables.cautions import name_cautions, repeated_rows
from penchant.tables.documents import Text, read_json

Part = Literal["intra", "inter"]
Role = Literal["stereotype", "anti-stereotype", "unrelated"]
ROLES: tuple[Role, ...] = get_args(Role)
_CLASSES: tuple[Role, ...] = ("anti-stereotype", "stereotype", "unrelated")
"""The class labels of the set on the hub, in the order of their numbers, from 0."""
_KEYS: Mapping[Part, str] = {"intra": "intrasentence", "inter": "intersentence"}
_HINT = "list the clusters under data.intrasentence or data.intersentence; see 'penchant schema stereoset'"
_IGNORING = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)


def _sentence(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a sentence is wanted")
    if not value.strip():
        raise ValueError("the sentence is blank")
    return value


def _role(value: object) -> object:
    """The label that the number of a class label stands for; anything else as it is."""
    is_class = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_CLASSES)
    return _CLASSES[int(str(value))] if is_class else value


class Sentence(BaseModel):
    """One of the three sentences of a cluster."""

    model_config = _IGNORING
    sentence: Annotated[str, BeforeValidator(_sentence)]
    """The sentence, as the model reads it."""
    gold_label: Annotated[Role, BeforeValidator(_role)]
    """stereotype, anti-stereotype or unrelated (1, 0 or 2 on the hub); a cluster has one of each."""


def _listed(value: object) -> object:
    """Columns of sentences, as the hub has them, as a list of sentences; anything else as it is."""
    if not isinstance(value, dict) or not all(isinstance(column, list) for column in value.values()):
        return value
    return [dict(zip(value, cells, strict=False)) for cells in zip(*value.values(), strict=False)]


class ClusterRow(BaseModel):
    """Three sentences on one target."""

    model_config = _IGNORING
    id: Text
    """A name for the cluster, its own in the file."""
    target: Text
    """The target term, such as an occupation; scores are means over these."""
    bias_type: Text
    """What kind of group the target is, such as gender or profession."""
    context: Annotated[str, BeforeValidator(_sentence)]
    """Intrasentence: a sentence with BLANK where the three differ. Intersentence: the sentence before the three."""
    sentences: Annotated[list[Sentence], BeforeValidator(_listed)]
    """The three sentences."""


class Clusters(BaseModel):
    """The two parts of the set; one may be missing."""

    model_config = _IGNORING
    intrasentence: list[ClusterRow] = Field(default_factory=list)
    """Clusters whose sentences fill a blank."""
    intersentence: list[ClusterRow] = Field(default_factory=list)
    """Clusters whose sentences follow a context."""


class StereoSetFile(BaseModel):
    """A StereoSet file, in any language."""

    model_config = _IGNORING
    data: Clusters
    """The clusters."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Three sentences on one target, by role. `fills` says what of each sentence stands for the blank (intrasentence);
    `place` is what errors name."""

    id: str
    part: Part
    bias_type: str
    target: str
    context: str
    sentences: Mapping[Role, str]
    fills: Mapping[Role, Fill]
    place: str

    @property
    def worded(self) -> str:
        """How the sentences have the context: "as the context", "otherwise", or "no blank" where a sentence has nothing
        in the place of the blank; "" for intersentence ones."""
        if not self.fills:
            return ""
        if not all(fill.span for fill in self.fills.values()):
            return "no blank"
        return "as the context" if all(fill.exact for fill in self.fills.values()) else "otherwise"

    def texts(self) -> list[str]:
        """The three texts that are read, in the order of `ROLES`: the sentences, intersentence ones behind the context
        and a space."""
        start = f"{self.context.rstrip()} " if self.part == "inter" else ""
        return [start + self.sentences[role] for role in ROLES]

    def spans(self) -> list[tuple[int, int]]:
        """The characters of those texts that are the sentence."""
        return [
            (len(text) - len(self.sentences[role]), len(text)) for role, text in zip(ROLES, self.texts(), strict=True)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class ClusterSet:
    """The clusters of one file. `sha256` is the hash of its bytes; `cautions` warn about the data."""

    name: str
    path: Path
    sha256: str
    clusters: tuple[Cluster, ...]
    cautions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<StereoSet {self.name}: {len(self.clusters):,} clusters>"


def read_stereoset(path: Path, parts: Sequence[Part] = get_args(Part)) -> ClusterSet:
    """Read the parts of a file. Intersentence clusters whose context still has a blank are left out and counted.

    Raises DataError naming the file and the key or cluster that is wrong.
    """
    content = read_json(path, TypeAdapter(StereoSetFile), hint=_HINT)
    rows: dict[Part, list[ClusterRow]] = {
        "intra": content.data.intrasentence,
        "inter": content.data.intersentence,
    }
    for part in parts:
        if not rows[part]:
            hint = "name the parts it has, as in part: [intra]"
            raise DataError(f"has no clusters under data.{_KEYS[part]}", file=path, hint=hint)
    read = [_cluster(row, part, path) for part in parts for row in rows[part]]
    _refuse_repeated(read, path)
    broken = [cluster for cluster in read if cluster.part == "inter" and BLANK in cluster.context]
    kept = tuple(cluster for cluster in read if cluster.part == "intra" or BLANK not in cluster.context)
    if not kept:
        raise DataError(f"every context of its intersentence clusters has a {BLANK}", file=path, hint=_HINT)
    return ClusterSet(stem(path), path, sha256_file(path), kept, tuple(_cautions(stem(path), read, broken)))


def _cluster(row: ClusterRow, part: Part, path: Path) -> Cluster:
    place = f"{path}, {_KEYS[part]} {row.id}"
    labels = sorted(sentence.gold_label for sentence in row.sentences)
    if labels != sorted(ROLES):
        told = f"has the labels {', '.join(labels) or 'of no sentence'}"
        raise DataError(told, where=place, hint=f"a cluster has one sentence of each: {', '.join(ROLES)}")
    sentences: dict[Role, str] = {sentence.gold_label: sentence.sentence for sentence in row.sentences}
    fills: dict[Role, Fill] = {}
    if part == "intra":
        if BLANK not in row.context:
            raise DataError(f"the context has no {BLANK}", where=place, hint=f"put {BLANK} where the sentences differ")
        fills = {role: fill_of(row.context, sentence) for role, sentence in sentences.items()}
    return Cluster(row.id, part, row.bias_type, row.target, row.context, sentences, fills, place)


def _refuse_repeated(clusters: Sequence[Cluster], path: Path) -> None:
    seen: dict[str, Cluster] = {}
    for cluster in clusters:
        first = seen.setdefault(cluster.id, cluster)
        if first is not cluster:
            where = (
                f"{_KEYS[first.part]} and {_KEYS[cluster.part]}" if first.part != cluster.part else _KEYS[first.part]
            )
            raise DataError(f"the id '{cluster.id}' occurs twice", where=f"{path}, {where}", hint="give each its own")


def _cautions(name: str, read: Sequence[Cluster], broken: Sequence[Cluster]) -> Iterator[str]:
    said = (((c.part, c.context, *(c.sentences[role] for role in ROLES)), f"{_KEYS[c.part]} {c.id}") for c in read)
    for told in (*repeated_rows(said, "clusters"), *name_cautions((c.target for c in read), "targets")):
        yield f"{name}: {told}"
    intra = [cluster for cluster in read if cluster.part == "intra"]
    otherwise = sum(cluster.worded != "as the context" for cluster in intra)
    if otherwise:
        yield (
            f"{name}: in {otherwise:,} of {len(intra):,} intrasentence clusters a sentence is not the context with its "
            f"{BLANK} filled, but differs from it elsewhere too: what the model prefers there need not be the fill"
        )
    several = sum(not single(cluster.context) for cluster in intra)
    if several:
        yield f"{name}: {several} intrasentence contexts have several {BLANK}s; the last one counts as the blank"
    alike = sum(len({cluster.sentences[role] for role in ROLES}) < len(ROLES) for cluster in read)
    if alike:
        yield f"{name}: in {alike} of {len(read):,} clusters two of the three sentences are the same text, and tie"
    if broken:
        yield (
            f"{name}: {len(broken)} of {sum(cluster.part == 'inter' for cluster in read):,} intersentence clusters are "
            f"left out, because their context still has a {BLANK}, which is no text to read"
        )
