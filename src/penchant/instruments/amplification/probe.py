"""Amplification: a model's associations with two groups of words, compared with those of its training text."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import polars as pl
from pydantic import PrivateAttr

from penchant.corpus.cooccurrence_counts import ContrastCounts, GroupCounts, count_groups
from penchant.corpus.priority_sampling import spread
from penchant.corpus.process_pool import worthwhile
from penchant.corpus.slot_filling import Span
from penchant.corpus.text_files import TextFile, find_texts
from penchant.engine.scorer import Scorer, language_model
from penchant.errors import DataError, MethodError
from penchant.files import join_names, sha256_file
from penchant.instruments.amplification.data import AmplificationSet, Attribute, WordContrast, read_amplification
from penchant.instruments.amplification.estimates import amplification_estimates
from penchant.instruments.amplification.settings import AmplificationSettings
from penchant.instruments.base_probe import Measured, Model
from penchant.instruments.item_probes import ItemProbe
from penchant.instruments.probe_field_types import written
from penchant.instruments.session import Session, require_masked
from penchant.instruments.unknown_tokens import signed_unknown
from penchant.models.load import LanguageModel
from penchant.records import Estimate
from penchant.tables.data_lookup import listed
from penchant.wording.phrases import Note

LARGEST_PRIOR = 0.02
"""Size of the prior, as a share of the words in a group's sentences, above which a caution is raised."""
_MOST = 3
"""The most files that a signature names; the others are counted."""
Asked: TypeAlias = tuple[WordContrast, Attribute]
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "contrast", "kind", "word", "template", "side", "label", "group_word"), pl.String),
    "control": pl.Boolean,
    "sentence": pl.String,
    **dict.fromkeys(("fill", "prior", "corrected"), pl.Float64),
    "n_tokens": pl.Int64,
    "reaches": pl.Boolean,
    **dict.fromkeys(("count_a", "count_b", "words_a", "words_b", "sentences_a", "sentences_b", "both"), pl.Int64),
}


