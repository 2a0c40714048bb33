"""What goes wrong with the Hugging Face hub, in one line each: the reason and what to do about it."""

from __future__ import annotations

from http import HTTPStatus

from penchant.errors import ModelError

_LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
_BUSY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_WRONG_NAME = "check the name, or give the path of a local copy"


def is_unreachable(error: Exception) -> bool:
    """Whether the hub gave no answer that says anything of the model, so that a local copy is as good."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    status = _status(error)
    return isinstance(error, OfflineModeIsEnabled) or _is_a(error, "TransportError") or _failing(status)


def is_transient(error: Exception) -> bool:
    """Whether the server says that it fails, which may have passed a moment later."""
    return (_status(error) or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR


def explained(
    error: Exception, given: str, name: str, revision: str | None, *, file: str = "", cached: bool = False
) -> ModelError:
    """The error of `huggingface_hub` in one line.

    `file` was being fetched; `cached` says that a part of the model is in the local cache.
    """
    from huggingface_hub.errors import LocalEntryNotFoundError

    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    reason, hint = _refused(error, name, revision, file) or _failed(error, file)
    if cached:
        reason += ", and the local hub cache holds only a part of the model"
    return ModelError(reason, where=given, hint=hint)


def _refused(error: Exception, name: str, revision: str | None, file: str) -> tuple[str, str] | None:
    """The reason and the way out if the hub has no such thing, or does not give it."""
    from huggingface_hub import constants
    from huggingface_hub import errors as hub

    if isinstance(error, hub.HFValidationError):
        return "no such file or directory, and no name that a model on the hub can have", _WRONG_NAME
    if isinstance(error, hub.GatedRepoError):
        terms = f"accept its terms at {constants.ENDPOINT}/{name}"
        return "the hub gives this model only to those who accepted its terms", f"{terms}, then {_LOG_IN}"
    if isinstance(error, hub.DisabledRepoError):
        return "the hub has disabled this model", "use another model"
    if _header(error, "X-Error-Message").startswith("Invalid credentials"):
        return "the hub does not accept your token", "log in again with `hf auth login`, or correct HF_TOKEN"
    if isinstance(error, hub.RepositoryNotFoundError) or _status(error) == HTTPStatus.UNAUTHORIZED:
        private = f"for a private model {_LOG_IN}"
        return "no such directory, and the hub has no public model of that name", f"check the name; {private}"
    if isinstance(error, hub.RevisionNotFoundError):
        return f"the hub has no branch, tag or commit '{revision}' of {name}", "check what follows the @"
    if isinstance(error, hub.EntryNotFoundError) and not isinstance(error, hub.LocalEntryNotFoundError):
        return f"the hub's repository holds no {file or 'config.json'}", "name a model saved by save_pretrained"
    if _status(error) == HTTPStatus.FORBIDDEN:
        return "the hub forbids access to this model (403)", f"ask for access at {constants.ENDPOINT}/{name}, {_LOG_IN}"
    return None


def _failed(error: Exception, file: str) -> tuple[str, str]:
    """The reason and the way out if the hub could not be reached, or the transfer failed."""
    from huggingface_hub import constants
    from huggingface_hub.errors import FileMetadataError, OfflineModeIsEnabled

    status, what = _status(error), file or "the model"
    if isinstance(error, OfflineModeIsEnabled):
        return (
            "no such directory, and it cannot be fetched: the hub is switched off (HF_HUB_OFFLINE)",
            "give the path of a local copy, or unset HF_HUB_OFFLINE",
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = _header(error, "Retry-After")
        period = f" for {wait} s" if wait.isdigit() else ""
        return f"the hub takes no more requests{period} (429)", f"wait and run again; for a higher limit {_LOG_IN}"
    if _failing(status):
        return f"{what} cannot be fetched: the hub fails ({status})", "run again later"
    if _is_a(error, "TimeoutException"):
        setting = "HF_HUB_DOWNLOAD_TIMEOUT" if file and _method(error) == "GET" else "HF_HUB_ETAG_TIMEOUT"
        waited = f"{constants.ENDPOINT} sent nothing for {getattr(constants, setting)} s"
        return f"{what} cannot be fetched: {waited}", f"run again, or allow more seconds with {setting}"
    if isinstance(error, FileMetadataError):
        return f"{constants.ENDPOINT} does not answer as a hub does", "check HF_ENDPOINT, the proxy and the firewall"
    broken = status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or "Consistency check failed" in str(error)
    if broken or isinstance(error, ConnectionError) or _is_a(error, "RemoteProtocolError", "ReadError"):
        return f"the download of {what} broke off", "run again"
    if _is_a(error, "TransportError"):
        return (
            f"no such directory, and the hub at {constants.ENDPOINT} cannot be reached ({_first_line(error)})",
            "check the network, or give the path of a local copy",
        )
    return f"{what} cannot be fetched from the hub: {_first_line(error)}", _WRONG_NAME


def _status(error: Exception) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _method(error: Exception) -> str:
    try:
        return str(getattr(getattr(error, "request", None), "method", ""))
    except RuntimeError:  # which httpx raises for an error without a request
        return ""


def _failing(status: int | None) -> bool:
    return status is not None and (status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR)


def _header(error: Exception, name: str) -> str:
    headers = getattr(getattr(error, "response", None), "headers", {})
    return str(headers.get(name) or "")


def _is_a(error: Exception, *names: str) -> bool:
    """Whether an error is of one of these classes of httpx, which `huggingface_hub` uses under more than one name."""
    return any(parent.__name__ in names for parent in type(error).__mro__)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
