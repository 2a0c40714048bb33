"""A study measures before it loads what only its estimates and its report need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penchant.instruments.registry import instruments

LATE = ("scipy.stats", "altair", "vl_convert", "IPython", "ray")
"""Large packages that are not needed before the first forward pass, or at all."""
MEASURED = """
import sys
from pathlib import Path
from penchant.instruments.run_options import Run
from penchant.study.run import run_study
from penchant.study.study_file import read_study

def progress(label):
    def advance(done, total):
        print(*[name for name in sys.argv[2:] if name in sys.modules])
        raise SystemExit
    return advance

file = Path(sys.argv[1])
run_study(*read_study(file), file.parent / "out", Run(base=[file.parent], bars=progress))
"""


def _loaded(code: str, *arguments: object, cwd: Path | None = None) -> list[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd)
    return ran.stdout.split()


@pytest.mark.whole
@pytest.mark.parametrize("probe", ["cloze"])
def test_the_first_batch_waits_for_nothing_that_only_the_end_needs(penchant: Any, tmp_path: Path, probe: str) -> None:
    penchant("init", probe, tmp_path)
    assert _loaded(MEASURED, tmp_path / f"{probe}.yaml", *LATE) == []


LOADED = """
import contextlib, io, sys
from penchant.instruments.registry import instruments
print(*instruments(), *[name for name in sys.argv[1:] if name in sys.modules])
from penchant.cli.app import main
for command in (["list"], ["schema"], ["init", "cloze", "mine"]):
    sys.argv = ["penchant", *command]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    print(*[name for name in ("polars", "torch", "transformers") if name in sys.modules])
"""


def test_the_list_of_instruments_and_commands_that_read_no_model_load_no_model_code(tmp_path: Path) -> None:
    """These answer in a second or two; torch alone takes longer."""
    loaded = _loaded(LOADED, *LATE, "torch", "transformers", cwd=tmp_path)
    assert loaded == [*instruments(), *["polars"] * 3]
    assert (tmp_path / "mine" / "cloze.yaml").exists()
