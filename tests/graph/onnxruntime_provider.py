"""Sessions of ONNX Runtime with softnpu's execution provider and with its own for the CPU."""

import functools

import numpy as np
import onnxruntime

from torch_npu import softnpu

NAME = "AscendExecutionProvider"
LIBRARY = softnpu.onnxruntime_provider()
_QUIET = 4  # only fatal errors are logged


@functools.cache
def devices() -> list[onnxruntime.OrtEpDevice]:
    """The provider's devices; registers its library once."""
    onnxruntime.register_execution_provider_library(NAME, str(LIBRARY))
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]


def session(model: bytes, severity: int = _QUIET, **options: str) -> onnxruntime.InferenceSession:
    """A session with the provider; names of ``options`` have "_" for ".". Never falls back to another provider.

    Raises:
        RuntimeError: an option is not known.
    """
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = severity
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    settings.add_provider_for_devices(
        devices(), {name.replace("_", "."): value for name, value in options.items()}
    )
    found = onnxruntime.InferenceSession(model, settings, enable_fallback=False)
    assert found.get_providers()[0] == NAME
    return found


def cpu_session(model: bytes) -> onnxruntime.InferenceSession:
    """A session on the CPU provider."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = _QUIET
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def taken(found: onnxruntime.InferenceSession) -> tuple[int, int]:
    """How many nodes of a session the provider runs, and how many there are."""
    counts = {True: 0, False: 0}
    for part in found.get_provider_graph_assignment_info():
        counts[part.ep_name == NAME] += len(part.get_nodes())
    return counts[True], counts[True] + counts[False]


def run(found: onnxruntime.InferenceSession, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs for inputs in the model's order."""
    names = [value.name for value in found.get_inputs()]
    return found.run(None, dict(zip(names, inputs, strict=True)))
