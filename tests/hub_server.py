"""A hub on this machine: repositories with commits, branches and tags, served over HTTP as the Hugging Face hub does.
Those of data sets are called datasets/OWNER/NAME.

Large files (weights) redirect to a second server, as to the hub's storage, which understands ranges and 304. A `Fault`
makes requests fail in one of the ways in which they fail in the world.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from safetensors.torch import load, save

Files = Mapping[str, bytes]
NAME = "someone/tiny"
"""The model that tests put on the hub."""
_LARGE = (".safetensors", ".bin")
_LONGEST = 60.0
"""Seconds after which a silent server goes on, so that no test waits for ever."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of requests whose "METHOD path" matches `request`.

    A `status` is answered, with `headers`; or the answer is `silent` (a HEAD at once, a GET after half of the file),
    `cut` (shorter than its Content-Length; the rest is not there either), `restarted` (cut, and ranges are ignored) or
    `damaged`.
    """

    request: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""


@dataclass(slots=True)
class Repository:
    """A model or a data set: its commits and what points to them; who may read it."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    token: str = ""
    gated: bool = False

    def commit(self, files: Files, branch: str = "main") -> str:
        """Add a commit to a branch; return its hash."""
        content = b"".join(name.encode() + data for name, data in sorted(files.items()))
        commit = hashlib.sha1(content + str(len(self.commits)).encode()).hexdigest()
        self.commits[commit] = dict(files)
        self.refs[branch] = commit
        return commit

    def find(self, revision: str) -> str | None:
        """The commit of a branch, a tag or the beginning of a commit."""
        if revision in self.refs:
            return self.refs[revision]
        found = [commit for commit in self.commits if commit.startswith(revision)]
        return found[0] if len(found) == 1 and re.fullmatch("[0-9a-f]{7,40}", revision) else None


