"""Compiled models behind the C functions: loading, memory of the caller, streams, threads, damaged files, bad input."""

import contextlib
import ctypes
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graph.acl_model import AclError, Dataset, Memory, Model, acl, call, compile_model

FLOAT = TensorProto.FLOAT


def model_of(nodes, inputs, outputs, constants=None, opset=17, **more) -> onnx.ModelProto:
    """A model of nodes; inputs and outputs are names with sizes of float32."""
    info = [
        [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in side.items()]
        for side in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", *info, tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("custom", 1)]
    return helper.make_model(graph, opset_imports=opsets, **more)


def compiled(*arguments, **more) -> bytes:
    return compile_model(model_of(*arguments, **more).SerializeToString())


WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def small() -> bytes:
    """relu(x w) + 1, with a value in the work memory."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("Relu", ["p"], ["r"], "relu"),
        helper.make_node("Add", ["r", "one"], ["y"], "sum"),
    ]
    return compiled(nodes, {"x": [2, 3]}, {"y": [2, 4]}, {"w": WEIGHT, "one": np.float32(1)})


def expected(x):
    return np.maximum(x @ WEIGHT, 0) + 1


def test_descriptions(small):
    model = Model(small)
    assert (model.names("Input"), model.names("Output")) == (["x"], ["y"])
    assert (model.dims("Input", 0), model.dims("Output", 0)) == ([2, 3], [2, 4])
    assert (model.sizes("Input"), model.sizes("Output")) == ([24], [32])
    assert model.dtype("Output", 0) == np.float32
    index = ctypes.c_size_t(7)
    call(acl().aclmdlGetOutputIndexByName(model.desc, b"y", ctypes.byref(index)))
    assert index.value == 0
    with pytest.raises(AclError, match="has no input of the name z"):
        call(acl().aclmdlGetInputIndexByName(model.desc, b"z", ctypes.byref(index)))
    with pytest.raises(AclError, match="has 1 outputs, not 1"):
        model.dims("Output", 1)
    np.testing.assert_allclose(model.run([X])[0], expected(X), rtol=1e-6)
    dataset = Dataset([24])
    with pytest.raises(AclError, match="not compiled with such a list"):
        call(
            acl().aclmdlSetDynamicBatchSize(
                model.id, dataset.handle, ctypes.c_size_t(0), ctypes.c_uint64(1)
            )
        )
    model.close()
    with pytest.raises(AclError, match="is not loaded"):
        call(acl().aclmdlUnload(model.id))


def test_memory_of_the_caller(small):
    """The model's device memory is what aclmdlQuerySize says; a run changes no other byte."""
    work, weights = ctypes.c_size_t(), ctypes.c_size_t()
    size = ctypes.c_size_t(len(small))
    call(acl().aclmdlQuerySizeFromMem(small, size, ctypes.byref(work), ctypes.byref(weights)))
    assert work.value >= 2 * 4 * 4
    assert weights.value >= WEIGHT.nbytes + 4
    guard = 256
    memory = [Memory(needed.value + guard) for needed in (work, weights)]
    for one in memory:
        call(
            acl().aclrtMemset(
                one.address, ctypes.c_size_t(one.size), 0x5A, ctypes.c_size_t(one.size)
            )
        )
    identity = ctypes.c_uint32()
    load = acl().aclmdlLoadFromMemWithMem

    def loaded(work_bytes: int) -> int:
        return load(
            small,
            size,
            ctypes.byref(identity),
            memory[0].address,
            ctypes.c_size_t(work_bytes),
            memory[1].address,
            weights,
        )

    with pytest.raises(AclError, match=rf"{work.value - 1} bytes, where {work.value} are needed"):
        call(loaded(work.value - 1))
    call(loaded(work.value))
    inputs, outputs = Dataset([24]), Dataset([32])
    inputs.memory[0].write(X)
    call(acl().aclmdlExecute(identity, inputs.handle, outputs.handle))
    np.testing.assert_allclose(
        outputs.memory[0].read(np.dtype(np.float32), [2, 4]), expected(X), rtol=1e-6
    )
    for one, needed in zip(memory, (work, weights), strict=True):
        bytes_ = one.read(np.dtype(np.uint8), [one.size])
        assert (bytes_[needed.value :] == 0x5A).all()
        assert (bytes_[: needed.value] != 0x5A).any()
    call(acl().aclmdlUnload(identity))


def test_work_memory_is_used_again():
    """A chain is computed in place, whatever its length; constants are summed once, when the model is compiled."""
    count = 40
    nodes = [helper.make_node("Add", ["w", "w"], ["v"])]
    nodes += [
        helper.make_node("Add", [f"x{i}" if i else "x", "v"], [f"x{i + 1}"]) for i in range(count)
    ]
    w = np.ones((1, 1024), np.float32)
    om = compiled(nodes, {"x": [1, 1024]}, {f"x{count}": [1, 1024]}, {"w": w})
    work, weights = ctypes.c_size_t(), ctypes.c_size_t()
    size = ctypes.c_size_t(len(om))
    call(acl().aclmdlQuerySizeFromMem(om, size, ctypes.byref(work), ctypes.byref(weights)))
    assert work.value == w.nbytes
    assert weights.value == w.nbytes
    model = Model(om)
    np.testing.assert_array_equal(model.run([w])[0], w + 2 * count)
    model.close()


def test_streams_and_threads(small):
    """Runs of one model follow each other whatever stream and thread they come from."""
    model = Model(small)
    results, errors = {}, []

    def work(number: int) -> None:
        try:
            call(acl().aclrtSetDevice(0))
            stream = ctypes.c_void_p()
            call(acl().aclrtCreateStream(ctypes.byref(stream)))
            for turn in range(25):
                x = X + number + turn
                inputs, outputs = Dataset([24]), Dataset([32])
                inputs.memory[0].write(x)
                call(acl().aclmdlExecuteAsync(model.id, inputs.handle, outputs.handle, stream))
                call(acl().aclrtSynchronizeStream(stream))
                got = outputs.memory[0].read(np.dtype(np.float32), [2, 4])
                results[number, turn] = np.allclose(got, expected(x), rtol=1e-6)
            call(acl().aclrtDestroyStream(stream))
        except AclError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(results) == 100
    assert all(results.values())
    model.close()


def test_outputs_that_are_inputs_constants_or_each_other():
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("Relu", ["x"], ["b"]),
        helper.make_node("Reshape", ["b", "sizes"], ["c"]),
        helper.make_node("Add", ["w", "w"], ["d"]),
    ]
    outputs = {"a": [2, 3], "b": [2, 3], "c": [6], "d": [3, 4], "w": [3, 4], "x": [2, 3]}
    om = compiled(nodes, {"x": [2, 3]}, outputs, {"sizes": np.array([6]), "w": WEIGHT})
    model = Model(om)
    relu = np.maximum(X, 0)
    for got, wanted in zip(
        model.run([X]), [X, relu, relu.ravel(), 2 * WEIGHT, WEIGHT, X], strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
    model.close()


def test_control_flow_that_constants_decide():
    def branch(name, op):
        node = helper.make_node(op, ["x"], [name])
        info = helper.make_tensor_value_info(name, FLOAT, [2, 3])
        return helper.make_graph([node], name, [], [info])

    body = helper.make_graph(
        [
            helper.make_node("Add", ["sum", "x"], ["next"]),
            helper.make_node("Identity", ["goes_on"], ["goes_on_out"]),
            helper.make_node("Identity", ["next"], ["each"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", FLOAT, [2, 3]),
        ],
        [
            helper.make_tensor_value_info("goes_on_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", FLOAT, [2, 3]),
            helper.make_tensor_value_info("each", FLOAT, [2, 3]),
        ],
    )
    nodes = [
        helper.make_node("Shape", ["x"], ["dims"]),
        helper.make_node("ReduceProd", ["dims"], ["count"], keepdims=0),
        helper.make_node("Greater", ["count", "limit"], ["is_large"]),
        helper.make_node(
            "If",
            ["is_large"],
            ["z"],
            then_branch=branch("t", "Neg"),
            else_branch=branch("e", "Abs"),
        ),
        helper.make_node("Loop", ["three", "yes", "z"], ["last", "all"], body=body),
    ]
    constants = {"limit": np.array(5), "three": np.array(3), "yes": np.array(True)}
    model = Model(compiled(nodes, {"x": [2, 3]}, {"last": [2, 3], "all": [3, 2, 3]}, constants))
    last, each = model.run([X])
    sums = [-X + X, -X + X + X, -X + X + X + X]
    np.testing.assert_allclose(last, sums[-1], atol=1e-6)
    np.testing.assert_allclose(each, np.stack(sums), atol=1e-6)
    model.close()


def test_damaged_files_are_errors(small):
    """Every damage ends in an error: its checksum is wrong, or the header does not fit."""
    for size in (0, 3, 100, 255, 256, 300, len(small) - 1):
        with pytest.raises(AclError, match=r"truncated|no compiled model|damaged"):
            Model(small[:size] or b"\0")
    random = np.random.default_rng(0)
    for location in [*range(0, 12, 3), 184, *random.integers(256, len(small), 60)]:
        damaged = bytearray(small)
        damaged[location] ^= 1 << random.integers(8)
        if location in (3 * 2, 9):  # the header's version, which is not read
            continue
        with pytest.raises(AclError):
            Model(bytes(damaged))
    official = bytearray(small)
    official[160:180] = b"1.82.T9.0.B110".ljust(20, b"\0")
    with pytest.raises(AclError, match="compiled by CANN's own atc"):
        Model(bytes(official))


def test_hostile_graphs_are_errors(small):
    """A file with a right checksum, whatever its graph holds, ends in an error or runs."""
    random = np.random.default_rng(1)
    outcomes = {"loads": 0, "error": 0}
    for _ in range(150):
        hostile = bytearray(small)
        for location in random.integers(256, len(small), random.integers(1, 4)):
            hostile[location] = random.integers(256)
        hostile[12:28] = b"%016x" % hash_of(bytes(hostile[256:]))
        try:
            model = Model(bytes(hostile))
        except AclError:
            outcomes["error"] += 1
        else:
            outcomes["loads"] += 1
            model.close()
    assert outcomes["error"] > 30, outcomes


def hash_of(data: bytes) -> int:
    """FNV-1a of 64 bits over words, as softnpu/graph/model/serialize.cpp has it."""
    mask, prime = (1 << 64) - 1, 0x100000001B3
    value = 0xCBF29CE484222325 ^ len(data)
    whole = len(data) // 8 * 8
    for word in np.frombuffer(data[:whole], np.uint64).tolist():
        value = ((value ^ word) * prime) & mask
        value ^= value >> 32
    for byte in data[whole:]:
        value = ((value ^ byte) * prime) & mask
    return value


X_IN = {"x": [2, 3]}
Y_OUT = {"y": [2, 3]}


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            model_of(
                [
                    helper.make_node("Foo", ["x"], ["a"], domain="custom"),
                    helper.make_node("Foo", ["a"], ["b"], domain="custom"),
                    helper.make_node("ImageDecoder", ["b"], ["y"]),
                ],
                X_IN,
                Y_OUT,
            ),
            r"ai.onnx.ImageDecoder \(version 17, 1 node\), custom.Foo \(version 1, 2 nodes\)",
        ),
        (
            model_of(
                [
                    helper.make_node("Add", ["x", "b"], ["a"]),
                    helper.make_node("Relu", ["a"], ["b"]),
                ],
                X_IN,
                {"b": [2, 3]},
            ),
            "its input b is made by no earlier node",
        ),
        (
            model_of([helper.make_node("Relu", ["x"], ["y"])], X_IN, Y_OUT, opset=24),
            "opset 24 of ai.onnx; opsets up to 23",
        ),
        (
            model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": ["batch", 3]}, Y_OUT),
            r"sizes of the input x are open.*x:batch,3 \(float\)",
        ),
        (
            model_of(
                [helper.make_node("MatMul", ["x", "w"], ["y"], "fc")], X_IN, Y_OUT, {"w": WEIGHT.T}
            ),
            r"node fc \(MatMul -> y\): inner sizes 3 and 4 differ",
        ),
        (
            model_of([helper.make_node("Relu", ["x"], ["z"])], X_IN, Y_OUT),
            "no node makes the output y",
        ),
        (
            model_of(
                [
                    helper.make_node("Cast", ["x"], ["n"], to=TensorProto.INT64),
                    helper.make_node("Reshape", ["x", "n"], ["y"], "bend"),
                ],
                {"x": [2]},
                Y_OUT,
            ),
            r"node bend \(Reshape -> y\): a size.*computed from an input's elements",
        ),
    ],
    ids=["operators", "cycle", "future", "open sizes", "sizes", "output", "data"],
)
def test_bad_models(model, sentence):
    with pytest.raises(AclError, match=sentence):
        compile_model(model.SerializeToString())


