"""Catalogue for `penchant list`, `penchant schema` and `penchant init`, including public data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from penchant.engine.scoring_methods import METHODS
from penchant.errors import MethodError, OutputError, one_of
from penchant.files import occupied, write_bytes
from penchant.grammar.grammar import bundled_grammars, find_grammar
from penchant.grammar.grammar_file import GRAMMAR_FILE, read_grammar_file
from penchant.instruments.descriptor import Schemas
from penchant.instruments.registry import bundled_sets, instrument, instruments, template_files
from penchant.models.model_identity import bundled_card, bundled_models
from penchant.study.study_file import schema as study_schema
from penchant.tables.yaml_json_documents import SETTINGS, read_yaml

Rows = list[tuple[str, str]]
PUBLIC_SETS = Path(__file__).with_name("public_sets.yaml")
_REDISTRIBUTION = {
    "allowed": "may be passed on under its terms",
    "non-commercial": "must not be used or passed on commercially",
    "unclear": "whether it may be passed on is unclear",
}
Text = Annotated[str, Field(min_length=1)]


class PublicSet(BaseModel):
    """A public data set that penchant can read but does not bundle."""

    model_config = SETTINGS
    name: Text
    instrument: Text
    """The instrument that reads the data set."""
    languages: Annotated[list[Text], Field(min_length=1)]
    """The languages as BCP 47 tags, or their number."""
    size: Text
    licence: Text
    """The licence as stated by the publisher, or by another source, which is then named."""
    redistribution: Literal["allowed", "non-commercial", "unclear"]
    """The terms on which others may redistribute the data."""
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    """The publisher's repository or page."""
    read_as: Text
    """The format in which penchant reads the data, or the columns to specify."""

    def line(self) -> str:
        """Return a one-line description of the data set."""
        parts = [
            f"for {self.instrument}",
            ", ".join(self.languages),
            self.size,
            f"licence: {self.licence} ({_REDISTRIBUTION[self.redistribution]})",
            f"reading: {self.read_as}",
            self.url,
        ]
        return "; ".join(parts)


def public_sets() -> list[PublicSet]:
    """Return the public data sets that penchant reads but does not bundle, in the order of `PUBLIC_SETS`."""
    content = read_yaml(PUBLIC_SETS).content
    return [PublicSet.model_validate(each) for each in (content if isinstance(content, list) else [])]


def topics() -> list[str]:
    """Return the topics that `penchant list` accepts."""
    return list(_TOPICS)


def catalogue(what: str) -> Rows:
    """Return the names and descriptions of the entries of a topic. Raises MethodError if the topic is unknown."""
    if what not in _TOPICS:
        raise MethodError(f"unknown topic '{what}'", hint=one_of(what, _TOPICS))
    return _TOPICS[what]()


def records(what: str) -> list[dict[str, Any]]:
    """Return the entries of a topic as dicts: name and description, or all the fields of a public data set.

    Raises MethodError if the topic is unknown.
    """
    public = {each.name: each.model_dump() for each in public_sets()} if what == "data" else {}
    return [public.get(name, {"name": name, "what": meaning}) for name, meaning in catalogue(what)]


def _probes() -> Rows:
    return [(name, (each.probe.__doc__ or "").splitlines()[0]) for name, each in instruments().items()]


def _models() -> Rows:
    return [
        ("NAME[@REVISION]", "a model on the Hugging Face hub: masked, causal or encoder"),
        ("DIRECTORY", "a directory that save_pretrained wrote"),
        ("FILE.gguf", "a causal model in a GGUF file (needs penchant[gguf])"),
        ("MODEL?source=TEXT", "an encoder-decoder whose encoder reads the text; without it, none"),
        ("MODEL+ADAPTER", "a model with an adapter, a hub name or a directory (needs penchant[adapters])"),
        ("FILE.txt .vec .bin .npy", "static word vectors: word2vec, GloVe, or an array with its vocabulary"),
        ("scores:FILE", "sentence scores made elsewhere: a table with the columns text and score"),
        *((f"bundled:{name}", bundled_card(name)) for name in bundled_models()),
    ]


def _data() -> Rows:
    shared: dict[str, list[str]] = {}
    for probe, each in instruments().items():
        for name in bundled_sets(each):
            shared.setdefault(name, []).append(probe)
    sets = {name: f"bundled, for {', '.join(probes)}" for name, probes in sorted(shared.items())}
    formats = {name: what for each in instruments().values() for name, what in each.formats.items()}
    public = {each.name: each.line() for each in public_sets() if each.name not in formats}
    told = {each.name: f"{formats[each.name]} — {each.line()}" for each in public_sets() if each.name in formats}
    return [*sets.items(), *(formats | told).items(), *public.items()]


def _methods() -> Rows:
    return [
        *((method.name, f"{method.kind}: {method.summary}") for method in METHODS.values()),
        ("fill", "masked: the most probable tokens at a gap (cloze only)"),
        ("span", "masked: log P of some tokens, all masked at once (values only)"),
        ("none", "normalisation: the plain sum over tokens"),
        ("mean", "normalisation: divided by the number of tokens |S|"),
        ("pen", "normalisation: divided by ((5+|S|)/6)^0.8"),
        ("slln", "normalisation: divided by |S|^0.5"),
        ("fitted", "normalisation of pairs: divided by |S|^α, α fitted on the other phenomena (minimal-pairs only)"),
        ("slor", "normalisation: less the log-probability of the tokens as unigrams, divided by |S|"),
        ("pmi", "normalisation: less the score of the same tokens without their prefix, or after a neutral text"),
    ]


def _grammars() -> Rows:
    return [
        (f"{name}: {paradigm}", f"{rules.linguistics_term} ({rules.field})")
        for name in bundled_grammars()
        for paradigm, rules in read_grammar_file(find_grammar(name) / GRAMMAR_FILE)[0].paradigms.items()
    ]


def _compat() -> Rows:
    return [
        (f"{name}: {preset}", ", ".join(f"{key} {_joined(value)}" for key, value in settings.items()))
        for name, each in instruments().items()
        for preset, settings in each.probe.presets.items()
    ]


def _joined(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


_TOPICS: Mapping[str, Callable[[], Rows]] = {
    "probes": _probes,
    "models": _models,
    "data": _data,
    "methods": _methods,
    "grammars": _grammars,
    "compat": _compat,
}


def schemas(what: str) -> dict[str, Any]:
    """Return the JSON schema of study files ("study"), of a probe's settings or of the data files of a topic.

    For a topic with several kinds of file, return a schema for each, by name. Raises MethodError if `what` is unknown.
    """
    topics: dict[str, Schemas] = {}
    for each in instruments().values():
        topics |= each.schemas
    if what == "study":
        return study_schema()
    if what not in topics and what in instruments():
        return instruments()[what].probe.model_json_schema()
    if what not in topics:
        known = dict.fromkeys(["study", *topics, *instruments()])
        raise MethodError(f"unknown schema '{what}'", hint=one_of(what, list(known)))
    topic = topics[what]
    if isinstance(topic, Mapping):
        return {name: model.model_json_schema() for name, model in topic.items()}
    return topic.model_json_schema()


def write_template(probe: str, directory: Path) -> list[Path]:
    """Write a probe's template files into a directory and return their paths.

    Raises MethodError for an unknown probe, and OutputError if a file exists already or cannot be written.
    """
    targets = {directory / file.name: file for file in template_files(instrument(probe))}
    for target in targets:
        if occupied(target):
            raise OutputError("already exists", where=str(target), hint="remove it or give another directory")
    for target, file in targets.items():
        write_bytes(file.read_bytes(), target)
    return list(targets)
