"""The rating page over HTTP: what raters and the owner can do, and what nobody can."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from penchant.rating.judgement_store import Store
from penchant.rating.server_process import Address, links
from penchant.rating.tasks import Question, RatingTask
from penchant.tables.rows import read_rows
from rating_client import FORM, Client, choice_task, scale_task, serving

Place = tuple[Store, Address, dict[str, str]]


@contextmanager
def site(folder: Path, task: RatingTask, slots: int = 0, public: str = "") -> Iterator[Place]:
    opened = Store.open(folder / "r.sqlite", task, raters=["anna", "ben"], slots=slots)
    with opened as store, serving(store, public) as address:
        yield store, address, dict(links(store, address))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Place]:
    with site(tmp_path, scale_task(12, repeat=0, breaks=5), slots=2) as found:
        yield found


def entered(place: Place, name: str = "anna") -> Client:
    client = Client(place[1])
    assert client.enter(place[2][name]).status == 200
    return client


def test_a_rater_from_link_to_thanks(served: Place, tmp_path: Path) -> None:
    store, _, _ = served
    client = entered(served)
    seen = []
    for n in range(12):
        page = client.item()
        assert f"{n} of 12 done" in page.text
        word = re.search(r"<mark>(w\d+)</mark>", page.text)
        assert word
        seen.append(word[1])
        answered = client.answer(n % 5, comment="why not" if n == 3 else "")
        assert answered.status == 303
        assert answered.headers["location"] == ("break" if n + 1 in (5, 10) else "item")
    done = client.item()
    assert "Thank you" in done.text
    code = re.search(r'class="code">([0-9A-F]{8})<', done.text)
    assert code
    assert sorted(seen) == sorted(f"w{n}" for n in range(12))
    owner = entered(served, "owner").get("/owner/")
    assert code[1] in owner.text
    assert "12 of 12" in owner.text
    assert "why not" in owner.text
    store.close()
    rows = {row.values["word"]: row.values["rating"] for row in read_rows(tmp_path / "r.sqlite")}
    assert rows == {word: store.task.answers[n % 5] for n, word in enumerate(seen)}


def test_an_answer_sent_twice_counts_once(served: Place) -> None:
    client = entered(served)
    fields = {**client.item().fields(), "value": "0"}
    for _ in range(3):
        assert client.post("/r/1/item", fields).status == 303
    other = {**fields, "value": "4"}
    assert client.post("/r/1/item", other).status == 303  # an old page in another window
    store = served[0]
    rater = store.raters()[0]
    assert store.progress(rater).done == 1
    shown = store.showing(rater, 1)
    assert shown is not None
    assert (shown.value, shown.revision) == (-1.0, 1)


def test_taking_back_skipping_and_going_on(served: Place) -> None:
    client = entered(served)
    client.answer(2, comment="first")
    undone = client.post("/r/1/undo", client.item().fields("undo"))
    assert undone.status == 303
    page = client.item()
    assert "0 of 12 done" in page.text
    assert 'class="point chosen"' in page.text
    assert ">first</textarea>" in page.text
    assert 'id="undo"' not in page.text
    for reason in ("", "because"):
        assert client.post("/r/1/item", {**client.item().fields(), "reason": reason}).status == 400
    skipped = {**client.item().fields(), "reason": "I cannot decide", "comment": "=1+1"}
    assert client.post("/r/1/item", skipped).status == 303
    again = Client(served[1])  # another browser, the same link
    assert "Continue: 1 of 12 done" in again.enter(served[2]["anna"]).text
    owner = entered(served, "owner")
    assert owner.get("/owner/export/judgements.csv").text == "\ufeff"
    shown = owner.get("/owner/").text.partition("<h2>Skipped items</h2>")[2].partition("<h2>Comments</h2>")[0]
    assert "<bdi>anna</bdi> on " in shown and ": I cannot decide</li>" in shown and "None." not in shown
    comments = owner.get("/owner/export/comments.csv").text
    assert "I cannot decide" in comments
    assert "'=1+1" in comments, "no cell starts a formula"


def test_two_raters_in_one_browser_stay_apart(served: Place) -> None:
    client = entered(served)
    client.enter(served[2]["ben"])
    assert sorted(client.cookies) == [("rater1", "/r/1/"), ("rater2", "/r/2/")]
    first = client.get("/r/1/item").fields()
    assert client.post("/r/2/item", {**first, "value": "1"}).status == 403, (
        "a form is for the rater whom it was made for"
    )
    assert client.post("/r/1/item", {**first, "value": "1"}).status == 303
    assert "0 of 12" in client.get("/r/2/item").text


def test_practice_gives_feedback_and_does_not_count(tmp_path: Path) -> None:
    practice = Question({}, "The <b>practice</b>.", kind="practice", right=1.0, why="It is & modern.")
    task = scale_task(2, repeat=0)
    with site(tmp_path, replace(task, items=(*task.items, practice))) as place:
        client = entered(place)
        page = client.item()
        assert "<strong>Practice</strong>" in page.text
        assert "The &lt;b&gt;practice&lt;/b&gt;." in page.text
        went = client.answer(0)
        told = client.get(went.headers["location"]).text
        assert "Not as expected" in told
        assert "It is &amp; modern." in told
        client.answer(3)
        client.answer(3)
        client.get("/r/1/done")
        place[0].close()
    assert [row.values["rating"] for row in read_rows(tmp_path / "r.sqlite")] == [0.5, 0.5]


def test_joining_by_one_link(served: Place) -> None:
    _, address, found = served
    link = found["anybody, 2 in all"]
    join, token = urlsplit(link).path.replace("enter", "join"), urlsplit(link).path[7:]
    names = set()
    for _ in range(2):
        client = Client(address)
        page = client.enter(link)
        joined = client.post(join, page.fields(token))
        assert joined.status == 303
        start = client.get(joined.headers["location"])
        own = re.search(r'class="link">(http[^<]*)<', start.text)
        assert own
        names.add(client.number)
        assert f"/r/{client.number}/" in (Client(address).enter(own[1]), client.here)[1]
    assert names == {3, 4}
    client = Client(address)
    page = client.enter(link)
    full = client.post(join, page.fields(token))
    assert full.status == 409
    assert "All places are taken" in full.text


def test_a_form_that_comes_again_takes_back_nothing_more(served: Place) -> None:
    store = served[0]
    (rater, _) = store.raters()
    client = entered(served)
    for n in range(4):
        client.answer(n)
    fields = client.item().fields("undo")
    for _ in range(3):
        assert client.post("/r/1/undo", fields).status == 303
    assert store.progress(rater).done == 3
    client.answer(4)
    assert client.post("/r/1/undo", fields).status == 303
    assert store.progress(rater).done == 4
    other = {**fields, "answer": str(store.last(rater))}
    assert client.post("/r/1/undo", other).status == 403
    assert store.progress(rater).done == 4


def test_a_form_that_comes_again_takes_no_other_place(served: Place) -> None:
    store, address, found = served
    path = urlsplit(found["anybody, 2 in all"]).path
    join, token = path.replace("enter", "join"), path[7:]
    client = Client(address)
    fields = client.get(path).fields(token)
    for _ in range(8):
        assert client.post(join, fields).headers["location"] == "/r/3/"
    assert len(store.raters()) == 3
    assert Client(address).post(join, {**fields, "form": "another"}).status == 403
    assert Client(address).post(join, {"sign": fields["sign"]}).status == 403
    other = Client(address)
    assert other.post(join, other.get(path).fields(token)).headers["location"] == "/r/4/"


def test_the_owner_deletes_a_rater(served: Place, tmp_path: Path) -> None:
    store = served[0]
    for name in ("anna", "ben"):
        entered(served, name).answer(1, comment=f"remark of {name}")
    anna = entered(served)
    form = {**anna.item().fields(), "value": "0"}
    owner = entered(served, "owner")
    fields = {**owner.get("/owner/").fields("withdraw"), "sure": "yes"}
    assert fields["rater"] == "1"
    ben = str(store.raters()[1].n)
    for forged in ({**fields, "rater": ben}, {**fields, "sign": ""}):
        assert owner.post("/owner/withdraw", forged).status == 403
    assert owner.post("/owner/withdraw", {**fields, "sure": ""}).status == 400
    assert owner.post("/owner/withdraw", fields, Origin="http://evil.example").status == 403
    assert Client(served[1]).post("/owner/withdraw", fields).status == 403
    assert len(store.raters()) == 2
    for _ in range(2):
        assert owner.post("/owner/withdraw", fields).status == 303
    assert [rater.name for rater in store.raters()] == ["ben"]
    assert anna.post("/r/1/item", form).status == 403
    assert Client(served[1]).enter(served[2]["anna"]).status == 404
    page = owner.get("/owner/")
    assert "remark of ben" in page.text and "anna" not in page.text
    store.close()
    data = (tmp_path / "r.sqlite").read_bytes()
    assert b"remark of ben" in data and b"anna" not in data


def test_the_owner_decides_once(served: Place) -> None:
    for name, value in (("anna", 0), ("ben", 4)):
        client = entered(served, name)
        for _ in range(12):
            client.answer(value)
    owner = entered(served, "owner")
    page = owner.get("/owner/")
    assert page.text.count('<article class="dispute">') == 12
    fields = {**page.fields("decide"), "value": "2", "comment": "both"}
    assert owner.post("/owner/decide", fields).status == 303
    assert owner.post("/owner/decide", fields).status == 409, "decided since, perhaps on another owner's page"
    page = owner.get("/owner/")
    assert "Decided: <strong><bdi>0</bdi>" in page.text
    decided = owner.get("/owner/export/decisions.csv").text
    assert decided.splitlines()[0] == "\ufeffsentence,text,word,rating,comment"
    assert decided.splitlines()[1].endswith(",0.0,both")
    rows = owner.get("/owner/export/judgements.csv").text.splitlines()
    assert len(rows) == 25, "a decision changes nobody's answer"
    assert owner.get("/owner/alpha.svg").text.startswith("<svg")


# What nobody can ------------------------------------------------------------------------------------------------------


CLOSED = "/r/1/ /r/1/item /r/1/done /r/1/break /r/1/feedback/1 /owner/ /owner/alpha.svg /owner/export/judgements.csv"


@pytest.mark.parametrize("path", CLOSED.split())
def test_nothing_without_a_link(served: Place, path: str) -> None:
    other = served[0].raters()[1].token
    for cookies in ({}, {("rater1", "/"): "x" * 22}, {("rater1", "/"): other}, {("owner", "/"): ""}):
        answered = Client(served[1], dict(cookies)).ask("GET", path)
        assert answered.status == 403
        assert "w1" not in answered.text


@pytest.mark.parametrize("token", ["", "x", "x" * 22, "é", "%00", "..%2fx", "owner", "-" * 22, "a" * 5000])
def test_guessed_tokens(served: Place, token: str) -> None:
    from urllib.parse import quote

    answered = Client(served[1]).ask("GET", f"/enter/{quote(token, safe='%')}")
    assert answered.status == 404
    assert "set-cookie" not in answered.headers


def test_a_number_too_large_is_nobody(served: Place) -> None:
    for number in ("9" * 30, "9" * 5000):
        assert Client(served[1]).ask("GET", f"/r/{number}/").status == 404
        assert entered(served).ask("GET", f"/r/1/feedback/{number}").status == 404
    owner = entered(served, "owner")
    fields = {"sign": served[0].signed("decide", served[0].token("owner")), "item": "0", "value": "0", "known": "0"}
    for name in ("item", "value", "known"):
        assert owner.post("/owner/decide", {**fields, name: "9" * 5000}).status == 400


Forged = Callable[[dict[str, str]], dict[str, str]]


@pytest.mark.parametrize(
    "forged",
    [
        lambda fields: {**fields, "position": "2"},
        lambda fields: {**fields, "revision": "7"},
        lambda fields: {**fields, "shown": "0"},
        lambda fields: {**fields, "sign": ""},
        lambda fields: {**fields, "sign": "é"},
        lambda fields: {name: value for name, value in fields.items() if name != "sign"},
        lambda fields: {},
    ],
)
def test_a_forged_form_is_refused(served: Place, forged: Forged) -> None:
    client = entered(served)
    fields = {**client.item().fields(), "value": "1"}
    assert client.post("/r/1/item", {**forged(fields), "value": "1"}).status == 403
    assert client.post("/r/1/undo", {"sign": fields["sign"]}).status == 403
    assert served[0].progress(served[0].raters()[0]).done == 0


@pytest.mark.parametrize("value", ["5", "-1", "1.0", "¹", "٣", "", "good", "9" * 1000, "9" * 5000])
def test_an_answer_that_the_page_does_not_offer(served: Place, value: str) -> None:
    client = entered(served)
    assert client.post("/r/1/item", {**client.item().fields(), "value": value}).status == 400
    assert served[0].progress(served[0].raters()[0]).done == 0


def test_forms_from_elsewhere_and_what_is_none(served: Place) -> None:
    client = entered(served)
    fields = {**client.item().fields(), "value": "1"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert client.post("/r/1/item", fields, Origin=origin).status == 403
    assert client.ask("POST", "/r/1/item", b"{}", {"Content-Type": "application/json"}).status == 415
    assert client.ask("POST", "/r/1/item", b"\xff=\xff", {"Content-Type": FORM}).status in (400, 403)
    assert client.ask("POST", "/r/1/item", b"a=1&" * 100, {"Content-Type": FORM}).status == 400
    assert client.post("/r/1/item", {**fields, "comment": "x" * 20_000}).status == 413
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        assert client.ask(method, "/r/1/item").status == 405
    assert client.ask("GET", "/r/1/undo").status == 405
    assert served[0].progress(served[0].raters()[0]).done == 0
    same = f"http://{served[1].host}:{served[1].port}"
    assert client.post("/r/1/item", fields, Origin=same).status == 303


def test_a_body_without_an_end_is_cut(served: Place) -> None:
    """Sent in chunks without a length: no more is read than a form may have."""
    token = served[0].raters()[0].token
    with socket.create_connection((served[1].host, served[1].port), timeout=10) as raw:
        head = f"POST /r/1/item HTTP/1.1\r\nHost: {served[1].host}\r\nCookie: rater1={token}\r\n"
        raw.sendall(f"{head}Content-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"1000\r\n" + b"a" * 0x1000 + b"\r\n"
        try:
            for _ in range(1000):
                raw.sendall(chunk)
        except OSError:
            return
        raw.settimeout(10)
        assert b" 413 " in raw.recv(4096)


def test_another_host_is_refused(served: Place) -> None:
    """A name that somebody else made lead here."""
    for host in ("evil.example", "evil.example:80", ""):
        connection = http.client.HTTPConnection(served[1].host, served[1].port)
        connection.putrequest("GET", "/", skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()


def test_every_answer_carries_the_headers(served: Place) -> None:
    client = entered(served)
    paths = "/ /nowhere /r/1/item /r/2/item /static/rate.css /static/rate.js /static/../server.py"
    for path in paths.split():
        headers = client.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers
    assert client.ask("GET", "/static/..%2fserver.py").status == 404
    link = urlsplit(served[2]["anna"]).path
    cookie = Client(served[1]).ask("GET", link).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/r/1/" in cookie


def test_behind_a_proxy_with_a_path(tmp_path: Path) -> None:
    with site(tmp_path, choice_task(), public="https://example.org/rate") as (_, address, found):
        assert found["anna"].startswith("https://example.org/rate/enter/")
        token = found["anna"].rpartition("/")[2]
        answered = Client(address).ask("GET", f"/enter/{token}", headers={"Host": "example.org"})
        assert answered.headers["location"] == "/rate/r/1/"
        assert "path=/rate/r/1/" in answered.headers["set-cookie"].lower()
        assert "secure" in answered.headers["set-cookie"].lower()
        page = Client(address).ask("GET", "/", headers={"Host": "example.org"})
        assert 'href="/rate/static/rate.css"' in page.text


def test_a_fault_of_ours_is_a_page_too(served: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    client = entered(served)
    monkeypatch.setattr(served[0], "progress", lambda rater: 1 / 0)
    answered = client.ask("GET", "/r/1/item")
    assert answered.status == 500
    assert "Something went wrong" in answered.text
    assert answered.headers["content-security-policy"]


HOSTILE = "<script>alert(1)</script> \u202eabc\u202c {{ 7*7 }} ' \" & \x1b[31m"


def test_hostile_texts_are_shown_as_text(tmp_path: Path) -> None:
    items = tuple(Question({"id": str(n)}, f"{HOSTILE} {n}", (0, 8)) for n in range(2))
    task = scale_task(
        items=items,
        title=HOSTILE,
        question=HOSTILE,
        instructions=f"{HOSTILE} [x](javascript:alert(1)) ![y](http://e/)",
        repeat=0,
    )
    task = replace(task, points=tuple(replace(point, label=HOSTILE) for point in task.points))
    with Store.open(tmp_path / "r.sqlite", task, raters=[HOSTILE, "ben"]) as store, serving(store) as address:
        found = links(store, address)
        seen = []
        for (_, link), value in zip(found[:2], (0, 4), strict=True):
            client = Client(address)
            seen += [client.enter(link), client.item()]
            for _ in range(2):
                client.answer(value, comment=HOSTILE)
        owner = Client(address)
        owner.enter(found[-1][1])
        seen += [owner.get("/owner/")]
        assert HOSTILE.partition(" ")[0] not in "".join(page.text for page in seen)
        for page in seen:
            assert "&lt;script&gt;alert(1)" in page.text
            assert "\u202e" not in page.text
            assert "\x1b" not in page.text
            assert "{{ 7*7 }}" in page.text
            assert 'href="javascript' not in page.text
            assert "<img" not in page.text or "alpha.svg" in page.text
