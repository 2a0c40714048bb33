"""Writes the models of `compare.py` so that transformers 4.57 and 5 load the same thing. Run by penchant's Python.

    python prepare.py bert OUT --tokenizer DIR --vocabulary 30522
    python prepare.py causal OUT --source FILE.gguf|DIR

Nothing is done when OUT was finished by an earlier call.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
DONE = "finished"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("bert", "causal"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, help="directory with a WordPiece tokenizer")
    parser.add_argument("--vocabulary", type=int, default=30_522, help="rows of the embedding")
    parser.add_argument("--source", type=Path, help="a GGUF file or a directory written by save_pretrained")
    given = parser.parse_args()
    if (given.out / DONE).exists():
        return
    given.out.mkdir(parents=True, exist_ok=True)
    from transformers.utils import logging

    logging.disable_progress_bar()
    if given.kind == "bert":
        random_bert(given.out, given.tokenizer, given.vocabulary)
    else:
        causal(given.out, given.source)
    (given.out / DONE).touch()


def random_bert(out: Path, tokenizer: Path, vocabulary: int) -> None:
    """Make a masked model of the size of BERT-base (12 layers of 768) with random weights, seed 0.

    Speed does not depend on the weights. A vocabulary larger than the tokenizer's only adds rows.
    """
    import torch
    from transformers import BertConfig, BertForMaskedLM

    copy_tokenizer(tokenizer, out)
    entries = len(json.loads((out / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"])
    if vocabulary < entries:
        sys.exit(f"prepare.py: the tokenizer has {entries} entries and the model only {vocabulary} rows")
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(vocab_size=vocabulary)).save_pretrained(out)


def causal(out: Path, source: Path) -> None:
    """Make a causal model as a directory of safetensors in float32; a GGUF file is unpacked."""
    if source.suffix == ".gguf":
        unpack(source, out)
    else:
        copy_tokenizer(source, out)
        shutil.copy(source / "config.json", out)
        for file in source.glob("model*.safetensors*"):
            (out / file.name).unlink(missing_ok=True)
            (out / file.name).symlink_to(file.resolve())
    config = out / "config.json"
    rewrite(config, for_both(json.loads(config.read_text(encoding="utf-8"))))
    names = out / "tokenizer_config.json"
    known = json.loads(names.read_text(encoding="utf-8"))
    # The class of a tokenizer.json in transformers 5 has another name than in 4; both know this one.
    if known.get("tokenizer_class") in (None, "TokenizersBackend"):
        rewrite(names, {**known, "tokenizer_class": "PreTrainedTokenizerFast"})


def unpack(source: Path, out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    AutoTokenizer.from_pretrained(**place).save_pretrained(out)
    packed = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32)
    if hasattr(packed.config, "quantization_config"):
        del packed.config.quantization_config
    # A fresh model of the same class, because one that came from a GGUF file refuses to be saved as anything else.
    plain = type(packed)(packed.config)
    plain.load_state_dict(packed.state_dict())
    plain.save_pretrained(out)


def for_both(config: dict[str, Any]) -> dict[str, Any]:
    """Write the base of the rotary positions for transformers 5 (`rope_parameters`) and 4 (`rope_theta`)."""
    rope = config.get("rope_parameters") or {}
    if rope.get("rope_type", "default") != "default":
        sys.exit("prepare.py: these rotary positions are written differently for transformers 4 and 5")
    return {**config, **({"rope_theta": rope["rope_theta"]} if "rope_theta" in rope else {})}


def copy_tokenizer(source: Path, out: Path) -> None:
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copy(source / name, out)


def rewrite(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
