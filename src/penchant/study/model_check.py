"""Checks that a model can be measured on given texts, run before every study and by `penchant check`."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from penchant.call_checks import asked
from penchant.engine.scorer import Scorer, language_model
from penchant.errors import DataError, ModelError, together
from penchant.instruments.unknown_tokens import OnUnknown, known_texts, require_known, unknown_error, unknown_part
from penchant.models import shortcut_switch
from penchant.models.load import UNKNOWN, LanguageModel, Model, read_model
from penchant.models.model_identity import resolve
from penchant.models.served_logprobs import NOISE
from penchant.plurals import counted, of_all
from penchant.study.batch_invariance import SAMPLE as SENTENCES
from penchant.study.batch_invariance import invariance
from penchant.tables.in_memory import plain
from penchant.tables.in_memory import texts as listed_texts

Verdict = Literal["pass", "warn", "fail"]
SAMPLE = ("The old house stands by the river.", "It rained.")
PADDING_TOLERANCE = {"float32": 1e-3, "bfloat16": 1.0, "float16": 0.1, "float64": 1e-5}
"""Maximum change in a sentence's score between batches that rounding can explain, by number format."""
BATCH_TOLERANCE = {"float32": 1e-4, "bfloat16": 0.5, "float16": 0.1, "float64": 1e-5, UNKNOWN: NOISE}
"""Maximum change in a token's log-probability between batches without a warning, in nats, by number format."""


