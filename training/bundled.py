r"""Train the two small masked models that ship with penchant, and measure them on held-out text.

    python training/bundled.py tokenizer --early EARLY.txt --modern MODERN.txt -o WORK
    python training/bundled.py train early  --early EARLY.txt --modern MODERN.txt -o WORK   (then: modern)
    python training/bundled.py export early -o WORK --to src/penchant/bundled/early-modern
    python training/bundled.py evaluate -m bundled:early-modern -m bundled:modern \
        --early EARLY.txt --modern MODERN.txt --json training/held-out.json
    python training/bundled.py cards --json training/held-out.json

A text file holds one unit a line (a speech, a verse, a paragraph). `train` saves its state in WORK/<variety>/last.pt
and continues from there when run again. The same text, seed, number of threads and machine give the same weights. The
best step on the validation lines is kept. Lines are dealt to training, validation and test by a hash of their text,
so equal lines are always on the same side.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

VARIETIES = ("early", "modern")
PIECES = 8000
LONGEST = 64
"""Most pieces of a training sequence, special tokens included; longer units are cut between sentences."""
MASKED_SHARE = 0.25
BATCH_TOKENS = 4096
RATE = 1.5e-3
WARM_UP = 0.03
WEIGHT_DECAY = 0.05
EVALUATE_EVERY = 400
"""Steps between two validations, each followed by a checkpoint."""
PATIENCE = 8
"""Validations without an improvement before training stops."""
HELD_OUT = {"validation": range(10), "test": range(10, 30)}
"""The parts of the lines, out of 1,000, that are held out."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
MARKUP = re.compile(r"[=#_*|+]+|\[\w*Illustration:?|\[\d+\]")
SENTENCE_END = re.compile(r"(?<=[.!?;:])[\"')]*\s+")


class Batch(NamedTuple):
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("tokenizer", "train", "export", "evaluate", "cards"):
        command = commands.add_parser(name)
        if name == "cards":
            command.add_argument("--json", type=Path, required=True, help="the output of evaluate")
            continue
        if name != "export":
            command.add_argument("--early", type=Path, required=True, help="text of the early variety")
            command.add_argument("--modern", type=Path, required=True, help="text of the modern variety")
        if name == "evaluate":
            command.add_argument("-m", "--model", action="append", required=True, help="as for penchant score")
            command.add_argument("--lines", type=int, default=10**9, help="at most so many test lines of each variety")
            command.add_argument("--json", type=Path, help="write the figures to this file as well")
            continue
        command.add_argument("-o", "--out", type=Path, required=True, help="working directory")
        if name != "tokenizer":
            command.add_argument("variety", choices=VARIETIES)
        if name == "train":
            command.add_argument("--steps", type=int, default=5_500)
            command.add_argument("--seed", type=int, default=0)
            command.add_argument("--threads", type=int, default=1, help="a run is repeatable with the same number only")
            command.add_argument("--layers", type=int, default=4)
            command.add_argument("--dropout", type=float, default=0.05)
            command.add_argument("--dtype", choices=("float32", "bfloat16"), default="bfloat16")
        if name == "export":
            command.add_argument("--to", type=Path, required=True, help="directory of the finished model")
    given = parser.parse_args()
    steps = {"tokenizer": tokenizer, "train": train, "export": export, "evaluate": evaluate, "cards": cards}
    steps[given.command](given)


def units(path: Path, part: str) -> Iterator[str]:
    """Yield the cleaned lines of one part (training, validation, test) of a text."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            text = " ".join(MARKUP.sub(" ", unicodedata.normalize("NFC", line)).split())
            letters = sum(c.isalpha() or c.isspace() for c in text)
            if len(text.split()) >= 3 and letters >= 0.8 * len(text) and side(text) == part:
                yield text


def side(text: str) -> str:
    bucket = int(hashlib.sha256(text.lower().encode()).hexdigest()[:8], 16) % 1000
    return next((name for name, buckets in HELD_OUT.items() if bucket in buckets), "training")


def tokenizer(given: argparse.Namespace) -> None:
    """Train one vocabulary on equal numbers of words of both varieties, so that it favours neither."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    texts = {variety: list(units(getattr(given, variety), "training")) for variety in VARIETIES}
    words = {variety: sum(len(text.split()) for text in lines) for variety, lines in texts.items()}
    most = max(words.values())
    balanced = [text for variety in VARIETIES for text in repeated(texts[variety], most)]
    inner = Tokenizer(models.WordPiece(unk_token=SPECIAL[UNK]))
    inner.normalizer = normalizers.BertNormalizer(strip_accents=False, lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    # The trainer numbers characters in an order that differs from run to run, and breaks ties between equally frequent
    # pairs by number. An initial alphabet fixes the numbers.
    starting, continuing = characters(balanced, inner, 120)
    trainer = trainers.WordPieceTrainer(
        vocab_size=PIECES,
        special_tokens=[*SPECIAL, *(f"##{character}" for character in continuing)],
        initial_alphabet=starting,
        limit_alphabet=len(starting),
        show_progress=False,
    )
    inner.train_from_iterator(balanced, trainer)
    plain = Tokenizer(models.WordPiece(inner.get_vocab(), unk_token=SPECIAL[UNK]))
    plain.normalizer, plain.pre_tokenizer, plain.decoder = inner.normalizer, inner.pre_tokenizer, inner.decoder
    inner = plain
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    whole = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=256,
    )
    whole.save_pretrained(given.out / "tokenizer")
    print(f"{inner.get_vocab_size()} pieces from {words} words, the smaller text repeated to the size of the larger")


