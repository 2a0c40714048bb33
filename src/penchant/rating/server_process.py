"""Process that serves a database of judgements until it is stopped."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from penchant.errors import MethodError, missing_package
from penchant.rating.judgement_store import JOIN, OWNER, Store

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Address of the rating page: the host and port to listen on, and the public URL of a proxy, if any."""

    host: str
    port: int
    public: str = ""

    @property
    def url(self) -> str:
        """The URL with which all links begin."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public.rstrip("/") or f"http://{host}:{self.port}"

    @property
    def base(self) -> str:
        """The path of the public URL, without a final slash."""
        return urlsplit(self.public).path.rstrip("/")

    def hosts(self) -> list[str]:
        """Return the accepted host names; ["*"] if the page listens on all addresses and has no public URL."""
        if self.host in ("0.0.0.0", "::") and not self.public:
            return ["*"]
        public = urlsplit(self.public).hostname
        return [*dict.fromkeys((self.host, *LOOPBACK, *((public,) if public else ())))]


def check_public(public: str) -> None:
    """Raise MethodError unless the public address is "" or an http or https URL without query and fragment."""
    try:
        split = urlsplit(public)
        is_page = bool(split.hostname) and split.port != 0 and split.scheme in ("http", "https")
    except ValueError:  # as in http://[::1 or a port above 65,535
        is_page = False
    if public and (not is_page or split.query or split.fragment):
        raise MethodError(
            f"'{public}' is not a valid URL: it must begin with http:// or https://, and have no query or fragment",
            where="--public",
            hint="use a URL like https://example.org/rate",
        )


def links(store: Store, address: Address) -> list[tuple[str, str]]:
    """Return (name, link) pairs: one for each rater, one for joining if there are slots, and one for the owner."""
    named = [(rater.name, f"{address.url}/enter/{rater.token}") for rater in store.raters()]
    if store.slots:
        named.append((f"anybody, {store.slots} in all", f"{address.url}/enter/{store.token(JOIN)}"))
    return [*named, ("owner", f"{address.url}/enter/{store.token(OWNER)}")]


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket. Raises MethodError if the host or the port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen(2048)  # before links are shown, so that early requests wait for the server
        except (OSError, UnicodeError) as error:
            busy = getattr(error, "errno", None) == errno.EADDRINUSE
            hint = (
                "choose another port with --port, or --port 0 for any free port" if busy else "check --host and --port"
            )
            reason = "is in use" if busy else f"cannot be used: {getattr(error, 'strerror', None) or error}"
            raise MethodError(f"port {port} of {host} {reason}", hint=hint) from error
        yield bound


def serve(store: Store, bound: socket.socket, address: Address) -> None:
    """Serve the rating page until interrupted. Raises MethodError if a required package is missing."""
    try:
        import uvicorn

        from penchant.rating.http_connections import settings
        from penchant.rating.server import Site
    except ImportError as error:
        package = (error.name or "starlette").partition(".")[0]
        raise missing_package(package, "rate", error) from error
    app = Site(store, address.base, secure=address.public.startswith("https:")).app(address.hosts())
    server = uvicorn.Server(settings(app))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the server raises the signal again; end cleanly
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[bound])
