"""Client of a server with the OpenAI completions API: address, access, limits and retries."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from penchant.errors import ClusterError, ModelError, first_line, one_line, one_of, shortened
from penchant.models.score_table import valid_name
from penchant.text_io import refused_character

TOKENIZER = "?tokenizer="
"""Separator between the name of a served model and its tokenizer."""
CHAT = "?chat"
"""Suffix of the name of a served model that gives replies only."""
KEYS = ("PENCHANT_API_KEY", "OPENAI_API_KEY")
"""Environment variables with the key for the server; the first that is set is used."""
LARGEST = 64 << 20
"""Maximum size of a response in bytes."""
TIMEOUT = 600.0
"""Seconds to wait for data from the server, which may process one request at a time."""
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each further attempt."""
LONGEST_WAIT = 60.0
"""Maximum number of seconds to wait if the server asks for a delay (Retry-After)."""
SLOTS = 8
"""Maximum number of parallel requests."""
_BUSY = 429
_STABLE = ("root", "parent", "owned_by", "max_model_len", "meta")
"""Keys of a server's description of a model that do not change between requests and restarts."""


def names_served(spec: str | Path) -> bool:
    """Return whether `spec` names a served model."""
    return str(spec).startswith(("http://", "https://"))


def refuse_cluster(specs: Iterable[str]) -> None:
    """Raise ClusterError if `specs` include a served model, which workers of a cluster cannot load."""
    for spec in filter(names_served, specs):
        hint = "omit --on; the server answers several requests at once"
        raise ClusterError("is a served model, which does not run on a cluster", where=spec, hint=hint)


@dataclass(frozen=True, slots=True)
class ServedAddress:
    """The address of a served model: the base URL of the API, the model's name there, and its tokenizer.

    `tokenizer` is empty if the model gives replies only.
    """

    url: str
    name: str
    tokenizer: str

    @classmethod
    def of(cls, spec: str | Path) -> ServedAddress:
        """Parse `URL#NAME`, `URL#NAME?tokenizer=TOKENIZER` or `URL#NAME?chat`.

        Raises ModelError if the address is invalid; the message shows no password.
        """
        url, _, named = str(spec).partition("#")
        name, _, tokenizer = named.removesuffix(CHAT).partition(TOKENIZER)
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        if not host or refused_character(str(spec)) or any(map(str.isspace, url)):
            raise ModelError("is not valid", where="the address of a served model", hint="use http://HOST:PORT/v1#NAME")
        if "@" in parts.netloc:
            message, hint = "contains a user name or password", f"remove it, and set {KEYS[0]}"
            raise ModelError(message, where=f"the address of a model at {host}", hint=hint)
        if parts.query or not name:
            message = "the address does not name a model of the server"
            raise ModelError(message, where=f"{parts.scheme}://{parts.netloc}{parts.path}", hint="add #NAME")
        name = valid_name(name, url)
        return cls(url.rstrip("/"), name, "" if named.endswith(CHAT) else tokenizer or name)

    def __str__(self) -> str:
        return f"{self.url}#{self.name}"


class _LogProbs(BaseModel):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(BaseModel):
    logprobs: _LogProbs | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None


