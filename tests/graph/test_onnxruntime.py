"""The execution provider of ONNX Runtime: which nodes it takes, results, errors, its life."""

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

pytest.importorskip("onnxruntime")

from fresh import output
from fresh import run as run_fresh

from graph.onnxruntime_provider import LIBRARY, cpu_session, run, session, taken
from torch_npu.accuracy import Tolerance, assert_close

_EPS = float(np.finfo(np.float32).eps)


def _model(nodes, inputs, outputs, constants) -> bytes:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def _random(*sizes: int) -> np.ndarray:
    return np.random.default_rng(sum(sizes)).standard_normal(sizes).astype(np.float32)


def _network(sizes=(2, 3, 16, 16)) -> bytes:
    """A residual block and a classifier, around an operator that stays on the CPU (Det of 16 rows)."""
    n, _, h, w = sizes
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["b", "c"], ["d"]),
        helper.make_node("Tanh", ["d"], ["e"]),
        helper.make_node("Det", ["e"], ["det"], name="determinants"),
        helper.make_node("Mul", ["det", "det"], ["square"]),
        helper.make_node("GlobalAveragePool", ["e"], ["f"]),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("Gemm", ["g", "w3"], ["y"]),
    ]
    constants = {
        "w1": _random(8, 3, 3, 3) / 5,
        "w2": _random(8, 8, 3, 3) / 8,
        "w3": _random(8, 4),
    }
    return _model(nodes, {"x": [n, 3, h, w]}, {"y": [n, 4], "square": [n, 8]}, constants)


def _assert_same(model: bytes, inputs: list[np.ndarray], depth: int):
    """Both providers' results differ by roundings of sums of ``depth`` products at most."""
    pairs = zip(run(session(model), inputs), run(cpu_session(model), inputs), strict=True)
    for actual, expected in pairs:
        scale = float(np.abs(expected).max())
        assert_close(
            torch.from_numpy(actual),
            torch.from_numpy(expected),
            Tolerance(depth * _EPS, depth * _EPS * scale),
        )


def test_a_network_around_an_operator_of_the_cpu():
    model = _network()
    assert taken(session(model)) == (9, 10)
    # The square of a determinant of 16 rows multiplies 32 numbers, each a sum of up to 72 products.
    _assert_same(model, [_random(2, 3, 16, 16)], 32 * 72)


class _Layer(torch.nn.Module):
    """A layer of a Transformer: attention of four heads and a network of two products, [N, S, 32] to the same."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(32) for _ in range(2))
        self.qkv, self.out = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 32)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norms[0](x)).reshape(2, 7, 3, 4, 8).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(2, 7, 32))
        return x + self.mlp(self.norms[1](x))


def test_an_exported_transformer_layer(tmp_path):
    torch.manual_seed(0)
    layer = _Layer().eval()
    x = torch.randn(2, 7, 32)
    path = tmp_path / "layer.onnx"
    torch.onnx.export(layer, (x,), path, input_names=["x"], output_names=["y"], dynamo=False)
    model = path.read_bytes()
    found, of = taken(session(model))
    assert found == of > 0
    _assert_same(model, [x.numpy()], 64)


def test_why_a_node_stays_is_logged(capfd):
    session(_network(), severity=2, softnpu_explain="1")
    log = capfd.readouterr().err
    assert "node determinants (Det) stays on the CPU: " in log
    assert "takes 9 of 10 nodes in 2 graphs" in log


def test_open_sizes_stay_on_the_cpu(capfd):
    model = _model([helper.make_node("Relu", ["x"], ["y"])], {"x": ["n", 4]}, {"y": ["n", 4]}, {})
    assert taken(session(model, severity=2, softnpu_explain="1")) == (0, 1)
    assert "the sizes of its input x are open" in capfd.readouterr().err
    np.testing.assert_array_equal(run(session(model), [-np.ones((3, 4), np.float32)])[0], 0)


@pytest.mark.parametrize("option", [{"other": "1"}, {"softnpu_explain": "yes"}])
def test_a_wrong_option_is_an_error(option):
    name, value = next(iter(option.items()))
    with pytest.raises(
        Exception, match=f"the option {name.replace('_', '.')}={value} is not known"
    ):
        session(_network(), **option)


def test_unregistering_while_a_session_lives_is_an_error_and_no_crash(tmp_path):
    path = tmp_path / "network.onnx"
    path.write_bytes(_network())
    code = """
import sys
import re
from pathlib import Path

import numpy as np
import onnxruntime as ort
ort.register_execution_provider_library("AscendExecutionProvider", sys.argv[1])
options = ort.SessionOptions()
options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "AscendExecutionProvider"], {})
session = ort.InferenceSession(sys.argv[2], options)
x = np.ones((2, 3, 16, 16), np.float32)
before = session.run(None, {"x": x})[0]
try:
    ort.unregister_execution_provider_library("AscendExecutionProvider")
except Exception as error:
    print(error, file=sys.stderr)
print((session.run(None, {"x": x})[0] == before).all())
del session
print("ends", file=sys.stderr)
"""
    result = run_fresh(code, str(LIBRARY), str(path))
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "True"
    assert "1 sessions use it: delete them before it is unregistered" in result.stderr


def test_an_older_onnx_runtime_is_refused():
    code = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
CREATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
said = []
create = CREATE(lambda code, message: said.append(message.decode()) or 1)
table = (ctypes.c_void_p * 1)(ctypes.cast(create, ctypes.c_void_p))
GET = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
VERSION = ctypes.CFUNCTYPE(ctypes.c_void_p)
text = ctypes.create_string_buffer(b"1.22.1")
get = GET(lambda version: ctypes.addressof(table))
version = VERSION(lambda: ctypes.addressof(text))
base = (ctypes.c_void_p * 2)(ctypes.cast(get, ctypes.c_void_p), ctypes.cast(version, ctypes.c_void_p))
factories = (ctypes.c_void_p * 4)()
count = ctypes.c_size_t(9)
library.CreateEpFactories.restype = ctypes.c_void_p
status = library.CreateEpFactories(b"x", base, None, factories, ctypes.c_size_t(4), ctypes.byref(count))
print(bool(status), count.value, said[0])
"""
    expected = "True 0 AscendExecutionProvider needs ONNX Runtime 1.23 or newer, and this is 1.22.1"
    assert output(code, str(LIBRARY)) == expected


def test_the_example_of_the_document(tmp_path, monkeypatch):
    section = (
        (Path(__file__).parents[2] / "docs" / "graph.md").read_text().split("## ONNX Runtime")[1]
    )
    listing = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    program = listing + "\nprint(session.get_providers()[0])"
    assert output(program).splitlines()[-1] == "AscendExecutionProvider"
