"""Word vectors trained on running text, with a card that says on what and how."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penchant import __version__
from penchant.data.stimuli import StimulusSet
from penchant.data.text_files import TextFile
from penchant.data.tokens import Tokens, write_tokens
from penchant.errors import MethodError
from penchant.files import sha256_file, write_text
from penchant.models.glove import GloVe
from penchant.models.saving import save_vectors
from penchant.models.similarity import similarity_tests
from penchant.models.token_file import Trained
from penchant.models.word2vec import Word2Vec

METHODS: Mapping[str, type[Word2Vec] | type[GloVe]] = {"word2vec": Word2Vec, "glove": GloVe}
Progress = Callable[[float, float], None]


def method(name: str, **parameters: Any) -> Word2Vec | GloVe:
    """A way to train, with those of its parameters that are given (not None). Raises MethodError."""
    if name not in METHODS:
        raise MethodError(f"unknown method '{name}'", hint=f"use {' or '.join(METHODS)}")
    given = {key: value for key, value in parameters.items() if value is not None}
    own = METHODS[name].__dataclass_fields__
    for key in given:
        if key not in own:
            raise MethodError(f"{name} has no parameter '{key}'", hint=f"it has {', '.join(own)}")
    return METHODS[name](**given)


def train(
    how: Word2Vec | GloVe,
    tokens: Tokens,
    files: Sequence[TextFile],
    out: str | Path,
    *,
    stimuli: StimulusSet | None = None,
    workers: int = 1,
    progress: Callable[[str], Progress] = lambda label: lambda done, total: None,
) -> dict[str, Any]:
    """Train vectors, save them (see `save_vectors` for the format) with a card beside, and return what the card says.

    `stimuli` are looked up in the vocabulary. Raises DataError, MethodError and OutputError.
    """
    target = Path(out)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "tokens.txt"
        counts, texts = write_tokens(tokens, files, plain, workers=workers, progress=progress("tokens"))
        advance = progress("training")
        found = how.train(plain, progress=lambda share: advance(share, 1.0))
    sha256 = save_vectors(found, target)
    record = {
        "version": __version__,
        "vectors": target.name,
        "sha256": sha256,
        **_asked(how, tokens),
        "texts": texts,
        "counts": counts._asdict(),
        "vocabulary": len(found.words),
        "kept": found.kept,
        "losses": list(found.losses),
        "similarity": _similarity(found) if tokens.language.split("-")[0] == "en" else [],
        "missing": _missing(found.words, stimuli),
    }
    write_text(card(record), card_path(target))
    return record


def _asked(how: Word2Vec | GloVe, tokens: Tokens) -> dict[str, Any]:
    return {
        "method": next(name for name, own in METHODS.items() if isinstance(how, own)),
        "parameters": asdict(how),
        "tokens": {**asdict(tokens), "forms": tokens.forms and {word: list(own) for word, own in tokens.forms.items()}},
    }


def still_true(record: Mapping[str, Any], how: Word2Vec | GloVe, tokens: Tokens, vectors: Path) -> bool:
    """Whether a card tells of these settings, and the vectors are those it was written for."""
    asked = json.loads(json.dumps(_asked(how, tokens)))
    same = all(record[name] == value for name, value in asked.items())
    return same and vectors.exists() and record["sha256"] == sha256_file(vectors)


def _similarity(found: Trained) -> list[dict[str, Any]]:
    """gensim's similarity tests; a number that there is not is None."""
    numbers = [own._asdict() for own in similarity_tests(found)]
    return [{key: None if value != value else value for key, value in own.items()} for own in numbers]


def _missing(words: Sequence[str], stimuli: StimulusSet | None) -> list[str]:
    """The stimuli that have no vector, neither as they are written nor in small letters."""
    known = set(words)
    return [] if stimuli is None else [word for word in stimuli.words() if not known & {word, word.lower()}]


# The card ---------------------------------------------------------------------------------------------------------


def card_path(vectors: Path) -> Path:
    """Where the card of a file of vectors is."""
    return vectors.with_suffix(".md")


def read_card(vectors: str | Path) -> dict[str, Any] | None:
    """The record at the end of the card of a file of vectors; None where there is none."""
    path = card_path(Path(vectors))
    try:
        found = re.search(r"^```json\n(.*)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        return None if found is None else dict(json.loads(found[1]))
    except (OSError, ValueError):
        return None


def card(record: Mapping[str, Any]) -> str:
    """The card in Markdown: for readers first, then the whole record as JSON."""
    counts, parameters = record["counts"], record["parameters"]
    tokens = record["tokens"]
    lower = "in small letters" if tokens["lower"] else "letters as they are written"
    forms = (
        f", {counts['replaced']:,} forms of stimuli replaced by the stimulus ({counts['shared']:,} that two share left)"
        if tokens["forms"]
        else ""
    )
    lines = [
        f"# {record['vectors']}",
        "",
        f"{parameters['size']}-dimensional {record['method']} vectors of {record['vocabulary']:,} words, trained with "
        f"penchant {record['version']}.",
        "",
        f"- Text: {', '.join(_cited(own) for own in record['texts'])}; language `{tokens['language']}`, "
        f"layout {tokens['layout']}.",
        f"- Tokens: {counts['tokens']:,} in {counts['sentences']:,} sentences, of which {record['kept']:,} belong to "
        f"the vocabulary; maximal runs of letters, marks and digits in NFC, {lower}{forms}.",
        f"- Parameters: {', '.join(f'{name} {value}' for name, value in parameters.items())}.",
    ]
    if counts["skipped"]:
        lines.append(f"- Not read: {counts['skipped']:,} of {counts['records']:,} records.")
    if record["losses"]:
        lines.append(f"- Loss by epoch: {', '.join(f'{loss:.4g}' for loss in record['losses'])}.")
    for own in record["similarity"]:
        found = "no ρ" if own["rho"] is None else f"Spearman's ρ {own['rho']:.3f} (p {own['p']:.2g})"
        pairs = f"{own['covered']} of {own['pairs']} pairs"
        lines.append(f"- {own['name']}: {found} on the {pairs} with both words in the vocabulary.")
    if record["missing"]:
        lines.append(f"- Stimuli without a vector ({len(record['missing'])}): {', '.join(record['missing'])}.")
    told = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    return "\n".join([*lines, "", "```json", told, "```", ""])


def _cited(text: Mapping[str, Any]) -> str:
    return f"{text['name']} (sha256 {text['sha256'][:12]}…, {text['size'] / 1e6:,.1f} MB)"
