"""Networks by the graph engine (torch.compile's backend npugraph_ex) against npu eager and the best of other runtimes."""

import copy
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from convolutional import NETWORKS, with_statistics
from interleave import Row
from networks import DEPTH, HEADS, LAYERS, PROMPT, WORDS, Decoder
from ops import exactly, with_and_without
from peer_decoder import ExportedDecoder, inputs_of
from peer_runtimes import Inputs, arrays, check, inductor, onnx, onnx_runtime, open_vino
from peers import first_result, resnet50
from results import Measured
from torch import Tensor, nn
from transformers import BertConfig, BertModel

_EXACT = "allow_hf32=False"
_TOKENS = 64


class _Sentence(nn.Module):
    """MiniLM's size: six layers of 384; the mean of what the tokens become."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            attn_implementation="eager",
        )
        self.encoder = BertModel(config, add_pooling_layer=False)

    def forward(self, embedded: Tensor) -> Tensor:
        return self.encoder.encoder(embedded).last_hidden_state.mean(1)


def _first(result: object) -> object:
    return result[0] if isinstance(result, tuple) else result


@dataclass(frozen=True)
class Work:
    """A network and its inputs by their names; images of three channels among them may lie channels last."""

    name: str
    network: nn.Module
    inputs: Inputs
    is_image: bool = False

    def result(self) -> Tensor:
        """What the network gives first."""
        return _first(self.network(*self.inputs.values()))


def _decoders(batch: int) -> Iterator[Work]:
    decoder = Decoder().eval()
    past = torch.zeros(LAYERS, 2, batch, HEADS, 0, DEPTH)
    network = ExportedDecoder(decoder)
    prompt, token = torch.randint(WORDS, (batch, PROMPT)), torch.randint(WORDS, (batch, 1))
    prefill = inputs_of(decoder, prompt, 0, past)
    yield Work(f"Llama-like, {PROMPT} tokens, {batch}", network, prefill)
    before = network(*prefill.values())[1]
    yield Work(
        f"Llama-like, token {PROMPT + 1}, {batch}",
        network,
        inputs_of(decoder, token, PROMPT, before),
    )


def works(batches: tuple[int, ...]) -> Iterator[Work]:
    """What is measured for each number of inputs."""
    torch.manual_seed(0)
    for name, (make, size) in {"ResNet-50": (resnet50, 224), **NETWORKS}.items():
        network = with_statistics(make())
        for batch in batches:
            x = torch.randn(batch, 3, size, size)
            yield Work(f"{name}, {batch}", copy.deepcopy(network), {"x": x}, is_image=True)
    sentence = _Sentence().eval()
    for batch in batches:
        yield Work(f"MiniLM, {batch}", sentence, {"x": torch.randn(batch, _TOKENS, 384)})
        yield from _decoders(batch)


def _rows(work: Work) -> Iterator[Row]:
    layout = torch.channels_last if work.is_image else torch.contiguous_format
    expected = work.result()
    here = [value.contiguous(memory_format=layout) for value in work.inputs.values()]
    on_npu = copy.deepcopy(work.network).npu().to(memory_format=layout)
    there = [value.npu() for value in here]
    compiled = torch.compile(on_npu, backend="npugraph_ex", fullgraph=True, dynamic=False)
    by_graph, eager = partial(compiled, *there), partial(on_npu, *there)
    check("npugraph_ex", _first(by_graph()).cpu(), expected)
    for row in with_and_without(Row(work.name, by_graph, eager, 1, "npu eager")):
        yield replace(row, cpu=partial(exactly, eager)) if row.name.endswith(_EXACT) else row
    path, values = onnx(work.network, work.inputs), arrays(work.inputs)
    peers: dict[str, Callable[[], object]] = {
        "ONNX Runtime": partial(first_result, onnx_runtime(path), values),
        "OpenVINO": partial(first_result, open_vino(path), values),
        "inductor": partial(inductor(work.network.to(memory_format=layout)), *here),
    }
    for peer, other in peers.items():
        check(peer, _first(other()), expected)
        yield from with_and_without(Row(work.name, by_graph, other, 1, peer))


@torch.no_grad()
def rows(batches: tuple[int, ...] = (1, 8)) -> list[Row]:
    """Each network with one and eight inputs, with HF32 allowed and forbidden."""
    return [row for work in works(batches) for row in _rows(work)]


def summary(measured: list[Measured]) -> str:
    """Geometric mean and largest ratio to the best of the other runtimes, with HF32 allowed and forbidden."""
    lines = []
    for title, wants in ("HF32 forbidden", True), ("HF32 allowed", False):
        best: dict[str, float] = {}
        for row in measured:
            if row.against != "npu eager" and row.work.endswith(_EXACT) == wants:
                best[row.work] = max(best.get(row.work, 0), row.ratio)
        mean = statistics.geometric_mean(best.values())
        worst = max(best, key=lambda name: best[name])
        lines.append(
            f"{title}: {mean:.2f} of the best runtime's time, at most {best[worst]:.2f} ({worst})"
        )
    return "\n".join(lines)
