"""The Llama-like decoder in other runtimes. They take what was computed before as an input and give it back longer."""

import copy
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from interleave import Row
from networks import DEPTH, GENERATED, HEADS, LAYERS, PROMPT, WIDTH, WORDS, Decoder, generate
from ops import rope
from peer_runtimes import Arrays, Inputs, arrays, check, inductor, onnx, onnx_runtime, open_vino
from torch import Tensor, nn
from torch.nn import functional as F

PEERS = {"ONNX Runtime": onnx_runtime, "OpenVINO": open_vino}


def _normalized(norm: nn.RMSNorm, x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + norm.eps) * norm.weight


class ExportedDecoder(nn.Module):
    """The decoder's own weights, by operators that ONNX has."""

    def __init__(self, decoder: Decoder) -> None:
        """Shares the weights."""
        super().__init__()
        self.decoder = decoder

    def forward(
        self, tokens: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, past: Tensor
    ) -> tuple[Tensor, Tensor]:
        """``past`` [layers, 2, batch, heads, length, depth]; logits of the last step, and ``past`` with the new."""
        x, kept = self.decoder.words(tokens), []
        batch, steps = tokens.shape
        for i, layer in enumerate(self.decoder.layers):
            y = _normalized(layer.before, x)
            q, k, v = (
                w(y).view(batch, steps, HEADS, DEPTH).transpose(1, 2)
                for w in (layer.q, layer.k, layer.v)
            )
            k = torch.cat((past[i, 0], rope(k, cos, sin)), 2)
            v = torch.cat((past[i, 1], v), 2)
            kept.append(torch.stack((k, v)))
            scores = rope(q, cos, sin) @ k.transpose(-1, -2) * DEPTH**-0.5 + mask
            seen = torch.softmax(scores, -1) @ v
            x = x + layer.out(seen.transpose(1, 2).reshape(batch, steps, WIDTH))
            y = _normalized(layer.between, x)
            x = x + layer.down(F.silu(layer.gate(y)) * layer.up(y))
        return self.decoder.head(_normalized(self.decoder.norm, x[:, -1:])), torch.stack(kept)


def inputs_of(decoder: Decoder, tokens: Tensor, at: int, past: Tensor) -> Inputs:
    """Of ExportedDecoder for ``tokens`` [batch, steps], the first of which is number ``at``; ``past`` as it has it."""
    end = at + tokens.shape[1]
    mask = torch.full((tokens.shape[1], end), -1e9).triu(at + 1)
    return {
        "tokens": tokens,
        "cos": decoder.cos[at:end],
        "sin": decoder.sin[at:end],
        "mask": mask,
        "past": past,
    }


VARYING = {
    "tokens": {1: "steps"},
    "cos": {0: "steps"},
    "sin": {0: "steps"},
    "mask": {0: "steps", 1: "length"},
    "past": {4: "before"},
}


def _in_turn(
    run: Callable[[Arrays], Sequence[np.ndarray]], steps: list[Arrays], past: np.ndarray
) -> np.ndarray:
    """The last step's logits; each step's past is what the one before gave back."""
    for step in steps:
        logits, past = run({**step, "past": past})
    return logits


def rows() -> list[Row]:
    """The first token behind a prompt, and tokens one by one."""
    decoder = Decoder().eval()
    prompt, token = torch.randint(WORDS, (1, PROMPT)), torch.randint(WORDS, (1, 1))
    on_npu = copy.deepcopy(decoder).npu()
    first, others = decoder(prompt, 0), generate(decoder, token)
    nothing = torch.zeros(LAYERS, 2, 1, HEADS, 0, DEPTH)
    short = inputs_of(decoder, prompt[:, :3], 2, nothing.new_zeros(LAYERS, 2, 1, HEADS, 2, DEPTH))
    path = onnx(ExportedDecoder(decoder), short, VARYING)
    at_once = f"Llama-like, {PROMPT} tokens at once"
    one_by_one = f"Llama-like, {GENERATED} tokens one by one"
    fill, go_on = partial(on_npu, prompt.npu(), 0), partial(generate, on_npu, token.npu())
    check("npu", fill().cpu(), first)
    check("npu", go_on().cpu(), others)
    measured = [
        Row(at_once, fill, partial(decoder, prompt, 0), 2),
        Row(one_by_one, go_on, partial(generate, decoder, token), 1),
    ]
    filled = arrays(inputs_of(decoder, prompt, 0, nothing))
    positions = range(PROMPT, PROMPT + GENERATED)
    steps = [arrays(inputs_of(decoder, token, at, nothing)) for at in positions]
    for peer, make in PEERS.items():
        run = make(path)
        logits, past = run(filled)
        check(peer, logits, first)
        tokens = partial(_in_turn, run, steps, past)
        check(peer, tokens(), others)
        measured += [
            Row(at_once, fill, partial(run, filled), 2, peer),
            Row(one_by_one, go_on, tokens, 1, peer),
        ]
    compiled = partial(inductor(decoder), prompt, 0)
    check("inductor", compiled(), first)
    return [*measured, Row(at_once, fill, compiled, 2, "inductor")]
