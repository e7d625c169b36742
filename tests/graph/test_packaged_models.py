"""Models that the package onnx has with data: light networks of real architectures, converted and small models."""

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from graph.acl_model import AclError, Model, compile_model

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
LIGHT = sorted((DATA / "light").glob("*.onnx"))
FOLDERS = sorted(path.parent for path in DATA.glob("*/*/model.onnx"))
REFUSED = "Sequence|StringNormalizer|preview.training|computed from an input's elements"  # Expand by an input
# onnx's own tolerance for models with data.
RTOL, ATOL = 1e-3, 1e-7


def tensors(folder: Path, kind: str) -> list[np.ndarray]:
    paths = [folder / f"{kind}_{i}.pb" for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    return [numpy_helper.to_array(onnx.TensorProto.FromString(p.read_bytes())) for p in paths]


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_light_network(path):
    """Weights are constants of one value, made when the model is loaded: the outputs do not depend on the input."""
    model = Model(compile_model(path.read_bytes()))
    inputs = [
        np.random.default_rng(0).random(model.dims("Input", i), dtype=np.float32)
        for i in range(len(model.sizes("Input")))
    ]
    actual = model.run(inputs)
    model.close()
    for i, one in enumerate(actual):
        stored = path.with_name(f"{path.stem}_output_{i}.pb").read_bytes()
        expected = numpy_helper.to_array(onnx.TensorProto.FromString(stored))
        np.testing.assert_allclose(one, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_model(folder):
    try:
        model = Model(compile_model((folder / "model.onnx").read_bytes()))
    except AclError as error:
        if not re.search(REFUSED, str(error)):
            raise
        pytest.skip(f"not implemented: {str(error)[:100]}")
    sets = sorted(folder.glob("test_data_set_*"))
    assert sets
    for one in sets:
        expected = tensors(one, "output")
        for got, wanted in zip(model.run(tensors(one, "input")), expected, strict=True):
            assert got.shape == wanted.shape
            np.testing.assert_allclose(
                got, wanted, rtol=RTOL, atol=max(ATOL, RTOL * np.abs(wanted).max())
            )
    model.close()
