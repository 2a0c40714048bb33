"""Settings of a probe: its parameters, without the methods that measure a model.

Estimates, comparisons and report sections receive settings; a result stores its settings as JSON.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from penchant.call_checks import unknown_attribute
from penchant.errors import MethodError, StudyError, in_words, shortened, without_folders
from penchant.instruments.probe_constructor import PARAMETERS, Called, explain
from penchant.instruments.probe_field_types import in_json, names_files, without_place
from penchant.limits import COUNT, LARGEST, RESAMPLES, SEED
from penchant.report.no_difference_table import DifferenceScale
from penchant.tables.yaml_json_documents import SETTINGS


class Settings(BaseModel, metaclass=Called):
    """Parameters common to all probes; a subclass adds those of an instrument as fields."""

    model_config = ConfigDict(**SETTINGS, json_schema_extra=lambda schema: _shorten(schema))
    name: ClassVar[str]
    """The name of the probe in a study."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Parameters that reproduce the conventions of another tool, by the name of the tool."""
    limited: ClassVar[str] = ""
    """Plural noun for the items that `limit` counts, such as "pairs"; empty for an instrument without pilots."""

    difference_scale: ClassVar[DifferenceScale] = DifferenceScale()
    """Scale of the differences between models: their largest size and their format."""

    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """Confidence level of the intervals."""
    resamples: Annotated[int, Field(ge=100, le=RESAMPLES)] = 10_000
    """Number of bootstrap resamples, and of random draws in randomisation tests."""
    seed: Annotated[int, Field(ge=0, le=SEED)] = 0
    """Seed of every random step."""
    equivalence: Annotated[float, Field(gt=0, le=LARGEST)] | None = None
    """The largest difference between two models that you consider negligible, chosen before seeing any result.

    Models are equivalent if their difference is shown to be smaller (two one-sided tests). Give a proportion of pairs
    for accuracies (0.05 is 5 points), a value on their own scale for β, δ and effect sizes, and points of the scale
    from 1 to 5 for ratings.
    """
    limit: Annotated[int, Field(ge=1, le=COUNT)] | None = None
    """A pilot: at most this many items, sampled with the seed and spread evenly over their groups. Default: all."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Add the parameters to the docstring and the signature of a subclass, for `help`."""
        own = [name for name in cls.model_fields if name not in Settings.model_fields]
        explain(cls, own)

    @field_validator("equivalence")
    @classmethod
    def _can_be_exceeded(cls, bound: float | None) -> float | None:
        if bound is not None and (refusal := cls.difference_scale.refusal(bound)):
            raise ValueError(refusal)
        return bound

    @model_validator(mode="after")
    def _can_be_limited(self) -> Self:
        if self.limit is not None and not self.limited:
            raise ValueError(f"{self.name} does not support pilots, so limit cannot be set")
        return self

    @property
    def way(self) -> str:
        """The suffix of the probe's directory in a study; "" for the usual way of measuring."""
        return ""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                return super().__getattr__(name)  # where pydantic keeps private attributes
            raise unknown_attribute(type(self), name, type(self).__name__)

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_"):
                message = "the parameters of a probe cannot be changed"
                raise MethodError(message, where=f"{type(self).__name__}, {name}", hint="create a new probe")
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        fields = type(self).model_fields
        chosen = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters if name in fields}
        shown = (
            f"{name}={shortened(value)}"
            for name, value in chosen.items()
            if fields[name].is_required() or value != fields[name].get_default()
        )
        return f"{type(self).__name__}({without_folders(', '.join(shown))})"

    def __str__(self) -> str:
        return repr(self)

    def saved(self) -> dict[str, Any]:
        """Return the settings in JSON types, as stored in a result.

        File names are stored as passed; absolute paths are reduced to file names.
        """
        return {
            name: in_json(without_place(value) if names_files(type(self), name) else value)
            for name, value in self.model_dump().items()
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Self:
        """Return the settings stored in a result. Raises StudyError if they are invalid."""
        try:
            return cls.model_validate_json(json.dumps(saved))
        except ValidationError as error:
            first = error.errors()[0]
            place = ", ".join(("settings", *map(str, first["loc"])))
            raise StudyError(in_words(first), where=place, hint="measure again") from None


explain(Settings, ())


def _shorten(schema: dict[str, Any]) -> None:
    """Remove the list of parameters from a schema's description."""
    schema["description"] = str(schema.get("description", "")).partition(PARAMETERS)[0]
