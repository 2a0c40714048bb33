"""Web server of the rating page, with plain HTML forms for raters and the owner.

The token in a link is moved to a cookie on first use, so that browsers do not store it in addresses or pass it on.
Every form that changes data has a signature that only this server can compute.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penchant.rating import owner_summary
from penchant.rating.form_parsing import form_of, whole
from penchant.rating.judgement_store import JOIN, OWNER, Rater, Showing, Store, new_token, same
from penchant.rating.pages import ASSETS, REASONS, instructions, page, shown, told

COMMENT = 2_000
"""Maximum number of characters of a comment to store."""
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ASSETS = {"rate.css": "text/css", "rate.js": "text/javascript"}


class _Number(IntegerConvertor):
    """Converter for integers of at most nine digits in URL paths."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())


class Headers:
    """Middleware that adds the security headers to all responses."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, and add the headers to the response."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            await send(message)

        await self.app(scope, receive, secured)


class Site:
    """Rating pages of one database; `base` is the path of the public URL, such as "/rate", or "" for none."""

    def __init__(self, store: Store, base: str = "", *, secure: bool = False) -> None:
        self.store = store
        self.base = base
        self.secure = secure

    def app(self, hosts: list[str]) -> ASGIApp:
        """Return the application, which accepts only requests for the host names `hosts`."""
        get = [
            ("/", self.nowhere),
            ("/enter/{token}", self.enter),
            ("/r/{n:number}/", self.start),
            ("/r/{n:number}/item", self.item),
            ("/r/{n:number}/feedback/{position:number}", self.feedback),
            ("/r/{n:number}/break", self.rest),
            ("/r/{n:number}/done", self.done),
            ("/owner/", self.owner),
            ("/owner/alpha.svg", self.alpha),
            ("/owner/export/{name}", self.export),
            ("/static/{name}", self.static),
            ("/favicon.ico", self.icon),
        ]
        post = [
            ("/join/{token}", self.join),
            ("/r/{n:number}/item", self.answer),
            ("/r/{n:number}/undo", self.undo),
            ("/owner/decide", self.decide),
            ("/owner/withdraw", self.withdraw),
        ]
        routes = [Route(path, endpoint, methods=["GET"]) for path, endpoint in get]
        routes += [Route(path, endpoint, methods=["POST"]) for path, endpoint in post]
        middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]
        handlers: Any = {HTTPException: self._refused, sqlite3.Error: self._unsaved, Exception: self._refused}
        return Headers(Starlette(routes=routes, middleware=middleware, exception_handlers=handlers))

    # Everybody --------------------------------------------------------------------------------------------------------

    async def _refused(self, request: Request, error: Exception) -> Response:
        known = error if isinstance(error, HTTPException) else HTTPException(500, "Something went wrong.")
        return self._page("message", known.status_code, title="This did not work", text=known.detail)

    async def _unsaved(self, request: Request, error: Exception) -> Response:
        text = "Your input may not have been saved. Go back and send it again; it will be saved only once."
        return self._page("message", 503, title="This did not work", text=text)

    async def nowhere(self, request: Request) -> Response:
        """Show a page for visitors without a link."""
        return self._page("message", title="Ratings", text="Open the link that you were given.")

    async def static(self, request: Request) -> Response:
        """Return a style sheet or a script."""
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404, "There is no such page.")
        return Response((ASSETS / name).read_bytes(), media_type=_ASSETS[name])

    async def icon(self, request: Request) -> Response:
        """Return an empty response to a browser's request for an icon."""
        return Response(status_code=204)

    async def enter(self, request: Request) -> Response:
        """Log in a rater or the owner by link, or show a form if the link is for joining."""
        token = request.path_params["token"]
        if self.store.is_token(OWNER, token):
            return self._with_cookie("owner", token, "/owner/")
        if self.store.slots and self.store.is_token(JOIN, token):
            form = new_token()
            sign = self.store.signed("join", token, form)
            return self._page("join", token=token, form=form, sign=sign)
        rater = self.store.rater_of(token)
        if rater is None:
            raise HTTPException(404, "This link is invalid. Check that it is complete.")
        return self._with_cookie(f"rater{rater.n}", token, f"/r/{rater.n}/")

    async def join(self, request: Request) -> Response:
        """Add a rater and log them in; a form that is sent twice adds only one rater."""
        token = request.path_params["token"]
        form = await form_of(request)
        sign = self.store.signed("join", token, form.get("form", ""))
        if not self.store.is_token(JOIN, token) or not same(sign, form.get("sign", "")):
            raise HTTPException(403, "This form is invalid. Open the link again.")
        rater = self.store.join(form["form"])
        if rater is None:
            raise HTTPException(409, "All places are taken. Thank you for your interest.")
        return self._with_cookie(f"rater{rater.n}", rater.token, f"/r/{rater.n}/")

    # Raters -----------------------------------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        """Show a rater's instructions and progress."""
        rater = self._rater(request)
        told = instructions(self.store.task)
        progress = self.store.progress(rater)
        link = f"{self._address(request)}/enter/{rater.token}" if self.store.slots else ""
        return self._page("start", task=self.store.task, told=told, progress=progress, link=link)

    async def item(self, request: Request) -> Response:
        """Show a rater's first unanswered item."""
        rater = self._rater(request)
        progress = self.store.progress(rater)
        if progress.following is None:
            return RedirectResponse("done", 303)
        showing = self.store.showing(rater, progress.following)
        assert showing is not None
        now = str(time.time_ns() // 1_000_000)
        form = {"position": str(showing.position), "revision": str(showing.revision), "shown": now}
        form["sign"] = self._item_sign(rater, form)
        undo = self._undo_form(rater)
        context = shown(self.store.task, showing, progress)
        return self._page("item", form=form, undo=undo, **context)

    def _item_sign(self, rater: Rater, form: dict[str, str]) -> str:
        fields = (form.get(name, "") for name in ("position", "revision", "shown"))
        return self.store.signed("item", rater.n, rater.token, *fields)

    def _undo_form(self, rater: Rater) -> dict[str, str]:
        answer = str(self.store.last(rater) or 0)
        return {"answer": answer, "sign": self._undo_sign(rater, answer)}

    def _undo_sign(self, rater: Rater, answer: str) -> str:
        return self.store.signed("undo", rater.n, rater.token, answer)

    async def answer(self, request: Request) -> Response:
        """Save an answer and redirect to the next page."""
        rater = self._rater(request)
        form = await form_of(request)
        _require_sign(self._item_sign(rater, form), form)
        showing = self.store.showing(rater, int(form["position"]))
        if showing is None:
            raise HTTPException(404, "There is no such item.")
        answers = self.store.task.answers
        reason, number = form.get("reason", ""), whole(form.get("value", ""))
        value = answers[number] if number is not None and number < len(answers) else None
        if value is None and reason not in REASONS:
            raise HTTPException(400, "No answer was given. Go back and choose an answer, or a reason to skip the item.")
        if showing.revision == int(form["revision"]):
            self.store.answer(
                rater,
                showing,
                value,
                skipped=reason if value is None else "",
                comment=form.get("comment", "").strip()[:COMMENT],
                seconds=round((time.time_ns() // 1_000_000 - int(form["shown"])) / 1000, 3),
            )
        return RedirectResponse(self._after(rater, showing, value), 303)

    def _after(self, rater: Rater, showing: Showing, value: float | str | None) -> str:
        if showing.question.kind == "practice" and showing.question.right is not None and value is not None:
            return f"feedback/{showing.position}"
        progress = self.store.progress(rater)
        pause = self.store.task.breaks
        return "break" if pause and progress.following and progress.done % pause == 0 else "item"

    async def undo(self, request: Request) -> Response:
        """Retract an answer unless there is a newer answer."""
        rater = self._rater(request)
        form = await form_of(request)
        _require_sign(self._undo_sign(rater, form.get("answer", "")), form)
        self.store.undo(rater, int(form["answer"]))
        return RedirectResponse("item", 303)

    async def feedback(self, request: Request) -> Response:
        """Show the owner's feedback on an answer to a practice item."""
        rater = self._rater(request)
        showing = self.store.showing(rater, request.path_params["position"])
        if showing is None or showing.question.kind != "practice" or showing.value is None:
            return RedirectResponse("../item", 303)
        question, task = showing.question, self.store.task
        assert question.right is not None
        return self._page(
            "feedback",
            right=showing.value == question.right,
            said=told(task, question, showing.value),
            meant=told(task, question, question.right),
            why=question.why,
        )

    async def rest(self, request: Request) -> Response:
        """Show the page for a break."""
        return self._page("break", progress=self.store.progress(self._rater(request)))

    async def done(self, request: Request) -> Response:
        """Thank a rater who has finished, and show a code that the owner also sees."""
        rater = self._rater(request)
        if self.store.progress(rater).following is not None:
            return RedirectResponse("item", 303)
        return self._page("done", code=owner_summary.code(self.store, rater), undo=self._undo_form(rater))

    # The owner --------------------------------------------------------------------------------------------------------

    async def owner(self, request: Request) -> Response:
        """Show all raters' progress and agreement."""
        self._require_owner(request)
        found = await run_in_threadpool(owner_summary.summarise, self.store.path, self.store.task)
        raters = self.store.raters()
        codes = {rater.name: owner_summary.code(self.store, rater) for rater in raters}
        forms = {rater.name: self._withdraw_form(rater) for rater in raters}
        sign = self.store.signed("decide", self.store.token(OWNER))
        return self._page("owner", task=self.store.task, found=found, codes=codes, forms=forms, sign=sign)

    async def alpha(self, request: Request) -> Response:
        """Return an SVG figure of the agreement over time."""
        self._require_owner(request)
        drawn = await run_in_threadpool(owner_summary.growth_svg, self.store.path, self.store.task)
        return Response(drawn, media_type="image/svg+xml")

    async def export(self, request: Request) -> Response:
        """Return one of the owner's tables as CSV."""
        self._require_owner(request)
        name = request.path_params["name"]
        if name not in owner_summary.EXPORTS:
            raise HTTPException(404, "There is no such table.")
        text = await run_in_threadpool(owner_summary.exported, name, self.store.path, self.store.task)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text.encode("utf-8-sig"), media_type="text/csv; charset=utf-8", headers=headers)

    async def decide(self, request: Request) -> Response:
        """Save the owner's decision on a disputed item."""
        self._require_owner(request)
        form = await form_of(request)
        _require_sign(self.store.signed("decide", self.store.token(OWNER)), form)
        item, number, known = (whole(form.get(name, "")) for name in ("item", "value", "known"))
        answers, items = self.store.task.answers, self.store.task.items
        if item is None or number is None or known is None:
            raise HTTPException(400, "No answer was chosen. Go back and choose one.")
        if item >= len(items) or number >= len(answers):
            raise HTTPException(404, "There is no such item.")
        comment = form.get("comment", "").strip()[:COMMENT]
        if not self.store.decide(item, answers[number], comment, known):
            raise HTTPException(
                409, "The decision on this item has changed since you opened the page. Go back and look again."
            )
        return RedirectResponse("./#disputed", 303)

    async def withdraw(self, request: Request) -> Response:
        """Delete a rater and all of the rater's answers."""
        self._require_owner(request)
        form = await form_of(request)
        rater = next((each for each in self.store.raters() if str(each.n) == form.get("rater")), None)
        if rater is None:  # deleted before
            return RedirectResponse("./", 303)
        _require_sign(self._withdraw_form(rater)["sign"], form)
        if form.get("sure") != "yes":
            raise HTTPException(400, "The deletion was not confirmed. Go back and confirm that you are sure.")
        if not self.store.withdraw(rater.n):
            text = "The answers are deleted, but another program keeps traces in the file until the server stops."
            raise HTTPException(503, text)
        return RedirectResponse("./", 303)

    def _withdraw_form(self, rater: Rater) -> dict[str, str]:
        sign = self.store.signed("withdraw", self.store.token(OWNER), rater.n, rater.token)
        return {"rater": str(rater.n), "sign": sign}

    # Access -----------------------------------------------------------------------------------------------------------

    def _rater(self, request: Request) -> Rater:
        n = request.path_params["n"]
        rater = self.store.rater(n, request.cookies.get(f"rater{n}", ""))
        if rater is None:
            raise HTTPException(403, "You are not signed in: open the link that you were given, and allow cookies.")
        return rater

    def _require_owner(self, request: Request) -> None:
        if not self.store.is_token(OWNER, request.cookies.get("owner", "")):
            raise HTTPException(
                403,
                "You are not the owner: open the owner's link, printed when the server starts, and allow cookies.",
            )

    def _with_cookie(self, name: str, token: str, path: str) -> Response:
        answer = RedirectResponse(self.base + path, 303)
        answer.set_cookie(
            name,
            token,
            path=self.base + path,
            max_age=90 * 24 * 3600,
            httponly=True,
            samesite="lax",
            secure=self.secure,
        )
        return answer

    def _address(self, request: Request) -> str:
        return f"{'https' if self.secure else request.url.scheme}://{request.headers.get('host', '')}{self.base}"

    def _page(self, name: str, status: int = 200, **context: Any) -> Response:
        context = {"title": self.store.task.title, **context}
        return HTMLResponse(page(name, base=self.base, **context), status)


def _require_sign(sign: str, form: dict[str, str]) -> None:
    if not same(sign, form.get("sign", "")):
        raise HTTPException(403, "This page is out of date. Open your link again.")
