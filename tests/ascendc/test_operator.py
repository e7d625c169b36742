"""What load_ascendc's operators are to PyTorch: default values, derivatives, written tensors, wrong results."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

from torch_npu.utils.cpp_extension import load_ascendc

KERNELS = str(Path(__file__).parent / "kernels" / "vectors.asc")


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")

    def load_kernel(schema, launch, space="operators", **options):
        return load_ascendc(
            space,
            KERNELS,
            schema,
            launch=launch,
            kernel="scale",
            extra_cflags=("-O1",),
            build_directory=folder,
            **options,
        )

    return load_kernel


def _scaled(x, y, factor=2.0):
    return 2, (x, y, x.numel(), factor)


def test_arguments_that_have_their_default_value(load):
    schema = "defaults(Tensor x, float factor=2.0, *, int blocks=3) -> Tensor"
    operator = load(schema, lambda x, factor, blocks, y: (blocks, (x, y, x.numel(), factor)))
    x = torch.ones(64).npu()
    given = {"plain": {}, "same": {"factor": 2.0}, "other": {"factor": 5.0, "blocks": 1}}
    found = {name: operator(x, **options)[7].item() for name, options in given.items()}
    assert found == {"plain": 2.0, "same": 2.0, "other": 5.0}
    assert operator(torch.empty(64, device="meta")).shape == (64,)
    assert torch.compile(lambda x: operator(x) + 1, fullgraph=True)(x)[0].item() == 3.0


def test_the_meta_function_gets_contiguous_tensors_as_the_device_does(load):
    operator = load("like(Tensor x) -> Tensor", _scaled, outputs=torch.empty_like)
    x = torch.randn(64, 4)
    on_device, on_meta = operator(x.npu().t()), operator(x.to("meta").t())
    assert on_device.stride() == on_meta.stride() == (64, 1)
    assert torch.equal(on_device.cpu(), x.t() * 2)


def test_tensors_of_a_list_are_made_contiguous(load):
    operator = load(
        "of_list(Tensor[] xs) -> Tensor",
        lambda xs, y: _scaled(xs[1], y),
        outputs=lambda xs: torch.empty_like(xs[1], memory_format=torch.contiguous_format),
    )
    x = torch.randn(64, 4)
    assert torch.equal(operator([x.npu(), x.npu().t()]).cpu(), x.t() * 2)


def test_without_backward_a_gradient_is_an_error(load):
    operator = load("plain(Tensor x) -> Tensor", _scaled)
    x = torch.ones(64).npu().requires_grad_()
    y = operator(x) + x
    assert y[0].item() == 3.0
    with pytest.raises(RuntimeError, match=r"operators::plain has no gradient.*backward="):
        y.sum().backward()


def test_without_a_forward_derivative_a_dual_tensor_is_an_error(load):
    operator = load("plain(Tensor x) -> Tensor", _scaled)
    x = torch.ones(64).npu()
    with forward_ad.dual_level():
        assert operator(x)[0].item() == 2.0
        with pytest.raises(NotImplementedError, match="operators::plain has no forward-mode"):
            operator(forward_ad.make_dual(x, x))


def test_a_call_keeps_its_gradient_when_the_operator_is_defined_again(load):
    x = torch.ones(64).npu().requires_grad_()
    ys = []
    for factor in (2.0, 3.0):
        operator = load(
            "again(Tensor x) -> Tensor",
            lambda x, y, factor=factor: _scaled(x, y, factor),
            backward=lambda ctx, grad, factor=factor: grad * factor,
        )
        ys.append(operator(x))
    grads = [torch.autograd.grad(y.sum(), x)[0][0].item() for y in ys]
    assert grads == [y[0].item() for y in ys] == [2.0, 3.0]


def test_written_tensors_are_known_to_autograd(load):
    operator = load("written(Tensor x, Tensor(a!) y) -> ()", _scaled)
    x = torch.ones(64).npu()
    y = torch.zeros(64).npu()
    leaf = torch.ones(64).npu().requires_grad_()
    product = leaf * y
    operator(x, y)
    assert y[0].item() == 2.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with pytest.raises(RuntimeError, match="writes to a tensor that requires grad"):
        operator(x, leaf)
    with torch.no_grad():
        operator(x, leaf)
    assert leaf[0].item() == 2.0
    with torch.inference_mode():
        inference = torch.zeros(64).npu()
        operator(x, inference)
    assert inference[0].item() == 2.0


def test_written_tensors_raise_their_counters_by_one(load):
    one = load("one(Tensor x, Tensor(a!) y) -> ()", _scaled)
    several = load("several(Tensor x, Tensor(a!)[] ys) -> ()", lambda x, ys: _scaled(x, ys[0]))
    x = torch.ones(64).npu()
    y, *ys = (torch.zeros(64).npu() for _ in range(3))
    one(x, y)
    several(x, ys)
    assert [t._version for t in (x, y, *ys)] == [0, 1, 1, 1]
    with torch.inference_mode():
        inference = torch.zeros(64).npu()
        several(x, [inference, y])
    assert y._version == 2
    for call in (lambda: one(x, inference), lambda: several(x, [y, inference])):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            call()
    assert inference[0].item() == 2.0
    assert y._version == 2


def test_tensors_on_the_cpu_are_one_error(load):
    operator = load("plain(Tensor x) -> Tensor", _scaled)
    with pytest.raises(
        ValueError, match=r"operators::plain is an operator of npu tensors.*npu\(\)"
    ):
        operator(torch.ones(64))


def test_an_operator_without_tensor_arguments(load):
    operator = load(
        "made(int count) -> Tensor",
        lambda count, y: _scaled(y, y),
        outputs=lambda count: torch.ones(count, device="npu"),
    )
    assert operator(64).tolist() == [2.0] * 64


@pytest.mark.parametrize(
    ("outputs", "error", "words"),
    [
        (lambda x: None, TypeError, "outputs returned NoneType, and the schema has 1 results"),
        (lambda x: (x, x), TypeError, r"outputs returned tuple of \(Tensor, Tensor\)"),
        (lambda x: x, ValueError, "outputs returned an argument"),
    ],
)
def test_wrong_results_are_refused(load, outputs, error, words):
    operator = load("results(Tensor x) -> Tensor", _scaled, outputs=outputs)
    with pytest.raises(error, match=words):
        operator(torch.ones(64).npu())


@pytest.mark.parametrize(
    ("launch", "error", "words"),
    [
        (lambda x, y: (2.0, (x, y, 64, 1.0)), TypeError, r"not tuple of \(float, tuple of"),
        (lambda x, y: (2, x), TypeError, r"not tuple of \(int, Tensor\)"),
        (lambda x, y: (2, (x, y, 64, 1.0), "a"), TypeError, "integers and a tuple"),
        (lambda x, y: (2, (x, y, 64, 1.0), -1), ValueError, "the tiling key -1"),
        (lambda x, y: (2, (x, y, 64, 1.0), 1 << 64), ValueError, "the tiling key"),
        (lambda x, y: (1 << 32, (x, y, 64, 1.0)), ValueError, "4294967296 blocks"),
        (lambda x, y: (2, (x, b"", 64, 1.0)), ValueError, "tiling structure of 0 bytes"),
        (lambda x, y: (2, (x, y, -64, 1.0)), ValueError, "argument 2: -64 does not fit uint32_t"),
    ],
)
def test_wrong_launches_are_refused(load, launch, error, words):
    operator = load("launches(Tensor x) -> Tensor", launch)
    with pytest.raises(error, match=words):
        operator(torch.ones(64).npu())


def test_numbers_of_numpy_are_numbers(load):
    def launch(x, y):
        return np.int64(2), (x, y, np.int32(64), np.float32(3.0))

    assert load("of_numpy(Tensor x) -> Tensor", launch)(torch.ones(64).npu())[0].item() == 3.0


def test_wrong_schemas_are_refused(load):
    with pytest.raises(RuntimeError, match=r"plain\.out is an overload"):
        load("plain.out(Tensor x) -> Tensor", _scaled)
    with pytest.raises(ValueError, match="is one of its arguments"):
        load("itself(Tensor(a!) x) -> Tensor(a!)", _scaled)


def test_a_definition_is_replaced_while_other_threads_call_it(load):
    load("shared(Tensor x) -> Tensor", _scaled)
    stop = threading.Event()
    wrong = []

    def call():
        while not stop.is_set():
            value = torch.ops.operators.shared(torch.ones(64).npu())[0].item()
            if value not in (2.0, 3.0):
                wrong.append(value)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for factor in (3.0, 2.0) * 5:
            load(
                "shared(Tensor x) -> Tensor",
                lambda x, y, factor=factor: _scaled(x, y, factor),
            )
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong
