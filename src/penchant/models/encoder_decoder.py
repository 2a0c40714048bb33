"""Encoder-decoders (T5, BART) as causal models: the decoder reads a text after the encoder has read a source."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput

from penchant.errors import ModelError
from penchant.models.model_identity import ModelSource


class GivenSource(torch.nn.Module):
    """The decoder of a model whose encoder has read one source, with the interface of a causal model.

    `source` are the token ids of the source, including special tokens; `lead` are the ids of tokens that precede every
    row and get no logits.
    """

    def __init__(self, model: Any, source: list[int], lead: list[int]) -> None:
        super().__init__()
        self.whole, self.config, self.dtype = model, model.config, model.dtype
        self.source, self.lead = source, lead
        self._read: Tensor | None = None

    @property
    def base_model(self) -> GivenSource:
        """The model itself, since the decoder cannot be called without its encoder."""
        return self

    @property
    def device(self) -> torch.device:
        """The device of the model's first weights."""
        device: torch.device = self.whole.device
        return device

    @property
    def hf_device_map(self) -> dict[str, int | str] | None:
        """The device of each module, by module name, if the model is spread over several devices, else None."""
        return getattr(self.whole, "hf_device_map", None)

    def get_input_embeddings(self) -> Any:
        """Return the embeddings of the model's tokens."""
        return self.whole.get_input_embeddings()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, *, output_hidden_states: bool = False
    ) -> CausalLMOutput:
        """Return the logits (n, t, V) of the decoder for rows of tokens (n, t) with their mask."""
        n, lead = len(input_ids), len(self.lead)
        before = torch.tensor(self.lead, device=input_ids.device, dtype=torch.long).expand(n, lead)
        read = self._states(input_ids.device).expand(n, -1, -1)
        out = self.whole(
            encoder_outputs=BaseModelOutput(last_hidden_state=read),
            attention_mask=torch.ones(read.shape[:2], device=read.device, dtype=torch.long),
            decoder_input_ids=torch.cat([before, input_ids], dim=1),
            decoder_attention_mask=torch.cat([torch.ones_like(before), attention_mask], dim=1),
            use_cache=False,
            output_hidden_states=output_hidden_states,
        )
        states = tuple(layer[:, lead:] for layer in out.decoder_hidden_states or ())
        return CausalLMOutput(logits=out.logits[:, lead:], hidden_states=states or None)

    def _states(self, device: torch.device) -> Tensor:
        """Return the states of the encoder (1, s, d), which are computed once."""
        if self._read is None or self._read.device != device:
            ids = torch.tensor([self.source], device=device)
            with torch.no_grad():
                self._read = self.whole.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
        return self._read


def given_source(model: Any, tokenizer: Any, source: ModelSource) -> tuple[GivenSource, int]:
    """Return an encoder-decoder that reads the source text of `source`, and the id of the token put before a text.

    That token is the tokenizer's own first token if there is one (BART's `<s>`), preceded by the decoder's start token,
    and otherwise the decoder's start token (T5). Raises ModelError if the decoder's start token is unknown.
    """
    start = model.config.decoder_start_token_id
    start = model.generation_config.decoder_start_token_id if start is None else start
    ends = tokenizer("")["input_ids"]
    if start is None:
        message = "its configuration names no token that starts the decoder"
        raise ModelError(message, where=source.given, hint="set decoder_start_token_id in config.json")
    read = tokenizer(source.text)["input_ids"] or [start]
    first = ends[0] if len(ends) > 1 else start
    return GivenSource(model, read, [] if first == start else [start]), int(first)
