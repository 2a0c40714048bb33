"""Models that would give wrong numbers end in one line and exit code 2, whichever command reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from architectures import save
from builders import Program


@pytest.mark.parametrize("command", ["score", "surprisal"])
def test_a_model_that_reads_ahead(command: str, penchant: Program, tmp_path: Path) -> None:
    home = save("xlnet", tmp_path, causal=True)
    (tmp_path / "texts.txt").write_text("Snow fell.\n")
    code, out, err = penchant(command, "-m", home, tmp_path / "texts.txt", "--cache", "none")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 and "reads the tokens behind" in err


@pytest.mark.parametrize(("layer", "code"), [("-1", 0), ("2", 2), ("9", 2)])
def test_a_layer_without_one_vector_a_token(layer: str, code: int, penchant: Program, tmp_path: Path) -> None:
    home = save("funnel", tmp_path, causal=False)
    (tmp_path / "texts.txt").write_text("The keys to the cabinet are on the table.\n")
    answer = penchant("embed", "-m", home, tmp_path / "texts.txt", "--layer", layer)
    assert answer[0] == code
    assert code == 0 or len(answer[2].splitlines()) == 1
