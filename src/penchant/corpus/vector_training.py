"""Training of word vectors on running text, with a card that documents the text and the settings."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penchant._version import __version__
from penchant.corpus.block_processing import Progress
from penchant.corpus.stimulus_sets import StimulusSet
from penchant.corpus.text_files import TextFile
from penchant.corpus.vector_training_text import TokenSettings, write_tokens
from penchant.errors import DataError, MethodError, one_of
from penchant.files import refuse_inputs, refuse_other, sha256_file, write_text
from penchant.letter_case import lowered
from penchant.plurals import counted, of_all
from penchant.text_io import read_text
from penchant.unicode_spellings import canonical
from penchant.vectors.glove import GloVe
from penchant.vectors.human_similarity import similarity_tests
from penchant.vectors.saving import checked_ending, save_vectors
from penchant.vectors.token_file import Trained
from penchant.vectors.word2vec import Word2Vec

METHODS: Mapping[str, type[Word2Vec] | type[GloVe]] = {"word2vec": Word2Vec, "glove": GloVe}


def method(name: str, **parameters: Any) -> Word2Vec | GloVe:
    """Return the training method called `name` with the given parameters; a parameter that is None keeps its default.

    Raises MethodError if the method or a parameter is unknown.
    """
    if name not in METHODS:
        raise MethodError(f"unknown method '{name}'", hint=one_of(name, METHODS))
    chosen = {key: value for key, value in parameters.items() if value is not None}
    known = METHODS[name].__dataclass_fields__
    for key in chosen:
        if key not in known:
            raise MethodError(f"{name} has no parameter '{key}'", hint=f"choose one of {', '.join(known)}")
    return METHODS[name](**chosen)


def train(
    how: Word2Vec | GloVe,
    tokens: TokenSettings,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    stimuli: StimulusSet | None = None,
    workers: int = 1,
    progress: Callable[[str], Progress] = lambda label: lambda done, total: None,
    replace: bool = False,
) -> dict[str, Any]:
    """Train word vectors, save them with a card, and return the card's metadata.

    `save_vectors` describes the file formats. The card lists the `stimuli` without a vector. Existing files are
    replaced only if they are vectors with their card, or if `replace` is true. Raises DataError if a text cannot be
    read, MethodError if a parameter is invalid, and OutputError if the files cannot be written.
    """
    target = Path(out)
    checked_ending(target)
    for place in (target, card_path(target)):
        refuse_inputs(place, [file.place for file in files if "://" not in file.place])
    if not replace:
        refuse_other(target, "a vector file with a matching card", _has_card)
        refuse_other(card_path(target), "the card of these vectors", lambda card: _cards(card, target))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "tokens.txt"
        counts, texts = write_tokens(tokens, files, plain, workers=workers, progress=progress("tokens"))
        advance = progress("training")
        try:
            trained = how.train(plain, progress=lambda share: advance(share, 1.0))
        except DataError as error:  # names the temporary file of tokens
            raise DataError(error.message, file=files[0].place, hint=error.hint) from error
    sha256 = save_vectors(trained, target)
    record = {
        "version": __version__,
        "vectors": target.name,
        "sha256": sha256,
        **_settings(how, tokens),
        "texts": texts,
        "counts": counts._asdict(),
        "vocabulary": len(trained.words),
        "kept": trained.kept,
        "losses": list(trained.losses),
        "similarity": _similarity(trained) if tokens.language.split("-")[0] == "en" else [],
        "missing": _missing(trained.words, stimuli, tokens.language),
    }
    write_text(card(record), card_path(target))
    return record


def _settings(how: Word2Vec | GloVe, tokens: TokenSettings) -> dict[str, Any]:
    return {
        "method": next(name for name, kind in METHODS.items() if isinstance(how, kind)),
        "parameters": asdict(how),
        "tokens": {
            **asdict(tokens),
            "forms": tokens.forms and {word: list(forms) for word, forms in tokens.forms.items()},
        },
    }


def still_true(record: Mapping[str, Any], how: Word2Vec | GloVe, tokens: TokenSettings, vectors: Path) -> bool:
    """Return True if a card's metadata match these settings and the vector file is unchanged."""
    settings = json.loads(json.dumps(_settings(how, tokens)))
    same = all(record[name] == value for name, value in settings.items())
    return same and vectors.exists() and record["sha256"] == sha256_file(vectors)


