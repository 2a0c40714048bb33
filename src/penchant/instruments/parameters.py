"""Types of probes' parameters whose calls take more than they keep: a table where a file is kept, a mapping where a
record is.

`data: Annotated[Given[str, Data], CITED, Table(…)]` is a `str` for pydantic and for whoever reads it, and a type
checker lets a call give all of `Data`. A field of such a type has its default from `default_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import polars as pl
from pydantic import Field

K = TypeVar("K")
G = TypeVar("G")

File: TypeAlias = str | Path
"""What a call gives where one file is read."""
Files: TypeAlias = str | Path | Iterable[str | Path]
"""What a call gives where files are read."""
Data: TypeAlias = str | Path | pl.LazyFrame | Iterable[Any]
"""What a call gives where files or tables are read: names, a frame of polars or pandas, rows, or columns."""
Columns: TypeAlias = Mapping[str, str]
"""What columns are called, by field."""

if TYPE_CHECKING:

    class Given(Generic[K, G]):
        """A field that keeps a K, and for which a call gives a G: checkers take the type of such a field's parameter
        from `__set__`."""

        def __get__(self, probe: object, owner: Any = None) -> K: ...

        def __set__(self, probe: object, value: G) -> None: ...

else:

    class Given:
        """The first of two types, which is what pydantic checks."""

        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            return types[0]


def default_of(*, default: Any) -> Any:
    """A field with a default, of a type that is `Given`."""
    return Field(default=default)