class Hub:
    """The repositories by name, what was asked for, and what is to fail."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.blobs: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.faults: list[Fault] = []
        self.after: Callable[[str], None] = lambda request: None
        """Called after each answer with "METHOD path"."""
        self.endpoint = ""
        self.storage = ""
        self.closing = threading.Event()

    def repository(self, name: str) -> Repository:
        """The repository of that name, made if there is none."""
        return self.repositories.setdefault(name, Repository())

    def fail(self, request: str, status: int = 0, kind: str = "", **headers: str) -> None:
        """Let requests fail; underscores in the names of headers stand for hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults.append(Fault(request, status, named, kind))

    def go(self) -> None:
        """Fail from now on."""
        self.fail(".", 503)


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub that serves on 127.0.0.1 until the end of the block."""
    hub = Hub()
    handler = type("HubHandler", (_Handler,), {"hub": hub})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    hub.endpoint, hub.storage = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    threads = [threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


def git_hash(data: bytes) -> str:
    """The hash that git names a file by."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def files(folder: Path) -> dict[str, bytes]:
    """The files of a model in a directory."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def changed(content: Files) -> dict[str, bytes]:
    """Another model of the same shape (WordPiece), with another tokenizer."""
    weights = {name: 0.5 * weight for name, weight in load(content["model.safetensors"]).items()}
    tokenizer = json.loads(content["tokenizer.json"])
    vocab = tokenizer["model"]["vocab"]
    vocab["##s"], vocab["##n"] = vocab["##n"], vocab["##s"]
    return {
        **content,
        "model.safetensors": save(weights, {"format": "pt"}),
        "tokenizer.json": json.dumps(tokenizer).encode(),
    }


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": len(data), "oid": git_hash(data)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def do_HEAD(self) -> None:
        self._handle()

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        request = f"{self.command} {unquote(self.path)}"
        self.hub.requests.append(request)
        fault = next((fault for fault in self.hub.faults if re.search(fault.request, request)), Fault(""))
        raw = urlsplit(self.path).path.replace("/api/datasets/", "/api/models/datasets/")
        path = unquote(raw)
        if fault.kind == "silent" and self.command == "HEAD":
            self.hub.closing.wait(_LONGEST)
            self.close_connection = True
        elif fault.status:
            self._answer(fault.status, b'{"error": "as the test asked"}', dict(fault.headers))
        elif match := re.fullmatch("/storage/([0-9a-f]{64})", path):
            self._file(self.hub.blobs[match[1]], {"ETag": f'"{match[1]}"'}, fault.kind)
        elif match := re.fullmatch("/api/models/(.+?)/tree/([^/]+)(?:/(.+))?", raw):
            self._tree(match[1], unquote(match[2]), unquote(match[3] or ""))
        elif match := re.fullmatch("/api/models/(.+?)/paths-info/([^/]+)", raw):
            self._paths(match[1], unquote(match[2]))
        elif match := re.fullmatch("/api/models/(.+?)(?:/revision/(.+))?", path):
            self._info(match[1], match[2] or "main")
        elif match := re.fullmatch("/(.+?)/resolve/(.+)", path):
            self._resolve(match[1], match[2], fault.kind)
        else:
            self._answer(404, b"")
        self.hub.after(request)

    def _refused(self, name: str, *, content: bool) -> bool:
        """Answer as the hub does if there is no such repository for this reader."""
        repository = self.hub.repositories.get(name)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if repository is None or (repository.token and not repository.gated and token != repository.token):
            headers = {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            self._answer(404 if token else 401, b"", headers)
        elif repository.gated and content and token != repository.token:
            headers = {"X-Error-Code": "GatedRepo", "X-Error-Message": f"Access to model {name} is restricted."}
            self._answer(403 if token else 401, b"", headers)
        else:
            return False
        return True

    def _info(self, name: str, revision: str) -> None:
        if self._refused(name, content=False):
            return
        repository = self.hub.repositories[name]
        commit = repository.find(revision)
        if commit is None:
            self._missing("RevisionNotFound")
            return
        siblings: list[dict[str, Any]] = []
        for file, data in repository.commits[commit].items():
            sibling: dict[str, Any] = {"rfilename": file, "size": len(data), "blobId": git_hash(data)}
            if file.endswith(_LARGE):
                digest = hashlib.sha256(data).hexdigest()
                sibling["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 130}
            siblings.append(sibling)
        info = {"id": name, "modelId": name, "sha": commit, "private": bool(repository.token), "tags": []}
        self._json({**info, "siblings": siblings})

    def _tree(self, name: str, revision: str, folder: str) -> None:
        if self._refused(name, content=False):
            return
        commit = self.hub.repositories[name].find(revision)
        files = self.hub.repositories[name].commits[commit] if commit else {}
        prefix = f"{folder}/" if folder else ""
        below = {file.removeprefix(prefix).split("/")[0] for file in files if file.startswith(prefix)}
        folders = sorted(f"{prefix}{name}" for name in below if f"{prefix}{name}" not in files)
        whole = "recursive=true" in self.path.lower() or not name.startswith("datasets/")
        files = files if whole else {file: data for file, data in files.items() if file.removeprefix(prefix) in below}
        entries: list[dict[str, Any]] = [{"type": "directory", "path": path, "oid": "0" * 40} for path in folders]
        entries = [] if whole else entries
        entries += [_entry(file, data) for file, data in files.items() if file.startswith(prefix)]
        if entries:
            self._json(entries)
        else:
            self._missing("EntryNotFound" if commit else "RevisionNotFound")

    def _paths(self, name: str, revision: str) -> None:
        """Answer with the entries at some paths of a commit."""
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        if self._refused(name, content=False):
            return
        commit = self.hub.repositories[name].find(revision)
        if commit is None:
            self._missing("RevisionNotFound")
            return
        files = self.hub.repositories[name].commits[commit]
        entries: list[dict[str, Any]] = []
        for path in form.get("paths", []):
            if path in files:
                entries.append(_entry(path, files[path]))
            elif any(file.startswith(f"{path}/") for file in files):
                entries.append({"type": "directory", "path": path, "oid": "0" * 40})
        self._json(entries)

    def _resolve(self, name: str, rest: str, kind: str) -> None:
        if self._refused(name, content=True):
            return
        repository = self.hub.repositories[name]
        parts = rest.split("/")
        found = ((repository.find("/".join(parts[:at])), "/".join(parts[at:])) for at in range(1, len(parts)))
        commit, file = next(((commit, file) for commit, file in found if commit), (None, ""))
        if commit is None:
            self._missing("RevisionNotFound")
        elif file not in repository.commits[commit]:
            self._missing("EntryNotFound", {"X-Repo-Commit": commit})
        else:
            data = repository.commits[commit][file]
            headers = {"X-Repo-Commit": commit, "ETag": f'"{git_hash(data)}"'}
            if not file.endswith(_LARGE):
                self._file(data, headers, kind)
            else:
                self._redirect(data, headers)

    def _redirect(self, data: bytes, headers: dict[str, str]) -> None:
        digest = hashlib.sha256(data).hexdigest()
        self.hub.blobs[digest] = data
        linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data))}
        self._answer(302, b"", {**headers, **linked, "Location": f"{self.hub.storage}/storage/{digest}"})

    def _file(self, data: bytes, headers: dict[str, str], kind: str) -> None:
        if self.headers.get("If-None-Match") == headers["ETag"]:
            self._answer(304, b"", headers)
            return
        if kind == "damaged":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if part := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            end = min(int(part[2]), len(data) - 1)
            told = {"Content-Range": f"bytes {part[1]}-{end}/{len(data)}"}
            self._answer(206, data[int(part[1]) : end + 1], {**headers, **told})
            return
        there = data[: len(data) // 2] if kind in ("silent", "cut", "restarted") else data
        range_ = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(range_[1]) if range_ and kind != "restarted" else 0
        if start and start >= len(there) and kind != "silent":
            self._answer(416, b"", {"Content-Range": f"bytes */{len(there)}"})
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        for name, value in {**headers, "Content-Length": str(len(data) - start)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(there[start:])
        if kind == "silent":
            self.wfile.flush()
            self.hub.closing.wait(_LONGEST)
        self.close_connection = kind in ("silent", "cut", "restarted")

    def _json(self, content: object) -> None:
        self._answer(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _missing(self, code: str, headers: Mapping[str, str] | None = None) -> None:
        self._answer(404, b"", {"X-Error-Code": code, "X-Error-Message": "not found", **(headers or {})})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command in ("GET", "POST"):
            self.wfile.write(body)
