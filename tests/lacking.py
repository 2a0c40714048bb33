"""Bundled models whose tokenizers do not know some letters, so that words which have them are unknown as a whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import penchant as pc

BUNDLED = Path(pc.__file__ or "").parent / "bundled"


def lacking(letters: str, folder: Path, name: str = "modern") -> Path:
    """A copy of a bundled model whose vocabulary has no piece with one of the letters."""
    shutil.copytree(BUNDLED / name, folder)
    file = folder / "tokenizer.json"
    tokenizer = json.loads(file.read_text("utf-8"))
    tokenizer["model"]["vocab"] = {
        f"[unused{number}]" if set(letters) & set(piece) and not piece.startswith("[") else piece: number
        for piece, number in tokenizer["model"]["vocab"].items()
    }
    file.write_text(json.dumps(tokenizer), "utf-8")
    return folder
