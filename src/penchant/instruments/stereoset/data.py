"""StereoSet and files of the same form: clusters of a stereotypical, an anti-stereotypical and an unrelated sentence.

Intrasentence clusters have a context with a blank, which the three sentences fill; intersentence clusters have a
context that the three sentences follow. Sentences are kept exactly as written; unknown keys are ignored.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from penchant.errors import DataError, GivenRow, one_of, place
from penchant.files import sha256_file
from penchant.tables import yaml_json_documents
from penchant.tables.data_cautions import name_cautions, repeated_rows
from penchant.tables.in_memory import as_yaml, rows
from penchant.text_io import stem
from penchant.wording.phrases import Note
from penchant.wording.templates import Text

BLANK = "BLANK"
_IGNORED = ("P", "Z", "C")
"""Unicode categories that are ignored at word boundaries: punctuation, separators and control characters."""
Part = Literal["intra", "inter"]
Role = Literal["stereotype", "anti-stereotype", "unrelated"]
ROLES: tuple[Role, ...] = get_args(Role)
_CLASSES: tuple[Role, ...] = ("anti-stereotype", "stereotype", "unrelated")
"""Class labels of the data set on the Hugging Face Hub, ordered by class number."""
_KEYS: Mapping[Part, str] = {"intra": "intrasentence", "inter": "intersentence"}
_WORDS = Text.of(Path(__file__).parent).below("cautions")
_HINT = "list the clusters under data.intrasentence or data.intersentence; see 'penchant schema stereoset'"
_IGNORING = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)


def _sentence(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a sentence as a string")
    if not value.strip():
        raise ValueError("the sentence is blank")
    return value


def _role(value: object) -> object:
    """Return the label of a class number; other values are returned unchanged."""
    is_class = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_CLASSES)
    return _CLASSES[int(str(value))] if is_class else value


class ClusterSentence(BaseModel):
    """One of the three sentences of a cluster."""

    model_config = _IGNORING
    sentence: Annotated[str, BeforeValidator(_sentence)]
    """The sentence, scored exactly as written."""
    gold_label: Annotated[Role, BeforeValidator(_role)]
    """stereotype, anti-stereotype or unrelated (1, 0 or 2 on the hub); a cluster has one of each."""


def _listed(value: object) -> object:
    """Convert columns of sentences, as on the hub, to a list of sentences; other values are returned unchanged."""
    if not isinstance(value, dict) or not all(isinstance(column, list) for column in value.values()):
        return value
    return [dict(zip(value, cells, strict=False)) for cells in zip(*value.values(), strict=False)]


class ClusterRow(BaseModel):
    """Three sentences about one target."""

    model_config = _IGNORING
    id: yaml_json_documents.Text
    """A name for the cluster, unique in the file."""
    target: yaml_json_documents.Text
    """The target term, such as an occupation; scores are averaged over target terms."""
    bias_type: yaml_json_documents.Text
    """The type of bias, such as gender or profession."""
    context: Annotated[str, BeforeValidator(_sentence)]
    """Intrasentence: a sentence with BLANK where the three differ. Intersentence: the preceding sentence."""
    sentences: Annotated[list[ClusterSentence], BeforeValidator(_listed)]
    """The three sentences."""


class Clusters(BaseModel):
    """The two parts of the data set; one may be missing."""

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
class Fill:
    """The text that fills the blank in a sentence.

    `span` is its place in the sentence, or None if there is no such text; `exact` is true if the rest of the sentence
    equals the context.
    """

    span: tuple[int, int] | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """Three sentences about one target, by role.

    `fills` has the span in each sentence that fills the blank (intrasentence only); `place` is the location for error
    messages.
    """

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
        """The agreement of the sentences with the wording of the context outside its blank.

        "as the context" if all do, "otherwise" if one does not, "no blank" if one has no text in place of the blank, ""
        for intersentence clusters, whose context has no blank.
        """
        if not self.fills:
            return ""
        if not all(fill.span for fill in self.fills.values()):
            return "no blank"
        return "as the context" if all(fill.exact for fill in self.fills.values()) else "otherwise"

    def texts(self) -> list[str]:
        """Return the three texts to score, in the order of `ROLES`; intersentence texts begin with the context."""
        start = f"{self.context.rstrip()} " if self.part == "inter" else ""
        return [start + self.sentences[role] for role in ROLES]

    def spans(self) -> list[tuple[int, int]]:
        """Return the spans of the three sentences within `texts`."""
        return [
            (len(text) - len(self.sentences[role]), len(text)) for role, text in zip(ROLES, self.texts(), strict=True)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class ClusterSet:
    """The clusters of one file. `sha256` is the hash of its bytes; `cautions` are warnings about the data."""

    name: str
    path: Path
    sha256: str
    clusters: tuple[Cluster, ...]
    cautions: tuple[Note | str, ...]

    def __repr__(self) -> str:
        return f"<StereoSet {self.name}: {len(self.clusters):,} clusters>"


def as_document(given: Any, columns: Mapping[Any, str], name: str) -> list[dict[str, object]]:
    """Return a list with one row, the content of a StereoSet file; `given` is such content or a table of clusters.

    A table has the columns of a cluster; instead of `sentences`, it may have one column for each label. The column
    `part` is the part of a cluster, intra or inter; without it, clusters whose context has a blank are intrasentence.
    `columns` is ignored. Raises DataError naming the data (`name`) and an invalid row.
    """
    keys = isinstance(given, Mapping) and isinstance(given.get("data"), Mapping)
    found = [given] if keys else rows(given, name=name)
    if len(found) == 1 and isinstance(found[0].get("data"), Mapping):
        return [as_yaml(found[0])]
    parts: dict[str, list[object]] = {key: [] for key in _KEYS.values()}
    for number, row in enumerate(found, 1):
        part = row.get("part") or ("intra" if BLANK in str(row.get("context")) else "inter")
        if part not in get_args(Part):
            hint = one_of(str(part), get_args(Part))
            raise DataError(f"unknown part '{part}'", where=place(name, GivenRow(number), "part"), hint=hint)
        own = [{"sentence": row[role], "gold_label": role} for role in ROLES if role in row]
        cluster = {"id": str(number), **row, **({"sentences": own} if own else {})}
        parts[_KEYS["intra" if part == "intra" else "inter"]].append(as_yaml(cluster))
    return [{"data": parts}]


def read_stereoset(path: Path, parts: Sequence[Part] = get_args(Part)) -> ClusterSet:
    """Read the parts of a file; intersentence clusters whose context has a blank are skipped and counted.

    Raises DataError naming the file and the invalid key or cluster.
    """
    content = yaml_json_documents.read_json(path, TypeAdapter(StereoSetFile), hint=_HINT)
    of: dict[Part, list[ClusterRow]] = {"intra": content.data.intrasentence, "inter": content.data.intersentence}
    for part in parts:
        if not of[part]:
            hint = "select only the parts that the file has, as in part: [intra]"
            raise DataError(f"has no clusters under data.{_KEYS[part]}", file=path, hint=hint)
    read = [_cluster(row, part, path) for part in parts for row in of[part]]
    _refuse_repeated(read, path)
    broken = [cluster for cluster in read if cluster.part == "inter" and BLANK in cluster.context]
    kept = tuple(cluster for cluster in read if cluster.part == "intra" or BLANK not in cluster.context)
    if not kept:
        raise DataError(f"the context of every intersentence cluster has a {BLANK}", file=path, hint=_HINT)
    return ClusterSet(stem(path), path, sha256_file(path), kept, tuple(_cautions(stem(path), read, broken)))


def _cluster(row: ClusterRow, part: Part, path: Path) -> Cluster:
    where = f"{path}, {_KEYS[part]} {row.id}"
    labels = sorted(sentence.gold_label for sentence in row.sentences)
    if labels != sorted(ROLES):
        message = f"has the labels {', '.join(labels)}, expected each label once" if labels else "has no sentences"
        raise DataError(message, where=where, hint=f"a cluster needs one sentence with each label: {', '.join(ROLES)}")
    sentences: dict[Role, str] = {sentence.gold_label: sentence.sentence for sentence in row.sentences}
    fills: dict[Role, Fill] = {}
    if part == "intra":
        if BLANK not in row.context:
            raise DataError(f"the context has no {BLANK}", where=where, hint=f"put {BLANK} where the sentences differ")
        fills = {role: fill_of(row.context, sentence) for role, sentence in sentences.items()}
    return Cluster(row.id, part, row.bias_type, row.target, row.context, sentences, fills, where)


def _refuse_repeated(clusters: Sequence[Cluster], path: Path) -> None:
    seen: dict[str, Cluster] = {}
    for cluster in clusters:
        first = seen.setdefault(cluster.id, cluster)
        if first is not cluster:
            where = (
                f"{_KEYS[first.part]} and {_KEYS[cluster.part]}" if first.part != cluster.part else _KEYS[first.part]
            )
            raise DataError(f"the id '{cluster.id}' occurs twice", where=f"{path}, {where}", hint="make the ids unique")


def _cautions(name: str, read: Sequence[Cluster], broken: Sequence[Cluster]) -> Iterator[Note | str]:
    said = (((c.part, c.context, *(c.sentences[role] for role in ROLES)), f"{_KEYS[c.part]} {c.id}") for c in read)
    for told in (*repeated_rows(said, "clusters"), *name_cautions((c.target for c in read), "targets")):
        yield f"{name}: {told}"
    words = _WORDS.given(name=name)
    intra = [cluster for cluster in read if cluster.part == "intra"]
    if otherwise := sum(cluster.worded != "as the context" for cluster in intra):
        yield words.get("otherwise", n=otherwise, of=len(intra))
    if several := sum(not single(cluster.context) for cluster in intra):
        yield words.get("several", n=several)
    if alike := sum(len({cluster.sentences[role] for role in ROLES}) < len(ROLES) for cluster in read):
        yield words.get("alike", n=alike, of=len(read))
    if broken:
        yield Note("stereoset.broken", name=name, n=len(broken), of=len(read) - len(intra))


# The fill of a blank -------------------------------------------------------------------------------------------------


def single(context: str) -> bool:
    """Return whether a context has exactly one blank."""
    return context.count(BLANK) == 1


def fill_of(context: str, sentence: str) -> Fill:
    """Return the fill of a context's (last) blank in a sentence.

    If the sentence is not the context with its only blank filled, words are compared ignoring case and punctuation. The
    fill then consists of the words between the shared words on either side of the blank, or else of the words that do
    not occur in the context, if they are adjacent.
    """
    before, after = context.rsplit(BLANK, 1)
    within = len(sentence) - len(after)
    if single(context) and sentence.startswith(before) and sentence.endswith(after) and within > len(before):
        span = _bare(sentence, len(before), within)
        if span:
            return Fill(span, True)
    return Fill(_aligned(context, sentence), False)


def _aligned(context: str, sentence: str) -> tuple[int, int] | None:
    known, words = _words(context), _words(sentence)
    keys = [context[start:end].casefold() for start, end in known]
    blank = max((i for i, (start, end) in enumerate(known) if BLANK in context[start:end]), default=None)
    own = [sentence[start:end].casefold() for start, end in words]
    blocks = [b for b in SequenceMatcher(None, keys, own, autojunk=False).get_matching_blocks() if b.size]
    if blank is None or not words:
        return None
    first = max((block.b + block.size for block in blocks if block.a < blank), default=0)
    last = min((block.b for block in blocks if block.a > blank), default=len(words))
    if first >= last:
        shared = {i for block in blocks for i in range(block.b, block.b + block.size)}
        lacking = [i for i in range(len(words)) if i not in shared]
        if not lacking or lacking[-1] - lacking[0] + 1 > len(lacking):
            return None
        first, last = lacking[0], lacking[-1] + 1
    return words[first][0], words[last - 1][1]


def _words(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for part in text.split():
        begin = text.index(part, start)
        start = begin + len(part)
        if bare := _bare(text, begin, start):
            spans.append(bare)
    return spans


def _bare(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Strip punctuation and white space from the ends of a span; return None if it becomes empty."""
    while start < end and unicodedata.category(text[start])[0] in _IGNORED:
        start += 1
    while start < end and unicodedata.category(text[end - 1])[0] in _IGNORED:
        end -= 1
    return (start, end) if start < end else None
