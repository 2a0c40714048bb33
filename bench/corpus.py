"""`penchant corpus extract` on a made-up corpus: speed, memory, a plain search beside it, and a stop half way.

    python bench/corpus.py [--size 1000] [--words 250] [--rate 0.01] [--per-word 10000] [--workers 2] [--seconds 60]
        [--keep DIR] [--json FILE]

The corpus, `--size` MB of UTF-8, is text in Bengali letters by a seed: sentences of 3 to 80 invented words that are as
frequent as words are (Zipf), 1 to 5 sentences a line; half of the lines are in NFC, in half য় ড় ঢ় are one character
each, so that they are not; the share `--rate` of the words are forms of `--words` stimuli of the set associations-bn,
and 2 % of the lines stand twice. With `--keep` it is written to DIR and used again.

Four runs of the program: with one worker, with `--workers`, with as many but killed half way, and that one taken up
with --resume. All tables must be equal, byte by byte. Time is that of the whole program; memory the largest sum of the
resident sizes of its processes, looked at every 50 ms (pages they share count more than once). Where the machine does
other things too, seconds of processor time tell more than seconds.

Three plain searches stand beside it, each for a third of `--seconds`, and on what each got through the program must
count the same: the brute-force reference of the tests (a regular expression for each word over each sentence), the same
with `re` and with `regex` over whole lines, which do nothing but count. Ratios are of MB a second of processor time,
with one worker. Prints a markdown table; ends with exit code 1 where tables or counts differ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import regex
import yaml
from numpy.typing import NDArray
from sentencex import segment

from penchant.corpus.aho_corasick import Scanner
from penchant.corpus.block_reader import Reader
from penchant.corpus.lines_and_sentences import units
from penchant.corpus.nfc import normalise
from penchant.corpus.occurrence_lookup import read_record
from penchant.corpus.stimulus_sets import StimulusSet, read_stimuli
from penchant.corpus.text_files import find_texts
from penchant.corpus.word_matching import WORD, Matcher
from penchant.instruments.associations.probe import Association

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from brute_extraction import Searcher

SEED = 0
FILES = 4
VOCABULARY = 200_000
CHUNK = 500_000
"""Words made at once."""
CONSONANTS = "কখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহ"
NUKTA = {"য়": "\u09df", "ড়": "\u09dc", "ঢ়": "\u09dd"}
"""The letters that NFC writes as two characters, and the one character each of them also is."""
VOWEL_SIGNS = ("", "", "", "া", "ি", "ে", "ু", "ো", "ী", "ূ", "ৈ", "ৌ", "ৃ")
PROGRAM = [str(Path(sys.executable).with_name("penchant")), "corpus", "extract"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000, help="MB of UTF-8")
    parser.add_argument("--words", type=int, default=250, help="stimuli looked for")
    parser.add_argument("--rate", type=float, default=0.01, help="share of the words that are stimuli")
    parser.add_argument("--per-word", type=int, default=10_000, help="occurrences to keep of each, as of the program")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=60, help="for the plain search")
    parser.add_argument("--keep", type=Path, help="directory of the corpus, made if it is not there")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary) / "corpus"
        made = corpus(folder, given.size * 1_000_000, given.words, given.rate)
        found = measure(folder, Path(temporary), given)
    found = {"size": given.size, "words": given.words, "made": made, **found}
    show(found)
    if given.json:
        given.json.write_text(json.dumps(found, indent=2), "utf-8")
    sys.exit(not (found["same_tables"] and found["same_counts"]))


# --- the corpus ---------------------------------------------------------------------------------------------------


def corpus(folder: Path, size: int, words: int, rate: float) -> float:
    """Write stimuli and text to the folder, unless they exist; return the seconds it took."""
    start = time.perf_counter()
    stamp = folder / "made.json"
    wanted = {"size": size, "words": words, "rate": rate, "seed": SEED}
    if stamp.exists() and json.loads(stamp.read_text("utf-8")) == wanted:
        return 0.0
    (folder / "text").mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    rng = np.random.default_rng(SEED)
    stimuli = some_stimuli(folder / "set.yaml", words, rng)
    text = lines_of(vocabulary(rng), [stimuli.forms(word) for word in stimuli.words()], rate, rng)
    for number in range(FILES):
        room = size // FILES
        with (folder / "text" / f"part-{number}.txt").open("wb") as stream:
            while room:
                piece = next(text)[:room]
                piece = piece[: piece.rfind(b"\n") + 1] if len(piece) == room else piece
                if not piece:
                    break
                room -= stream.write(piece)
    stamp.write_text(json.dumps(wanted), "utf-8")
    return time.perf_counter() - start


def some_stimuli(path: Path, words: int, rng: np.random.Generator) -> StimulusSet:
    """Return a set of some words of the bundled one, in four lists, with their suffixes."""
    bundled = read_stimuli([Association.find("associations-bn")])
    known = bundled.words()
    chosen = [known[i] for i in sorted(rng.choice(len(known), words, replace=False))]
    lists = {f"list-{name}": {"words": chosen[i::4]} for i, name in enumerate("XYAB")}
    groups = {word: list(bundled.suffixes[word]) for word in chosen if bundled.suffixes.get(word)}
    given = {
        "language": bundled.language,
        "lists": lists,
        "categories": {"all": {name: f"list-{name}" for name in "XYAB"}},
        "suffixes": {"groups": groups, "words": {word: [word] for word in groups}},
    }
    path.write_text(yaml.safe_dump(given, allow_unicode=True, sort_keys=False), "utf-8")
    return read_stimuli([path])


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Return invented words in NFC, by falling frequency; the frequent ones are rather short."""
    letters = [*CONSONANTS, *NUKTA, *CONSONANTS]
    joined = [f"{one}্{other}" for one in CONSONANTS[::3] for other in CONSONANTS[::4]]
    syllables = np.array([start + sign for start in letters + joined for sign in VOWEL_SIGNS] + list("অআইউএওংঁ"))
    drawn = syllables[rng.integers(len(syllables), size=(2 * VOCABULARY, 4))]
    drawn[np.arange(4) >= rng.choice([1, 2, 3, 4], (2 * VOCABULARY, 1), p=(0.04, 0.36, 0.4, 0.2))] = ""
    found = dict.fromkeys("".join(parts) for parts in drawn.tolist())
    words = [word for word in found if word[0].isalpha()][:VOCABULARY]
    order = np.argsort(np.array(list(map(len, words))) + rng.normal(scale=2, size=len(words)), kind="stable")
    return [words[i] for i in order]


