"""Networks that atc compiled, against the same by npu eager, by CPU eager, and compiled without passes and fusion."""

import copy
import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch
from interleave import Row
from torch import Tensor, nn

PACKAGE = Path(__file__).resolve().parents[1] / "build/python/torch_npu"


class _Compiled:
    """A model of one input and one output, run on the current stream."""

    def __init__(self, model: nn.Module, x: Tensor, folder: Path, *options: str) -> None:
        onnx, om = folder / "m.onnx", folder / "m.om"
        torch.onnx.export(model, (x,), onnx, dynamo=False)
        command = [PACKAGE / "cann/bin/atc", f"--model={onnx}", f"--output={om}", "--framework=5"]
        subprocess.run([*command, "--soc_version=any", *options], check=True, capture_output=True)
        torch.npu.init()
        self._acl = ctypes.CDLL(str(PACKAGE / "lib/cann/libascendcl.so"))
        for name in ("aclmdlCreateDataset", "aclCreateDataBuffer"):
            getattr(self._acl, name).restype = ctypes.c_void_p
        self._id = ctypes.c_uint32()
        self._check(self._acl.aclmdlLoadFromFile(str(om).encode(), ctypes.byref(self._id)))
        with torch.no_grad():
            self._x, self.y = x.npu(), torch.empty_like(model(x)).npu()
        self._in, self._out = self._dataset(self._x), self._dataset(self.y)

    @staticmethod
    def _check(code: int) -> None:
        if code != 0:
            raise RuntimeError(f"error {code}")

    def _dataset(self, tensor: Tensor) -> ctypes.c_void_p:
        dataset = ctypes.c_void_p(self._acl.aclmdlCreateDataset())
        address, size = ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.nbytes)
        buffer = ctypes.c_void_p(self._acl.aclCreateDataBuffer(address, size))
        self._check(self._acl.aclmdlAddDatasetBuffer(dataset, buffer))
        return dataset

    def __call__(self) -> Tensor:
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        self._check(self._acl.aclmdlExecuteAsync(self._id, self._in, self._out, stream))
        return self.y


class _Encoder(nn.Module):
    """Two layers of a BERT-like encoder over 128 positions of 256 features, as a model spells them out."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(256, 4, 1024, 0.0, "gelu", batch_first=True)
            for _ in range(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def _rows(name: str, model: nn.Module, x: Tensor, repeats: int) -> list[Row]:
    model.eval()
    with tempfile.TemporaryDirectory() as folder:
        compiled = _Compiled(model, x, Path(folder))
        plain = _Compiled(model, x, Path(folder), "--passes_off=all")
    with torch.no_grad():
        expected = model(x)
    with tempfile.TemporaryDirectory() as folder:
        allowed = _Compiled(model, x, Path(folder), "--precision_mode=allow_mix_precision")
    torch.testing.assert_close(compiled().cpu(), expected, rtol=1e-3, atol=1e-3)
    on_npu, x_npu = copy.deepcopy(model).npu(), x.npu()
    forward = torch.no_grad()
    npu, cpu = forward(lambda: on_npu(x_npu)), forward(lambda: model(x))

    def with_hf32() -> Tensor:
        torch.npu.conv.allow_hf32 = True
        y = npu()
        torch.npu.conv.allow_hf32 = False
        return y

    return [
        Row(f"{name}, compiled", compiled, plain, repeats, "without passes"),
        Row(f"{name}, compiled", compiled, npu, repeats, "npu eager"),
        Row(f"{name}, compiled", compiled, cpu, repeats, "CPU eager"),
        Row(f"{name}, compiled, HF32 allowed", allowed, with_hf32, repeats, "npu eager"),
    ]


def rows() -> list[Row]:
    """ResNet-18 and a transformer."""
    from convolutional import resnet18

    torch.manual_seed(0)
    torch.npu.conv.allow_hf32 = False  # atc keeps the precision of a model
    return [
        *_rows("ResNet-18, one image", resnet18(), torch.randn(1, 3, 224, 224), 3),
        *_rows("encoder, 128 x 256", _Encoder(), torch.randn(1, 128, 256), 10),
    ]
