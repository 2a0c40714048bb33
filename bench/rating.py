"""`penchant rate` under load: raters who answer at once, the time of each answer, and lost answers.

    python bench/rating.py [--raters 200] [--answers 10000] [--think 1.0] [--json FILE]

A server is started as its users start it. Each rater is a client of one process beside it, which opens its link, then
gets an item, thinks (exponentially distributed, `--think` seconds on average), and answers, until all answers are
given. Half way the server is killed and started again. Every answer that the server acknowledged is in a log of the
client's own; at the end the database must hold exactly these. The measurements are the times of an answer, from sending
the form to the acknowledgement, and of an item, in milliseconds, with those during the restart apart; the clients need
processor time, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from penchant.tables.rows import read_rows

PORT = 8399
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')
WORD = re.compile(r"Number (\d+)\.")


async def asked(
    method: str, path: str, cookie: str = "", fields: dict[str, str] | None = None
) -> tuple[int, dict[str, str], str]:
    """One request over a connection of its own. Raises OSError."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    body = urlencode(fields).encode() if fields else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nConnection: close\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    try:
        writer.write(head.encode() + body)
        raw = await reader.read()
    finally:
        writer.close()
    top, _, rest = raw.decode().partition("\r\n\r\n")
    first, *lines = top.split("\r\n")
    if not first:
        raise ConnectionResetError
    return int(first.split()[1]), {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}, rest


class Load:
    """All raters, the acknowledged answers, and their times."""

    def __init__(self, think: float) -> None:
        self.think = think
        self.log: dict[tuple[str, str], str] = {}
        self.took: dict[str, list[float]] = {"answer": [], "item": [], "while it starts again": []}
        self.down = False
        self.again = 0

    async def timed(self, what: str, *args: object) -> tuple[int, dict[str, str], str]:
        began, down = time.perf_counter(), self.down
        found = await asked(*args)  # type: ignore[arg-type]
        self.took["while it starts again" if down or self.down else what].append((time.perf_counter() - began) * 1000)
        return found

    async def rater(self, name: str, link: str, items: int) -> None:
        draw = random.Random(name)
        _, headers, _ = await asked("GET", urlsplit(link).path)
        cookie = headers["set-cookie"].partition(";")[0]
        place = headers["location"]
        await asyncio.sleep(draw.uniform(0, 2 * self.think))
        done = 0
        while done < items:
            try:
                status, headers, page = await self.timed("item", "GET", f"{place}item", cookie)
                if status == 303:
                    return
                fields, word = dict(HIDDEN.findall(page.partition("</form>")[0])), WORD.search(page)
                assert status == 200, page
                assert word, page
                await asyncio.sleep(draw.expovariate(1 / self.think))
                fields["value"] = str(draw.randrange(5))
                status, _, page = await self.timed("answer", "POST", f"{place}item", cookie, fields)
                assert status == 303, page
                self.log[name, word[1]] = fields["value"]
                done += 1
            except OSError:  # the server was killed; what was not acknowledged is asked again
                self.again += 1
                await asyncio.sleep(0.5)


def started(folder: Path, raters: int) -> tuple[subprocess.Popen[str], dict[str, str]]:
    names = ",".join(f"r{n}" for n in range(raters))
    asking = ["items.csv", "--column", "text", "--scale", "1-5", "-o", "said.sqlite", "--raters", names]
    command = [sys.executable, "-m", "penchant.cli.app", "rate", *asking, "--port", str(PORT), "--repeat", "0"]
    process = subprocess.Popen([*command, "--breaks", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
    links: dict[str, str] = {}
    assert process.stdout is not None
    while "owner" not in links:
        name, _, link = process.stdout.readline().strip().partition("\t")
        links[name] = link
    return process, links


def share(values: list[float], part: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(part * len(values)))], 1)


async def run(folder: Path, raters: int, answers: int, think: float) -> dict[str, object]:
    items = answers // raters
    (folder / "items.csv").write_text("text\n" + "".join(f"Number {n}.\n" for n in range(items)), "utf-8")
    process, links = started(folder, raters)
    load = Load(think)
    began = time.perf_counter()
    tasks = [asyncio.create_task(load.rater(f"r{n}", links[f"r{n}"], items)) for n in range(raters)]
    while len(load.log) < answers // 2:
        await asyncio.sleep(0.05)
        for task in tasks:
            if task.done() and task.exception():
                await task
    load.down = True
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, _ = await asyncio.to_thread(started, folder, raters)
    await asyncio.sleep(2)  # it has printed its links, and loads what serves them
    load.down = False
    await asyncio.gather(*tasks)
    seconds = time.perf_counter() - began
    process.send_signal(signal.SIGINT)
    process.wait()
    kept = {
        (str(row.values["rater"]), str(row.values["text"])[7:-1]): str(int(float(str(row.values["rating"]))) - 1)
        for row in read_rows(folder / "said.sqlite")
    }
    acknowledged = {key: value for key, value in load.log.items() if kept.get(key) == value}
    return {
        "raters": raters,
        "answers": len(kept),
        "acknowledged": len(load.log),
        "acknowledged and lost": len(load.log) - len(acknowledged),
        "seconds": round(seconds, 1),
        "asked again": load.again,
        **{
            f"{what}: p{int(100 * part)} ms": share(times, part)
            for what, times in load.took.items()
            if times
            for part in (0.5, 0.95, 0.99)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(Path(folder), given.raters, given.answers, given.think))
    for name, value in found.items():
        print(f"| {name} | {value} |")
    if given.json:
        given.json.write_text(json.dumps(found, indent=2), "utf-8")
    sys.exit(bool(found["acknowledged and lost"]) or found["answers"] != given.answers)


if __name__ == "__main__":
    main()
