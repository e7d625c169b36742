"""Decode steps that are captured once per number of sequences and pages, and replayed."""

from dataclasses import dataclass

import torch
from llama.model import Cache, Llama, Step
from torch import Tensor


@dataclass
class _Captured:
    """A graph, what it reads and what it writes."""

    graph: torch.npu.NPUGraph
    tokens: Tensor
    positions: Tensor
    slots: Tensor
    pages: Tensor
    logits: Tensor


class CapturedSteps:
    """Runs steps of one token a sequence by graphs.

    A graph holds the lengths that it was captured with. So it reads all positions of its pages, and a mask made on the
    device from the tokens' positions hides those that are not written yet.
    """

    def __init__(self, model: Llama, cache: Cache) -> None:
        """Nothing is captured before the first step."""
        self.model, self.cache = model, cache
        self._graphs: dict[tuple[int, int], _Captured] = {}

    def _run(self, one: _Captured, count: int, width: int) -> Tensor:
        keys = width * self.cache.block_size
        mask = torch.arange(keys, device=one.positions.device) > one.positions.unsqueeze(1)
        last = torch.arange(count, device=one.positions.device)
        lengths = [keys] * count
        step = Step(one.tokens, one.positions, one.slots, one.pages, [], lengths, last, mask)
        return self.model(step, self.cache)

    def _capture(self, count: int, width: int, step: Step) -> _Captured:
        one = _Captured(
            torch.npu.NPUGraph(),
            step.tokens.clone(),
            step.positions.clone(),
            step.slots.clone(),
            step.pages.clone(),
            step.tokens,
        )
        side = torch.npu.Stream()
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            self._run(one, count, width)  # what is allocated or chosen once is, before the capture
        torch.npu.current_stream().wait_stream(side)
        with torch.npu.graph(one.graph):
            one.logits = self._run(one, count, width)
        return one

    @torch.no_grad()
    def __call__(self, step: Step) -> Tensor:
        """The logits of a step of one token a sequence, [B, vocabulary], which the next step of its graph overwrites."""
        count, width = step.pages.shape
        one = self._graphs.get((count, width))
        if one is None:
            one = self._graphs[count, width] = self._capture(count, width, step)
        for held, given in (
            (one.tokens, step.tokens),
            (one.positions, step.positions),
            (one.slots, step.slots),
            (one.pages, step.pages),
        ):
            held.copy_(given)
        one.graph.replay()
        return one.logits
