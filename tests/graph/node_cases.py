"""The node cases of the package onnx: a model of one operator (or of its expansion), inputs and expected outputs.

``python -m graph.node_cases [PATTERN]`` in the folder tests runs all cases whose operator sets are at most 23 and prints
how many pass, and why the others do not.
"""

import collections
import functools
import itertools
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import onnx
from graph.acl_model import AclError, Model, compile_model
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

MAX_OPSET = 23


@dataclass(frozen=True)
class Outcome:
    """What a case came to: "passes", "refused" (an error that says why) or "wrong" (another result)."""

    kind: str
    reason: str = ""


@functools.cache
def cases() -> dict[str, TestCase]:
    """All cases of ai.onnx up to ``MAX_OPSET`` by their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return {case.name: case for case in found if case.model is not None and _is_in_range(case.model)}


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
    """Why ``actual`` is not ``expected`` within the tolerance that the case states; "" if it is."""
    if actual.dtype != expected.dtype:
        return f"{actual.dtype}, where {expected.dtype} is expected"
    if actual.shape != expected.shape:
        return f"{list(actual.shape)}, where {list(expected.shape)} is expected"
    if actual.dtype.kind in "biu":
        return "" if np.array_equal(actual, expected) else "other integers"
    wide = [
        array if array.dtype.kind == "c" else array.astype(np.float64)
        for array in (actual, expected)
    ]
    if np.allclose(*wide, rtol=case.rtol, atol=case.atol, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        return f"differs by up to {np.nanmax(np.abs(wide[0] - wide[1])):.3g}"


def run(case: TestCase) -> Outcome:
    """Compiles the case's model, runs it on every data set and compares the outputs."""
    try:
        sets = [
            ([_array(x) for x in inputs], [_array(y) for y in outputs])
            for inputs, outputs in case.data_sets
        ]
    except TypeError as error:
        return Outcome("refused", str(error))
    try:
        model = Model(compile_model(case.model.SerializeToString()))
    except AclError as error:
        return Outcome("refused", str(error))
    try:
        for inputs, outputs in sets:
            actual = model.run(inputs)
            for i, (one, expected) in enumerate(zip(actual, outputs, strict=True)):
                if reason := compare(one, expected, case):
                    return Outcome("wrong", f"output {i}: {reason}")
    except AclError as error:
        return Outcome("wrong", f"the run fails: {error}")
    finally:
        model.close()
    return Outcome("passes")


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
    print(*(f"{counts[kind]} {kind}," for kind in ("passes", "refused", "wrong")), f"of {total}")


def sample(share: int, number: int) -> list[str]:
    """Every ``share``-th case, another part for each number."""
    return list(itertools.islice(cases(), number % share, None, share))


if __name__ == "__main__":
    main(sys.argv[1:])
