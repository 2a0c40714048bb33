"""A rating page that is served in this process, and a client that knows no more of it than HTTP and forms."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

import uvicorn

from penchant.rating.http_connections import settings
from penchant.rating.judgement_store import Rater, Showing, Store
from penchant.rating.server import Site
from penchant.rating.server_process import Address, listening
from penchant.rating.tasks import Point, Question, RatingTask

LOOPBACK = "127.0.0.1"
FORM = "application/x-www-form-urlencoded"


def scale_task(n: int = 12, **changes: object) -> RatingTask:
    """Words to be rated from −1 to 1."""
    items = tuple(
        Question({"sentence": f"s{i}", "text": "A [MASK].", "word": f"w{i}"}, f"A w{i}.", (2, 3 + len(str(i))))
        for i in range(n)
    )
    points = tuple(Point(value) for value in (-1.0, -0.5, 0.0, 0.5, 1.0))
    task = RatingTask(title="Words", kind="scale", question="How?", items=items, points=points)
    return replace(task, **changes)  # type: ignore[arg-type]


def choice_task(n: int = 6, **changes: object) -> RatingTask:
    """Pairs to choose from."""
    items = tuple(
        Question({"dataset": "d", "pair": str(i), "good": f"G{i}", "bad": f"B{i}"}, f"G{i}", other=f"B{i}")
        for i in range(n)
    )
    return RatingTask(
        **{"title": "Pairs", "kind": "choice", "question": "Which?", "items": items, "value": "choice", **changes}  # type: ignore[arg-type]
    )


def following(store: Store, rater: Rater) -> Showing | None:
    """Return the next item of a rater."""
    position = store.progress(rater).following
    return None if position is None else store.showing(rater, position)


def answer_all(store: Store, rater: Rater, value: Callable[[str], float | str]) -> None:
    """Answer all that is left for a rater, by the text that is shown."""
    while shown := following(store, rater):
        assert store.answer(rater, shown, value(shown.question.text))


@contextmanager
def serving(store: Store, public: str = "") -> Iterator[Address]:
    """The page of a store, at a free port of the loopback."""
    with listening(LOOPBACK, 0) as bound:
        address = Address(LOOPBACK, bound.getsockname()[1], public)
        app = Site(store, address.base, secure=public.startswith("https")).app(address.hosts())
        server = uvicorn.Server(settings(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield address
        server.should_exit = True
        thread.join(10)


@dataclass
class Served:
    """The program, serving; it can be ended or killed, and started again at the same port."""

    arguments: list[str]
    folder: Path
    port: str = "0"
    links: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None

    def start(self) -> Served:
        command = [sys.executable, "-m", "penchant.cli.app", "rate", *self.arguments, "--port", self.port]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.links = {}
        while "owner" not in self.links:
            name, _, link = self.process.stdout.readline().strip().partition("\t")
            assert link, "the program ended"
            self.links[name] = link
        self.port = self.links["owner"].split(":")[2].partition("/")[0]
        return self

    def stop(self, how: int = signal.SIGINT) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


@dataclass
class Answered:
    """An answer of the server."""

    status: int
    headers: dict[str, str]
    text: str

    def fields(self, form: str = "answer") -> dict[str, str]:
        """The hidden fields of a form, by its id or its action."""
        found = re.search(rf'<form[^>]*(?:id|action)="(?:[^"]*/)?{form}"[^>]*>(.*?)</form>', self.text, re.DOTALL)
        assert found, self.text
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', found[1])
        return {name: unescape(value) for name, value in hidden}


@dataclass
class Client:
    """A browser without scripts, which keeps cookies by their path."""

    address: Address
    cookies: dict[tuple[str, str], str] = field(default_factory=dict)
    here: str = "/"

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection(self.address.host, self.address.port, timeout=30)
        path = urljoin(self.here, path)
        kept = [f"{name}={value}" for (name, under), value in self.cookies.items() if path.startswith(under)]
        sent = {"Cookie": "; ".join(kept)} if kept else {}
        connection.request(method, path, body, {**sent, **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode()
        told = {name.lower(): value for name, value in response.getheaders()}
        connection.close()
        self.here = path
        if "set-cookie" in told:
            name, value = told["set-cookie"].partition(";")[0].split("=", 1)
            under = re.search(r"Path=([^;]*)", told["set-cookie"])
            assert under
            self.cookies[name, under[1]] = value
        return Answered(response.status, told, text)

    def get(self, path: str) -> Answered:
        """Return the page at a path, after all redirections."""
        answered = self.ask("GET", path)
        while answered.status == 303:
            answered = self.ask("GET", answered.headers["location"])
        return answered

    def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Answered:
        """Send a form, without following the answer's redirection."""
        return self.ask("POST", path, urlencode(fields).encode(), {"Content-Type": FORM, **headers})

    def enter(self, link: str) -> Answered:
        """Open a link."""
        return self.get(urlsplit(link).path)

    def item(self) -> Answered:
        """The item to be answered."""
        return self.get(f"/r/{self.number}/item")

    @property
    def number(self) -> int:
        (name,) = [name for name, _ in self.cookies if name.startswith("rater")]
        return int(name.removeprefix("rater"))

    def answer(self, value: int, **fields: str) -> Answered:
        """Answer the item that is shown."""
        return self.post(f"/r/{self.number}/item", {**self.item().fields(), "value": str(value), **fields})
