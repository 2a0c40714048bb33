"""What the readers of data sets share: fields of text, and YAML files checked against a model."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ValidationError

from penchant.errors import DataError, finding

Model = TypeVar("Model", bound=BaseModel)


def as_text(value: object) -> str:
    """A text that is not blank, in NFC; numbers are read as what they look like."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a text is wanted, got {value!r}")
    text = unicodedata.normalize("NFC", str(value)).strip()
    if not text:
        raise ValueError("the field is blank")
    return text


Text = Annotated[str, BeforeValidator(as_text)]
"""A field of a table that holds text."""


def read_document(path: Path, model: type[Model], *, hint: str) -> Model:
    """A YAML file as an instance of a pydantic model. Raises DataError naming file, line or key; `hint` says where the
    keys are told."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
        if not isinstance(content, dict):
            keys = ", ".join(list(model.model_fields)[:4])
            raise DataError(f"the file holds keys such as {keys}", file=path, hint=hint)
        return model.model_validate(content)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise DataError(f"is not YAML: {getattr(error, 'problem', error)}", file=path, line=line) from error
    except ValidationError as error:  # a ValueError too, so it comes first
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(finding(first), where=f"{path}, {field}" if field else str(path), hint=hint) from error
    except ValueError as error:  # such as the date 2024-13-45
        raise DataError(f"holds a value that is none: {error}", file=path, hint="put it in quotes") from error
