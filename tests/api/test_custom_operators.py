"""torch.library: operators of a program with kernels and gradients on npu."""

import pytest
import torch
from torch import Tensor


@pytest.fixture
def library():
    with torch.library._scoped_library("npu_api_test", "FRAGMENT") as result:
        yield result


def test_a_custom_operator_with_a_kernel_for_npu_and_a_gradient():
    @torch.library.custom_op("npu_api_test::scaled_sin", mutates_args=())
    def scaled_sin(x: Tensor, factor: float) -> Tensor:
        return torch.sin(x.cpu()).to(x.device) * factor

    @scaled_sin.register_kernel("npu")
    def _(x: Tensor, factor: float) -> Tensor:
        assert x.device.type == "npu"
        return torch.sin(x) * factor

    @scaled_sin.register_fake
    def _(x: Tensor, factor: float) -> Tensor:
        return torch.empty_like(x)

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.factor = inputs[1]

    def backward(ctx, grad):
        return grad * torch.cos(ctx.saved_tensors[0]) * ctx.factor, None

    scaled_sin.register_autograd(backward, setup_context=setup_context)
    x = torch.randn(5, device="npu", requires_grad=True)
    out = scaled_sin(x, 3.0)
    assert torch.equal(out, torch.sin(x) * 3)
    out.sum().backward()
    torch.testing.assert_close(x.grad, torch.cos(x) * 3)
    arguments = (torch.randn(3, device="npu", requires_grad=True), 2.0)
    # Its fourth check knows the devices CPU, CUDA and XPU.
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(scaled_sin, arguments, test_utils=checks)
    with torch._subclasses.FakeTensorMode():
        fake = scaled_sin(torch.empty(7, device="npu"), 2.0)
        assert (fake.shape, fake.device.type) == ((7,), "npu")


def test_a_custom_operator_that_changes_its_argument():
    @torch.library.custom_op("npu_api_test::add_one_", mutates_args=("x",), device_types="npu")
    def add_one_(x: Tensor) -> None:
        x += 1

    x = torch.zeros(3, device="npu")
    version = x._version
    add_one_(x)
    assert x.tolist() == [1.0] * 3
    assert x._version > version
    with pytest.raises(NotImplementedError, match="npu_api_test::add_one_"):
        add_one_(torch.zeros(3))


def test_a_library_registers_kernels_by_dispatch_key_and_device(library):
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "PrivateUse1")
    library.define("thrice(Tensor x) -> Tensor")
    torch.library.impl("npu_api_test::thrice", "npu", lib=library)(lambda x: x * 3)
    torch.library.register_vmap(
        "npu_api_test::thrice", lambda info, dims, x: (x * 3, dims[0]), lib=library
    )
    x = torch.ones(2, 3, device="npu")
    assert torch.ops.npu_api_test.twice(x).sum() == 12
    assert torch.ops.npu_api_test.thrice(x).sum() == 18
    assert torch.vmap(torch.ops.npu_api_test.thrice)(x).sum() == 18
    with pytest.raises(NotImplementedError):
        torch.ops.npu_api_test.twice(torch.ones(2))


def test_an_existing_operator_is_replaced_and_restored(library):
    x = torch.ones(2, device="npu")
    with torch.library._scoped_library("aten", "IMPL") as aten:
        aten.impl("digamma", lambda x: x + 41, "PrivateUse1")
        assert torch.digamma(x).tolist() == [42.0, 42.0]
    torch.testing.assert_close(torch.digamma(x).cpu(), torch.digamma(x.cpu()))
