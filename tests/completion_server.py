"""A server on this machine with the OpenAI completions API: log-probabilities of prompts from transformers alone, with
faults, as servers have them in the world.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Completions:
    """One model, what it was asked, and what goes wrong.

    `fault` changes answers (see `_prompt`, `_changed` and `_Handler`), `noise` is the largest change of a
    log-probability, `delay` the seconds before an answer, and `statuses` are answered first, instead of answers.
    `takes` is "ids" or "text"; before a text the server puts its BOS token if `adds_bos`. Without `key`, anybody may
    ask.
    """

    def __init__(self, model: Path) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(model).eval()
        self.tokenizer = self.shown = AutoTokenizer.from_pretrained(model)
        self.fault = self.key = self.url = self.version = ""
        self.noise = self.delay = 0.0
        self.takes, self.adds_bos, self.token_ids = "ids", False, True
        self.statuses: list[int] = []
        self.headers: dict[str, str] = {}
        self.prompts: list[tuple[int, ...]] = []
        self.replies: list[dict[str, Any]] = []
        self.busiest = self.running = 0
        self.lock = threading.Lock()

    def spec(self, tokenizer: Path) -> str:
        """The name of the model for penchant."""
        return f"{self.url}#tiny?tokenizer={tokenizer}"

    def models(self) -> dict[str, Any]:
        """The list of models; `created` changes with every request, as vLLM's does."""
        return {"object": "list", "data": [{"id": "tiny", "created": time.time_ns(), "root": "/models/tiny"}]}

    def complete(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer a request for a completion of one token."""
        ids, hidden = self._prompt(asked["prompt"]), self.takes == "text" and self.adds_bos
        with self.lock, torch.inference_mode():
            self.prompts.append(tuple(ids))
            rows = self.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
            rows -= self.noise * torch.rand(len(ids), 1, dtype=torch.float64)
        whole = [*ids, int(rows[-1].argmax())]
        values: list[float | None] = [None, *(float(rows[i, token]) for i, token in enumerate(whole[1:]))]
        best: list[Any] = [None, *self._best(rows, whole, asked)]
        words = [self._word(token, asked) for token in whole]
        if hidden:  # as llama-cpp-python does, the token is not listed, and the next has no value
            words, values, best = words[1:], [None, *values[2:]], [None, *best[2:]]
        words, values, best = self._changed(words, values, best, rows, whole, asked)
        if not asked.get("echo") or self.fault == "no-prompt":
            words, values, best = words[-1:], values[-1:], best[-1:]
        found = {"tokens": words, "token_logprobs": values, "top_logprobs": best}
        choice = {"index": 0, "text": "", "logprobs": None if self.fault == "no-logprobs" else found}
        return {"choices": [choice], "usage": {"prompt_tokens": len(ids)}}

    def reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer a request for a reply, sampled token by token from the seed of the request."""
        ids = self.tokenizer.apply_chat_template(asked["messages"], add_generation_prompt=True)["input_ids"]
        made: list[int] = []
        with self.lock, torch.inference_mode():
            self.replies.append(asked)
            noise = torch.Generator().manual_seed(asked["seed"])
            while len(made) < asked["max_tokens"] and (not made or made[-1] != self.tokenizer.eos_token_id):
                shares = (self.model(torch.tensor([[*ids, *made]])).logits[0, -1] / asked["temperature"]).softmax(-1)
                made.append(int(torch.multinomial(shares, 1, generator=noise)))
        text = self.tokenizer.decode(made, skip_special_tokens=True)
        return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}

    def _prompt(self, prompt: list[int] | str) -> list[int]:
        ids = self.tokenizer(prompt, add_special_tokens=False)["input_ids"] if isinstance(prompt, str) else prompt
        bos = self.tokenizer.bos_token_id
        if (isinstance(prompt, str) and self.adds_bos) or self.fault == "double-bos":
            return [bos, *ids]
        if self.fault == "wrong-bos":
            return [bos + 5, *ids[1:]]
        return {"no-bos": ids[1:], "truncated": ids[:20]}.get(self.fault, ids)

    def _best(self, rows: torch.Tensor, whole: list[int], asked: dict[str, Any]) -> Iterator[dict[str, float]]:
        for row, token in zip(rows, whole[1:], strict=True):
            top = row.topk(asked["logprobs"])
            chosen = [*zip(top.indices.tolist(), top.values.tolist(), strict=True), (token, float(row[token]))]
            yield {self._word(each, asked): value for each, value in chosen}

    def _word(self, token: int, asked: dict[str, Any]) -> str:
        as_id = asked.get("return_tokens_as_token_ids") and self.token_ids
        return f"token_id:{token}" if as_id else self.shown.decode([token])

    def _changed(
        self, words: Any, values: Any, best: Any, rows: torch.Tensor, whole: list[int], asked: dict[str, Any]
    ) -> Any:
        if self.fault == "late" and asked.get("echo"):  # each token has the value of the token before it
            values, best = [None, values[1], *values[1:-1]], [None, best[1], *best[1:-1]]
        if self.fault == "early" and asked.get("echo"):  # each token is looked up where the next one is predicted
            values = [None, *(float(rows[i, token]) for i, token in enumerate(whole[:-1]) if i), values[-1]]
            best = [None, *best[2:], best[-1]]
        if self.fault == "holes":
            values = [None if i == 5 else value for i, value in enumerate(values)]
        if self.fault == "certain":
            best = [each and dict.fromkeys(each, -0.1) for each in best]
        if self.fault == "two-values":
            best = [each and {word: value - 1 for word, value in each.items()} for each in best]
        if self.fault == "positive":
            values = [value and 1.0 for value in values]
        return words, values, best


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # else head and body are two packets, and the second waits
    server_of: Completions

    def do_GET(self) -> None:
        if self.path == "/version":
            known = self.server_of.version
            self._answer(200 if known else 404, {"version": known})
        elif self._allowed():
            self._answer(200, self.server_of.models())

    def do_POST(self) -> None:
        server, asked = self.server_of, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._allowed():
            return
        chats = self.path.endswith("/chat/completions")
        if not chats and isinstance(asked["prompt"], str) != (server.takes == "text"):
            self._answer(500, {"error": "another kind of prompt"})  # as llama-cpp-python does
            return
        with server.lock:
            server.running += 1
            server.busiest = max(server.busiest, server.running)
            status = server.statuses.pop(0) if server.statuses else 200
        time.sleep(server.delay)
        self._answer(
            status,
            (server.reply if chats else server.complete)(asked)
            if status == 200
            else {"error": self.headers["Authorization"]},
        )
        with server.lock:
            server.running -= 1

    def _allowed(self) -> bool:
        given = self.headers["Authorization"] or ""
        if given == f"Bearer {self.server_of.key}" or not self.server_of.key:
            return True
        self._answer(401, {"error": f"{given} is wrong"})
        return False

    def _answer(self, status: int, content: object) -> None:
        fault = self.server_of.fault
        data = b"<html>Welcome</html>" if fault == "html" else json.dumps(content).encode()
        if fault == "huge":
            data = b'"' + b"x" * (2 << 20) + b'"'
        self.send_response(302 if fault == "redirect" else status)
        self.send_header("Location", f"{self.server_of.url}/elsewhere")
        for name, value in self.server_of.headers.items():
            self.send_header(name, value)
        cut = fault == "cut" and self.command == "POST"
        self.send_header("Content-Length", str(len(data) * (2 if cut else 1)))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection |= cut

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def serving(model: Path, tls: ssl.SSLContext | None = None) -> Iterator[Completions]:
    """Serve a causal model on 127.0.0.1 until the end of the block; with `tls`, over https."""
    completions = Completions(model)
    handler = type("Handler", (_Handler,), {"server_of": completions})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    completions.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield completions
    finally:
        server.shutdown()
        server.server_close()
