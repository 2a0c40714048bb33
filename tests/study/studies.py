"""Small studies with models, text and results of their own, which tests change."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
from safetensors.torch import load_file, save_file

from builders import Zoo, write, write_study

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


def pairs_study(zoo: Zoo, home: Path, pairs: str, *models: str, **keys: object) -> Path:
    """Write a study of pairs beside copies of its models, which it names ./MODEL."""
    for name in models:
        shutil.copytree(zoo(name), home / name)
    write(home / "pairs.tsv", pairs)
    probe = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
    return write_study(home / "s.yaml", [f"./{name}" for name in models], probe, **keys)


def change_weights(model: Path) -> None:
    """Change a weight of a model."""
    weights = load_file(model / "model.safetensors")
    name = next(name for name in weights if "embeddings.weight" in name or "wte" in name)
    weights[name][0] += 1
    save_file(weights, model / "model.safetensors", {"format": "pt"})


def change_result(file: Path) -> None:
    """Change what a file of a result of pairs says."""
    if file.suffix == ".parquet":
        column = pl.col("difference" if file.stem == "items" else "value")
        pl.read_parquet(file).with_columns(column * 2).write_parquet(file)
    else:
        text = file.read_text("utf-8")
        changed = text.replace("seed:0", "seed:1").replace('"half"', '"good"')
        write(file, changed if changed != text else text + " ")
