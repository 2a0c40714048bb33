"""Parsing of untrusted forms, with checks of their size, their origin and the range of numbers."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

BODY = 16 * 1024
"""Maximum size of a form in bytes."""
_FORM = "application/x-www-form-urlencoded"


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raises HTTPException if the form is invalid, too large or from another site."""
    origin = request.headers.get("origin", "")
    if origin and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise HTTPException(403, "This form comes from another site.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, "The request is not a form.")
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY:
                raise HTTPException(413, "The form is too long. Shorten the comment.")
    except ClientDisconnect as error:
        raise HTTPException(400, "The form was not received in full.") from error
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20, errors="strict"))
    except ValueError as error:
        raise HTTPException(400, "The form is invalid.") from error


def whole(text: str) -> int | None:
    """Parse a non-negative integer of at most nine digits; return None for other strings."""
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else None
