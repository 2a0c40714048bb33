"""A study that trains the word vectors that it measures."""

from __future__ import annotations

from pathlib import Path

from builders import write, write_study

TEXT = "the rose and the tulip are lovely but the ant and the wasp are ugly in the old garden\n" * 300
STIMULI = """{
"targ1": {"category": "targ1", "examples": ["rose", "tulip"]},
"targ2": {"category": "targ2", "examples": ["ant", "wasp"]},
"attr1": {"category": "attr1", "examples": ["lovely", "garden"]},
"attr2": {"category": "attr2", "examples": ["ugly", "old"]}
}"""


def trained_study(home: Path, sizes: dict[str, int]) -> Path:
    """Write a study of vectors with these dimensions, by their names."""
    write(home / "text.txt", TEXT)
    write(home / "stimuli.json", STIMULI)
    return write_study(
        home / "study.yaml",
        [f"trained:{name}" for name in sizes],
        {"weat": {"data": "stimuli.json", "resamples": 100}},
        corpus={"text": "text.txt", "language": "en"},
        vectors={name: {"method": "word2vec", "size": size, "epochs": 1} for name, size in sizes.items()},
    )
