"""onnx's node cases in ONNX Runtime: what the execution provider takes equals the CPU provider's results."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from graph.node_cases import cases, compare
from graph.onnxruntime_provider import cpu_session, run, session, taken


@pytest.fixture(scope="module")
def counts():
    """Taken and all nodes; printed at the end."""
    found = [0, 0]
    yield found
    print(f"\nAscendExecutionProvider takes {found[0]} of {found[1]} nodes")


@pytest.mark.parametrize("name", list(cases()))
def test_case(name, counts):
    case = cases()[name]
    model = case.model.SerializeToString()
    inputs, outputs = case.data_sets[0]
    try:
        expected = run(cpu_session(model), [np.asarray(one) for one in inputs])
    except Exception as error:  # onnxruntime's errors have no common class
        pytest.skip(f"the CPU provider does not run it: {str(error)[:200]}")
    on_npu = session(model)
    for number, count in enumerate(taken(on_npu)):
        counts[number] += count
    actual = run(on_npu, [np.asarray(one) for one in inputs])
    if taken(on_npu)[0] == 0:
        pytest.skip("the provider takes no node of it")
    for one, other, own in zip(actual, expected, outputs, strict=True):
        # In some cases the CPU provider has another result than ONNX, which counts.
        if reason := compare(one, other, case):
            assert compare(one, np.asarray(own), case) == "", reason