def characters(lines: list[str], tokenizer: Any, most: int) -> tuple[list[str], list[str]]:
    """Return the commonest characters, and those of them that continue a word, in the order of their code points."""
    counts: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for line in lines:
        text = tokenizer.normalizer.normalize_str(line)
        words.update(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
    for word, number in words.items():
        counts.update(dict.fromkeys(word, number))
    kept = set(sorted(counts, key=lambda c: (-counts[c], c))[:most])
    return sorted(kept), sorted(kept & {character for word in words for character in word[1:]})


def repeated(lines: list[str], words: int) -> Iterator[str]:
    """Yield the lines again and again, until they amount to a number of words."""
    count = 0
    while count < words:
        for line in lines:
            yield line
            count += len(line.split())
            if count >= words:
                return


def load_tokenizer(out: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(out / "tokenizer")


def sequences(lines: Iterable[str], tokenizer: Any) -> list[list[int]]:
    """Return token ids without special tokens: sentences of one line, joined up to LONGEST pieces."""
    room = LONGEST - 2
    found = []
    split = [[part for part in SENTENCE_END.split(line) if part] for line in lines]
    flat = tokenizer([part for parts in split for part in parts], add_special_tokens=False)["input_ids"]
    at = iter(flat)
    for parts in split:
        current: list[int] = []
        for _ in parts:
            pieces = next(at)
            for chunk in (pieces[start : start + room] for start in range(0, len(pieces), room)):
                if len(current) + len(chunk) > room:
                    found.append(current)
                    current = []
                current = current + chunk
        if current:
            found.append(current)
    return [ids for ids in found if len(ids) >= 3]


def batches(rows: list[list[int]], rng: np.random.Generator | None) -> list[Batch]:
    """Batch rows of similar length, at most BATCH_TOKENS tokens each; shuffle them if there is an rng."""
    order = np.arange(len(rows)) if rng is None else rng.permutation(len(rows))
    pool = 4096
    made = []
    for start in range(0, len(order), pool):
        chosen = sorted(order[start : start + pool].tolist(), key=lambda i: (len(rows[i]), i))
        while chosen:
            width = -(-(len(rows[chosen[-1]]) + 2) // 8) * 8  # few shapes: torch prepares each shape anew
            taken, chosen = chosen[-max(1, BATCH_TOKENS // width) :], chosen[: -max(1, BATCH_TOKENS // width)]
            ids = np.full((len(taken), width), PAD, dtype=np.int64)
            for row, i in enumerate(taken):
                ids[row, 0] = CLS
                ids[row, 1 : len(rows[i]) + 1] = rows[i]
                ids[row, len(rows[i]) + 1] = SEP
            made.append(Batch(ids, (ids != PAD).astype(np.int64)))
    return made if rng is None else [made[i] for i in rng.permutation(len(made))]


def corrupt(batch: Batch, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the input with a share of its pieces masked (10 % random, 10 % unchanged), and the mask of these."""
    own = batch.ids > MASK
    chosen = own & (rng.random(batch.ids.shape) < MASKED_SHARE)
    dice = rng.random(batch.ids.shape)
    ids = np.where(chosen & (dice < 0.8), MASK, batch.ids)
    ids = np.where(chosen & (dice >= 0.9), rng.integers(MASK + 1, PIECES, batch.ids.shape), ids)
    return ids, chosen


def new_model(layers: int, dropout: float) -> Any:
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    config = ModernBertConfig(
        vocab_size=PIECES,
        hidden_size=192,
        intermediate_size=384,
        num_hidden_layers=layers,
        num_attention_heads=6,
        max_position_embeddings=256,
        global_attn_every_n_layers=1,
        attention_dropout=0.0,
        mlp_dropout=dropout,
        embedding_dropout=dropout,
        pad_token_id=PAD,
        cls_token_id=CLS,
        sep_token_id=SEP,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="sdpa",
    )
    return ModernBertForMaskedLM(config)


def losses(model: Any, ids: NDArray[np.int64], batch: Batch, chosen: NDArray[np.bool_]) -> tuple[Any, int]:
    """Return the sum of cross-entropies at the chosen positions, and the number that the model gets right."""
    import torch

    states = model.model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(batch.mask))[0]
    at = np.flatnonzero(chosen)
    room = -(-len(at) // 128) * 128
    padded = torch.from_numpy(np.pad(at, (0, room - len(at))))
    logits = model.decoder(model.head(states.flatten(0, 1)[padded]))[: len(at)].float()
    truth = torch.from_numpy(batch.ids.ravel()[at])
    loss = torch.nn.functional.cross_entropy(logits, truth, reduction="sum")
    return loss, int((logits.argmax(-1) == truth).sum())


def train(given: argparse.Namespace) -> None:
    """Train one model, or continue from its last checkpoint."""
    import torch

    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    folder = given.out / given.variety
    folder.mkdir(parents=True, exist_ok=True)
    pieces = load_tokenizer(given.out)
    path = getattr(given, given.variety)
    rows = sequences(units(path, "training"), pieces)
    held = batches(sequences(units(path, "validation"), pieces), None)
    tokens = sum(map(len, rows))
    model = new_model(given.layers, given.dropout)
    print(f"{given.variety}: {len(rows):,} sequences, {tokens:,} pieces; {size(model):,} parameters", flush=True)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    state: dict[str, Any] = {"step": 0, "best": math.inf, "since": 0, "history": []}
    last = folder / "last.pt"
    if last.exists():
        saved = torch.load(last, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        state = saved["state"]
        print(f"continuing from step {state['step']}", flush=True)
    began, first = time.monotonic(), state["step"]
    for step, batch in stream(rows, given.seed, first, given.steps):
        model.train()
        torch.manual_seed(given.seed * 1_000_003 + step)  # dropout
        ids, chosen = corrupt(batch, np.random.default_rng([given.seed, step]))
        for group in optimizer.param_groups:
            group["lr"] = RATE * min((step + 1) / (WARM_UP * given.steps), 1 - step / given.steps + 1e-3)
        with torch.autocast("cpu", torch.bfloat16, enabled=given.dtype == "bfloat16"):
            loss, _ = losses(model, ids, batch, chosen)
        (loss / max(1, chosen.sum())).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        state["step"] = step + 1
        if (step + 1) % EVALUATE_EVERY and step + 1 < given.steps:
            continue
        found, right = validation(model, held)
        state["history"].append([step + 1, found, right])
        state["since"] = 0 if found < state["best"] else state["since"] + 1
        if found < state["best"]:
            state["best"] = found
            whole(model.state_dict(), folder / "best.pt")
        whole({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, last)
        rate = (step + 1 - first) / (time.monotonic() - began)
        print(
            f"step {step + 1:6,} of {given.steps:,}: validation loss {found:.3f}, right {right:.1%}; "
            f"{rate:.2f} steps/s, {(given.steps - step - 1) / rate / 60:.0f} min left",
            flush=True,
        )
        if state["since"] >= PATIENCE:
            print("no improvement for a while: stopped", flush=True)
            break
    facts = {
        "variety": given.variety,
        "seed": given.seed,
        "steps": state["step"],
        "best_step": min(state["history"], key=lambda entry: entry[1])[0],
        "sequences": len(rows),
        "pieces": tokens,
        "words": sum(len(text.split()) for text in units(path, "training")),
        "layers": given.layers,
        "dropout": given.dropout,
        "dtype": given.dtype,
        "parameters": size(model),
        "text_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "history": state["history"],
    }
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def stream(rows: list[list[int]], seed: int, start: int, steps: int) -> Iterator[tuple[int, Batch]]:
    """Yield (step, batch) from a step on, epoch after epoch, each shuffled with its own seed."""
    step = 0
    for epoch in range(10**6):
        made = batches(rows, np.random.default_rng([seed, epoch, 1]))
        for batch in made[max(0, start - step) :]:
            at = max(step, start)
            if at >= steps:
                return
            yield at, batch
            start = at + 1
        step += len(made)


def validation(model: Any, held: list[Batch]) -> tuple[float, float]:
    """Return mean cross-entropy and accuracy on held-out rows, with the same pieces masked every time."""
    import torch

    model.eval()
    total, right, n = 0.0, 0, 0
    rng = np.random.default_rng(1)
    with torch.inference_mode():
        for batch in held:
            chosen = (batch.ids > MASK) & (rng.random(batch.ids.shape) < MASKED_SHARE)
            loss, hits = losses(model, np.where(chosen, MASK, batch.ids), batch, chosen)
            total, right, n = total + float(loss), right + hits, n + int(chosen.sum())
    return total / n, right / n


def size(model: Any) -> int:
    return sum(p.numel() for p in model.parameters())


def whole(content: Any, path: Path) -> None:
    """Save atomically: an interruption leaves the former file."""
    import torch

    part = path.with_suffix(".part")
    torch.save(content, part)
    part.replace(path)


def export(given: argparse.Namespace) -> None:
    """Write the best step as bfloat16 safetensors with its tokenizer, as `penchant.load` reads it."""
    import torch

    facts = json.loads((given.out / given.variety / "facts.json").read_text("utf-8"))
    model = new_model(facts["layers"], 0.0)
    model.load_state_dict(torch.load(given.out / given.variety / "best.pt", weights_only=True))
    model.to(torch.bfloat16).save_pretrained(given.to)
    load_tokenizer(given.out).save_pretrained(given.to)
    kept = {key: value for key, value in facts.items() if key != "history"}
    (given.to / "training.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{given.to}: {sum(f.stat().st_size for f in given.to.iterdir()) / 2**20:.1f} MiB")


def evaluate(given: argparse.Namespace) -> None:
    """Evaluate each model on the test lines of each variety, masking one piece at a time."""
    from penchant import load
    from penchant.engine.engine import Engine
    from penchant.engine.forward_requests import LogProbs, Read, TopK
    from penchant.engine.local_backend import LocalBackend

    figures = []
    for name in given.model:
        model = load(name)
        for variety in VARIETIES:
            lines = list(units(getattr(given, variety), "test"))[: given.lines]
            rows = sequences(lines, model.tokenizer.hf)
            truth = [piece for row in rows for piece in row]

            def reads(rows: list[list[int]] = rows) -> Iterator[Read]:
                for row in rows:
                    for at, piece in enumerate(row, start=1):
                        ids = (CLS, *row[: at - 1], MASK, *row[at:], SEP)
                        yield LogProbs(ids, (at,), (piece,))
                        yield TopK(ids, (at,), 1)

            engine = Engine(LocalBackend(model))
            answers = list(engine.answer(reads()))
            logprobs = np.array([float(answer[0]) for answer in answers[::2]])
            right = np.array([int(answer["token"][0, 0]) for answer in answers[1::2]]) == np.array(truth)
            figures.append(
                {
                    "model": name,
                    "text": variety,
                    "lines": len(lines),
                    "pieces": len(truth),
                    "accuracy": float(right.mean()),
                    "pseudo_perplexity": float(np.exp(-logprobs.mean())),
                }
            )
            print(
                f"{name} on {variety}: {len(lines):,} lines, {len(truth):,} pieces; accuracy {right.mean():.1%}, "
                f"pseudo-perplexity {figures[-1]['pseudo_perplexity']:.1f}",
                flush=True,
            )
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


TEXTS = {
    "early": "plays of Shakespeare and the King James Bible (public domain)",
    "modern": "Project Gutenberg prose of 1890–1920 (Sherlock Holmes stories, a history of the United States, a manual "
    "of surgery; public domain) and WikiText-2 validation and test sentences (CC BY-SA 3.0)",
}


def cards(given: argparse.Namespace) -> None:
    """Write the README.md of each bundled model from its training.json and the held-out figures."""
    figures = json.loads(given.json.read_text("utf-8"))
    home = Path(__file__).parent.parent / "src" / "penchant" / "bundled"
    names = {"early": "early-modern", "modern": "modern"}
    template = (Path(__file__).parent / "card.template.md").read_text("utf-8")
    for variety, name in names.items():
        facts = json.loads((home / name / "training.json").read_text("utf-8"))
        rows = [
            f"| {figure['text']} | {figure['lines']:,} | {figure['pieces']:,} | {figure['accuracy']:.1%} "
            f"| {figure['pseudo_perplexity']:.1f} |"
            for figure in figures
            if figure["model"] == f"bundled:{name}"
        ]
        card = template.format(
            name=name,
            other=next(other for other in names.values() if other != name),
            text=TEXTS[variety],
            layers=facts["layers"],
            parameters=facts["parameters"],
            pieces=PIECES,
            words=facts["words"],
            training_pieces=facts["pieces"],
            sequences=facts["sequences"],
            longest=LONGEST,
            steps=facts["steps"],
            batch=BATCH_TOKENS,
            share=MASKED_SHARE,
            rate=RATE,
            seed=facts["seed"],
            dropout=facts["dropout"],
            dtype=facts["dtype"],
            best_step=facts["best_step"],
            rows="\n".join(rows),
            thousands=round(facts["words"] / 1000),
        )
        (home / name / "README.md").write_text(card, encoding="utf-8")
        print(home / name / "README.md")


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
