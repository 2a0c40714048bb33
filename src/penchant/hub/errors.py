"""One-line errors for failures of the Hugging Face hub, with reasons and remedies."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from penchant.errors import DataError, ModelError, PenchantError

_LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
_BUSY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_WRONG_NAME = "check the name, or give the path of a local copy"


@dataclass(frozen=True, slots=True)
class RepositoryKind:
    """A kind of repository on the hub, with the wording and exception class of its error messages.

    `under` is the prefix of the paths of such repositories on the hub, `absent` the beginning of the message about a
    missing repository, `main_file` the file that each repository contains, and `hint` the hint about a missing file.
    """

    noun: str
    under: str
    absent: str
    main_file: str
    hint: str
    error: type[PenchantError]


MODEL = RepositoryKind(
    "model", "", "no such directory, and ", "config.json", "give a model saved by save_pretrained", ModelError
)
"""The wording for models."""
DATA_SET = RepositoryKind(
    "data set", "datasets/", "", "such file", "see the files of the data set on the hub", DataError
)
"""The wording for data sets."""


def is_unreachable(error: Exception) -> bool:
    """Return whether the hub gave no usable answer, so that a local copy may be used instead."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    status = _status(error)
    return isinstance(error, OfflineModeIsEnabled) or _is_a(error, "TransportError") or _failing(status)


def is_transient(error: Exception) -> bool:
    """Return whether an error is a server error, which may be temporary."""
    return (_status(error) or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR


def explained(
    error: Exception,
    given: str,
    name: str,
    revision: str | None,
    *,
    file: str = "",
    cached: bool = False,
    wanted: RepositoryKind = MODEL,
) -> PenchantError:
    """Convert an error of `huggingface_hub` to a one-line error.

    `given` is the model or data set as the user named it, `name` the repository's name, and `file` the file that was
    being downloaded, if any. `cached` is true if a part of the repository is in the local cache.
    """
    from huggingface_hub.errors import LocalEntryNotFoundError

    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    reason, hint = _refused(error, name, revision, file, wanted) or _failed(error, file, wanted)
    if cached:
        reason += f", and the local hub cache contains only a part of the {wanted.noun}"
    return wanted.error(reason, where=given, hint=hint)


def _refused(
    error: Exception, name: str, revision: str | None, file: str, wanted: RepositoryKind
) -> tuple[str, str] | None:
    """Return the reason and the hint if the hub lacks the repository or file or refuses access, otherwise None."""
    from huggingface_hub import constants
    from huggingface_hub import errors as hub

    if isinstance(error, hub.HFValidationError):
        return f"no such file or directory, and not a valid name of a {wanted.noun} on the hub", _WRONG_NAME
    if isinstance(error, hub.GatedRepoError):
        terms = f"accept its terms at {constants.ENDPOINT}/{wanted.under}{name}"
        return f"this {wanted.noun} is available only to users who have accepted its terms", f"{terms}, then {_LOG_IN}"
    if isinstance(error, hub.DisabledRepoError):
        return f"the hub has disabled this {wanted.noun}", f"use another {wanted.noun}"
    if _header(error, "X-Error-Message").startswith("Invalid credentials"):
        return "the hub rejects your token", "log in again with `hf auth login`, or correct HF_TOKEN"
    if isinstance(error, hub.RepositoryNotFoundError) or _status(error) == HTTPStatus.UNAUTHORIZED:
        private = f"for a private {wanted.noun}, {_LOG_IN}"
        return f"{wanted.absent}the hub has no public {wanted.noun} of that name", f"check the name; {private}"
    if isinstance(error, hub.RevisionNotFoundError):
        return f"the hub has no branch, tag or commit '{revision}' of {name}", "check the name after the @"
    if isinstance(error, hub.EntryNotFoundError) and not isinstance(error, hub.LocalEntryNotFoundError):
        return f"the hub's repository has no {file or wanted.main_file}", wanted.hint
    if _status(error) == HTTPStatus.FORBIDDEN:
        return (
            f"the hub forbids access to this {wanted.noun} (403)",
            f"request access at {constants.ENDPOINT}/{wanted.under}{name}, then {_LOG_IN}",
        )
    return None


def _failed(error: Exception, file: str, wanted: RepositoryKind) -> tuple[str, str]:
    """Return the reason and the hint for a hub that could not be reached or a transfer that failed."""
    from huggingface_hub import constants
    from huggingface_hub.errors import FileMetadataError, OfflineModeIsEnabled

    status, what = _status(error), file or f"the {wanted.noun}"
    if isinstance(error, OfflineModeIsEnabled):
        return (
            f"{wanted.absent}it cannot be downloaded: access to the hub is disabled (HF_HUB_OFFLINE)",
            "give the path of a local copy, or unset HF_HUB_OFFLINE",
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = _header(error, "Retry-After")
        period = f" for {wait} s" if wait.isdigit() else ""
        return f"the hub rejects further requests{period} (429)", f"wait and run again; for a higher limit, {_LOG_IN}"
    if _failing(status):
        return f"{what} cannot be downloaded: the hub reports an error ({status})", "run again later"
    if _is_a(error, "TimeoutException"):
        setting = "HF_HUB_DOWNLOAD_TIMEOUT" if file and _method(error) == "GET" else "HF_HUB_ETAG_TIMEOUT"
        waited = f"{constants.ENDPOINT} sent no data for {getattr(constants, setting)} s"
        return f"{what} cannot be downloaded: {waited}", f"run again, or allow more seconds with {setting}"
    if isinstance(error, FileMetadataError):
        return f"{constants.ENDPOINT} does not respond as a hub does", "check HF_ENDPOINT, the proxy and the firewall"
    broken = status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or "Consistency check failed" in str(error)
    if broken or isinstance(error, ConnectionError) or _is_a(error, "RemoteProtocolError", "ReadError"):
        return f"the download of {what} was interrupted", "run again"
    if _is_a(error, "TransportError"):
        return (
            f"{wanted.absent}the hub at {constants.ENDPOINT} cannot be reached ({_first_line(error)})",
            "check the network, or give the path of a local copy",
        )
    return f"{what} cannot be downloaded from the hub: {_first_line(error)}", _WRONG_NAME


def _status(error: Exception) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _method(error: Exception) -> str:
    try:
        return str(getattr(getattr(error, "request", None), "method", ""))
    except RuntimeError:  # httpx raises it for an error without a request
        return ""


def _failing(status: int | None) -> bool:
    return status is not None and (status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR)


def _header(error: Exception, name: str) -> str:
    headers = getattr(getattr(error, "response", None), "headers", {})
    return str(headers.get(name) or "")


def _is_a(error: Exception, *names: str) -> bool:
    """Return whether an error is an instance of an httpx class with one of the given names."""
    return any(parent.__name__ in names for parent in type(error).__mro__)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
