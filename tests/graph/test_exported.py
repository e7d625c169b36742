"""Networks that torch.onnx exports, compiled by atc and run by aclmdlExecute, against PyTorch on the CPU."""

import io
import subprocess
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

from graph.acl_model import LIB, Model, compile_model

ATC = LIB.parent / "cann" / "bin" / "atc"


class Block(nn.Module):
    """The basic block of He et al., CVPR 2016."""

    def __init__(self, channels: int, out: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        stages = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        self.stages = nn.Sequential(
            *[block for i, o, s in stages for block in (Block(i, o, s), Block(o, o, 1))]
        )
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))

    def forward(self, x):
        return self.head(self.stages(self.stem(x)))


class Transformer(nn.Module):
    """Two encoder layers over token ids with a mask, and logits."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.position = nn.Parameter(torch.randn(1, 16, 32))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
            for _ in range(2)
        )
        self.logits = nn.Linear(32, 100)

    def forward(self, ids, mask):
        x = self.embedding(ids) + self.position[:, : ids.shape[1]]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return self.logits(x).log_softmax(-1)


def export(model: nn.Module, inputs: tuple, **options) -> bytes:
    """The model of the TorchScript exporter, which needs no package beside onnx."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, buffer, dynamo=False, opset_version=17, **options)
    return buffer.getvalue()


def atc(model: Path, *options: str) -> subprocess.CompletedProcess:
    command = [ATC, f"--model={model}", "--framework=5", f"--output={model.with_suffix('')}"]
    return subprocess.run(
        [*command, "--soc_version=Ascend310P3", *options],
        capture_output=True,
        text=True,
        check=False,
    )


def check(actual: np.ndarray, model: nn.Module, inputs: tuple) -> None:
    with torch.no_grad():
        reference = model.double()(*[x.double() if x.is_floating_point() else x for x in inputs])
        rounded = model.float()(*inputs)
    assert actual.shape == tuple(reference.shape)
    # Another order of sums: no more than a few times the error of PyTorch's own float32.
    error = (torch.from_numpy(actual).double() - reference).abs().max().item()
    own = (rounded.double() - reference).abs().max().item()
    spacing = torch.finfo(torch.float32).eps * reference.abs().max().item()
    assert error <= 4 * own + 4 * spacing, (error, own)


def test_resnet18(tmp_path):
    torch.manual_seed(0)
    model = ResNet18().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.normal_(module.running_mean, std=0.1)
    x = torch.randn(1, 3, 96, 96)
    path = tmp_path / "resnet18.onnx"
    path.write_bytes(
        export(model, (x,), input_names=["image"], dynamic_axes={"image": {0: "batch"}})
    )
    refused = atc(path)
    assert refused.returncode == 1
    assert "the model's inputs are image:batch,3,96,96 (float)" in refused.stderr
    done = atc(path, "--input_shape=image:1,3,96,96", "--input_format=NCHW", "--log=error")
    assert done.returncode == 0, done.stderr
    assert "ATC run success" in done.stdout
    loaded = Model(tmp_path / "resnet18.om")
    assert loaded.names("Input") == ["image"]
    assert loaded.dims("Input", 0) == [1, 3, 96, 96]
    assert loaded.sizes("Output") == [4000]
    check(loaded.run([x.numpy()])[0], model, (x,))
    loaded.close()


def test_transformer():
    torch.manual_seed(0)
    model = Transformer().eval()
    ids = torch.randint(0, 100, (2, 12))
    mask = torch.zeros(2, 12, dtype=torch.bool)
    mask[1, 9:] = True
    loaded = Model(compile_model(export(model, (ids, mask))))
    actual = loaded.run([ids.numpy(), mask.numpy()])[0]
    loaded.close()
    check(actual, model, (ids, mask))