class _Body(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Message(BaseModel):
    content: str | None = None


class _Reply(BaseModel):
    message: _Message


class _Chat(BaseModel):
    choices: list[_Reply]


@dataclass(frozen=True, slots=True)
class Completion:
    """The tokens of a completion and their log-probabilities (None for a token without one).

    `top` has, for each position, a mapping from the most probable tokens to their log-probabilities, or None.
    `prompt_tokens` is the number of tokens in the prompt according to the server, or None.
    """

    tokens: Sequence[str]
    logprobs: Sequence[float | None]
    top: Sequence[dict[str, float] | None]
    prompt_tokens: int | None


class RefusedRequestError(ModelError):
    """Raised if a server refuses a request, for example because it takes only text and the request has token ids."""


class Client:
    """Client of one served model. Requests may be made in several threads."""

    def __init__(self, address: ServedAddress) -> None:
        import httpx2

        self.address = address
        self._key = _key()
        here = urlsplit(address.url).hostname in ("localhost", "127.0.0.1", "::1")
        self._http = httpx2.Client(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx2.Timeout(TIMEOUT, connect=min(TIMEOUT, 10.0), pool=None),
            limits=httpx2.Limits(max_connections=SLOTS),
            trust_env=not here,  # no proxy for this machine
        )

    def __repr__(self) -> str:
        return f"<client of {self.address}>"

    def about(self) -> dict[str, Any]:
        """Return the server's description of the model. Raises ModelError if the server fails or has no such model."""
        data = self._json("GET", f"{self.address.url}/models", patient=False)
        listed = data.get("data") if isinstance(data, dict) else None
        models = {each.get("id"): each for each in listed or () if isinstance(each, dict)}
        if self.address.name not in models:
            names = [str(name) for name in models]
            hint = one_of(self.address.name, names) if names else "give the address of its API: http://HOST:PORT/v1"
            raise self._error(f"the server has no model '{self.address.name}'", hint)
        return {key: models[self.address.name].get(key) for key in _STABLE}

    def version(self) -> str:
        """Return the version that the server states, or "" if it states none."""
        parts = urlsplit(self.address.url)
        try:
            stated = self._json("GET", f"{parts.scheme}://{parts.netloc}/version", patient=False)
        except ModelError:
            return ""
        version = stated.get("version") if isinstance(stated, dict) else None
        return one_line(version)[:80] if isinstance(version, str) else ""

    def fingerprint(self, tokenizer: str) -> str:
        """Return the SHA-256 of the address, the server's model description and version, and the tokenizer's digest."""
        parts = (self.address.url, self.address.name, self.about(), self.version(), tokenizer)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def complete(
        self, prompt: list[int] | str, *, top: int = 1, echo: bool = True, patient: bool = True
    ) -> Completion | None:
        """Return one generated token, after the prompt's tokens if `echo` is true, with log-probabilities.

        Returns None if the server gives no log-probabilities. `top` is the number of most probable tokens to return at
        each position; see `_send` for `patient`.
        """
        body: dict[str, Any] = {"model": self.address.name, "prompt": prompt, "max_tokens": 1, "temperature": 0}
        ids = {"return_tokens_as_token_ids": True, "repetition_penalty": 1.0}  # vLLM and SGLang
        body |= {"echo": echo, "logprobs": top, **(ids if isinstance(prompt, list) else {"repeat_penalty": 1.0})}
        data = self._send("POST", f"{self.address.url}/completions", body, patient=patient)
        try:
            whole = _Body.model_validate_json(data)
        except ValidationError as error:
            raise self._error(f"returned an invalid completion ({first_line(error)})") from None
        found = whole.choices[0].logprobs if len(whole.choices) == 1 else None
        if found is None:
            return None
        best = found.top_logprobs or [None] * len(found.tokens)
        if not len(found.tokens) == len(found.token_logprobs) == len(best):
            raise self._error("answers with lists of tokens and log-probabilities of different lengths")
        counted = whole.usage.prompt_tokens if whole.usage else None
        return Completion(found.tokens, found.token_logprobs, best, counted)

    def reply(self, messages: Sequence[dict[str, str]], temperature: float, seed: int, most: int) -> str:
        """Return a reply of up to `most` tokens, sampled by the server, which applies its own chat template."""
        body = {"messages": messages, "temperature": temperature, "seed": seed, "max_tokens": most, "n": 1}
        url = f"{self.address.url}/chat/completions"
        data = self._send("POST", url, {"model": self.address.name, **body})
        try:
            (choice,) = _Chat.model_validate_json(data).choices
        except ValueError as error:
            raise self._error(f"did not answer with exactly one reply ({first_line(error)})") from None
        return (choice.message.content or "").strip()

    def _json(self, method: str, url: str, *, patient: bool) -> Any:
        try:
            return json.loads(self._send(method, url, patient=patient))
        except (ValueError, RecursionError):
            hint = "give the address of its OpenAI-compatible API, such as http://HOST:8000/v1#NAME"
            raise self._error("does not answer with JSON", hint) from None

    def _send(self, method: str, url: str, body: object = None, *, patient: bool = True) -> bytes:
        """Return the body of a response with the status 200.

        A request is repeated after a wait if the server is busy or failing. If `patient` is true, it is also repeated
        if the server cannot be reached or has an internal error (500). Raises RefusedRequestError for a refused
        request, ModelError for other failures.
        """
        import httpx2

        for wait in (*WAITS, None):
            try:
                status, asked, data = self._once(method, url, body)
            except httpx2.TransportError as error:
                hopeless = "CERTIFICATE" in str(error) or isinstance(error, httpx2.ReadTimeout)
                if wait is None or hopeless or not patient:
                    raise self._unreachable(error) from None
                asked = 0.0
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise self._error(f"gave an unreadable response ({first_line(error)})") from None
            else:
                if status == 200:
                    return data
                if status != _BUSY and status < (500 if patient else 501):
                    raise self._refused(status, data)
                if wait is None:
                    message = f"is busy or failing ({status}){self._told(data)}"
                    raise self._error(message, "wait, and run again; nothing is lost")
            time.sleep(max(wait, asked))
        raise AssertionError

    def _once(self, method: str, url: str, body: object) -> tuple[int, float, bytes]:
        with self._http.stream(method, url, json=body) as response:
            asked = response.headers.get("Retry-After", "")
            data = bytearray()
            for chunk in response.iter_bytes(1 << 16):
                data += chunk
                if len(data) > LARGEST:
                    raise self._error(f"answers with more than the maximum of {LARGEST >> 20} MiB")
            wait = min(float(asked), LONGEST_WAIT) if asked.isdecimal() else 0.0
            return response.status_code, wait, bytes(data)

    def _unreachable(self, error: Exception) -> ModelError:
        if "CERTIFICATE" in str(error):
            return self._error(
                "its certificate is not valid", "correct the address, or install its authority's certificate"
            )
        told = f"cannot be reached ({first_line(error)})"
        return self._error(told, "start the server, or correct the address")

    def _refused(self, status: int, data: bytes) -> ModelError:
        if 300 <= status < 400:
            return self._error(f"redirects to another address ({status})", "give that address")
        if status in (401, 403):
            return self._error(f"denies access ({status})", f"set {KEYS[0]} to the key of the server")
        return RefusedRequestError(f"refuses the request ({status}){self._told(data)}", where=str(self.address))

    def _told(self, data: bytes) -> str:
        """Return ": " and the beginning of a server's message without the API key, or "" if the message is empty."""
        told = " ".join(data[:2000].decode("utf-8", "replace").split())
        return f": {shortened(told.replace(self._key, '[key]') if self._key else told)}" if told else ""

    def _error(self, message: str, hint: str = "") -> ModelError:
        return ModelError(message, where=str(self.address), hint=hint)


def _key() -> str:
    """Return the API key of the server; "" if none is set. Raises ModelError, without the key, if it is invalid."""
    name = next((name for name in KEYS if os.environ.get(name, "").strip()), "")
    key = os.environ.get(name, "").strip() if name else ""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError("contains a space or a character that is not printable ASCII", where=name, hint="set it again")
    return key