def _similarity(trained: Trained) -> list[dict[str, Any]]:
    results = [result._asdict() for result in similarity_tests(trained)]
    return [{key: None if value != value else value for key, value in result.items()} for result in results]


def _missing(words: Sequence[str], stimuli: StimulusSet | None, language: str) -> list[str]:
    """Return the stimuli without a vector: those that are not in `words`, neither as written nor in lower case."""
    known = set(words)
    stated = (
        {}
        if stimuli is None
        else {word: {canonical(word), canonical(lowered(word, language))} for word in stimuli.words()}
    )
    return [word for word, entries in stated.items() if not known & entries]


# The card ---------------------------------------------------------------------------------------------------------


def card_path(vectors: Path) -> Path:
    """Return the path of the card of a vector file."""
    return vectors.with_suffix(".md")


def read_card(vectors: str | Path) -> dict[str, Any] | None:
    """Return the metadata in a vector file's card, or None if there is no card or the card has no metadata."""
    path = card_path(Path(vectors))
    try:
        block = re.search(r"^```json\n(.*)^```$", read_text(path), re.MULTILINE | re.DOTALL)
        return None if block is None else dict(json.loads(block[1]))
    except (DataError, ValueError):
        return None


def _has_card(vectors: Path) -> bool:
    """Return True if a vector file is unchanged since its card was written."""
    record = read_card(vectors)
    return record is not None and record.get("sha256") == sha256_file(vectors)


def _cards(card: Path, vectors: Path) -> bool:
    """Return True if `card` is the card of `vectors`, or of a vector file that no longer exists."""
    record = read_card(vectors)
    name = str(record.get("vectors")) if record else None
    return name is not None and (name == vectors.name or not card.with_name(Path(name).name).exists())


def card(record: Mapping[str, Any]) -> str:
    """Return a vector file's metadata as a card in Markdown: a summary for readers, then all metadata as JSON."""
    counts, parameters = record["counts"], record["parameters"]
    tokens = record["tokens"]
    lower = "in small letters" if tokens["lower"] else "letters as they are written"
    forms = (
        f", {counted(counts['replaced'], 'forms')} of stimuli replaced by the stimulus "
        f"({counts['shared']:,} that two share left)"
        if tokens["forms"]
        else ""
    )
    lines = [
        f"# {record['vectors']}",
        "",
        f"{parameters['size']}-dimensional {record['method']} vectors of {record['vocabulary']:,} words, trained with "
        f"penchant {record['version']}.",
        "",
        f"- Text: {', '.join(_cited(text) for text in record['texts'])}; language `{tokens['language']}`, "
        f"layout {tokens['layout']}.",
        f"- Tokens: {counts['tokens']:,} in {counted(counts['sentences'], 'sentences')}, of which "
        f"{record['kept']:,} belong to "
        f"the vocabulary; maximal runs of letters, marks and digits in NFC, {lower}{forms}.",
        f"- Parameters: {', '.join(f'{name} {value}' for name, value in parameters.items())}.",
    ]
    if counts["skipped"]:
        lines.append(f"- Not read: {counts['skipped']:,} of {counted(counts['records'], 'records')}.")
    if record["losses"]:
        lines.append(f"- Loss by epoch: {', '.join(f'{loss:.4g}' for loss in record['losses'])}.")
    for test in record["similarity"]:
        rho = "no ρ" if test["rho"] is None else f"Spearman's ρ {test['rho']:.3f} (p {test['p']:.2g})"
        pairs = of_all(test["covered"], test["pairs"], "pairs")
        lines.append(f"- {test['name']}: {rho} on the {pairs} with both words in the vocabulary.")
    if record["missing"]:
        lines.append(f"- Stimuli without a vector ({len(record['missing'])}): {', '.join(record['missing'])}.")
    whole = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    return "\n".join([*lines, "", "```json", whole, "```", ""])


def _cited(text: Mapping[str, Any]) -> str:
    return f"{text['name']} (sha256 {text['sha256'][:12]}…, {text['size'] / 1e6:,.1f} MB)"
