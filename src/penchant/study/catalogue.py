"""What `penchant list` and `penchant schema` know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penchant.engine.methods import METHODS
from penchant.errors import MethodError, one_of
from penchant.grammar.grammar import bundled_grammars, find_grammar
from penchant.grammar.grammar_file import GRAMMAR_FILE, read_grammar_file
from penchant.instruments.descriptor import Schemas
from penchant.instruments.registry import bundled_sets, instruments
from penchant.models.source import bundled_models
from penchant.study.public_sets import public_sets
from penchant.study.spec import schema as study_schema

Rows = list[tuple[str, str]]


def topics() -> list[str]:
    """The kinds of things that can be listed."""
    return list(_TOPICS)


def catalogue(what: str) -> Rows:
    """What there is of a kind, each with what it is. Raises MethodError."""
    if what not in _TOPICS:
        raise MethodError(f"nothing to list under '{what}'", hint=one_of(what, _TOPICS))
    return _TOPICS[what]()


def records(what: str) -> list[dict[str, Any]]:
    """The same as objects: a name and what it is; public sets of data have their fields instead. Raises MethodError."""
    public = {each.name: each.model_dump() for each in public_sets()} if what == "data" else {}
    return [public.get(name, {"name": name, "what": meaning}) for name, meaning in catalogue(what)]


def _probes() -> Rows:
    return [(name, (each.probe.__doc__ or "").splitlines()[0]) for name, each in instruments().items()]


def _models() -> Rows:
    return [
        ("NAME[@REVISION]", "a model on the Hugging Face hub: masked, causal or encoder"),
        ("DIRECTORY", "what save_pretrained wrote"),
        ("FILE.gguf", "a causal model in a GGUF file (needs penchant[gguf])"),
        ("FILE.txt .vec .bin .npy", "static word vectors: word2vec, GloVe, or an array with its vocabulary"),
        *((f"bundled:{name}", "ships with penchant") for name in bundled_models()),
    ]


def _data() -> Rows:
    """Sets and formats, each once, though instruments share them."""
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
        ("none", "normalisation: the sum over tokens, as it is"),
        ("mean", "normalisation: divided by the number of tokens |S|"),
        ("pen", "normalisation: divided by ((5+|S|)/6)^0.8"),
        ("slln", "normalisation: divided by |S|^0.5"),
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
    """The JSON schema of a study file, of the files of a topic, or of the settings of a probe. Raises MethodError."""
    topics: dict[str, Schemas] = {}
    for each in instruments().values():
        topics |= each.schemas
    if what == "study":
        return study_schema()
    if what not in topics and what in instruments():
        return instruments()[what].probe.model_json_schema()
    if what not in topics:
        known = dict.fromkeys(["study", *topics, *instruments()])
        raise MethodError(f"there is no schema of '{what}'", hint=one_of(what, list(known)))
    topic = topics[what]
    if isinstance(topic, Mapping):
        return {name: model.model_json_schema() for name, model in topic.items()}
    return topic.model_json_schema()