class Amplification(AmplificationSettings, ItemProbe[AmplificationSet, Asked]):
    """Associations of a masked model with two groups, compared with those of the text it was trained on.

    `run` returns items (one row per sentence: log-probability of the attribute word with the group word visible and
    masked, and the occurrences of the word in the text's sentences of either group) and a summary: for every contrast
    the slope of m (model) on c (text) with errors in both, and their correlation; for every word m, c and m − c.
    """

    equivalents: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("masked",)

    _counts: dict[tuple[str, ...], ContrastCounts] = PrivateAttr(default_factory=dict)

    def places(self, base: Sequence[Path]) -> tuple[Hashable, ...]:
        """Return the arguments of `read`: the file of the set, the limit and the seed."""
        return self.find(self.data, base), self.limit, self.seed

    def read(self, path: Path, limit: int | None, seed: int) -> AmplificationSet:
        """Read the set; if there is a limit, keep only a sample of each contrast's attributes.

        Raises DataError if the set is invalid.
        """
        whole = read_amplification(path)
        return whole if limit is None else replace(whole, contrasts=tuple(map(self._shortened, whole.contrasts)))

    def _shortened(self, contrast: WordContrast) -> WordContrast:
        drawn = spread(
            contrast.attributes,
            self.limit or 1,
            seed=self.seed,
            content=lambda each: (each.word,),
            group=lambda each: each.kind,
        )
        return replace(contrast, attributes=tuple(drawn))

    def items(self, read: AmplificationSet) -> Sequence[Asked]:
        """Return every attribute with its contrast."""
        return [(contrast, attribute) for contrast in read.contrasts for attribute in contrast.attributes]

    def asked(self, base: Sequence[Path] = (Path(),)) -> list[Asked]:
        """Return the attributes to measure, each with its contrast."""
        return list(self.items(self.read_set(base)))

    def texts_of(self, item: Asked) -> Sequence[str]:
        """Return the sentences of an attribute, one for each template and group word."""
        contrast, attribute = item
        return [text for _, _, _, text, _, _ in attribute.sentences(contrast)]

    def place_of(self, item: Asked) -> str:
        """Return the location of an attribute for messages: file, key and word."""
        return f"{item[1].place}, '{item[1].word}'"

    def files(self, base: Sequence[Path] = (Path(),)) -> list[Path]:
        """Return the files of the set and of the texts of all models, except texts at a URL."""
        names = self.text.values() if isinstance(self.text, dict) else [self.text]
        places = dict.fromkeys(file.place for named in names for file in find_texts(listed(named), base))
        return [self.read_set(base).path, *(Path(place) for place in places if "://" not in place)]

    def settle(self, model: Model) -> Self:
        """Return the probe unchanged.

        Raises MethodError if the model is not a masked language model, or if `text` has no text for the model.
        """
        hint = "a word is scored with the group word masked, which may come before or after the word"
        texts_of(self.text, require_masked(self.name, model, hint).name)
        return self

    def text_files(self, model: LanguageModel, base: Sequence[Path]) -> list[TextFile]:
        """Return a model's text files. Raises DataError for a missing file, MethodError if no text was given for it."""
        return find_texts(texts_of(self.text, model.name), base)

    def recipe(self, model: Model, base: Sequence[Path]) -> dict[str, object]:
        """Return the entries of the signature: the set, the model's text and its layout, `min_count` and the prior."""
        read = self.read_set(base)
        return {
            "data": f"{read.name}#{read.sha256[:6]}",
            "text": cited_texts(self.text_files(language_model(model), base)),
            **{name: written(self, name) for name in ("layout", "field", "min_count", "prior_size")},
            **signed_unknown(self.on_unknown),
        }

    def measure(self, session: Session) -> Measured:
        """Count the words of the text, and score every sentence with the group word visible and masked."""
        read = self.read_set(session.base)
        kept, cautions = self.known(session, self.items(read))
        files = self.text_files(session.lm, session.base)
        counted = self._counted(read, files)
        counts = dict(zip((contrast.name for contrast in read.contrasts), counted.contrasts, strict=True))
        for contrast in read.contrasts:
            for side, label in zip("AB", contrast.labels, strict=True):
                if not counts[contrast.name].sentences[side]:
                    raise DataError(
                        f"no sentence contains a word of '{label}' but no word of the other group",
                        where=f"the text of {session.lm.name} ({', '.join(file.name for file in files)})",
                        hint="add more text, or remove the contrast",
                    )
        session.expect(sum(len(self.texts_of(item)) for item in kept), inputs=2)
        cautions = (*cautions, *_leaks(read), *self._of_text(read, counted))
        return Measured(scored(kept, counts, session.scorer), cautions)

    def _counted(self, read: AmplificationSet, files: Sequence[TextFile]) -> ContrastCounts:
        key = tuple(file.place for file in files)
        if key not in self._counts:
            search = read.search(self.layout, self.field)
            self._counts[key] = count_groups(search, files, workers=worthwhile(files))
        return self._counts[key]

    def _of_text(self, read: AmplificationSet, counted: ContrastCounts) -> Iterator[Note]:
        if counted.skipped:
            yield Note("amplification.unreadable", lost=counted.skipped, of=counted.records)
        for contrast, counts in zip(read.contrasts, counted.contrasts, strict=True):
            sides = (("A", contrast.a), ("B", contrast.b))
            lost = [word for side, part in sides for word in part if not counts.members[side, word]]
            if lost:
                yield Note("amplification.never-in-text", contrast=contrast.name, words=lost)
            fewest, prior = min(counts.total[side] for side in "AB"), self.prior_size
            if prior > LARGEST_PRIOR * fewest:
                yield Note("amplification.large-prior", contrast=contrast.name, prior=prior, fewest=fewest)

    def summarise(self, measured: Measured) -> Iterable[Estimate]:
        """Return slopes of the model on its text, correlations, and m, c and m − c of every word."""
        return amplification_estimates(measured.items, self)


