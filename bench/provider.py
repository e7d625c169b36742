"""ONNX Runtime's sessions by the graph engine (AscendExecutionProvider) against its CPU provider."""

import statistics
from functools import partial

import onnxruntime
import torch
from interleave import Row
from peer_graphs import works
from peer_runtimes import Arrays, arrays, check, onnx, onnx_runtime
from peers import first_result
from results import Measured

from torch_npu import softnpu

_NAME = "AscendExecutionProvider"


def _session(path: str) -> onnxruntime.InferenceSession:
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == _NAME]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices, {})
    return onnxruntime.InferenceSession(path, options, enable_fallback=False)


@torch.no_grad()
def rows(batches: tuple[int, ...] = (1, 8)) -> list[Row]:
    """Each network with one and eight inputs, which a run copies to the device."""
    onnxruntime.register_execution_provider_library(_NAME, str(softnpu.onnxruntime_provider()))
    found = []
    for work in works(batches):
        path = onnx(work.network, work.inputs)
        values: Arrays = arrays(work.inputs)
        ours = partial(first_result, partial(_session(str(path)).run, None), values)
        check("the provider", ours(), work.result())
        theirs = partial(first_result, onnx_runtime(path), values)
        found.append(Row(work.name, ours, theirs, 1, "CPU provider", is_separate=False))
    return found


def summary(measured: list[Measured]) -> str:
    """Geometric mean and largest ratio."""
    mean = statistics.geometric_mean(row.ratio for row in measured)
    return (
        f"{mean:.2f} of the CPU provider's time, at most {max(row.ratio for row in measured):.2f}"
    )
