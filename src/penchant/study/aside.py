"""Models that a study is no longer run with: set aside with all that their results rest on, and taken up again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from penchant.study.manifest import Manifest
from penchant.study.manifest_records import AsideRecord


def set_aside(
    manifest: Manifest,
    probes: Sequence[dict[str, dict[str, Any]]],
    models: Collection[str],
    trained: Mapping[str, Path],
) -> None:
    """Take the units of all but some models out of what a manifest shows, with what they were measured on; nothing on
    the disk changes. `probes` are those that they were asked, `trained` the files of trained vectors by model."""
    gone = dict.fromkeys(unit.spec for unit in manifest.units if unit.spec not in models)
    for spec in gone:
        units = [unit for unit in manifest.units if unit.spec == spec]
        places = {unit.probe for unit in units}
        others = {path.as_posix() for name, path in trained.items() if name != spec}
        manifest.set_aside.append(
            AsideRecord(
                spec=spec,
                units=units,
                skipped=[skip for skip in manifest.skipped if skip.spec == spec],
                data=[record for record in manifest.data if record.probe in places or not record.probe],
                prepared={name: record for name, record in manifest.prepared.items() if name not in others},
                probes=list(probes),
            )
        )
    manifest.units = [unit for unit in manifest.units if unit.spec not in gone]
    manifest.skipped = [skip for skip in manifest.skipped if skip.spec in models]


def take_up(manifest: Manifest, models: Collection[str]) -> list[AsideRecord]:
    """Put back what was set aside of some models, and return it, since it is still to be checked."""
    taken = [record for record in manifest.set_aside if record.spec in models]
    manifest.set_aside = [record for record in manifest.set_aside if record.spec not in models]
    for record in taken:
        manifest.units += record.units
        manifest.skipped += record.skipped
    return taken
