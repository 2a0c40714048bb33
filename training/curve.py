"""Train one small masked model with checkpoints at log-spaced steps, for the training curves in the docs.

    python training/curve.py train --text MODERN.txt -o WORK
    python training/curve.py grammar --text MODERN.txt -o WORK

`train` writes WORK/small-step-1 … WORK/small-step-2048, each as `penchant.load` reads it; model, tokenizer and text
are those of bundled:modern, with fewer layers and steps. The same text, seed, number of threads and machine give the
same weights. `grammar` writes WORK/grammar: the paradigms of curve.yaml, with only those words of the bundled English
grammar that are frequent enough in the training text, so that the model has seen all of them.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import bundled
from penchant.tables.data_lookup import PACKAGE

HOME = PACKAGE / "bundled" / "modern"
GRAMMAR = PACKAGE / "grammar" / "grammars" / "en"
FORMS = {
    "nouns.csv": ("singular", "plural"),
    "names.csv": ("lemma",),
    "adjectives.csv": ("lemma",),
    "verbs.csv": ("base", "past", "participle"),
}
"""The columns of the grammar's tables whose words must occur in the text."""
BATCH_TOKENS = 1024
"""Pieces per training step: a quarter of those of the bundled models, to train in minutes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("train", "grammar"):
        command = commands.add_parser(name)
        command.add_argument("--text", type=Path, required=True, help="one unit a line, as for bundled.py")
        command.add_argument("-o", "--out", type=Path, required=True, help="working directory")
        if name == "train":
            command.add_argument("--doublings", type=int, default=11, help="the last checkpoint is at step 2 to this")
            command.add_argument("--seed", type=int, default=0)
            command.add_argument("--threads", type=int, default=1, help="a run is repeatable with the same number only")
            command.add_argument("--layers", type=int, default=2)
        else:
            command.add_argument("--fewest", type=int, default=10, help="fewest occurrences of a word in the text")
    given = parser.parse_args()
    {"train": train, "grammar": grammar}[given.command](given)


def train(given: argparse.Namespace) -> None:
    """Train, and save the model at every step that is a power of two."""
    import torch
    from transformers import AutoTokenizer

    bundled.BATCH_TOKENS = BATCH_TOKENS
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    pieces = AutoTokenizer.from_pretrained(HOME)
    rows = bundled.sequences(bundled.units(given.text, "training"), pieces)
    held = bundled.batches(bundled.sequences(bundled.units(given.text, "validation"), pieces), None)
    model = bundled.new_model(given.layers, 0.0)
    print(f"{len(rows):,} sequences; {bundled.size(model):,} parameters", flush=True)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=bundled.RATE, betas=(0.9, 0.98), weight_decay=bundled.WEIGHT_DECAY
    )
    last = 2**given.doublings
    kept = {2**n for n in range(given.doublings + 1)}
    began = time.monotonic()
    for step, batch in bundled.stream(rows, given.seed, 0, last):
        model.train()
        ids, chosen = bundled.corrupt(batch, np.random.default_rng([given.seed, step]))
        for group in optimizer.param_groups:
            group["lr"] = bundled.RATE * min((step + 1) / (bundled.WARM_UP * last), 1 - step / last + 1e-3)
        with torch.autocast("cpu", torch.bfloat16):
            loss, _ = bundled.losses(model, ids, batch, chosen)
        (loss / max(1, chosen.sum())).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step + 1 in kept:
            folder = given.out / f"small-step-{step + 1}"
            model.save_pretrained(folder)
            pieces.save_pretrained(folder)
            found, right = bundled.validation(model, held)
            minutes = (time.monotonic() - began) / 60
            print(f"step {step + 1:,}: validation loss {found:.3f}, right {right:.1%}; {minutes:.1f} min", flush=True)


def grammar(given: argparse.Namespace) -> None:
    """Write the grammar of curve.yaml, keeping the rows of its tables whose forms all occur in the text."""
    words: Counter[str] = Counter()
    for line in bundled.units(given.text, "training"):
        words.update(re.findall(r"[a-z]+", line.lower()))
    folder = given.out / "grammar"
    shutil.copytree(GRAMMAR, folder, dirs_exist_ok=True)
    shutil.copy(Path(__file__).with_suffix(".yaml"), folder / "grammar.yaml")
    for name, forms in FORMS.items():
        with (GRAMMAR / name).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        kept = [row for row in rows if all(words[row[form].lower()] >= given.fewest for form in forms if row[form])]
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(kept)
        print(f"{name}: {len(kept)} of {len(rows)} words")


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
