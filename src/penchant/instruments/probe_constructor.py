"""Calls to the constructors of probes, and the parameters that `help` shows for them."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field, PrivateAttr, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import dataclass_transform

from penchant.call_checks import as_written, shown_type, unknown_name
from penchant.errors import MethodError, in_words, one_of, shortened
from penchant.instruments.probe_field_types import TableField, default_of, taken

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

PARAMETERS = "\n\nParameters\n----------\n"
"""Heading between the description of a probe and its parameters."""
_BOUNDS = {"Gt": "above", "Ge": "at least", "Lt": "below", "Le": "at most"}


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, PrivateAttr, default_of))
class Called(ModelMetaclass):
    """Metaclass of probes: an invalid call raises a one-line error, and tables are accepted in place of files.

    The data, a field with `kw_only=False`, may be passed as the first positional argument. The decorator
    `dataclass_transform` shows the fields to type checkers as parameters; mypy does not look for it in pydantic's own
    metaclass.
    """

    if not TYPE_CHECKING:  # pyright takes the __call__ of a metaclass for the whole signature

        def __call__(self, *given: Any, **fields: Any) -> Any:
            """Create a probe. Raises MethodError or DataError if the call is invalid."""
            probe: Any = self
            known, name, ordered = probe.model_fields, probe.__name__, inspect.signature(probe).parameters
            if len(given) == 1 and "data" in known and "data" not in fields:
                fields = {"data": given[0], **fields}
            elif given:
                raise MethodError(
                    "parameters must be passed by name", where=name, hint=f"write {next(iter(ordered))}=…"
                )
            for field in fields:
                if field not in known:
                    raise unknown_name(field, ordered, where=name, what="parameter")
            try:
                return super().__call__(**taken(probe, fields))
            except ValidationError as error:
                found = error.errors()
                first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
                raise _unfit(probe, fields, first) from None

    def __dir__(self) -> list[str]:
        """List the attributes of a probe class, without those inherited from pydantic's `BaseModel`."""
        names = (name for name in super().__dir__() if name not in vars(BaseModel))
        return [name for name in names if not name.startswith(("__", "model_"))]


def _unfit(probe: type[BaseModel], fields: Mapping[str, Any], error: Mapping[str, Any]) -> MethodError:
    """Return the error for an invalid value of a parameter or an unknown key in a mapping."""
    name, *keys = (str(part) for part in error["loc"] if part != "[key]") if error["loc"] else ("",)
    where = ", ".join(part for part in (probe.__name__, name) if part)
    known = _keys(probe.model_fields[name].annotation) if keys else []
    if known and keys[0] not in known:
        given = fields.get(name)
        value = given.get(keys[0]) if isinstance(given, Mapping) else None
        hint = f"the keys are {', '.join(known)}" if value in known else one_of(keys[0], known)
        if value in known:
            hint = f"swap key and value, as in {{{value!r}: {keys[0]!r}}}: {hint}"
        return MethodError(f"unknown key {shortened(keys[0])}", where=where, hint=hint)
    package = probe.__module__.partition(".")[0]
    return MethodError(in_words(error), where=where, hint=f"help({package}.{probe.__name__}) describes every parameter")


def _keys(annotation: Any) -> list[str]:
    """Return the keys allowed in a mapping of this type; empty if all keys are allowed."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return list(annotation.model_fields)
    parts = get_args(annotation)
    if get_origin(annotation) is dict:
        return list(get_args(parts[0])) if get_origin(parts[0]) is Literal else []
    return next((keys for keys in map(_keys, parts) if keys), []) if get_origin(annotation) is not Literal else []


def explain(probe: type[BaseModel], own: Collection[str]) -> None:
    """Set the signature of a probe class and add its parameters to its docstring.

    Required parameters come first, then the probe's `own` parameters, then those common to all probes.
    """
    fields = probe.model_fields
    order = sorted(fields, key=lambda name: (not fields[name].is_required(), name not in own))
    setattr(probe, "__signature__", _signature({name: fields[name] for name in order}))  # noqa: B010
    doc = vars(probe).get("__doc__")
    if doc and PARAMETERS not in doc:
        parameters = (_explained(name, fields[name]) for name in order)
        probe.__doc__ = inspect.cleandoc(doc) + PARAMETERS + "\n".join(parameters)


def _explained(name: str, field: FieldInfo) -> str:
    """Format a parameter in numpy's style: name, type, bounds, default and description."""
    kinds = ((type(part).__name__, part) for part in field.metadata)
    bounds = [f"{_BOUNDS[kind]} {getattr(part, kind.lower())}" for kind, part in kinds if kind in _BOUNDS]
    default = "required" if field.is_required() else f"default {field.get_default()!r}"
    text = " ".join((field.description or "").split())
    head = ", ".join([_type(field), *bounds, default])
    return f"{name} : {head}\n{textwrap.indent(textwrap.fill(text, 110), '    ')}"


def _type(field: FieldInfo) -> str:
    """Return the type of a parameter as written in code, with "table" if tables are accepted."""
    shown = shown_type(field.annotation)
    if not any(isinstance(part, TableField) for part in field.metadata):
        return shown
    return f"{shown.removesuffix(' | None')} | table{' | None' if shown.endswith(' | None') else ''}"


def _signature(fields: dict[str, FieldInfo]) -> inspect.Signature:
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD if name == "data" else inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.get_default(),
            annotation=_type(field),
        )
        for name, field in fields.items()
    ]
    return as_written(inspect.Signature(parameters))
