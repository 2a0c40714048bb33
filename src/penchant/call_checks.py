"""Argument checks for public functions: one-line errors for invalid calls, and readable signatures for `help`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from penchant.errors import MethodError, UnknownKeyError, UnknownNameError, nearest, one_of, shortened

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")
V = TypeVar("V")


class _AsWritten:
    """An annotation whose `repr` is its source text, without quotes."""

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
    "Mapping": (Mapping,),
}
"""Types that `asked` checks, by their names in annotations."""
IN_MEMORY = "_in_memory"
"""Name of the class attribute with the hint that is shown if an instance is passed instead of a path."""
_HELD = re.compile(r"\[.*\]")


def asked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function so that it raises MethodError if the arguments do not match its signature.

    The types of arguments are checked for parameters with plain annotations, such as `int | None`. Numbers of other
    libraries, such as NumPy scalars, are converted to Python numbers.
    """
    signature = inspect.signature(function)
    name = f"{_called(function)}()"
    plain = {p.name: p.annotation for p in signature.parameters.values() if _is_plain(p.annotation)}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            known = [parameter for parameter in signature.parameters if parameter not in ("self", "cls")]
            raise unfit_call(name, error, kwargs, known) from None
        given = bound.arguments
        for parameter in [parameter for parameter in given if parameter in plain]:
            if not _fits(given[parameter], plain[parameter]):
                wanted = " or ".join("a mapping" if part == "Mapping" else part for part in _parts(plain[parameter]))
                hint = getattr(type(given[parameter]), IN_MEMORY, "") if "Path" in plain[parameter] else ""
                hint = hint or _mend(_called(function), signature.parameters[parameter], given[parameter])
                message = f"{parameter} must be {wanted}, got {shortened(given[parameter])}"
                raise MethodError(message, where=name, hint=hint)
            if "Path" in plain[parameter] and "\0" in str(given[parameter]):
                raise MethodError(f"{parameter} contains the character NUL", where=name, hint="check the path")
            given[parameter] = _number(given[parameter])
        return function(*bound.args, **bound.kwargs)

    call.__signature__ = as_written(signature)  # type: ignore[attr-defined]
    return call


def _called(function: Callable[..., object]) -> str:
    return function.__qualname__.split(".")[-2] if function.__name__ == "__init__" else function.__name__


def _mend(function: str, parameter: inspect.Parameter, value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return f"call {function}() once for each element"
    default = parameter.default
    such = f", such as {parameter.name}={default!r}" if default not in (inspect.Parameter.empty, None, "") else ""
    words = {"Integral": "a whole number", "Real": "a number", "str": "a string", "bool": "True or False"}
    types = [each.__name__ for part in _parts(str(parameter.annotation)) for each in _PLAIN[part]]
    wanted = dict.fromkeys(words[each] for each in types if each in words)
    return f"give {' or '.join(wanted)}{such}" if wanted else ""


def _is_plain(annotation: object) -> bool:
    return isinstance(annotation, str) and all(part in _PLAIN for part in _parts(annotation))


def _parts(annotation: str) -> list[str]:
    """Return the names of the types in an annotation, without type parameters."""
    return [part.strip() for part in _HELD.sub("", annotation).split("|")]


def _fits(value: object, annotation: str) -> bool:
    types = tuple(each for part in _parts(annotation) for each in _PLAIN[part])
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _number(value: Any) -> Any:
    """Convert numbers of other libraries, such as NumPy scalars, to Python numbers; return other values unchanged."""
    if isinstance(value, int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def as_written(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature with string annotations displayed without quotes."""
    parameters = [p.replace(annotation=_plain(p.annotation)) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=_plain(signature.return_annotation))


def _plain(annotation: object) -> object:
    return _AsWritten(annotation) if isinstance(annotation, str) else annotation


def shown_type(annotation: Any) -> str:
    """Return a type as written in source code, such as "str | list[str] | None", without `Annotated` metadata."""
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
    """Return the error for a call with an unknown parameter, or with too many or too few arguments."""
    names = list(known)
    unknown = next((argument for argument in given if argument not in names), None)
    if unknown is None:
        return MethodError(str(error), where=name, hint=f"its parameters are {', '.join(names)}")
    return unknown_name(unknown, names, where=name, what="parameter")


def unknown_name(name: str, known: Iterable[str], *, where: str, what: str) -> MethodError:
    """Return the error for an unknown `what` (such as "parameter") called `name`; the hint lists the names `known`."""
    return MethodError(f"unknown {what} {shortened(name)}", where=where, hint=one_of(name, list(known)))


def unknown_attribute(owner: object, name: str, called: str) -> AttributeError:
    """Return the error for a missing attribute, with a hint that lists the public attributes.

    `called` describes the owner in the message. Names with a leading underscore, which notebooks look up, give a plain
    AttributeError.
    """
    if name.startswith("_"):
        return AttributeError(f"{called} has no {name}")
    known = [each for each in dir(owner) if not each.startswith("_")]
    return UnknownNameError(f"has no attribute '{name}'", where=called, hint=one_of(name, known))


class Named(dict[K, V]):
    """A dictionary that raises UnknownKeyError, with similar keys and all keys in the hint, for an unknown key.

    `what` is the noun for a key in the message. Keys with several parts are tuples.
    """

    what = "name"

    def __init__(self, what: str = "name") -> None:
        super().__init__()
        self.what = what

    def __missing__(self, name: Any) -> V:
        names = {_name(key): key for key in self}
        near = nearest(_name(name), names)
        near = near or [shown for shown, key in names.items() if isinstance(key, tuple) and nearest(str(name), key)]
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        hint = f"{meant}use one of {'; '.join(names)}" if names else "there are no names to choose from"
        raise UnknownKeyError(f"unknown {self.what} {_name(name)}", hint=hint)


def _name(key: object) -> str:
    return repr(list(key)) if isinstance(key, tuple) else repr(key)


def kind(value: object) -> str:
    """Return the type of a value for a message: "None", "an int", "a DataFrame"."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
