"""The node cases of the package onnx: a model of one operator (or of its expansion), inputs and expected outputs.

``python -m graph.node_cases [PATTERN]`` in the folder tests runs all cases whose operator sets are at most 23 and prints
how many pass, and why the others do not. A compiled model has fixed sizes: where a case has axes, sizes and the like as
inputs, those are constants of the model that is compiled, and the case counts as "specialized".
"""

import collections
import functools
import itertools
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import onnx
import torch
from ml_dtypes import finfo
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

from graph.acl_model import AclError, Model, compile_model
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

MAX_OPSET = 23
_ROUNDINGS = 4


@dataclass(frozen=True)
class Outcome:
    """What a case came to.

    Attributes:
        kind: "passes"; "specialized" (passes with inputs that decide sizes as constants); "refused" (an error that says
            why); or "wrong" (another result).
        reason: why it does not pass.
    """

    kind: str
    reason: str = ""


@functools.cache
def cases() -> dict[str, TestCase]:
    """All cases of ai.onnx up to ``MAX_OPSET`` by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return {
        case.name: case for case in found if case.model is not None and _is_in_range(case.model)
    }


def _is_in_range(model: onnx.ModelProto) -> bool:
    domains = {opset.domain or "ai.onnx": opset.version for opset in model.opset_import}
    return domains.get("ai.onnx", 0) <= MAX_OPSET and not any(
        domain.startswith("ai.onnx.") for domain in domains
    )


def _array(value: object) -> np.ndarray:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    raise TypeError(f"{type(value).__name__} is no tensor")


def compare(actual: np.ndarray, expected: np.ndarray, case: TestCase) -> str:
    """Why ``actual`` is not ``expected``; "" if it is.

    The tolerance is the case's own, but at least ``_ROUNDINGS`` of the type: of a composite's 16-bit results between its
    operators, in both.
    """
    if actual.dtype != expected.dtype:
        return f"{actual.dtype}, where {expected.dtype} is expected"
    if actual.shape != expected.shape:
        return f"{list(actual.shape)}, where {list(expected.shape)} is expected"
    if actual.dtype.kind in "biu":
        return "" if np.array_equal(actual, expected) else "other integers"
    widened = [
        torch.from_numpy(np.array(array if array.dtype.kind == "c" else array.astype(np.float64)))
        for array in (actual, expected)
    ]
    # Elements of a transform are sums of all elements: one is as exact as the largest of them.
    is_sum = "dft" in case.name or "stft" in case.name
    largest = float(widened[1].abs().max()) if is_sum else 0.0
    atol = max(case.atol, _ROUNDINGS * float(np.finfo(np.float32).eps) * largest)
    rtol = (
        case.rtol
        if actual.dtype.kind == "c"
        else max(case.rtol, _ROUNDINGS * float(finfo(actual.dtype).eps))
    )
    found = accuracy.compare(*widened, Tolerance(rtol, atol))
    return "" if found.is_close else str(found)


DEPENDS_ON_INPUT = "is computed from an input's elements"


def _decides_sizes(array: np.ndarray) -> bool:
    """Whether an input may be a list of sizes, axes, bounds or the like."""
    return array.ndim <= 1 and array.size <= 64


def _specialized(case: TestCase, inputs: list[np.ndarray], stays: list[int]) -> onnx.ModelProto:
    """The model with all inputs but those with the numbers ``stays`` as constants."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    infos = list(model.graph.input)
    del model.graph.input[:]
    model.graph.input.extend(infos[i] for i in stays)
    for i, array in enumerate(inputs):
        if i not in stays:
            model.graph.initializer.append(numpy_helper.from_array(array, infos[i].name))
    return model


def _run_specialized(case: TestCase, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Runs the model with its small inputs as constants; with all of them where the large ones decide sizes, too."""
    large = [i for i, array in enumerate(inputs) if not _decides_sizes(array)]
    try:
        return _run_once(_specialized(case, inputs, large), [inputs[i] for i in large])
    except AclError as error:
        if DEPENDS_ON_INPUT not in str(error):
            raise
    return _run_once(_specialized(case, inputs, []), [])


def _run_once(model: onnx.ModelProto, inputs: list[np.ndarray]) -> list[np.ndarray]:
    loaded = Model(compile_model(model.SerializeToString()))
    try:
        return loaded.run(inputs)
    finally:
        loaded.close()


def check_outputs(actual: list[np.ndarray], outputs: list[np.ndarray], case: TestCase) -> str:
    """The first difference from the expected outputs; "" if there is none."""
    for i, (one, expected) in enumerate(zip(actual, outputs, strict=True)):
        if reason := compare(one, expected, case):
            return f"output {i}: {reason}"
    return ""


def run(case: TestCase) -> Outcome:
    """Compiles the case's model, runs it on every data set and compares the outputs."""
    kind = "passes"
    for given, expected in case.data_sets:
        try:
            inputs = [_array(x) for x in given]
            outputs = [_array(y) for y in expected]
        except TypeError as error:
            return Outcome("refused", str(error))
        try:
            try:
                actual = _run_once(case.model, inputs)
            except AclError as error:
                if DEPENDS_ON_INPUT not in str(error):
                    raise
                actual = _run_specialized(case, inputs)
                kind = "specialized"
        except AclError as error:
            return Outcome("refused", str(error))
        if reason := check_outputs(actual, outputs, case):
            return Outcome("wrong", reason)
    return Outcome(kind)


def main(patterns: list[str]) -> None:
    """Runs the cases and prints the counts."""
    outcomes = {}
    for name, case in cases().items():
        if patterns and not any(pattern in name for pattern in patterns):
            continue
        print(name, end=" ", flush=True)
        outcomes[name] = run(case)
        print(outcomes[name].kind, outcomes[name].reason[:300], flush=True)
    counts = collections.Counter(outcome.kind for outcome in outcomes.values())
    total = sum(counts.values())
    print(
        *(f"{counts[kind]} {kind}," for kind in ("passes", "specialized", "refused", "wrong")),
        f"of {total}",
    )


def sample(share: int, number: int) -> list[str]:
    """Every ``share``-th case, another part for each number."""
    return list(itertools.islice(cases(), number % share, None, share))


if __name__ == "__main__":
    main(sys.argv[1:])
