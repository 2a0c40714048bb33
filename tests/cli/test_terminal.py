"""Nothing that a file, a model or a name holds acts on a terminal, or makes two lines of one message."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import Program, write_study
from penchant.cli.console import print_frame, say, write
from penchant.errors import DataError, one_line, visible
from penchant.progress import LineProgress
from penchant.report.tables import ReportRow, ReportTable

HOSTILE = "a\x1b]0;owned\x07\x9b31m\x7f\u202egpj.exe\u2066\u2028b\u2029c\x85d\x0be\x0cf\rg\nh"
"""A title of the window, a colour, a deletion, changes of direction, and every kind of line break."""
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def test_visible_text() -> None:
    assert visible("a\tb\nc é নদী\u200d") == "a\tb\nc é নদী\u200d"
    assert visible("\x1b[1m\x9b\u202e\ud800") == "\\u001b[1m\\u009b\\u202e\\ud800"
    assert one_line("a\tb\r\nc\u2028d\x0be") == "a b c d e"


@given(st.text(st.characters()))
def test_any_message_is_one_visible_line(text: str) -> None:
    for line in (one_line(text), str(DataError(text, file=text, field=text, hint=text))):
        assert not ACTING.search(line) and len(line.splitlines()) <= 1
        line.encode("utf-8")
    assert visible(visible(text)) == visible(text)
    plain = all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in text)
    assert not plain or visible(text) == text


def test_messages_tables_and_lists(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({HOSTILE: [HOSTILE, "rose"], "n": [1, 2]})
    say(f"note: {HOSTILE}")
    write(str(ReportTable("t", HOSTILE, (HOSTILE,), (ReportRow((HOSTILE,)),), HOSTILE)))
    print_frame(frame, "table")
    out, err = capsys.readouterr()
    assert not ACTING.search(out + err)
    assert err.count("\n") == 1
    assert out.count("\n") == len(out.splitlines()) == 5 + 4, out


def test_data_keeps_its_characters(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [HOSTILE, "a\tb", 'q"', "\r", "=1+1", "-0.3"]
    print_frame(pl.DataFrame({"text": texts}), "jsonl")
    assert [json.loads(line)["text"] for line in capsys.readouterr().out.split("\n") if line] == texts
    print_frame(pl.DataFrame({"text": texts}), "tsv")
    assert (
        pl.read_csv(capsys.readouterr().out.encode(), separator="\t", schema={"text": pl.String})["text"].to_list()
        == texts
    )


def test_bad_names_in_the_command_line(penchant: Program) -> None:
    for arguments in (("score", "-m", f"bundled:{HOSTILE}"), ("list", HOSTILE), ("report", HOSTILE), ("init", HOSTILE)):
        code, out, err = penchant(*arguments, stdin="A cat.\n")
        assert (code, out) == (2, "")
        assert err.count("\n") == len(err.splitlines()) == 1
        assert not ACTING.search(err)


def test_words_in_context_on_a_terminal_and_elsewhere() -> None:
    from penchant.corpus.concordance import concordance

    text = f"{HOSTILE} rose {HOSTILE}"
    start = text.index("rose")
    frame = pl.DataFrame({"id": [HOSTILE], "text": [text], "start": [start], "end": [start + 4]})
    (plain,) = concordance(frame, width=400, bold=False)
    assert not ACTING.search(plain) and "[rose]" in plain
    (bold,) = concordance(frame, width=400, bold=True)
    assert not ACTING.search(bold.replace("\x1b[1mrose\x1b[0m", ""))


def test_lines_of_progress_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """The first after ten seconds, then every thirty, whichever bar they are of; a short run has none."""
    time = 0.0
    lines = LineProgress("", lambda: time)
    first = lines.start("cloze · bert\n(1 of 2)")
    for second in range(1, 60):
        time = float(second)
        first(2, 400)
    second_bar = lines.start("cloze · gpt2 (2 of 2)")
    for second in range(60, 72):
        time = float(second)
        second_bar(1.5, 0)
    assert capsys.readouterr().err.splitlines() == [
        "cloze · bert (1 of 2): 20 of 400, 2.0/s, 0:03:10 left",
        "cloze · bert (1 of 2): 80 of 400, 2.0/s, 0:02:40 left",
        "cloze · gpt2 (2 of 2): 16, 1.5/s",
    ]
    short = LineProgress(" MB", lambda: time).start("text")
    time += 9.9
    short(5, 10)
    assert capsys.readouterr().err == ""


def test_a_study_says_how_far_it_is(penchant: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.tsv").write_text("good\tbad\nThe cat sleeps .\tThe cat sleep .\n", "utf-8")
    probe = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 200}}
    write_study(tmp_path / "s.yaml", ["bundled:modern", "bundled:early-modern"], probe)
    quiet = penchant("run", "s.yaml", "-o", "quiet", "--cache", "none")
    assert "/s" not in quiet[2]
    monkeypatch.setattr("penchant.progress.FIRST_LINE", 0)
    monkeypatch.setattr("penchant.progress.NEXT_LINE", 0)
    code, out, err = penchant("run", "s.yaml", "-o", "out", "--cache", "none")
    assert (code, out) == (0, quiet[1])
    assert re.search(r"^minimal-pairs · bundled:modern \(1 of 2\): 1 of 1, [\d.]+/s, 0:00:00 left$", err, re.MULTILINE)
    assert "minimal-pairs · bundled:early-modern (2 of 2): 1 of 1" in err


def on_a_terminal(script: str, **streams: int) -> tuple[str, int]:
    """Return a script's output on a pseudo-terminal, by default that of both streams, and its exit code."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script],
        **{"stdout": theirs, "stderr": theirs, **streams},  # type: ignore[call-overload]
        env={**os.environ, "TERM": "xterm", "COLUMNS": "300"},
    ) as child:
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            shown += more
    os.close(ours)
    return shown.decode(), child.returncode


