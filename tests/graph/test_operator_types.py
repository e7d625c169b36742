"""Operators by the names of their types, as onnxruntime's CANN provider and OpenCV's cannops call them."""

import ctypes

import numpy as np
import pytest

from graph.acl_model import LIB, AclError, Memory, acl, call
from graph.test_single_operators import Side

RNG = np.random.default_rng(0)
EPS = np.finfo(np.float32).eps


@pytest.fixture(scope="module")
def compiler():
    acl()
    return ctypes.CDLL(str(LIB / "cann" / "libacl_op_compiler.so"))


def attributes(values: dict) -> ctypes.c_void_p:
    library = acl()
    library.aclopCreateAttr.restype = ctypes.c_void_p
    attr = ctypes.c_void_p(library.aclopCreateAttr())
    for name, value in values.items():
        key = name.encode()
        if isinstance(value, str):
            call(library.aclopSetAttrString(attr, key, value.encode()))
        elif isinstance(value, bool):
            call(library.aclopSetAttrBool(attr, key, value))
        elif isinstance(value, int):
            call(library.aclopSetAttrInt(attr, key, ctypes.c_int64(value)))
        elif isinstance(value, float):
            call(library.aclopSetAttrFloat(attr, key, ctypes.c_float(value)))
        else:
            numbers = (ctypes.c_int64 * len(value))(*value)
            call(library.aclopSetAttrListInt(attr, key, len(value), numbers))
    return attr


def execute(compiler, type_, inputs, outputs, values=None, on_host=()) -> list[np.ndarray]:
    """Runs the operator into arrays like ``outputs``; inputs of the indices ``on_host`` are in host memory."""
    given, got = Side(inputs, on_host), Side(outputs)
    attr = attributes(values or {})
    try:
        call(
            compiler.aclopCompileAndExecute(
                type_.encode(),
                len(inputs),
                given.descs,
                given.buffers,
                len(outputs),
                got.descs,
                got.buffers,
                attr,
                0,
                0,
                None,
                None,
            )
        )
        return [got.read(i) for i in range(len(outputs))]
    finally:
        acl().aclopDestroyAttr(attr)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


X = floats(2, 3, 4)
IMAGE = floats(2, 4, 6, 6)
WHOLE = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)

# type, inputs, attributes, inputs on the host, what numpy computes (moved elements are equal, sums within a bound)
EXACT = {
    "TransposeD": ([X], {"perm": [2, 0, 1]}, (), X.transpose(2, 0, 1)),
    "BroadcastToD": ([X[:, :1]], {"shape": [2, 3, 4]}, (), np.broadcast_to(X[:, :1], X.shape)),
    "Reshape": ([X, ints(4, -1)], {}, (1,), X.reshape(4, 6)),
    "Flatten": ([X], {"axis": 2}, (), X.reshape(6, 4)),
    "SliceD": ([X], {"offsets": [0, 1, 1], "size": [2, -1, 2]}, (), X[:, 1:, 1:3]),
    "TileD": ([X], {"multiples": [1, 2, 1]}, (), np.tile(X, (1, 2, 1))),
    "FillD": ([floats(1)], {"dims": [2, 2]}, (), None),
    "Crop": ([IMAGE, floats(2, 4, 3, 2)], {"axis": 2, "offsets": [1, 4]}, (), IMAGE[:, :, 1:4, 4:]),
    "ReduceMaxD": ([X], {"axes": [1], "keep_dims": True}, (), X.max(1, keepdims=True)),
    "ReduceMinD": ([X], {"axes": [0, 2]}, (), X.min((0, 2))),
    "AddV2": ([X, X[0]], {}, (), X + X[0]),
    "AddN": ([X, X * 2, X * 4], {"N": 3}, (), X + X * 2 + X * 4),
    "Adds": ([X], {"value": 1.5}, (), X + np.float32(1.5)),
    "Muls": ([X], {"value": -0.5}, (), X * np.float32(-0.5)),
    "Div": ([X, X[1]], {}, (), X / X[1]),
}


@pytest.mark.parametrize("type_", EXACT)
def test_type(compiler, type_):
    inputs, values, on_host, expected = EXACT[type_]
    if expected is None:
        expected = np.full(values["dims"], inputs[0][0])
    (got,) = execute(compiler, type_, inputs, [np.zeros_like(expected)], values, on_host)
    np.testing.assert_array_equal(got, expected)


def test_integers_are_divided_as_in_c(compiler):
    by = np.array([[3, -3, 2, -2]], np.int32)
    (got,) = execute(compiler, "Div", [WHOLE, by], [np.zeros_like(WHOLE)])
    np.testing.assert_array_equal(got, np.trunc(WHOLE / by).astype(np.int32))
    (got,) = execute(compiler, "Muls", [WHOLE], [np.zeros_like(WHOLE)], {"value": 3.0})
    np.testing.assert_array_equal(got, WHOLE * 3)
    with pytest.raises(AclError, match="the number of a tensor of integers is an integer"):
        execute(compiler, "Adds", [WHOLE], [np.zeros_like(WHOLE)], {"value": 0.5})


