"""Passes of the graph engine: the graph before and after each as text, and the results against those without passes."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from graph.acl_model import LIB, Dataset, Model, acl, call
from graph.pass_cases import CASES, IMAGE, model_of, node, normal

ATC = LIB.parent / "cann" / "bin" / "atc"


@dataclass(frozen=True)
class Compiled:
    """A compiled model, and the text of its graph after each pass; "lowered": before the first."""

    om: Path
    texts: dict[str, str]


def compiled(model: ModelProto, folder: Path, *options: str) -> Compiled:
    """Runs atc."""
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    om = folder / f"m{len(list(folder.iterdir()))}.om"
    arguments = [f"--model={path}", f"--output={om}", "--framework=5", "--soc_version=any"]
    done = subprocess.run(
        [ATC, *arguments, *options, "--dump=-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^# ([\w-]+)\n", done.stdout, flags=re.MULTILINE)
    texts = {
        name: "".join(
            line
            for line in text.splitlines(keepends=True)
            if line.startswith(("graph", "%", "ret"))
        )
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return Compiled(om, texts)


def run(om: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Loads and runs a model once."""
    model = Model(om)
    try:
        return model.run(inputs)
    finally:
        model.close()


def counted(text: str, types: Sequence[str]) -> dict[str, int]:
    """How often each operator is in a graph's text."""
    return {type_: len(re.findall(rf"= {type_}\(", text)) for type_ in types}