SLOW = """
import os
import penchant as pc
from penchant import progress

def work(patience):
    progress.PATIENCE = patience
    model = pc.load("bundled:modern")
    pc.score(model, [f"The old dog saw {n} horses in the garden." for n in range(30)])
    pc.surprisal(model, [f"The old dog saw {n} horses in the garden." for n in range(29)], method="pll")
    print("|", end="", flush=True)

terminal, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
work(600)
os.dup2(nowhere, 2)
work(0)
os.dup2(terminal, 2)
os.dup2(nowhere, 1)
work(0)
"""


@pytest.mark.whole
def test_loading_and_scoring_in_python_show_progress_on_a_terminal_alone() -> None:
    text, code = on_a_terminal(SLOW)
    quick, results, shown = text.split("|")
    assert (code, quick, results) == (0, "", ""), "too quick to be shown, or shown among results"
    assert "bundled:modern: loading" in shown and " of 30" in shown and " of 29" in shown


@pytest.mark.whole
def test_progress_and_data_on_a_terminal(tmp_path: Path) -> None:
    """On a pseudo-terminal, with a label that is markup and data that would act."""
    script = (
        "import time\n"
        "import polars as pl\n"
        "from penchant import progress\n"
        "from penchant.cli.console import bars, print_frame\n"
        "progress.PATIENCE = 0.1\n"
        f"hostile = {HOSTILE!r}\n"
        "with bars() as bar:\n    bar('[/no]' + hostile)(1234, 2468)\n    time.sleep(1)\n"
        "print_frame(pl.DataFrame({'text': [hostile]}), 'jsonl')\n"
        "print_frame(pl.DataFrame({'text': [hostile]}), 'tsv')\n"
    )
    text, code = on_a_terminal(script)
    assert code == 0, text
    assert "[/no]a" in text and "owned" in text
    assert "1,234 of 2,468" in text and "/s" in text
    assert "\x1b]" not in text and "\x07" not in text  # escapes of rich's own move the cursor and set colours
    assert not re.search("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
