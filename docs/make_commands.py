"""Write docs/commands.md: every command, argument and option, from the program.

usage: python docs/make_commands.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from typer.core import TyperCommand, TyperGroup

from front_matter import front_matter
from penchant.cli.app import app
from penchant.files import write_text

PAGE = Path(__file__).with_name("commands.md")
HIDDEN = {"install_completion", "show_completion"}
INTRODUCTION = """Every command, with its arguments and options, as `penchant COMMAND --help` explains them. Results
go to standard output and messages to standard error. Exit code 0 is done, 2 is bad input or usage, told in one
line, and 1 is a fault of penchant. `penchant --debug COMMAND` shows a traceback."""


def main() -> None:
    write_text(page(), PAGE)


def page() -> str:
    """Return the page."""
    head = front_matter("Every command of penchant, with its arguments and options.").rstrip()
    program = typer.main.get_command(app)
    parts = [
        part
        for command, context in commands(program, typer.Context(program, info_name="penchant"))
        for part in _described(command, context)
    ]
    return "\n\n".join([head, "# Commands", INTRODUCTION, *parts]) + "\n"


def commands(command: Any, context: typer.Context) -> Iterator[tuple[TyperCommand, typer.Context]]:
    """Yield each command below one, in its order, with its place."""
    if not isinstance(command, TyperGroup):
        yield command, context
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None and not below.hidden:
            yield from commands(below, typer.Context(below, parent=context, info_name=name))


def _described(command: TyperCommand, context: typer.Context) -> Iterator[str]:
    yield f"## `{context.command_path}`"
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
    yield " ".join((command.help or "").split())
    records = (each.get_help_record(context) for each in command.params if each.name not in HIDDEN | {"help"})
    rows = [f"| {_cell(f'`{name}`')} | {_cell(meaning)} |" for name, meaning in filter(None, records)]
    if rows:
        yield "\n".join(["| argument or option | meaning |", "|---|---|", *rows])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
