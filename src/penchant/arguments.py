"""Calls from Python: a call that cannot be made is one line, and `help` shows its parameters as they are written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from penchant.errors import MethodError, one_of, shortened

P = ParamSpec("P")
R = TypeVar("R")


class _AsWritten:
    """An annotation that shows as the source has it, not as a string."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


_PLAIN: Mapping[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (Integral,),
    "float": (Real,),
    "str": (str,),
    "Path": (Path,),
}
"""The types that an argument is checked for, as annotations name them; others are the function's own matter."""


def asked(function: Callable[P, R]) -> Callable[P, R]:
    """A public function that raises MethodError where Python would raise TypeError for the arguments of a call, and for
    an argument that is not of the plain type, such as `int | None`, of its parameter."""
    signature = inspect.signature(function)
    name = f"{function.__name__}()"
    plain = {p.name: p.annotation for p in signature.parameters.values() if _is_plain(p.annotation)}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise unfit_call(name, error, kwargs, signature.parameters) from None
        for parameter in plain.keys() & given.keys():
            if not _fits(given[parameter], plain[parameter]):
                wanted, value = plain[parameter].replace(" | ", " or "), given[parameter]
                raise MethodError(f"{parameter} is {wanted}, got {shortened(value)}", where=name)
        return function(*args, **kwargs)

    call.__signature__ = as_written(signature)  # type: ignore[attr-defined]
    return call


def _is_plain(annotation: object) -> bool:
    return isinstance(annotation, str) and all(part.strip() in _PLAIN for part in annotation.split("|"))


def _fits(value: object, annotation: str) -> bool:
    types = tuple(each for part in annotation.split("|") for each in _PLAIN[part.strip()])
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def as_written(signature: inspect.Signature) -> inspect.Signature:
    """The signature with annotations that are strings shown without quotes."""
    parameters = [p.replace(annotation=_plain(p.annotation)) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=_plain(signature.return_annotation))


def _plain(annotation: object) -> object:
    return _AsWritten(annotation) if isinstance(annotation, str) else annotation


def shown_type(annotation: Any) -> str:
    """A type as it is written, without the metadata of `Annotated`: "str | list[str] | None"."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shown_type(parts[0])
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(shown_type, parts)))
    if origin is Literal:
        return " | ".join(map(repr, parts))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(shown_type, parts))}]"
    return "None" if annotation is type(None) else getattr(annotation, "__name__", str(annotation))


def unfit_call(name: str, error: TypeError, given: Iterable[str], known: Iterable[str]) -> MethodError:
    """The error of a call whose arguments do not fit: an unknown name, or one too many or too few."""
    names = list(known)
    unknown = next((argument for argument in given if argument not in names), None)
    if unknown is None:
        return MethodError(str(error), where=name, hint=f"it takes {', '.join(names)}")
    return unknown_name(unknown, names, where=name, what="parameter")


def unknown_name(name: str, known: Iterable[str], *, where: str, what: str) -> MethodError:
    """The error for a name that is not among those known, with the nearest or all of them."""
    return MethodError(f"unknown {what} {shortened(name)}", where=where, hint=one_of(name, list(known)))


def kind(value: object) -> str:
    """What a value is, for a message: "None", "an int", "a DataFrame"."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
