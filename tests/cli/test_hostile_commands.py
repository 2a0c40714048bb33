"""Every command with one hostile argument or one hostile file: exit code 0 or 2, no hang, little memory, no harm.

Each command has a call that works; a case replaces the value of one of its options or one of the files that it reads.
An exit code of 0 comes with no number that is none.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from builders import Program, succeeded
from penchant.errors import MOST_LISTED

SECONDS = 20
MEMORY = 2 << 30
EACH = 8
"""The hostile values that each place gets, of all."""

CALLS: dict[str, str] = {
    "score": "score -m bundled:modern --method pll --normalise mean --batch-tokens 256 texts.txt",
    "score column": "score -m bundled:modern --column good --format jsonl pairs.csv",
    "surprisal": "surprisal -m bundled:modern --method pll --stride 8 texts.txt",
    "fill": "fill -m bundled:modern -k 5 --format tsv 'The [MASK] king sleeps.'",
    "embed": "embed -m bundled:modern --layer -1 texts.txt",
    "check": "check -m bundled:modern --format tsv pairs.csv",
    "audit": "audit -m bundled:modern --format tsv --good good --bad bad --id id pairs.csv",
    "run": "run study.yaml -o new --cache none --batch-tokens 256",
    "report": "report done -o page.html",
    "compare": "compare done other",
    "verify": "verify done",
    "export": "export done --to csv -o csv",
    "init": "init weat started",
    "list": "list models",
    "ratings export": "ratings export done -o rate.csv",
    "ratings import": "ratings import done returned.csv --into gaps/ratings.csv --rater anna",
    "ratings agreement": "ratings agreement judged.csv --seed 1 --resamples 100 --level 0.9 --least 1",
    "ratings agreement gold": "ratings agreement judged.csv --gold judged.csv --resamples 100",
    "pairs filter": "pairs filter -t bundled:modern -o kept.jsonl pairs.jsonl",
    "pairs generate": "pairs generate -n 5 -t bundled:modern --seed 1 --checks 3 -o made.jsonl inchoative",
    "corpus extract": "corpus extract --data stimuli -o new.parquet --per-word 5 --segments 9,25 --seed 1 texts.txt",
    "corpus stats": "corpus stats --by word --format tsv found.parquet",
    "corpus show": "corpus show -n 3 --width 60 king found.parquet",
    "corpus lint": "corpus lint --data stimuli --by form texts.txt",
    "corpus unigrams": "corpus unigrams -m bundled:modern -o counts.parquet texts.txt",
    "vectors train": "vectors train -o made.vec --size 4 --window 2 --min-count 1 --epochs 1 --seed 1 texts.txt",
    "rate": "rate table.csv -o rate.sqlite --html pages --raters anna,ben --scale 1-5 --repeat 0.1 --column word",
}
VALUES = ["", " ", "-1", "0", "1e9", "9" * 20, "9" * 5_000, "0_5", "nan", "inf", "1,000", "\u202ex", "a\nb", "\x1b[2J"]
VALUES += ["=1+1", "../../up", "/dev/zero", "/", "x" * 300, "é/../é", "no", "{}", "a//b", "*"]
HOSTILE = ["directory", "pipe", "device", "socket", "loop", "gone", "empty", "binary", "wide", "utf-16", "deep", "bomb"]


def hostile(file: Path, how: str) -> None:
    """Put something else in the place of a file."""
    shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
    match how:
        case "directory":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as one, suppress(OSError):  # a path may be too long for one
                one.bind(str(file))
        case "loop":
            file.symlink_to(file)
        case "gone":
            pass
        case "empty":
            file.touch()
        case "binary":
            file.write_bytes(bytes(range(256)) * 40)
        case "wide":
            file.write_bytes(b"x" * (17 << 20))
        case "utf-16":
            file.write_text("word,rating\nking,1\n", "utf-16")
        case "deep":
            file.write_text("[" * 2_000)
        case "bomb":
            file.write_bytes(gzip.compress(b"\0" * (64 << 20)))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that the calls read, once."""
    home = tmp_path_factory.mktemp("hostile")
    words = ["king", "queen", "rose", "gate", "cat", "old", "young"]
    texts = [f"The {a} sees the {b} by the gate." for a in words for b in words]
    (home / "texts.txt").write_text("\n".join(texts) + "\n")
    rows = [(f"The {a} sees the {b}.", f"The {a} see the {b}.") for a in words for b in words]
    (home / "pairs.csv").write_text("id,good,bad\n" + "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(rows)))
    (home / "pairs.jsonl").write_text("".join(json.dumps({"good": a, "bad": b}) + "\n" for a, b in rows))
    judged = [(word, rater, (i * k) % 3 - 1) for i, word in enumerate(words) for k, rater in ((1, "a"), (2, "b"))]
    table = "".join(f"s1,{word},{rater},{rating}\n" for word, rater, rating in judged)
    (home / "judged.csv").write_text(f"sentence,word,rater,rating\n{table}")
    (home / "table.csv").write_text("id,word\n" + "".join(f"{i},{word}\n" for i, word in enumerate(words)))
    gaps = "".join(f"i{i},The [MASK] {word} sleeps.,{i % 2 * 2 - 1},g\n" for i, word in enumerate(words))
    (home / "gaps").mkdir()
    (home / "gaps" / "sentences.csv").write_text(f"id,text,expected,group\n{gaps}")
    (home / "gaps" / "ratings.csv").write_text("sentence,text,word,rater,rating\n")
    (home / "ratings.csv").write_text("sentence,text,word,rater,rating\n")
    scale = {"low": "past", "high": "present"}
    (home / "gaps" / "set.yaml").write_text(json.dumps({"name": "gaps", "language": "en", "scale": scale}))
    lists = {
        name: {"words": several}
        for name, several in zip("xyab", (words[:2], words[2:4], ["cat"], ["old"]), strict=True)
    }
    stimuli = {"language": "en", "lists": lists, "categories": {"C": {"X": "x", "Y": "y", "A": "a", "B": "b"}}}
    (home / "stimuli").mkdir()
    (home / "stimuli" / "set.yaml").write_text(json.dumps(stimuli))
    probes = "minimal-pairs: {data: pairs.csv}, cloze: {data: gaps}"
    for name, model in (("study", "modern"), ("other", "early-modern")):
        (home / f"{name}.yaml").write_text(f"study: s\nmodels: [bundled:{model}]\nprobes: [{probes}]\n")
    return home


def prepared(home: Path, penchant: Program, folder: Path) -> None:
    """A copy of it to work in, with the results of two studies, a table of occurrences and ratings of words."""
    if not (home / "done").exists():
        here = Path.cwd()
        os.chdir(home)
        for study, out in (("other", "other"), ("study", "done")):
            succeeded(penchant("run", f"{study}.yaml", "-o", out, "--cache", "none"))
        succeeded(penchant(*words_of(CALLS["corpus extract"].replace("new.", "found."))))
        succeeded(penchant("ratings", "export", "done", "-o", "returned.csv"))
        rows = (home / "returned.csv").read_text("utf-8").splitlines()
        rated = [row if not i else row.removesuffix('"",""') + "anna,1" for i, row in enumerate(rows)]
        (home / "returned.csv").write_text("\n".join(rated) + "\n", "utf-8")
        os.chdir(here)
    shutil.copytree(home, folder, dirs_exist_ok=True)


def words_of(call: str) -> list[str]:
    return [one.strip("'") for one in re.findall(r"'[^']*'|\S+", call)]


@contextmanager
def in_time() -> Iterator[None]:
    """Fail after `SECONDS`."""

    def late(*_: object) -> None:
        raise AssertionError(f"takes more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(penchant: Program, folder: Path, words: list[str]) -> int:
    """Run a call in the folder; look at what it says and leaves."""
    os.chdir(folder)
    outside = sorted(folder.parent.iterdir())
    with in_time():
        code, out, err = penchant(*words)
    assert code in (0, 2), (words, err)
    assert "Traceback" not in err and "internal error" not in err, (words, err)
    if code == 2:
        lines = [line for line in err.splitlines() if line.startswith("penchant")]
        assert 1 <= len(lines) <= MOST_LISTED + 1, (words, err)
    elif not {"nan", "inf"} & set(words):
        assert not re.search(r"\b[+-]?(nan|inf)\b", out), (words, out)
    assert sorted(folder.parent.iterdir()) == outside, words
    assert not list(folder.rglob("*.tmp")), words
    return code


def options(words: list[str]) -> list[int]:
    """The places of values and arguments, other than the names of the command and its options."""
    names = 2 if words[0] in ("ratings", "pairs", "corpus", "vectors") else 1
    return [i for i in range(names, len(words)) if not re.fullmatch(r"-[a-zA-Z]|--[a-z-]+", words[i])]


def cases() -> Iterator[Any]:
    for name, call in CALLS.items():
        words = words_of(call)
        for at in options(words):
            yield pytest.param(name, at, None, id=f"{name}-{words[at][:20]}")
        for file in dict.fromkeys(word for word in words if re.search(r"\.\w+$", word)):
            yield pytest.param(name, -1, file, id=f"{name}-file-{file}")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "at", "file"), list(cases()))
def test_one_thing_is_hostile(
    penchant: Program, home: Path, tmp_path: Path, name: str, at: int, file: str | None
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = words_of(CALLS[name])
    values = HOSTILE if file is not None else random.Random(f"{name} {at}").sample(VALUES, EACH)
    if words[at] == "texts.txt":  # which may be a folder: all files of a disk are asked for then, and take their time
        values = [value for value in values if value != "/"]
    for number, value in enumerate(values):
        folder = tmp_path / "in" / str(number) / "work"
        prepared(home, penchant, folder)
        if file is None:
            tried(penchant, folder, [*words[:at], value, *words[at + 1 :]])
        else:
            hostile(folder / file, value)
            tried(penchant, folder, words)
        shutil.rmtree(folder)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MEMORY


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_work(penchant: Program, home: Path, tmp_path: Path, name: str) -> None:
    """So that what is refused is refused for what is hostile."""
    folder = tmp_path / "in" / "work"
    prepared(home, penchant, folder)
    os.chdir(folder)
    succeeded(penchant(*words_of(CALLS[name])))
