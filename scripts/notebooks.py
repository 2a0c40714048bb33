"""Execution of a notebook, with outputs that are the same from run to run; for scripts/tutorials and its test."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "COLUMNS": "80",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONWARNINGS": "ignore",
}
_PROGRESS = re.compile(r"^.*(?:/s, | left$|━|[⠀-⣿]|: the study takes ).*\n?", re.MULTILINE)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run a notebook in an empty folder with the penchant of this checkout, and return it with clean outputs.

    Raises nbclient's CellExecutionError where a cell fails.
    """
    done = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "PENCHANT_CACHE": f"{folder}/answers.sqlite",
            "IPYTHONDIR": f"{folder}/ipython",
        }
        work = Path(folder, "work")
        work.mkdir()
        with mock.patch.dict(os.environ, ENVIRONMENT | places):
            client = NotebookClient(done, timeout=300, kernel_name="python3", resources={"metadata": {"path": work}})
            client.km = client.create_kernel_manager()
            client.km.transport, client.km.ip = "ipc", f"{folder}/kernel"  # sockets that nobody else can reach
            client.execute()
        done.metadata = nbformat.from_dict(_METADATA | {"myst": notebook.metadata.get("myst", {})})
        for cell in done.cells:
            cell.metadata = nbformat.from_dict({})
            if cell.cell_type == "code":
                cell.outputs = _clean(cell.outputs, str(work))
    return done


def written(notebook: nbformat.NotebookNode) -> str:
    """Return the text of a notebook's file."""
    return str(nbformat.writes(notebook, version=4)) + "\n"


def _clean(outputs: list[Any], folder: str) -> list[Any]:
    """Join the streams of a cell, and leave out progress, colours, the folder and empty outputs."""
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
            else:
                kept.append(nbformat.from_dict({**output, "name": "stdout"}))
        else:
            output.metadata = nbformat.from_dict({})
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            output.text = _tidy(output.text, folder)
        for kind, content in output.get("data", {}).items():
            if isinstance(content, str):
                output.data[kind] = _tidy(content, folder) if kind.startswith("text/") else content
    return [output for output in kept if output.output_type != "stream" or output.text.strip()]


def _tidy(text: str, folder: str) -> str:
    """Leave out of a text what differs from run to run."""
    text = _ESCAPE.sub("", text.replace("\r\n", "\n")).replace(f"{folder}/", "").replace(folder, ".")
    text = re.sub(r"^[^\n]*\r", "", text, flags=re.MULTILINE)
    return re.sub(r" +$", "", _PROGRESS.sub("", text), flags=re.MULTILINE)
