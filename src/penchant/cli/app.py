"""Command line `penchant COMMAND`; exit code 2 means bad input or usage, reported in one line, and 1 means a bug."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn, TextIO

import typer
import typer.main
from typer.core import TyperOption

from penchant._version import __version__
from penchant.cli import (
    checking,
    corpus,
    pairs,
    rate,
    ratings,
    result_commands,
    score_fill_embed,
    study,
    surprisal,
    vectors,
)
from penchant.cli.console import ReaderGoneError, command, note, say, say_notes, to_stdout, write
from penchant.errors import CacheWarning, ModelWarning, OutputError, PenchantError, machine_error, of_machine
from penchant.gc_control import left_at_exit

_INTERRUPTED = 130
"""The exit code after an interrupt."""

app = typer.Typer(
    name="penchant",
    help="Measure the linguistic preferences and biases of language models.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="For completion with the Tab key: penchant --install-completion",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Handle the options that precede a command."""
    if version:
        write(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        write(context.get_help())


_COMMANDS = (
    ("run", study.run),
    ("demo", study.demo),
    ("report", result_commands.report),
    ("compare", result_commands.compare),
    ("verify", result_commands.verify),
    ("export", result_commands.export),
    ("score", score_fill_embed.score),
    ("surprisal", surprisal.surprisal),
    ("fill", score_fill_embed.fill),
    ("embed", score_fill_embed.embed),
    ("check", checking.check),
    ("audit", checking.audit),
    ("rate", rate.rate),
    ("init", study.init),
    ("paper", study.paper),
    ("list", study.list_),
    ("schema", study.schema),
)
_GROUPS = (
    ("ratings", ratings.ratings),
    ("pairs", pairs.pairs),
    ("corpus", corpus.corpus),
    ("vectors", vectors.vectors),
)
for _name, _command in _COMMANDS:
    app.command(_name)(_command)
for _name, _group in _GROUPS:
    app.add_typer(_group, name=_name)


def _program() -> Callable[..., object]:
    """Return the top-level command, with the options for shell completion hidden from its help."""
    command = typer.main.get_command(app)
    for option in command.params:
        if option.name in ("install_completion", "show_completion") and isinstance(option, TyperOption):
            option.hidden = True
    return command


def main() -> NoReturn:
    """Run a command; report an error in one line and through the exit code."""
    debug = "--debug" in sys.argv[1:]
    left_at_exit()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # the search for plugins in all packages is slow
    try:
        _open_streams()
        warnings.showwarning = _warned
        code = _program()(prog_name="penchant", standalone_mode=False)
        with to_stdout():
            pass
        if code == _INTERRUPTED:  # the command parser turns an interrupt into an exit code
            raise KeyboardInterrupt
    except PenchantError as error:
        code = _fail(error, debug)
    except KeyboardInterrupt:
        say(f"penchant: interrupted; finished work is kept{_next_step(sys.argv[1:])}")
        code = _INTERRUPTED
    except ReaderGoneError:
        code = 0
    except Exception as error:  # a usage error of the command parser, or a bug
        code = _unexpected(error, debug)
    _report_unusable_instruments()
    sys.exit(code if isinstance(code, int) else 0)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Write penchant's own warnings to standard error as notes, and other warnings as Python does."""
    if issubclass(category, ModelWarning | CacheWarning):
        note(str(message))
    else:
        _SHOW(message, category, filename, lineno, file, line)


_SHOW = warnings.showwarning
_RESUMED = ("run", "corpus extract", "score")
"""Commands that write a directory or a table and can continue it with --resume."""


def _next_step(words: list[str]) -> str:
    writes = any(word.startswith("-o") or word.partition("=")[0] == "--out" for word in words)
    if not (writes and any(" ".join(words).startswith(name) for name in _RESUMED)):
        return ""
    again = words if "--resume" in words or "--rerun" in words else [*words, "--resume"]
    return f": continue with {command(['penchant', *again])}"


def _open_streams() -> None:
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (as long as the program runs)
    if sys.stdout is None:
        raise OutputError("is closed", where="standard output", hint="redirect it to a file or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that is not UTF-8 is shown with its bytes escaped
            stream.reconfigure(errors="backslashreplace")


def _fail(error: PenchantError, debug: bool) -> int:
    if debug:
        raise error
    say(f"penchant: {error.alone()}")
    for other in getattr(error, "__notes__", ()):
        say(f"penchant: {other}")
    return 2


def _unexpected(error: Exception, debug: bool) -> int:
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "penchant"
        if type(error).__name__ == "NoArgsIsHelpError" and context:
            write(context.get_help())
            return 0
        near = getattr(error, "possibilities", None)  # similar names of options
        text = f"{error.message}. Did you mean {' or '.join(near)}?" if near else usage()  # type: ignore[attr-defined]
        say(f"{command}: {' '.join(text.split())} — see {command} --help")
        return 2
    if type(error).__name__ == "Abort":
        return 2
    if debug:
        raise error
    if (of := machine_error(error)) is not None:
        say(f"penchant: {of_machine(of)}")
        return 2
    say(f"penchant: {_of_an_instrument(error) or f'internal error: {type(error).__name__}: {error}'} — {_REPORT}")
    return 1


_REPORT = "run again with --debug and report the traceback"


def _of_an_instrument(error: Exception) -> str:
    if "penchant.instruments.registry" not in sys.modules:
        return ""
    from penchant.instruments.registry import fault

    return fault(error)


def _report_unusable_instruments() -> None:
    registry = sys.modules.get("penchant.instruments.registry")
    if registry is not None:
        say_notes(registry.left_out())


if __name__ == "__main__":
    main()
