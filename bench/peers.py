"""The same networks in other runtimes: npu against ONNX Runtime, OpenVINO and inductor.

`./dev bench peers` runs this in an environment that has them. Each peer's result is checked before it is measured.
"""

import copy
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import openvino
import torch
from interleave import Row
from torch import Tensor, nn
from transformers import ResNetConfig, ResNetForImageClassification

# What results may differ by, of the largest value: sums of some thousand products in another order, layer on layer.
TOLERANCE = 1e-4


class _Logits(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return self.network(images).logits


def _resnet50() -> nn.Module:
    """With statistics that are not 0 and 1, so that folding them is work."""
    network = _Logits(ResNetForImageClassification(ResNetConfig(num_labels=1000))).eval()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, std=0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1)
    return network


def _block() -> nn.Module:
    layers = nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()
    return nn.Sequential(*layers).eval()


def _onnx(network: nn.Module, example: Tensor) -> Path:
    path = Path(tempfile.mkdtemp()) / "network.onnx"
    torch.onnx.export(network, (example,), path, dynamo=False, opset_version=17, input_names=["x"])
    return path


def _onnx_runtime(network: nn.Module, example: Tensor) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(
        _onnx(network, example), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"x": example.numpy()})[0]


def _openvino(network: nn.Module, example: Tensor) -> Callable[[], object]:
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
    }
    compiled = openvino.Core().compile_model(str(_onnx(network, example)), "CPU", settings)
    request = compiled.create_infer_request()
    request.set_input_tensor(openvino.Tensor(example.numpy(), shared_memory=True))

    def infer() -> np.ndarray:
        request.infer()
        return request.get_output_tensor().data

    return infer


def _inductor(network: nn.Module, example: Tensor) -> Callable[[], object]:
    """Its best way: frozen weights, channels_last."""
    copied = copy.deepcopy(network).to(memory_format=torch.channels_last)
    image = example.contiguous(memory_format=torch.channels_last)
    torch._inductor.config.freezing = True
    return partial(torch.compile(copied), image)


PEERS = {"ONNX Runtime": _onnx_runtime, "OpenVINO": _openvino, "inductor": _inductor}


def _check(name: str, found: object, expected: Tensor) -> None:
    values = torch.as_tensor(np.asarray(found))
    off = (values - expected).abs().max().item() / expected.abs().max().item()
    if not off <= TOLERANCE:
        raise ValueError(f"{name} gives another result: {off:.1e} of the largest value")


def _against_all(name: str, network: nn.Module, example: Tensor, repeats: int) -> list[Row]:
    on_npu = copy.deepcopy(network).npu().to(memory_format=torch.channels_last)
    image = example.npu().contiguous(memory_format=torch.channels_last)
    expected = network(example)
    _check("npu", on_npu(image).cpu(), expected)
    rows = [Row(name, partial(on_npu, image), partial(network, example), repeats)]
    for peer, make in PEERS.items():
        work = make(network, example)
        _check(peer, work(), expected)
        rows.append(Row(name, partial(on_npu, image), work, repeats, peer))
    return rows


@torch.no_grad()
def rows() -> list[Row]:
    """All of them; what they are called with is made under no_grad, and so they have to run."""
    torch.manual_seed(0)
    network = _resnet50()
    return [
        *_against_all("ResNet-50, batch 1", network, torch.randn(1, 3, 224, 224), 1),
        *_against_all("ResNet-50, batch 8", network, torch.randn(8, 3, 224, 224), 1),
        *_against_all(
            "conv 3 x 3, batch norm, relu, 8 x 64 x 56 x 56",
            _block(),
            torch.randn(8, 64, 56, 56),
            5,
        ),
    ]
