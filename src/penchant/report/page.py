"""The report: one page that opens offline and can be questioned down to the single token.

Rendering only: every number comes from a result. Text from data, models or files reaches the page escaped, or packed in
blocks whose text is only ever set as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from penchant import __version__
from penchant.errors import OutputError
from penchant.files import write_text
from penchant.records import Outcome
from penchant.report.blocks import Packed, block, pack
from penchant.report.figures import INK
from penchant.report.references import REFERENCES, cited
from penchant.report.sections import ACROSS, placed
from penchant.report.views import ASSETS, Signatures, environment, section_view

LIMIT = 4_900_000
"""Bytes of a page: with a little to spare under the five megabytes that a mail takes and a browser opens at once."""


def write_report(outcome: Outcome, path: str | Path) -> list[str]:
    """Write the report of a study, whole or not at all, and what does not fit into it beside it.

    Returns what was left out or beside, in words. Raises OutputError.
    """
    target = Path(path)
    folder = f"{target.stem}-items"
    html, beside, said = page(outcome, folder)
    for name, text in beside.items():
        write_text(f'penchantBlock("{name}","{text}");\n', target.parent / folder / f"{name}.js")
    write_text(html, target)
    _sweep(target.parent / folder, beside)
    return said


def _sweep(folder: Path, kept: Mapping[str, str]) -> None:
    """Remove the blocks of an earlier report of the same name."""
    if not folder.is_dir():
        return
    try:
        for old in folder.glob("items-*.js"):
            if old.stem not in kept:
                old.unlink()
        if not kept and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise OutputError(f"cannot be removed: {error.strerror}", where=str(folder)) from error


def page(outcome: Outcome, folder: str) -> tuple[str, dict[str, str], list[str]]:
    """The page, the blocks to be left beside it in `folder` by name, and what it leaves out or beside, in words."""
    signatures = Signatures()
    names = {place: f"s{number}" for number, place in enumerate(outcome.sections())} | {ACROSS: ACROSS}
    parts = [section_view(names[each.place], each, outcome, signatures) for each in placed(outcome)]
    specs: list[dict[str, Any]] = []
    for part in parts:
        for figure in part["figures"]:
            figure["spec"] = len(specs)
            specs.append(_themed(figure.pop("drawing").spec()))
    blocks = {"specs": block(specs), "signatures": block(signatures.texts)}
    context = {
        "version": __version__,
        "title": _title(outcome),
        "questions": [
            q for q in dict.fromkeys(m["asked"]["study"].get("question", "") for m in outcome.manifests) if q
        ],
        "unfinished": _unfinished(outcome),
        "models": _models(outcome),
        "sections": parts,
        "signatures": signatures.texts,
        "notes": outcome.notes,
        "references": [*cited(text for part in parts for text in part["cited"]), REFERENCES["penchant"]],
        "runs": [_run(manifest) for manifest in outcome.manifests],
        "css": _asset("page.css"),
        "script": _asset("page.js"),
        "library": _library(),
        "weight": "Nothing is fetched from a network.",
    }
    beside, said = _settle([part for part in parts if part["listing"]], blocks, context, folder)
    return environment().get_template("page.html").render(context, blocks=blocks.items()), beside, said


def _settle(
    parts: list[dict[str, Any]], blocks: dict[str, str], context: dict[str, Any], folder: str
) -> tuple[dict[str, str], list[str]]:
    """Add the items to the blocks as far as there is room: tables first, then tokens; the rest is left beside."""
    for part in parts:
        part["listing"].update(said="", beside="")
    bare = len(environment().get_template("page.html").render(context, blocks=blocks.items()).encode()) + 2000 * len(
        parts
    )
    room = LIMIT - bare
    found: dict[str, Packed] = {}
    for left, part in zip(range(len(parts), 0, -1), sorted(parts, key=_items), strict=True):
        name = part["listing"]["id"]
        found[name] = pack(part["table"], name, max(1, room // left))  # what the smaller ones leave is the larger ones'
        room -= len(found[name].table)
    packed = [found[part["listing"]["id"]] for part in parts]
    beside: dict[str, str] = {}
    said = []
    for part, own in zip(parts, packed, strict=True):
        blocks[f"{own.name}-table"] = own.table
        size = sum(map(len, own.details.values()))
        noun = part["listing"]["noun"]
        words = []
        if own.shown < own.total:
            words.append(
                f"{own.shown:,} of {own.total:,} {noun} are shown, evenly spaced, for the size of the page; all are in "
                "items.parquet."
            )
        if size <= room:
            blocks.update(own.details)
            room -= size
        else:
            beside.update(own.details)
            part["listing"]["beside"] = folder
            words.append(
                f"The tokens of each of the {noun}, {size / 1e6:.1f} MB, are in the folder {folder} beside this page; "
                "keep the two together to open one."
            )
        part["listing"]["said"] = " ".join(words)
        said += words
    if not beside:
        context["weight"] = "One file; nothing is fetched from a network."
    return beside, said


def _items(part: dict[str, Any]) -> int:
    return len(part["table"].columns[0].values)


def _themed(part: Any) -> Any:
    """A chart that takes the colour of the page's text where it has the ink's."""
    if isinstance(part, Mapping):
        return {key: _themed(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_themed(value) for value in part]
    return "var(--ink)" if part == INK else part


def _title(outcome: Outcome) -> str:
    return " and ".join(dict.fromkeys(manifest["asked"]["study"]["study"] for manifest in outcome.manifests))


def _unfinished(outcome: Outcome) -> str:
    """What is missing of a study that was stopped."""
    words = []
    for manifest in outcome.manifests:
        asked = manifest["asked"]
        wanted = len(asked["probes"]) * len(asked["study"]["models"])
        if manifest["status"] != "finished":
            words.append(
                f"{len(manifest['units'])} of {wanted} probes and models of {asked['study']['study']} are done and "
                "shown, without the differences between models; penchant run … --resume goes on."
            )
    return " ".join(words)


def _models(outcome: Outcome) -> list[dict[str, str]]:
    shown = {result.signature["model"] for result in outcome.results.values()}
    found: dict[str, dict[str, str]] = {}
    for manifest in outcome.manifests:
        for unit in manifest["units"].values():
            model = unit["model"]
            if model["name"] in shown:
                line = f"{model['kind']}, {model['dtype']} on {model['device']}, fingerprint {model['fingerprint']}"
                found.setdefault(model["name"], {"name": model["name"], "line": line})
    return list(found.values())


def _made(name: str, record: Mapping[str, Any]) -> str:
    """What was made for the study, and of which text."""
    texts = ", ".join(f"{own['name']} (sha256 {own['sha256']})" for own in record["texts"])
    return f"{name}, sha256 {record['sha256']}, of {texts}"


def _run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """How a result directory was made."""
    attempts = manifest["attempts"]
    software, hardware = manifest["software"], manifest["hardware"]
    facts = [
        ("begun", attempts[0]["started"]),
        ("finished", attempts[-1]["finished"] or "no"),
        *([("attempts", str(len(attempts)))] if len(attempts) > 1 else []),
        ("penchant", manifest["penchant"]),
        ("software", ", ".join(f"{name} {version}" for name, version in software.items())),
        ("hardware", ", ".join(f"{name} {value}" for name, value in hardware.items() if value)),
        *(("data", f"{Path(file).name}, sha256 {digest}") for file, digest in sorted(manifest["data"].items())),
        *(("made", _made(name, own)) for name, own in manifest.get("prepared", {}).items()),
    ]
    if len(manifest["data"]) > 6:
        facts = [fact for fact in facts if fact[0] != "data"]
        facts.append(("data", f"{len(manifest['data'])} files; manifest.json has the sha256 of each"))
    units = [
        {
            "name": f"{name.split(' | ')[0]}, {unit['model']['name']}",
            "forward": f"{unit['counts']['forward']:,}",
            "cached": f"{unit['counts']['cached']:,}",
            "seconds": f"{unit['seconds']:,.1f}",
        }
        for name, unit in manifest["units"].items()
    ]
    asked = yaml.safe_dump(manifest["asked"]["study"], sort_keys=False, allow_unicode=True)
    return {"title": manifest["asked"]["study"]["study"], "facts": facts, "units": units, "asked": asked}


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text("utf-8"))


def _library() -> Markup:
    """Vega, Vega-Lite and vega-embed, as the package that draws the static charts carries them."""
    import vl_convert

    return Markup(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # without a snippet: all of it
