"""Checkpoints of a training run as models of a study, with their training steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from penchant.errors import StudyError
from penchant.limits import COUNT
from penchant.tables.yaml_json_documents import SETTINGS
from penchant.text_io import is_directory, is_file

_PATTERN = re.compile(r"[*?]")
_STEP = re.compile(r"(?:step|checkpoint)[-_]?([0-9]+)", re.IGNORECASE)
Name = Annotated[str, Field(min_length=1)]
Step = Annotated[int, Field(ge=0, le=COUNT)]
Steps = Mapping[str, int]
"""Mapping from the name of each checkpoint to its training step."""


class Family(BaseModel):
    """Checkpoints of one training run, listed among the models of a study."""

    model_config = SETTINGS
    family: Name
    """A model on the hub, a directory of checkpoints, or a pattern for directories such as runs/small-step-*."""
    revisions: Annotated[list[Name], Field(min_length=1)] | Annotated[dict[Step, Name], Field(min_length=1)] | None = (
        None
    )
    """Hub revisions, or folders in the directory: a list of names that contain a step, or a mapping from step to name.

    Examples of such names are step1000 and checkpoint-1000. A pattern takes no revisions.
    """

    def checkpoints(self, base: Path) -> tuple[str, dict[str, int]]:
        """Return the family's label and a mapping from checkpoint names to training steps, sorted by step.

        Directories are searched for in the current directory, then in `base`. Raises StudyError if the family
        lists no checkpoints, or a step or checkpoint twice.
        """
        if _PATTERN.search(self.family):
            if self.revisions is not None:
                raise StudyError(f"'{self.family}' is a pattern, so it takes no revisions")
            found = _matching(self.family, base)
            named = list(found)
        else:
            if self.revisions is None:
                raise StudyError(f"'{self.family}' lists no checkpoints", hint="list revisions, or give a pattern")
            named = list(self.revisions.values() if isinstance(self.revisions, dict) else self.revisions)
            folder = any(is_directory(place / self.family) for place in (Path(), base))
            found = [f"{self.family}{'/' if folder else '@'}{name}" for name in named]
        steps = list(self.revisions) if isinstance(self.revisions, dict) else [step_in(name) for name in named]
        twofold: Sequence[tuple[str, Sequence[object]]] = (("step", steps), ("checkpoint", found))
        for what, values in twofold:
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise StudyError(f"'{self.family}' lists the {what} {twice} twice")
        return self._called(), dict(sorted(zip(found, steps, strict=True), key=lambda each: each[1]))

    def _called(self) -> str:
        parts = [part for part in self.family.split("/") if part]
        while parts and _PATTERN.search(parts[-1]):
            before = _PATTERN.split(parts.pop())[0]
            before = re.sub(r"[-_]?(global|step|checkpoint|[-_])*$", "", before, flags=re.IGNORECASE)
            if before:
                return before
        return parts[-1] if parts else self.family


def step_in(name: str) -> int:
    """Return the step in a checkpoint's name, such as step1000 or small-checkpoint-1000.

    Raises StudyError unless the name contains exactly one step.
    """
    found = _STEP.findall(name.rstrip("/").rpartition("/")[2])
    if len(found) != 1 or int(found[0]) > COUNT:
        how_many = "no step" if not found else "several steps" if len(found) > 1 else f"a step above {COUNT:,}"
        raise StudyError(
            f"'{name}' contains {how_many}, expected one, for example step1000",
            hint=f"write revisions: {{STEP: {name}}}",
        )
    return int(found[0])


def _matching(pattern: str, base: Path) -> list[str]:
    root = Path(Path(pattern).anchor)
    for place in (root,) if Path(pattern).is_absolute() else (Path(), base):
        found = sorted(
            path for path in place.glob(str(Path(pattern).relative_to(root))) if is_file(path / "config.json")
        )
        if found:
            return [str(path if place == root else path.relative_to(place)) for path in found]
    raise StudyError(f"no directory that matches '{pattern}' contains a model")


def together(families: Mapping[str, Steps], a: str, b: str) -> bool:
    """Return whether two models are checkpoints of one training run, or of two runs at different steps."""
    ours, theirs = (
        next(((family, steps[model]) for family, steps in families.items() if model in steps), None) for model in (a, b)
    )
    return ours is not None and theirs is not None and (ours[0] == theirs[0] or ours[1] != theirs[1])


def labels(families: Mapping[str, Steps]) -> Iterator[tuple[str, str]]:
    """Yield each checkpoint's name and its label, family@step."""
    for family, steps in families.items():
        for model, step in steps.items():
            yield model, f"{family}@{step}"