def lines_of(
    words: list[str], forms: Sequence[Sequence[str]], rate: float, rng: np.random.Generator
) -> Iterator[bytes]:
    """Yield lines without end, many at once; stimuli differ in frequency, the forms of one do not."""
    every = [*words, *(form for own in forms for form in own)]
    ends = [" ", ", ", "। ", "।\n"]
    table = np.array([text.encode() for text in [*every, *map(composed, every), *ends]], dtype=object)
    ordinary = np.cumsum(1 / (np.arange(len(words)) + 2.7))
    stimulus = np.cumsum(1 / (np.arange(len(forms)) + 1))
    first = len(words) + np.cumsum([0, *map(len, forms[:-1])])
    count = np.array([len(own) for own in forms])
    before: list[bytes] = []
    while True:
        tokens = np.searchsorted(ordinary, rng.random(CHUNK) * ordinary[-1])
        at = np.flatnonzero(rng.random(CHUNK) < rate)
        own = np.searchsorted(stimulus, rng.random(len(at)) * stimulus[-1])
        tokens[at] = first[own] + rng.integers(count[own])
        separators, lines = division(rng)
        tokens = tokens[: len(lines)] + len(every) * (rng.random(lines[-1] + 1) < 0.5)[lines]
        told = np.stack([tokens, 2 * len(every) + separators], axis=1).ravel()
        data = b"".join(table[told].tolist())
        twice = [before[i] for i in rng.integers(len(before), size=len(before) // 50)] if before else []
        before = data.splitlines(keepends=True)
        yield data + b"".join(twice)


def division(rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sign after each word (a space, a comma, the end of a sentence or a line), and its line number."""
    lengths = np.clip(np.exp(rng.normal(np.log(12), 0.6, CHUNK // 8)).round(), 3, 80).astype(np.int64)
    ends = np.cumsum(lengths) - 1
    ends = ends[ends < CHUNK]
    separators = (rng.random(ends[-1] + 1) < 0.04).astype(np.int64)
    separators[ends] = 2
    last = np.cumsum(rng.integers(1, 6, len(ends))) - 1
    separators[ends[last[last < len(ends)]]] = 3
    separators[-1] = 3
    return separators, np.concatenate([[0], np.cumsum(separators == 3)[:-1]])


def composed(text: str) -> str:
    """With one character for each letter that is two in NFC."""
    for two, one in NUKTA.items():
        text = text.replace(two, one)
    return text


# --- the runs -----------------------------------------------------------------------------------------------------


def measure(folder: Path, work: Path, given: argparse.Namespace) -> dict[str, Any]:
    texts, stimuli = folder / "text", folder / "set.yaml"
    kept = ("--per-word", str(given.per_word))
    size = sum(file.stat().st_size for file in texts.iterdir())
    runs = {}
    tables = {}
    for workers in dict.fromkeys((1, given.workers)):
        tables[workers] = work / f"{workers}.parquet"
        runs[workers] = run([texts], stimuli, tables[workers], workers, *kept)
        runs[workers] |= {"bytes": size, "load": os.getloadavg()}
    half = max(1, runs[given.workers]["parts"] // 2)
    killed = run([texts], stimuli, work / "resumed.parquet", given.workers, *kept, parts=half)
    if killed["code"] == 0:
        raise SystemExit("the run ended before it was killed: make --size larger")
    resumed = run([texts], stimuli, work / "resumed.parquet", given.workers, *kept, "--resume")
    same = {tables[1].read_bytes()} >= {table.read_bytes() for table in (*tables.values(), work / "resumed.parquet")}
    searches = []
    for name, find in plain(stimuli).items():
        search, part, counts = timed(find, texts, given.seconds / 3)
        (work / "slice.txt").write_bytes(part)
        run([work / "slice.txt"], stimuli, work / "slice.parquet", 1, *kept)
        told = read_record(work / "slice.parquet")["tally"]["forms"]
        ours = Counter({(word, form): n for word, form, _, n in told})
        searches.append(
            {
                "name": name,
                **search,
                "occurrences": counts.total(),
                "same_counts": ours == counts and ours.total() > 0,
                "ratio": (size / runs[1]["processor"]) / (len(part) / search["processor"]),
                "load": os.getloadavg(),
            }
        )
    return {
        "limit": {"bytes": size, **limit(texts, stimuli)},
        "runs": [{"workers": workers, **own} for workers, own in runs.items()],
        "killed": killed,
        "resumed": resumed,
        "same_tables": same,
        "searches": searches,
        "same_counts": all(own["same_counts"] for own in searches),
    }


def run(
    texts: Sequence[Path], stimuli: Path, out: Path, workers: int, *options: str, parts: int | None = None
) -> dict[str, Any]:
    """Run the program once; return seconds, processor seconds, peak memory (MiB) and the number of parts written.

    The run is killed when it has written `parts`.
    """
    command = [*PROGRAM, *map(str, texts), "--data", str(stimuli), "-o", str(out), "--workers", str(workers), *options]
    most = written = 0
    family: list[psutil.Process] = []
    with tempfile.TemporaryFile("w+") as told:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=told, stderr=told)
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            family = processes(process.pid)
            most = max(most, sum(map(resident, family)))
            written = max(written, len(list(out.parent.glob(f"*{out.name}.partial/part-*.parquet"))))
            if parts is not None and written >= parts:
                os.kill(process.pid, signal.SIGKILL)  # not process.kill(), which may reap it
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        left = psutil.wait_procs(family, timeout=10)[1]
        told.seek(0)
        if process.returncode not in (0, -signal.SIGKILL) or left:
            raise SystemExit(f"exit code {process.returncode}, still running: {left}\n{told.read()}")
    return {
        "seconds": seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "mib": most / 2**20,
        "parts": written,
        "code": process.returncode,
    }


def limit(texts: Path, stimuli: Path) -> dict[str, float]:
    """Measure reading, hashing, decoding, NFC and finding all forms in this process: a lower bound of an extraction."""
    given = read_stimuli([stimuli])
    scanner = Scanner(Matcher({word: given.forms(word) for word in given.words()}).surfaces())
    normalise("কা" * 1_000)  # builds its tables
    start, before = time.perf_counter(), time.process_time()
    for number, file in enumerate(find_texts([texts])):
        for block in Reader(file, number, layout="paragraphs", field="text").blocks():
            scanner.find(units(block, "text", layout="paragraphs", field="text").text)
    return {"seconds": time.perf_counter() - start, "processor": time.process_time() - before}


def processes(pid: int) -> list[psutil.Process]:
    try:
        own = psutil.Process(pid)
        return [own, *own.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


Find = Callable[[str], Iterable[tuple[str, str]]]
"""Word and form of every occurrence in a line in NFC."""


def plain(stimuli: Path) -> dict[str, Find]:
    """Return three plain ways to look for words one after the other."""
    given = read_stimuli([stimuli])
    forms = {unicodedata.normalize("NFC", word): given.forms(word) for word in given.words()}
    every = " ".join(form for own in forms.values() for form in own)
    searcher = Searcher(forms, every)

    def reference(line: str) -> Iterator[tuple[str, str]]:
        for sentence in segment("bn", line):
            for word, start, end in searcher.find(sentence):
                yield word, sentence[start:end]

    def alternatives(word: str) -> str:
        return "|".join(map(regex.escape, sorted(forms[word], key=len, reverse=True)))

    bengali = "\u0980-\u09ff\u200c\u200d"
    standard = {word: re.compile(f"(?<![{bengali}])(?:{alternatives(word)})(?![{bengali}])") for word in forms}
    faster = {word: regex.compile(f"(?<![{WORD}])(?:{alternatives(word)})(?![{WORD}])") for word in forms}

    def by(patterns: Mapping[str, Any]) -> Find:
        return lambda line: [(word, hit[0]) for word, own in patterns.items() for hit in own.finditer(line)]

    return {
        "the tests' reference": reference,
        "re, a pattern a word": by(standard),
        "regex, a pattern a word": by(faster),
    }


def timed(find: Find, texts: Path, limit: float) -> tuple[dict[str, Any], bytes, Counter[tuple[str, str]]]:
    """Search line after line until the time is up; return the time, the text searched, and the count of each form."""
    counts: Counter[tuple[str, str]] = Counter()
    taken = []
    start, before = time.perf_counter(), time.process_time()
    for line in (line for file in sorted(texts.iterdir()) for line in file.open("rb")):
        counts.update(find(unicodedata.normalize("NFC", line.decode())))
        taken.append(line)
        if time.perf_counter() - start > limit:
            break
    part = b"".join(taken)
    took = {"seconds": time.perf_counter() - start, "processor": time.process_time() - before, "bytes": len(part)}
    return took, part, counts


# --- what is printed ----------------------------------------------------------------------------------------------


def show(found: dict[str, Any]) -> None:
    killed, resumed = (found[name] for name in ("killed", "resumed"))
    size = found["runs"][0]["bytes"] / 1e6
    print(f"{size:,.0f} MB, {found['words']} stimuli; made in {found['made']:.0f} s\n")
    print(
        "| | MB | s | MB/s | MB/s a worker | MB a processor second | peak memory, MiB |\n|---|---|---|---|---|---|---|"
    )
    for own in found["runs"]:
        workers = own["workers"]
        row(f"penchant, {workers} worker{'s' * (workers > 1)}", own, workers, f"{own['mib']:,.0f}")
    row("reading and automaton alone", found["limit"], 1, "")
    for own in found["searches"]:
        row(own["name"], own, 1, "")
    print()
    for own in found["searches"]:
        agree = "the same" if own["same_counts"] else "DIFFERENT"
        print(
            f"ratio to {own['name']}: {own['ratio']:.1f}; counts of the two on {own['bytes'] / 1e6:.1f} MB: {agree} "
            f"({own['occurrences']:,} occurrences)"
        )
    agree = "the same bytes" if found["same_tables"] else "DIFFERENT"
    print(f"killed after {killed['seconds']:.0f} s, resumed in {resumed['seconds']:.0f} s; all tables: {agree}")
    loads = [own["load"][0] for own in (*found["runs"], *found["searches"])]
    print(f"load of the machine: {', '.join(f'{load:.1f}' for load in loads)}")


def row(name: str, own: dict[str, Any], workers: int, memory: str) -> None:
    mb = own["bytes"] / 1e6
    speed = mb / own["seconds"]
    print(
        f"| {name} | {mb:,.1f} | {own['seconds']:,.1f} | {speed:.2f} | {speed / workers:.2f} "
        f"| {mb / own['processor']:.2f} | {memory} |"
    )


if __name__ == "__main__":
    main()