def nested_model(depth: int) -> onnx.ModelProto:
    """An If within an If, and so on, all with the same condition."""
    # Only the first branch of each is nested, or its size would double with each level.
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "else",
        [],
        [helper.make_tensor_value_info("y", FLOAT, [2, 3])],
    )
    inner = graph
    for _ in range(depth):
        choice = helper.make_node("If", ["yes"], ["y"], then_branch=inner, else_branch=graph)
        inner = helper.make_graph([choice], "then", [], list(graph.output))
    return model_of(inner.node, X_IN, Y_OUT, {"yes": np.array(True)})


def test_functions_that_call_themselves():
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    body = [helper.make_node("F", ["a"], ["b"], domain="custom")]
    function = helper.make_function("custom", "F", ["a"], ["b"], body, opsets)
    node = helper.make_node("F", ["x"], ["y"], domain="custom")
    with pytest.raises(AclError, match="functions call each other too deeply"):
        compiled([node], X_IN, Y_OUT, functions=[function])


def test_graphs_that_are_nested_deeply():
    model = Model(compile_model(nested_model(20).SerializeToString()))
    try:
        np.testing.assert_array_equal(model.run([X])[0], np.maximum(X, 0))
    finally:
        model.close()
    with pytest.raises(AclError, match="graphs are nested too deeply"):
        compile_model(nested_model(32).SerializeToString())


