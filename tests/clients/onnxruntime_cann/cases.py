"""onnx's node cases in ONNX Runtime's official CANN wheel: which of their nodes run on CANN, and what comes out."""

import functools
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from ml_dtypes import finfo
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

PROVIDER = "CANNExecutionProvider"
MAX_OPSET = 23
DEPENDS_ON_INPUT = "is computed from an input's elements"
_QUIET = 4  # only fatal errors are logged
_ROUNDINGS = 4
_COPIES = ("MemcpyFromHost", "MemcpyToHost")

_LOGGED = re.compile(r"\[ERROR\] softnpu\(\d+\): (.*)")


@dataclass(frozen=True)
class Outcome:
    """What a case came to.

    Attributes:
        kind: "right"; "specialized" (right with the inputs that decide sizes as constants); "cpu" (no node runs on CANN);
            "refused" (an error); "wrong" (another result); "not comparable" (ONNX Runtime itself does not run it).
        reason: the error or the difference.
    """

    kind: str
    reason: str = ""


def _is_tensor(value: onnx.ValueInfoProto) -> bool:
    # The provider copies strings as bytes, which ends the process.
    kind = value.type.WhichOneof("value")
    return kind == "tensor_type" and value.type.tensor_type.elem_type != onnx.TensorProto.STRING


def _is_in_range(model: onnx.ModelProto) -> bool:
    opsets = {one.domain or "ai.onnx": one.version for one in model.opset_import}
    return (
        opsets.get("ai.onnx", MAX_OPSET + 1) <= MAX_OPSET
        and not any(domain.startswith("ai.onnx.") for domain in opsets)
        and all(_is_tensor(value) for value in (*model.graph.input, *model.graph.output))
        and "string" not in {node.op_type.lower()[:6] for node in model.graph.node}
    )


@functools.cache
def cases() -> dict[str, TestCase]:
    """All cases of ai.onnx up to ``MAX_OPSET`` whose inputs and outputs are tensors of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return {c.name: c for c in found if c.model is not None and _is_in_range(c.model)}


def _difference(actual: np.ndarray, expected: np.ndarray, case: TestCase) -> str:
    """ "" within the case's tolerance, but at least ``_ROUNDINGS`` of the type."""
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"{actual.dtype} {actual.shape}, where {expected.dtype} {expected.shape} is expected"
    if actual.dtype.kind in "biu":
        return "" if np.array_equal(actual, expected) else "other integers"
    eps = float(finfo(actual.dtype).eps)
    is_close = np.allclose(
        actual.astype(np.complex128),
        expected.astype(np.complex128),
        max(case.rtol, _ROUNDINGS * eps),
        case.atol,
        equal_nan=True,
    )
    return "" if is_close else f"{actual.ravel()[:8]}, where {expected.ravel()[:8]} is expected"


def session(model: bytes, mode: str, profile: Path | None = None) -> onnxruntime.InferenceSession:
    """A session on CANN; ``mode`` is "0" operator by operator, "1" by graphs."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = _QUIET
    if profile is not None:
        settings.enable_profiling = True
        settings.profile_file_prefix = str(profile)
    providers = [(PROVIDER, {"enable_cann_graph": mode}), "CPUExecutionProvider"]
    found = onnxruntime.InferenceSession(model, settings, providers=providers)
    assert found.get_providers()[0] == PROVIDER, "the provider's library does not load"
    return found


def _cann_nodes(profile: str) -> int:
    """How many nodes of the profiled run were on CANN, copies not counted; removes the file."""
    path = Path(profile)
    nodes = {
        (event["name"], event["args"]["op_name"])
        for event in json.loads(path.read_text())
        if event.get("args", {}).get("provider") == PROVIDER
    }
    path.unlink()
    return sum(op not in _COPIES for _, op in nodes)


def _specialized(case: TestCase, inputs: list[np.ndarray]) -> tuple[onnx.ModelProto, list[int]]:
    """The model with inputs that may be sizes, axes or bounds as constants, and the numbers of the other inputs."""
    stays = [i for i, array in enumerate(inputs) if array.ndim > 1 or array.size > 64]
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    infos = list(model.graph.input)
    del model.graph.input[:]
    model.graph.input.extend(infos[i] for i in stays)
    model.graph.initializer.extend(
        numpy_helper.from_array(array, infos[i].name)
        for i, array in enumerate(inputs)
        if i not in stays
    )
    return model, stays


def _runs_at_all(case: TestCase) -> str:
    """Why ONNX Runtime's CPU provider does not run a case; "" if it does."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = _QUIET
    try:
        found = onnxruntime.InferenceSession(
            case.model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
        found.run(None, dict(zip((i.name for i in found.get_inputs()), _inputs(case), strict=True)))
    except Exception as error:  # onnxruntime's errors have no common class
        return str(error)
    return ""


def _inputs(case: TestCase) -> list[np.ndarray]:
    return [np.asarray(one) for one in case.data_sets[0][0]]


def _run_once(
    model: onnx.ModelProto, inputs: list[np.ndarray], mode: str, folder: Path
) -> tuple[list[np.ndarray], int]:
    found = session(model.SerializeToString(), mode, folder / "profile")
    feeds = dict(zip((i.name for i in found.get_inputs()), inputs, strict=True))
    try:
        results = found.run(None, feeds)
    except Exception:
        _cann_nodes(found.end_profiling())
        raise
    return results, _cann_nodes(found.end_profiling())


def _reason(log: str, error: Exception) -> str:
    """What softnpu logged first, which the provider does not pass on; else the error itself."""
    found = _LOGGED.search(log)
    return found[1] if found else str(error)


def run(case: TestCase, mode: str, folder: Path, read_log: Callable[[], str]) -> Outcome:
    """Runs a case on CANN.

    Args:
        case: the case, of whose data sets the first one counts.
        mode: as in :func:`session`.
        folder: gets profiles for the time of the run.
        read_log: what softnpu wrote to its log since the last call.
    """
    inputs = _inputs(case)
    kind = "right"
    read_log()
    try:
        results, nodes = _run_once(case.model, inputs, mode, folder)
    except Exception as error:  # as above
        reason = _reason(read_log(), error)
        if reason == str(error) and (own := _runs_at_all(case)):
            return Outcome("not comparable", own)
        if DEPENDS_ON_INPUT not in reason:
            return Outcome("refused", reason)
        model, stays = _specialized(case, inputs)
        kind = "specialized"
        try:
            results, nodes = _run_once(model, [inputs[i] for i in stays], mode, folder)
        except Exception as again:  # as above
            return Outcome("refused", _reason(read_log(), again))
    if nodes == 0:
        return Outcome("cpu")
    for actual, expected in zip(results, case.data_sets[0][1], strict=True):
        if reason := _difference(actual, np.asarray(expected), case):
            return Outcome("wrong", reason)
    return Outcome(kind)
