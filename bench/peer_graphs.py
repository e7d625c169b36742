"""Networks by the graph engine (torch.compile's backend npugraph_ex) against npu eager and the best of other runtimes."""

import copy
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from convolutional import NETWORKS, with_statistics
from interleave import Row
from ops import exactly, with_and_without
from peer_runtimes import arrays, check, inductor, onnx, onnx_runtime, open_vino
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


def _networks() -> Iterator[tuple[str, nn.Module, Tensor, bool]]:
    for name, (make, size) in {"ResNet-50": (resnet50, 224), **NETWORKS}.items():
        yield name, with_statistics(make()), torch.randn(1, 3, size, size), True
    yield "MiniLM", _Sentence().eval(), torch.randn(1, _TOKENS, 384), False


def works(batches: tuple[int, ...]) -> Iterator[tuple[str, nn.Module, Tensor, bool]]:
    """Name, network, its inputs, whether those are images, for each number of inputs."""
    torch.manual_seed(0)
    for name, network, x, is_image in _networks():
        for batch in batches:
            inputs = x.expand(batch, *x.shape[1:]) + 0.01 * torch.randn(batch, *x.shape[1:])
            yield f"{name}, {batch}", copy.deepcopy(network), inputs, is_image


def _rows(name: str, network: nn.Module, x: Tensor, is_image: bool) -> Iterator[Row]:
    layout = torch.channels_last if is_image else torch.contiguous_format
    expected = network(x)
    here = x.contiguous(memory_format=layout)
    on_npu = copy.deepcopy(network).npu().to(memory_format=layout)
    compiled = torch.compile(on_npu, backend="npugraph_ex", fullgraph=True, dynamic=False)
    work = partial(compiled, here.npu())
    check("npugraph_ex", work().cpu(), expected)
    path, values = onnx(network, {"x": x}), arrays({"x": x})
    eager = partial(on_npu, here.npu())
    for row in with_and_without(Row(name, work, eager, 1, "npu eager")):
        yield replace(row, cpu=partial(exactly, eager)) if row.name.endswith(_EXACT) else row
    peers: dict[str, Callable[[], object]] = {
        "ONNX Runtime": partial(first_result, onnx_runtime(path), values),
        "OpenVINO": partial(first_result, open_vino(path), values),
        "inductor": partial(inductor(network.to(memory_format=layout)), here),
    }
    for peer, other in peers.items():
        check(peer, other(), expected)
        yield from with_and_without(Row(name, work, other, 1, peer))


@torch.no_grad()
def rows(batches: tuple[int, ...] = (1, 8)) -> list[Row]:
    """Each network with one and eight inputs, with HF32 allowed and forbidden."""
    return [row for work in works(batches) for row in _rows(*work)]


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