@pytest.mark.parametrize("sizes", [[1 << 40, 1 << 40], [1 << 62], [1 << 33, 1 << 29]])
def test_tensors_of_more_bytes_than_there_can_be(sizes):
    with pytest.raises(AclError, match=r"bytes|elements"):
        compiled([helper.make_node("Relu", ["x"], ["y"])], {"x": sizes}, {"y": sizes})


def test_tensors_of_more_than_2_gib():
    """Sizes beyond 32 bits are sizes like others, up to the device's memory."""
    sizes = {"x": [(1 << 29) + 3]}  # 2 GiB and 12 bytes
    last = {"begin": np.array([1 << 29]), "end": np.array([(1 << 29) + 3])}
    nodes = [
        helper.make_node("Slice", ["x", "begin", "end"], ["z"]),
        helper.make_node("Neg", ["z"], ["y"]),
    ]
    model = Model(compiled(nodes, sizes, {"y": [3]}, last))
    try:
        assert model.sizes("Input") == [(1 << 31) + 12]
        given, result = Dataset(model.sizes("Input")), Dataset(model.sizes("Output"))
        tail = np.array([1, 2, 3], np.float32)
        address = ctypes.c_void_p(given.memory[0].address.value + (1 << 31))
        call(acl().aclrtMemcpy(address, 12, ctypes.c_void_p(tail.ctypes.data), 12, 1))
        call(acl().aclmdlExecute(model.id, given.handle, result.handle))
        np.testing.assert_array_equal(result.memory[0].read(np.dtype(np.float32), [3]), -tail)
    finally:
        model.close()


def test_bytes_that_are_no_model():
    with pytest.raises(AclError, match=r"no ONNX|no model of ONNX|damaged"):
        compile_model(b"not a model at all")
    good = model_of([helper.make_node("Relu", ["x"], ["y"])], X_IN, Y_OUT).SerializeToString()
    random = np.random.default_rng(2)
    for _ in range(200):
        damaged = bytearray(good)
        damaged[random.integers(len(good))] = random.integers(256)
        with contextlib.suppress(AclError):
            compile_model(bytes(damaged))


def test_buffers_that_do_not_fit(small):
    model = Model(small)
    short, fitting, two = Dataset([20]), Dataset([24]), Dataset([32, 32])
    with pytest.raises(AclError, match=r"input 0 \(x\) has 20 bytes, where 24 are needed"):
        call(acl().aclmdlExecute(model.id, short.handle, two.handle))
    with pytest.raises(AclError, match="2 outputs, where the model has 1"):
        call(acl().aclmdlExecute(model.id, fitting.handle, two.handle))
    model.close()