def test_sums_over_attributes(compiler):
    (got,) = execute(compiler, "ReduceSumD", [X], [np.zeros((3,), np.float32)], {"axes": [0, 2]})
    bound = X.shape[0] * X.shape[2] * EPS * np.abs(X).sum((0, 2))
    assert (np.abs(got - X.sum((0, 2))) <= bound).all()


@pytest.mark.parametrize("described_as", ["host", "device"])
def test_general_products(compiler, described_as):
    """onnxruntime describes the factors, which are in host memory, as it describes device memory."""
    a, b, c = floats(5, 3), floats(4, 5), floats(4)
    factors = [np.array([0.5], np.float32), np.array([-2], np.float32)]
    sides = [a, b, c, *factors]
    values = {"transpose_a": True, "transpose_b": True}
    expected = 0.5 * (a.T @ b.T) - 2 * c
    bound = (5 + 2) * EPS * (0.5 * (np.abs(a.T) @ np.abs(b.T)) + 2 * np.abs(c))
    out = np.zeros((3, 4), np.float32)
    if described_as == "host":
        (got,) = execute(compiler, "GEMM", sides, [out], values, (3, 4))
    else:
        given, result = Side(sides), Side([out])
        for i in (3, 4):
            address = ctypes.c_void_p(given.arrays[i].ctypes.data)
            acl().aclUpdateDataBuffer(
                ctypes.c_void_p(given.buffers[i]), address, ctypes.c_size_t(4)
            )
        attr = attributes(values)
        call(
            compiler.aclopCompileAndExecute(
                b"GEMM",
                5,
                given.descs,
                given.buffers,
                1,
                result.descs,
                result.buffers,
                attr,
                0,
                0,
                None,
                None,
            )
        )
        got = result.read(0)
    assert (np.abs(got - expected) <= bound).all()


def test_batch_norm_with_given_statistics(compiler):
    scale, offset, mean = floats(4), floats(4), floats(4)
    variance = np.abs(floats(4)) + 1
    inputs = [IMAGE, scale, offset, mean, variance]
    outputs = [np.zeros_like(IMAGE), *(np.zeros(4, np.float32) for _ in range(4))]
    values = {"epsilon": 1e-3, "data_format": "NCHW", "is_training": False}
    got = execute(compiler, "BatchNorm", inputs, outputs, values)
    along = (slice(None), None, None)
    widened = [one.astype(np.float64)[along] for one in (scale, offset, mean, variance)]
    factor = widened[0] / np.sqrt(widened[3] + 1e-3)
    expected = (IMAGE - widened[2]) * factor + widened[1]
    bound = 8 * EPS * ((np.abs(IMAGE) + np.abs(widened[2])) * np.abs(factor) + np.abs(widened[1]))
    assert (np.abs(got[0] - expected) <= bound).all()
    for one, wanted in zip(got[1:], (mean, variance, mean, variance), strict=True):
        np.testing.assert_array_equal(one, wanted)
    with pytest.raises(AclError, match="training is BNTrainingUpdate"):
        execute(compiler, "BatchNorm", inputs, outputs, {"data_format": "NCHW"})


def test_pooling(compiler):
    values = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}
    windows = IMAGE.reshape(2, 4, 3, 2, 3, 2)
    (got,) = execute(compiler, "MaxPoolV3", [IMAGE], [np.zeros((2, 4, 3, 3), np.float32)], values)
    np.testing.assert_array_equal(got, windows.max((3, 5)))
    whole = {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "global_pooling": True}
    out = np.zeros((2, 4, 1, 1), np.float32)
    (got,) = execute(compiler, "MaxPoolV3", [IMAGE], [out], whole)
    np.testing.assert_array_equal(got, IMAGE.max((2, 3), keepdims=True))
    (got,) = execute(compiler, "AvgPoolV2", [IMAGE], [out], whole)
    bound = 36 * EPS * np.abs(IMAGE).mean((2, 3), keepdims=True)
    assert (np.abs(got - IMAGE.mean((2, 3), keepdims=True)) <= bound).all()


def test_the_groups_of_a_convolution_have_two_spellings(compiler):
    weight = floats(4, 1, 1, 1)
    expected = IMAGE * weight[:, 0]
    for name in ("group", "groups"):
        values = {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "dilations": [1, 1, 1, 1], name: 4}
        (got,) = execute(compiler, "Conv2D", [IMAGE, weight], [np.zeros_like(IMAGE)], values)
        assert (np.abs(got - expected) <= 2 * EPS * np.abs(expected)).all()


@pytest.mark.parametrize(
    ("type_", "inputs", "values", "says"),
    [
        ("Reshape", [X, ints(5, 5)], {}, "another number of elements"),
        ("Crop", [IMAGE, floats(2, 4, 3, 2)], {"offsets": [5, 5]}, "leaves the tensor"),
        ("TransposeD", [X], {"perm": [0, 0, 1]}, "dimension"),
        ("GEMM", [X[0], X[0].T, X[0], X[0], X[0]], {}, "one float32 in host memory"),
    ],
)
def test_bad_calls_are_refused(compiler, type_, inputs, values, says):
    on_host = (1,) if type_ == "Reshape" else ()
    with pytest.raises(AclError, match=says):
        execute(compiler, type_, inputs, [np.zeros((3, 3), np.float32)], values, on_host)
    assert Memory(64).size == 64