def _leaks(read: AmplificationSet) -> Iterator[Note]:
    held = [(each.word, text) for contrast in read.contrasts for each in contrast.attributes for text in each.leaks()]
    if held:
        yield Note("amplification.held-twice", have=len(held), word=held[0][0], text=held[0][1])


# Scores -------------------------------------------------------------------------------------------------------------


def scored(asked: Sequence[Asked], counts: Mapping[str, GroupCounts], scorer: Scorer) -> pl.DataFrame:
    """Return one row for every sentence.

    `fill` is the log-probability of the attribute word, all its tokens masked; `prior` the same with the group word
    masked too; `corrected` is fill − prior (Kurita et al. 2019, with the attribute word in place of their target).
    `counts` are the counts in the text, by contrast.
    """
    rows: list[dict[str, Any]] = []
    places: list[tuple[str, Span, tuple[Span, ...], str]] = []
    for contrast, attribute in asked:
        about = _about(contrast, attribute, counts[contrast.name])
        for side, member, template, text, group, word in attribute.sentences(contrast):
            places += [(text, word, (), attribute.place), (text, word, (group,), attribute.place)]
            id_, label = f"{contrast.name} {attribute.word} {member}: {template}", contrast.labels["AB".index(side)]
            own = {"id": id_, "template": template, "side": side, "label": label}
            rows.append({**about, **own, "group_word": member, "sentence": text})
    scores = scorer.masked(places)
    for row, fill, prior in zip(rows, scores, scores, strict=True):
        row |= {"fill": fill.score, "prior": prior.score, "corrected": fill.score - prior.score}
        row |= {"n_tokens": fill.n, "reaches": fill.reaches}
    return pl.DataFrame(rows, schema=_SCHEMA)


def _about(contrast: WordContrast, attribute: Attribute, counts: GroupCounts) -> dict[str, Any]:
    word = attribute.word
    about = {"contrast": contrast.name, "kind": attribute.kind, "word": word, "control": contrast.control}
    text = {
        **{f"count_{side.lower()}": counts.found[side, word] for side in "AB"},
        **{f"words_{side.lower()}": counts.total[side] for side in "AB"},
        **{f"sentences_{side.lower()}": counts.sentences[side] for side in "AB"},
    }
    return {**about, **text, "both": counts.both}


# Texts of models ----------------------------------------------------------------------------------------------------


def texts_of(text: str | list[str] | dict[str, str | list[str]], model: str) -> list[str]:
    """Return the files, patterns, directories or URLs of a model's text; `text` lists them for all models or by model.

    A model is named as in the study: with or without revision, or by its directory. Raises MethodError if no
    key of `text`, or more than one, names the model.
    """
    if not isinstance(text, Mapping):
        return listed(text)
    fitting = [model] if model in text else [key for key in text if _names(key, model)]
    label = model if model.startswith("bundled:") else Path(model.rpartition("@")[0] or model).name
    if not fitting:
        hint = f"give one, as in text: {{{label}: FILE}}; texts were given for {', '.join(text) or 'no model'}"
        raise MethodError(f"no text was given for {label}", where="amplification, text", hint=hint)
    if len(fitting) > 1:
        hint = f"give only one text for {model}"
        raise MethodError(f"each of {' and '.join(fitting)} may mean {model}", where="amplification, text", hint=hint)
    return listed(text[fitting[0]])


def _names(key: str, model: str) -> bool:
    """Return whether a key names a model, with or without revision, or by its directory."""
    label = model.rpartition("@")[0] or model
    keys = {key, key.partition("@")[0], Path(key).name, Path(key).stem}
    return label in keys or ("/" in label and Path(label).name in keys)


def cited_texts(files: Sequence[TextFile]) -> str:
    """Return the names of text files and the first six digits of a hash over all of them.

    For URLs, names and sizes are hashed.
    """
    parts = [sha256_file(f.place) if "://" not in f.place else f"{f.place} {f.size}" for f in files]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    names = [file.name for file in files[:_MOST]]
    more = f"+{len(files) - _MOST} more" if len(files) > _MOST else ""
    return f"{join_names(names)}{more}#{digest[:6]}"