LOCAL_TOLERANCE = 0.1
"""Maximum difference between a token's log-probabilities from a server and local weights without a warning."""
_LARGEST = 2 << 30
"""Size in bytes of the largest weights that are loaded for comparison with a server."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    name: str
    verdict: Verdict
    detail: str
    others: tuple[str, ...] = ()
    """Further problems of the same kind, in addition to `detail`."""
    hint: str = ""
    """A remedy, if there is one specific to the problem."""


@asked
def check(
    model: Model | str | Path,
    texts: Iterable[str | tuple[str, str]] = (),
    *,
    scores: bool = True,
    on_unknown: str = "stop",
) -> list[Finding]:
    """Check that a model can be measured, and that it can process the given texts.

    `model` is a model or its name; `texts` are strings or (text, location) pairs. If `scores` is false, vectors are
    checked instead of scores, and the model needs no head. `on_unknown` has the same meaning as in a study: texts with
    parts unknown to the tokenizer fail ("stop"), or are left out with a warning ("skip"). The verdict "fail" means that
    results of this model for these texts would be wrong; "warn" means that the results need an explanation. Raises
    MethodError for any other `on_unknown`.
    """
    model = language_model(model)
    given = plain(texts)
    if isinstance(given, list) and all(map(_is_placed, given)):
        placed: list[tuple[str, str]] = given
    else:
        placed = [(text, f"text {n}") for n, text in enumerate(listed_texts(given), 1)]
    findings = _findings(model, placed, scores, require_known(on_unknown))
    if scores and not (model.replies_only or any(f.verdict == "fail" for f in findings)):
        findings.append(_batches(model, known_texts(model, placed, "skip")))
        findings += _local(model) if model.served else []
    return findings


def _findings(
    model: LanguageModel, placed: Sequence[tuple[str, str]], scores: bool, on_unknown: OnUnknown
) -> list[Finding]:
    findings = [_head(model), _gap(model), _beginning(model)] if scores else []
    findings += [_unused(model), _loading(model)]
    if model.served:
        findings += [Finding(*proved) for proved in model.served.proved]
    kept = known_texts(model, placed, on_unknown)
    findings.extend(_texts(model, kept))
    if len(kept) < len(placed):
        findings.append(_left_out(placed, kept))
    if not (model.served or any(f.verdict == "fail" for f in findings)):
        findings.append(_padding(model) if scores else _vectors(model))
    return findings


def _is_placed(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) for part in given)


def require_fit(model: LanguageModel, texts: Iterable[tuple[str, str]], *, scores: bool = True) -> list[Finding]:
    """Run all checks except batch invariance and local weights. Raises ModelError or DataError at the first failure."""
    findings = _findings(model, list(texts), scores, "stop")
    _require(findings, model)
    return findings


def require_readable(model: LanguageModel, texts: Iterable[tuple[str, str]], *, scores: bool = True) -> None:
    """Check the mask token and the texts without loading weights. Raises ModelError if a check fails."""
    _require([*([_gap(model)] if scores else []), *_texts(model, texts)], model)


def _require(findings: Iterable[Finding], model: LanguageModel) -> None:
    for finding in findings:
        if finding.verdict == "fail":
            error = ModelError(
                f"cannot be measured ({finding.name}): {finding.detail}",
                where=model.name,
                hint=finding.hint or "run penchant check to see all checks",
            )
            for other in finding.others:
                error.add_note(other)
            raise error


def _head(model: LanguageModel) -> Finding:
    if model.kind == "encoder":
        return Finding("trained head", "fail", f"no word probabilities: {model.no_scores}")
    if model.served:
        how = f"{'replies' if model.replies_only else 'log-probabilities of prompts'}, from {model.network.devices}"
    elif not shortcut_switch.allowed():
        how = f"whole model at every position ({shortcut_switch.PLAIN} is set)"
    elif model.network.shortens:
        how = "head and last layer applied only at positions that are used"
    elif model.network.gathers:
        how = "head applied only at positions that are used"
    else:
        how = "whole model at every position (slower)"
    return Finding("trained head", "pass", f"{model.kind} model; {how}")


def _unused(model: LanguageModel) -> Finding:
    if not model.unused:
        return Finding("unused weights", "pass", "none")
    return Finding(
        "unused weights", "pass", f"{len(model.unused)} of another head or purpose, such as {model.unused[0]}"
    )


def _loading(model: LanguageModel) -> Finding:
    if not model.cautions:
        return Finding("loading", "pass", "without warnings")
    return Finding("loading", "warn", model.cautions[0], model.cautions[1:])


def _gap(model: LanguageModel) -> Finding:
    if model.kind != "masked":
        return Finding("mask token", "pass", "not needed")
    if model.tokenizer.mask_id is None:
        return Finding("mask token", "fail", "a masked model, but its tokenizer has no mask token")
    return Finding("mask token", "pass", model.tokenizer.strings([model.tokenizer.mask_id])[0])


def _beginning(model: LanguageModel) -> Finding:
    if model.kind != "causal" or model.replies_only:
        return Finding("beginning token", "pass", "not needed")
    if model.begin is None:
        return Finding("beginning token", "warn", "none: the first token of a sentence is not scored")
    token = model.tokenizer.strings([model.begin])[0]
    if model.tokenizer.chat_mark is None:
        return Finding("beginning token", "pass", token)
    return Finding(
        "beginning token", "pass", f"{token}, the beginning token of a chat model: first words are scored after it"
    )


def _texts(model: LanguageModel, texts: Iterable[tuple[str, str]]) -> list[Finding]:
    """Check all texts for unknown tokens, characters that no token covers, and excessive length."""
    told: dict[str, list[DataError]] = {problem: [] for problem in _PROBLEMS}
    unknown: list[tuple[str, str]] = []
    total = 0
    stream = iter(dict(texts).items())
    while part := list(islice(stream, 1024)):
        for (text, place), encoding in zip(part, model.tokenizer.encode([t for t, _ in part]), strict=True):
            total += 1
            try:
                model.tokenizer.require_sound(text, encoding, place)
            except DataError as error:
                if lacking := unknown_part(model.tokenizer, text, encoding):
                    unknown.append((place, lacking))
                else:
                    told["unknown" if encoding.at else "empty"].append(error)
            lost, marks = _lost(text, encoding.spans, model.tokenizer.decode(encoding.tokens))
            if lost:
                told["lost"].append(DataError(f"no token covers '{lost}'", where=place))
            if marks:
                told["marks"].append(DataError(marks, where=place))
            if len(encoding.ids) > model.max_tokens:
                long = f"{len(encoding.ids)} tokens, but the model accepts at most {model.max_tokens}"
                told["long"].append(DataError(long, where=place))
    findings = {kind: _about(kind, told[kind], total) for kind in _PROBLEMS if total}
    if unknown:
        about = unknown_error(unknown, total, "texts")
        detail = f"{about.where}: {about.message}"
        findings["unknown"] = Finding(_PROBLEMS["unknown"], "fail", detail, hint=about.hint)
    return list(findings.values())


_PROBLEMS = {
    "empty": "empty texts",
    "unknown": "unknown tokens",
    "lost": "round trip",
    "marks": "accents and vowel signs",
    "long": "length",
}
"""Names of the checks of a text, by kind of problem."""


def _about(kind: str, errors: Sequence[DataError], total: int) -> Finding:
    told = of_all(len(errors), total, "texts")
    if not errors:
        return Finding(_PROBLEMS[kind], "pass", told)
    first = together(errors)
    others = tuple(getattr(first, "__notes__", ()))
    return Finding(
        _PROBLEMS[kind], "warn" if kind == "marks" else "fail", f"{told}; the first: {first.alone()}", others
    )


def _left_out(texts: Sequence[tuple[str, str]], kept: Sequence[tuple[str, str]]) -> Finding:
    known = set(kept)
    first = next(place for text, place in texts if (text, place) not in known)
    told = f"unknown tokens in {of_all(len(texts) - len(kept), len(texts), 'texts')}; the first: {first}"
    return Finding("left out", "warn" if kept else "fail", told)


def _lost(text: str, spans: Sequence[tuple[int, int]], decoded: str) -> tuple[str, str]:
    """Return the characters that no token covers, and the code points of lost combining or invisible characters.

    `spans` are the tokens' character ranges in `text`, and `decoded` is the text decoded from the tokens.
    """
    seen = np.zeros(len(text), dtype=bool)
    for start, end in spans:
        seen[start:end] = True
    dropped = [c for c, covered in zip(text, seen, strict=True) if not covered and not c.isspace()]
    lost = "".join(c for c in dropped if unicodedata.category(c)[0] not in "CM")
    gone = _marks(text) - _marks(decoded)
    gone.update(c for c in dropped if unicodedata.category(c)[0] == "C")
    return lost, " ".join(f"U+{ord(mark):04X}" for mark in sorted(gone.elements()))


def _marks(text: str) -> Counter[str]:
    if text.isascii():
        return Counter()
    return Counter(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c).startswith("M"))


def _vectors(model: LanguageModel) -> Finding:
    """Check that the hidden vectors of all layers are finite."""
    layers = tuple(model.network.readable)
    try:
        list(Scorer(model).sentence_vectors([(text, "") for text in SAMPLE], layers=layers))
    except DataError as error:
        return Finding("answers", "warn", f"not tested: the model cannot process the test sentences ({error.message})")
    except ModelError as error:
        return Finding("answers", "fail", str(error.message))
    return Finding("answers", "pass", f"finite vectors in {len(layers)} layers")


def _padding(model: LanguageModel) -> Finding:
    """Check that padding does not change a sentence's score."""
    try:
        alone = [next(Scorer(model, batch_tokens=1).score([(text, "")])).score for text in SAMPLE]
        together = [s.score for s in Scorer(model, batch_tokens=1 << 14).score([(text, "") for text in SAMPLE])]
    except DataError as error:
        return Finding("padding", "warn", f"not tested: the model cannot process the test sentences ({error.message})")
    except ModelError as error:
        return Finding("answers", "fail", str(error.message))
    moved = max(abs(a - b) for a, b in zip(alone, together, strict=True))
    if not moved <= PADDING_TOLERANCE[model.dtype]:
        return Finding("padding", "fail", f"scores change by {moved:.3g} when sentences are batched")
    how = {"padded": "", "equal-length": ", in batches of equal length", "single": ", one text at a time"}
    detail = f"scores change by at most {moved:.1g} in {model.numbers}{how.get(model.network.batching, '')}"
    return Finding("padding", "pass", detail)


