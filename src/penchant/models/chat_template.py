"""Prompts in a chat model's own template, and the tokens of replies to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penchant.errors import ModelError, first_line

if TYPE_CHECKING:
    from penchant.models.load import LanguageModel

_FIXED = {"date_string": "01 Jan 2025", "enable_thinking": False}
"""Arguments that keep a template from inserting today's date or starting a chain of thought."""
_REPLY = "A"


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A user message, preceded by a `system` message if there is one."""

    user: str
    system: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages in the format that chat templates and servers expect."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": self.user}]

    def in_one(self) -> ChatPrompt:
        """Return the prompt as a single user message that begins with the system message."""
        return ChatPrompt(f"{self.system}\n\n{self.user}") if self.system else self


class ChatTemplate:
    """The chat template of a language model. Raises ModelError if the model has none."""

    def __init__(self, model: LanguageModel) -> None:
        self._model, self._hf = model, model.tokenizer.hf
        template = getattr(self._hf, "chat_template", None)
        if not template or model.kind != "causal":
            hint = "use a chat model, or set elicit: sentence"
            raise ModelError("has no chat template", where=model.name, hint=hint)
        self.digest = hashlib.sha256(str(template).encode()).hexdigest()

    def prompt(self, prompt: ChatPrompt) -> tuple[int, ...]:
        """Return the tokens of a prompt, up to the place where the model's reply begins."""
        return self._tokens(self._begun(prompt))

    def reply(self, prompt: ChatPrompt, text: str) -> tuple[int, ...]:
        """Return the tokens that a reply adds to those of its prompt.

        Raises ModelError if the tokenizer joins the reply to the prompt.
        """
        begun, replied = self._begun(prompt), self._rendered(prompt, text, continue_final_message=True)
        before, whole = self._tokens(begun), self._tokens(replied if replied.startswith(begun) else begun + text)
        if whole[: len(before)] != before or len(whole) == len(before):
            message = f"its tokenizer does not separate the reply '{text}' from the prompt"
            raise ModelError(message, where=self._model.name, hint="reword the option, or use another model")
        return whole[len(before) :]

    @cached_property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply."""
        asked = ChatPrompt(_REPLY)
        after = self._rendered(asked, _REPLY).removeprefix(self._rendered(asked, _REPLY, continue_final_message=True))
        own = self._model.network.model.generation_config
        configured = getattr(own, "eos_token_id", None)
        listed = configured if isinstance(configured, list) else [configured]
        ends = [*self._tokens(after)[:1], self._hf.eos_token_id, *listed]
        return frozenset(int(token) for token in ends if token is not None)

    def _begun(self, prompt: ChatPrompt) -> str:
        return self._rendered(prompt, add_generation_prompt=True)

    def _rendered(self, prompt: ChatPrompt, reply: str = "", **how: Any) -> str:
        from jinja2 import TemplateError

        said = [{"role": "assistant", "content": reply}] if reply else []
        for tried in dict.fromkeys((prompt, prompt.in_one())):
            try:
                return str(self._hf.apply_chat_template([*tried.messages, *said], tokenize=False, **how, **_FIXED))
            except (TemplateError, ValueError, TypeError) as error:
                failed = error
        raise ModelError(f"its chat template fails: {first_line(failed)}", where=self._model.name) from failed

    def _tokens(self, text: str) -> tuple[int, ...]:
        return tuple(self._model.tokenizer.token_ids([text])[0])
