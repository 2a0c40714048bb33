"""Small StereoSet files for the tests, of words that every tokenizer of the zoo knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROLES = ("stereotype", "anti-stereotype", "unrelated")
INTRA = [
    ("teacher", "profession", "The old teacher saw a BLANK dog.", ("white", "young", "naïve")),
    ("nurse", "profession", "The young nurse is in the BLANK.", ("garden", "cabinet", "unbelievable souvenir")),
    ("nurse", "profession", "Is the nurse BLANK?", ("late", "very very good", "small")),
    ("dog", "animal", "The BLANK dog lost the keys.", ("old", "traveler", "never")),
]
INTER = [
    ("teacher", "profession", "The teacher is old.", ("The book is good.", "The horse is very small.", "Rain")),
    ("nurse", "profession", "Hello, nurse!", ("The doctor left.", "The doctor bought keys.", "The owners left.")),
]
"""Target, bias type, context, and the fills or sentences by role."""


def cluster(name: str, target: str, bias_type: str, context: str, sentences: tuple[str, ...]) -> dict[str, Any]:
    """A cluster as the file has it; the order of its sentences says nothing."""
    listed = [{"sentence": text, "gold_label": role} for text, role in zip(sentences, ROLES, strict=True)]
    return {"id": name, "target": target, "bias_type": bias_type, "context": context, "sentences": listed[::-1]}


def content() -> dict[str, Any]:
    """A file with both parts."""
    intra = [
        cluster(f"a{n}", target, kind, context, tuple(context.replace("BLANK", fill) for fill in fills))
        for n, (target, kind, context, fills) in enumerate(INTRA)
    ]
    inter = [cluster(f"b{n}", *row) for n, row in enumerate(INTER)]
    return {"version": "1", "data": {"intrasentence": intra, "intersentence": inter}}


def write(path: Path, given: dict[str, Any] | None = None) -> Path:
    """A file with these contents, by default those of `content`."""
    path.write_text(json.dumps(content() if given is None else given, ensure_ascii=False), "utf-8")
    return path