def _local(model: LanguageModel) -> list[Finding]:
    """Compare a served model with local weights, if there are any in the directory or file of its tokenizer."""
    assert model.served is not None
    spec = model.served.client.address.tokenizer
    place = resolve(spec).local
    files = [] if place is None else [place] if place.is_file() else [*place.glob("*.safetensors")]
    if not 0 < sum(file.stat().st_size for file in files) <= _LARGEST:
        return []
    local = read_model(spec)
    if not isinstance(local, LanguageModel) or local.kind != model.kind:
        return []
    if not model.served.hidden:
        local = replace(local, tokenizer=model.tokenizer, begin=model.begin)
    texts = [(text, "a test sentence") for text in SENTENCES]
    try:
        rows = [[score.token_logprobs for score in Scorer(each).score(texts)] for each in (model, local)]
    except DataError:
        return []
    differs = float(max(np.nanmax(np.abs(a - b)) for a, b in zip(*rows, strict=True)))
    detail = f"log-probabilities of tokens differ by up to {differs:.2g} from those of {local.name} on this machine"
    return [Finding("local weights", "pass" if differs <= LOCAL_TOLERANCE else "warn", detail)]


def _batches(model: LanguageModel, texts: Sequence[tuple[str, str]]) -> Finding:
    name = "batch invariance"
    measured = invariance(model, texts)
    if measured is None:
        return Finding(name, "warn", "not tested: the model cannot process the test sentences")
    where = f"{model.numbers}, {model.network.devices}, {counted(measured.sentences, 'sentences')}"
    detail = f"a token's log-probability changes by up to {measured.token:.2g} between batches ({where})"
    tolerance = BATCH_TOLERANCE[model.dtype]
    above = not measured.token <= tolerance
    if above:
        detail += f", more than {tolerance:g}"
    if above or model.dtype not in ("float32", "float64"):
        detail += f"; a difference of up to {2 * measured.sentence:.2g} between two sentences may be due to batching"
    return Finding(name, "warn" if above else "pass", detail)