@pytest.mark.parametrize("name", CASES)
def test_pass(name, tmp_path):
    """The pass does what it says, alone as well; results differ by rounding from those without passes."""
    case = CASES[name]
    with_passes = compiled(case.model, tmp_path)
    without = compiled(case.model, tmp_path, "--passes_off=all")
    assert list(without.texts) == ["lowered"]
    assert with_passes.texts["lowered"] == without.texts["lowered"]
    assert counted(without.texts["lowered"], list(case.before)) == case.before
    assert counted(with_passes.texts[case.pass_], list(case.after)) == case.after
    off = compiled(case.model, tmp_path, f"--passes_off={case.pass_}")
    assert case.pass_ not in off.texts

    inputs = [
        normal(*(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in case.model.graph.input
    ]
    wanted = run(without.om, inputs)[0]
    # A sum of `length` terms, computed twice, each with operands that are rounded once more.
    tolerance = 4 * (case.length + 2) * case.epsilon * max(1, np.abs(wanted).max())
    for one in (with_passes, off):
        np.testing.assert_allclose(run(one.om, inputs)[0], wanted, rtol=0, atol=tolerance)


def test_texts(tmp_path):
    """The whole text before and after: values are numbered, constants of few elements shown."""
    model = model_of(
        [node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Add", "c s", "y")],
        {"x": [1, 1, 2, 2]},
        {"y": [1, 1, 2, 2]},
        {"w": np.ones((1, 1, 3, 3), np.float32), "s": np.float32(2)},
    )
    texts = compiled(model, tmp_path).texts
    attributes = (
        "{dilations: [1,1,1,1], groups: 1, pads: [1,1,1,1], strides: [1,1,1,1]} : float32[1,1,2,2]"
    )
    head = "graph g(%0 x: float32[1,1,2,2])\n%1 = Conv2D(%0, float32[1,1,1,1,1,1,1,1,1]"
    assert texts["lowered"] == (
        f"{head}) {attributes}\n%2 = Add(%1, float32[2]) : float32[1,1,2,2]\nreturn %2 y\n"
    )
    assert texts["convolutions"] == f"{head}, float32[2]) {attributes}\nreturn %1 y\n"


def test_unknown_pass(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(CASES["swish"].model.SerializeToString())
    arguments = [f"--model={path}", "--output=m", "--framework=5", "--soc_version=any"]
    done = subprocess.run(
        [ATC, *arguments, "--passes_off=magic"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "there is no pass magic; there are all, constants, common" in done.stderr


@pytest.mark.parametrize("activation", ["Relu", "Clip"])
def test_nan_passes_through_fused_operators(activation, tmp_path):
    """An activation behind a convolution keeps NaN, as it does unfused."""
    model = model_of(
        [
            node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
            node(activation, "c" if activation == "Relu" else "c low high", "r"),
            node("Abs", "r", "y"),
        ],
        {"x": [1, 3, 64, 64]},
        {"y": [1, 4, 64, 64]},
        IMAGE | {"low": np.float32(0), "high": np.float32(6)},
    )
    x = normal(1, 3, 64, 64)
    x[0, 0, 5, 5] = np.nan
    y = run(compiled(model, tmp_path).om, [x])[0]
    assert np.isnan(y[0, :, 4:7, 4:7]).all()
    assert np.isnan(y).sum() == 9 * 4


def test_precision_modes_allow_hf32(tmp_path):
    """The permission is that of each convolution and product; without a mode there is none."""
    case = CASES["a bias"]
    allowed = compiled(case.model, tmp_path, "--precision_mode=allow_mix_precision")
    assert "allow_hf32: true" in allowed.texts["lowered"]
    kept = compiled(case.model, tmp_path, "--precision_mode=force_fp32")
    assert "allow_hf32" not in kept.texts["lowered"]
    x = normal(2, 5, 8)
    # HF32 has 11 bits: a product of two rounded factors, summed over 8.
    np.testing.assert_allclose(
        run(allowed.om, [x])[0], run(kept.om, [x])[0], rtol=0, atol=8 * 2**-10 * 9
    )


RUN_ONCE = """
import sys
import numpy as np
from graph.test_passes import run
np.save(sys.argv[3], run(sys.argv[1], [np.load(sys.argv[2])])[0])
"""


def test_fused_operators_are_bitwise_equal_to_unfused(tmp_path):
    """Operators behind a convolution run on its tiles; SOFTNPU_FUSE=0 runs each as a task of its own."""
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Conv", "r v", "d", pads=[1, 1, 1, 1]),
        node("Sigmoid", "d", "s"),
        node("Mul", "d s", "m"),
        node("Add", "m r", "a"),
        node("Tanh", "a", "t"),
        node("GlobalAveragePool", "t", "y"),
    ]
    sizes = {"x": [2, 3, 64, 64]}
    model = model_of(nodes, sizes, {"y": [2, 4, 1, 1]}, IMAGE | {"v": normal(4, 4, 3, 3)})
    om = compiled(model, tmp_path).om
    x = normal(*sizes["x"])
    np.save(tmp_path / "x.npy", x)
    for fuse in "01":
        subprocess.run(
            [sys.executable, "-c", RUN_ONCE, om, tmp_path / "x.npy", tmp_path / f"{fuse}.npy"],
            check=True,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "SOFTNPU_FUSE": fuse},
        )
    unfused, fused = (np.load(tmp_path / f"{fuse}.npy") for fuse in "01")
    np.testing.assert_array_equal(fused, unfused)


def test_runs_with_other_buffers(tmp_path):
    """Tasks that read inputs or write outputs are planned again for other memory."""
    model = CASES["batch norm"].model
    loaded = Model(compiled(model, tmp_path).om)
    inputs = [normal(2, 3, 8, 8) for _ in range(6)]
    expected = [run(compiled(model, tmp_path, "--passes_off=all").om, [x])[0] for x in inputs]
    given = [Dataset(loaded.sizes("Input")) for _ in range(3)]
    result = [Dataset(loaded.sizes("Output")) for _ in range(2)]
    for i, x in enumerate(inputs):
        source, target = given[i % 3], result[i % 2]
        source.memory[0].write(x)
        call(acl().aclmdlExecute(loaded.id, source.handle, target.handle))
        got = target.memory[0].read(np.dtype(np.float32), [2, 4, 6, 6])
        tolerance = 4 * (27 + 2) * np.finfo(np.float32).eps * np.abs(expected[i]).max()
        np.testing.assert_allclose(got, expected[i], rtol=0, atol=tolerance)
    loaded.close()
