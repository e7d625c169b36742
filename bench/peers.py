"""The same work in other runtimes: npu against ONNX Runtime, OpenVINO, inductor and fused operators.

`./dev bench peers` runs this in an environment that has them. Each peer's result is checked before it is measured.
"""

import copy
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from convolutional import NETWORKS, with_statistics
from interleave import Row
from ops import against_forbidden, optimizer, with_and_without
from peer_decoder import rows as of_the_decoder
from peer_operators import rows as of_operators
from peer_runtimes import Arrays, arrays, check, inductor, onnx, onnx_runtime, open_vino
from torch import Tensor, nn
from transformers import ResNetConfig, ResNetForImageClassification


class _Logits(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return self.network(images).logits


def resnet50() -> nn.Module:
    """He and others 2015, as transformers has it; images of 224 x 224, logits of 1,000 classes."""
    return _Logits(ResNetForImageClassification(ResNetConfig(num_labels=1000)))


def _block() -> nn.Module:
    layers = nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()
    return nn.Sequential(*layers).eval()


def first_result(run: Callable[[Arrays], Sequence[np.ndarray]], values: Arrays) -> np.ndarray:
    """What a runtime gives first."""
    return run(values)[0]


def _images(name: str, network: nn.Module, image: Tensor, repeats: int) -> list[Row]:
    """A network on images, in the layout that is best for npu and for inductor."""
    on_npu = copy.deepcopy(network).npu().to(memory_format=torch.channels_last)
    work = partial(on_npu, image.npu().contiguous(memory_format=torch.channels_last))
    expected = network(image)
    check("npu", work().cpu(), expected)
    path, values = onnx(network, {"x": image}), arrays({"x": image})
    compiled = inductor(network.to(memory_format=torch.channels_last))
    peers = {
        "ONNX Runtime": partial(first_result, onnx_runtime(path), values),
        "OpenVINO": partial(first_result, open_vino(path), values),
        "inductor": partial(compiled, image.contiguous(memory_format=torch.channels_last)),
    }
    row = Row(name, work, partial(network, image), repeats)
    rows = [*with_and_without(row), against_forbidden(row)]
    for peer, other in peers.items():
        check(peer, other(), expected)
        rows += with_and_without(Row(name, work, other, repeats, peer))
    return rows


@torch.no_grad()
def networks() -> list[Row]:
    """What is called without gradients."""
    torch.manual_seed(0)
    rows = []
    for name, (make, size) in {"ResNet-50": (resnet50, 224), **NETWORKS}.items():
        network = with_statistics(make())
        for batch in (1, 8):
            image = torch.randn(batch, 3, size, size)
            rows += _images(f"{name}, batch {batch}", network, image, 1)
    return [
        *rows,
        *_images(
            "conv 3 x 3, batch norm, relu, 8 x 64 x 56 x 56",
            _block(),
            torch.randn(8, 64, 56, 56),
            5,
        ),
        *of_the_decoder(),
    ]


def trained() -> list[Row]:
    """What is called with gradients."""
    return [*of_operators(), *optimizer()]
