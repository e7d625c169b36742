"""The runtimes that npu is compared with: each makes a function of a network."""

import copy
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import openvino
import torch
from torch import Tensor, nn

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

# What results may differ by, of the largest value: sums of some thousand products in another order, layer on layer.
TOLERANCE = 1e-4

# A network's inputs by their names; of those that vary, the names of the sizes that do.
Inputs = dict[str, Tensor]
Varying = dict[str, dict[int, str]]
Arrays = dict[str, np.ndarray]


def arrays(inputs: Inputs) -> Arrays:
    """The inputs as NumPy has them."""
    return {name: value.numpy() for name, value in inputs.items()}


def onnx(network: nn.Module, inputs: Inputs, varying: Varying | None = None) -> Path:
    """A file with the network."""
    path = Path(tempfile.mkdtemp()) / "network.onnx"
    torch.onnx.export(
        network,
        tuple(inputs.values()),
        path,
        dynamo=False,
        opset_version=17,
        input_names=list(inputs),
        dynamic_axes=varying,
    )
    return path


def onnx_runtime(path: Path) -> Callable[[Arrays], Sequence[np.ndarray]]:
    """ONNX Runtime with as many threads as PyTorch."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return partial(session.run, None)


def open_vino(path: Path) -> Callable[[Arrays], Sequence[np.ndarray]]:
    """OpenVINO in float32 with as many threads as PyTorch."""
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
    }
    request = openvino.Core().compile_model(str(path), "CPU", settings).create_infer_request()

    def infer(inputs: Arrays) -> Sequence[np.ndarray]:
        results = request.infer(inputs, share_inputs=True, share_outputs=False)
        return list(results.values())

    return infer


def inductor(network: nn.Module) -> nn.Module:
    """torch.compile with frozen weights."""
    torch._inductor.config.freezing = True
    return torch.compile(copy.deepcopy(network), dynamic=False)


def check(name: str, found: object, expected: Tensor) -> None:
    """Raises ValueError where a result is another."""
    values = torch.as_tensor(np.asarray(found))
    bound = Tolerance(absolute=TOLERANCE * expected.abs().max())
    result = accuracy.compare(values, expected, bound, check_dtype=False, equal_nan=False)
    if not result.is_close:
        raise ValueError(f"{name} gives another result: {result}")
