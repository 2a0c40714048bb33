"""Characters that turn the direction of a text are shown as codes wherever people read it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path

TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def test_no_output_turns_direction(
    penchant: Callable[..., tuple[int, str, str]], zoo: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in ("agree\u202ement", "other"):
        pairs = ({"good": f"The cat \u202e{i} sleeps.", "bad": f"The cat \u2066{i} sleep."} for i in range(8))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    probe = 'minimal-pairs: {data: ["agree\\u202ement.jsonl", other.jsonl]}'
    (tmp_path / "s.yaml").write_text(f"study: s\nquestion: is it\nmodels: [{zoo('gpt2')}]\nprobes: [{probe}]\n")
    code, out, err = penchant("run", "s.yaml", "-o", "out")
    assert code == 0, err
    seen = 0
    for to in ("csv", "latex", "figures"):
        code, _, err = penchant("export", "out", "--to", to)
        assert code == 0, err
    for file in (tmp_path / "out").rglob("*"):
        if file.suffix in (".csv", ".tex", ".svg", ".html"):
            text = file.read_text("utf-8")
            seen += "202e" in text
            assert not TURNS.search(text), file
    assert seen >= 4
    html = (tmp_path / "out" / "report.html").read_text("utf-8")
    blocks = [packed(text) for text in re.findall(r'<script type="text/plain"[^>]*>([^<]+)<', html)]
    assert any("202e" in text for text in blocks) and not any(TURNS.search(text) for text in blocks)
    assert not TURNS.search(out + err)


def packed(text: str) -> str:
    return zlib.decompress(base64.b64decode(text), -15).decode()
