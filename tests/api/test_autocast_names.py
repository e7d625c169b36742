"""torch.npu.amp and the helpers of autocast."""

import pytest
import torch
from torch.autograd import Function

amp = torch.npu.amp


def product():
    return torch.ones(4, 4, device="npu") @ torch.ones(4, 4, device="npu")


@pytest.mark.api(
    "torch.npu.amp.autocast",
    "torch.npu.amp.autocast.__enter__",
    "torch.npu.amp.autocast.__exit__",
    "torch.npu.amp.autocast_mode.autocast",
    "torch.npu.amp.autocast_mode.autocast.__enter__",
    "torch.npu.amp.autocast_mode.autocast.__exit__",
)
def test_autocast_casts_products_in_its_block():
    with amp.autocast() as block:
        assert isinstance(block, amp.autocast)
        assert product().dtype is torch.float16
        with amp.autocast_mode.autocast(enabled=False):
            assert product().dtype is torch.float32
        with amp.autocast(dtype=torch.bfloat16):
            assert product().dtype is torch.bfloat16
    assert product().dtype is torch.float32


@pytest.mark.api("torch.npu.amp.autocast.__call__", "torch.npu.amp.autocast_mode.autocast.__call__")
def test_autocast_decorates():
    assert amp.autocast(dtype=torch.bfloat16)(product)().dtype is torch.bfloat16
    assert amp.autocast_mode.autocast()(product)().dtype is torch.float16


@pytest.mark.api(
    "torch.npu.is_autocast_enabled",
    "torch.npu.set_autocast_enabled",
    "torch.npu.autocast_utils.is_autocast_enabled",
    "torch.npu.autocast_utils.set_autocast_enabled",
)
@pytest.mark.parametrize("module", [torch.npu, torch.npu.autocast_utils])
def test_autocast_is_switched_without_a_block(module):
    assert module.is_autocast_enabled() is False
    module.set_autocast_enabled(True)
    try:
        assert module.is_autocast_enabled() is True
        assert product().dtype is torch.float16
    finally:
        module.set_autocast_enabled(False)
    assert product().dtype is torch.float32


@pytest.mark.api(
    "torch.npu.get_autocast_dtype",
    "torch.npu.set_autocast_dtype",
    "torch.npu.autocast_utils.get_autocast_dtype",
    "torch.npu.autocast_utils.set_autocast_dtype",
)
@pytest.mark.parametrize("module", [torch.npu, torch.npu.autocast_utils])
def test_the_dtype_of_autocast_is_set(module):
    assert module.get_autocast_dtype() is torch.float16
    module.set_autocast_dtype(torch.bfloat16)
    try:
        assert module.get_autocast_dtype() is torch.bfloat16
        with torch.autocast("npu"):
            assert product().dtype is torch.bfloat16
    finally:
        module.set_autocast_dtype(torch.float16)


@pytest.mark.api(
    "torch.npu.get_amp_supported_dtype",
    "torch.npu.autocast_utils.get_amp_supported_dtype",
    "torch.npu.is_bf16_supported",
    "torch.npu.utils.is_bf16_supported",
)
def test_the_supported_dtypes_are_those_of_autocast():
    expected = [torch.float16, torch.bfloat16, torch.float32]
    assert torch.npu.get_amp_supported_dtype() == expected
    assert torch.npu.autocast_utils.get_amp_supported_dtype() == expected
    assert torch.npu.is_bf16_supported(including_emulation=True) is True
    assert torch.npu.utils.is_bf16_supported() is True


@pytest.mark.api(
    "torch.npu.amp.custom_fwd",
    "torch.npu.amp.custom_bwd",
    "torch.npu.amp.autocast_mode.custom_fwd",
    "torch.npu.amp.autocast_mode.custom_bwd",
)
@pytest.mark.parametrize("module", [amp, amp.autocast_mode])
def test_custom_functions_follow_autocast(module):
    seen = []
    with pytest.warns(FutureWarning, match=r"torch\.amp\.custom_fwd"):
        before_forward = module.custom_fwd(cast_inputs=torch.float32)
    with pytest.warns(FutureWarning, match=r"torch\.amp\.custom_bwd"):

        @module.custom_bwd
        def backward(ctx, gradient):
            seen.append(torch.is_autocast_enabled("npu"))
            return gradient

    class Double(Function):
        @staticmethod
        @before_forward
        def forward(ctx, x):
            seen.append((x.dtype, torch.is_autocast_enabled("npu")))
            return x * 2

    Double.backward = staticmethod(backward)
    x = torch.ones(3, device="npu", dtype=torch.float16, requires_grad=True)
    with torch.autocast("npu"):
        y = Double.apply(x)
    assert y.dtype is torch.float32
    y.sum().backward()
    assert seen == [(torch.float32, False), False]
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.api("torch.npu.amp.common.amp_definitely_not_available")
def test_mixed_precision_is_available_with_a_device(monkeypatch):
    assert amp.common.amp_definitely_not_available() is False
    monkeypatch.setattr(amp.common, "is_available", lambda: False)
    assert amp.common.amp_definitely_not_available() is True
