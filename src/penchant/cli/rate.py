"""`penchant rate`: web page on which people rate words, pairs or texts, and database of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penchant.cli.checking import BadOption, GoodOption, GroupOption, IdOption
from penchant.cli.console import command, say, to_stdout, write
from penchant.limits import COUNT, SEED
from penchant.plurals import counted, for_one

if TYPE_CHECKING:
    from penchant.rating.task_builder import Judge
    from penchant.rating.tasks import RatingTask

PORT = 8377
"""Default port of the page."""

TargetArgument = Annotated[
    str,
    typer.Argument(
        help="The items to rate: a result directory of cloze, a table or a study of minimal pairs, a set of value "
        "statements, or a table with --column."
    ),
]
OpenOption = Annotated[
    int,
    typer.Option("--open", min=0, max=100_000, metavar="N", help="Show one link with which up to N people can join."),
]
PublicOption = Annotated[
    str, typer.Option(metavar="URL", help="Public address of a reverse proxy for the page, used in the links.")
]
ScaleOption = Annotated[
    str, typer.Option(help='For a table: 1-7, "1=bad,2,3=good" or "no,perhaps,yes".  [default: 1-5]')
]
BreaksOption = Annotated[
    int, typer.Option(min=0, max=COUNT, metavar="N", help="A break after every N items; 0 for none.")
]
PracticeOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Practice items: columns text, right, word, why; or good, bad.")
]
AttentionOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Items that check attention: the same columns.")
]

PerGroupOption = Annotated[
    int, typer.Option("--per-group", min=0, max=COUNT, metavar="N", help="For pairs: draw N of each group; 0 for all.")
]

MostOption = Annotated[
    int, typer.Option("--limit", min=0, max=COUNT, metavar="N", help="For cloze: the N most probable words; 0 for all.")
]

HtmlOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write a page for each rater that works without a server.")
]

ReturnedOption = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="Import answers saved by such a page. Repeatable.")
]

BackupOption = Annotated[
    Path | None, typer.Option(metavar="COPY", help="Only copy the database, even while it is being served.")
]


def rate(
    target: TargetArgument,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.sqlite", help="The database of answers.")],
    raters: Annotated[str, typer.Option(metavar="NAMES", help="Raters, separated by commas; each gets a link.")] = "",
    open_: OpenOption = 0,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 for any free one.")] = PORT,
    public: PublicOption = "",
    task: Annotated[str, typer.Option(help="For pairs: choice (default), or sentences, each from 1 to 7.")] = "",
    good: GoodOption = "good",
    bad: BadOption = "bad",
    group: GroupOption = "group",
    id_: IdOption = "id",
    per_group: PerGroupOption = 0,
    limit: MostOption = 0,
    all_: Annotated[bool, typer.Option("--all", help="For cloze: include words that are already rated.")] = False,
    column: Annotated[str, typer.Option(help="For a table: the column of texts.")] = "",
    scale: ScaleOption = "",
    question: Annotated[str, typer.Option(help="The question above every item.")] = "",
    instructions: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Instructions to read first.")] = None,
    practice: PracticeOption = None,
    attention: AttentionOption = None,
    repeat: Annotated[str, typer.Option(help="The share of items shown twice.")] = "5%",
    breaks: BreaksOption = 50,
    seed: Annotated[
        int, typer.Option(min=0, max=SEED, help="Seed of the raters' random orders and of --per-group.")
    ] = 0,
    html: HtmlOption = None,
    returned: ReturnedOption = None,
    backup: BackupOption = None,
) -> None:
    """Collect ratings of words in gaps, minimal pairs, statements or other texts on a web page."""
    from penchant.rating.database_file import back_up
    from penchant.rating.rater_names import names_of
    from penchant.rating.task_builder import Given, share, task_of_target
    from penchant.rating.tasks import Wishes

    if backup is not None:
        back_up(out, backup)
        return say(f"{backup}: a copy of {out}, with the raters' links")
    names, target = names_of(raters), _fetched(target)
    files, columns = _pairs_of(target, (good, bad, group, id_))
    wishes = Wishes(task, all_, column, scale, question, _unshown(target), columns, files, per_group, limit, seed)
    options = Given(instructions, practice, attention, share(repeat), breaks, seed)
    rating_task = task_of_target(target, wishes, options, _judges())
    if html is not None or returned:
        return _without_server(rating_task, out, names, open_, html, returned or [])
    _serve(rating_task, out, names, open_, host, port, public)
    return _say_next(rating_task, target, out)


def _say_next(task: RatingTask, target: str, out: Path) -> None:
    words = ["import", target, str(out), "--into", "ratings.csv"] if task.has_words else ["agreement", str(out)]
    say(f"next: {command(['penchant', 'ratings', *words])}")


def _fetched(target: str) -> str:
    from penchant.hub.data_sets import is_hub
    from penchant.tables.data_lookup import fetched_one

    return str(fetched_one(target)) if is_hub(target) else target


def _unshown(target: str) -> frozenset[Path]:
    from penchant.study.read_results import unshown

    return unshown(target) if Path(target).is_dir() else frozenset()


def _pairs_of(target: str, heads: Sequence[str]) -> tuple[tuple[Path, ...], Mapping[str, str]]:
    """Return the tables of pairs that the study file `target` names, and a mapping from fields to renamed columns.

    For any other target, return no tables; the column names `heads` of good, bad, group and id then give the mapping.
    """
    from penchant.errors import MethodError
    from penchant.instruments.minimal_pairs.probe import MinimalPairs
    from penchant.study.study_file import read_study
    from penchant.tables.data_lookup import SET_FILE

    fields = ("good", "bad", "group", "id")
    named = {name: head for name, head in zip(fields, heads, strict=True) if name != head}
    study = Path(target)
    if study.suffix.lower() not in (".yaml", ".yml") or study.name == SET_FILE or not study.is_file():
        return (), named
    base = [study.parent, Path()]
    probes = [probe for probe in read_study(study)[1] if isinstance(probe, MinimalPairs)]
    if named:
        hint = "omit --good, --bad, --group and --id, or give the table itself"
        raise MethodError("the study already names the columns of its pairs", where=target, hint=hint)
    if len(probes) != 1:
        message = f"the study has {len(probes) or 'no'} {for_one(len(probes), 'probes')} of minimal pairs, expected one"
        raise MethodError(message, where=target, hint="give a table of pairs, with --good, --bad, --group and --id")
    (probe,) = probes
    files = tuple(pairs.path for pairs in probe.pair_sets(base))
    return files, {name: head for name, head in dict(probe.columns).items() if name != head}


def _judges() -> list[Judge]:
    from penchant.instruments.registry import instruments

    return [each.judge for each in instruments().values() if each.judge is not None]


def _serve(task: RatingTask, out: Path, names: list[str], slots: int, host: str, port: int, public: str) -> None:
    from penchant.rating.judgement_store import Store
    from penchant.rating.server_process import LOOPBACK, Address, check_public, links, listening, serve
    from penchant.tables.judgement_database import is_beside

    check_public(public)
    with Store.open(out, task, raters=names, slots=slots) as store, listening(host, port) as bound:
        address = Address(host, bound.getsockname()[1], public)
        shown = links(store, address)
        if len(shown) == 1:
            say("note: there are no raters yet: add them with --raters anna,ben or --open N")
        with to_stdout():
            for name, link in shown:
                write(f"{name}\t{link}")
        say(
            f"{counted(len(task.items), 'items')}; answers are saved in {out}. Stop with Ctrl-C; the "
            "same command continues."
        )
        if host not in LOOPBACK:
            say("note: other machines can access this page, without encryption: use an https proxy")
        serve(store, bound, address)
    together = f" and {out}-wal, which belong together" if is_beside(out) else ""
    say(f"stopped; the answers are in {out}{together}")


def _without_server(
    task: RatingTask, out: Path, names: list[str], slots: int, html: Path | None, returned: list[Path]
) -> None:
    from penchant.rating.judgement_store import Store
    from penchant.rating.offline_page import take_in, write_pages

    with Store.open(out, task, raters=names, slots=slots) as store:
        for file, taken in zip(returned, take_in(store, returned), strict=True):
            say(f"{file}: {counted(taken.new, 'new answers')} of {taken.rater}, {taken.known} already known")
        if html is not None:
            for page in write_pages(store, html):
                with to_stdout():
                    write(str(page))
            say("next: send each rater their page, and import the file that it saves with --returned FILE")
