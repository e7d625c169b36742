"""flex_attention on npu against attention in float64: with gradients in eager mode, compiled without."""

import importlib
from types import SimpleNamespace

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

BATCH, HEADS, LENGTH, CHANNELS = 2, 4, 160, 32
REFUSAL = "flex_attention compiled for npu has no gradients"


def causal(b, h, q, kv):
    return q >= kv


def distance(score, b, h, q, kv):
    return score + (q - kv) * 0.01


def tensors(dtype=torch.float32, heads=HEADS):
    generator = torch.Generator().manual_seed(heads)
    sizes = ((HEADS, LENGTH), (heads, LENGTH), (heads, LENGTH))
    return [torch.randn(BATCH, h, n, CHANNELS, generator=generator).to(dtype) for h, n in sizes]


def defined(q, k, v, is_causal, has_distance):
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q @ k.mT * CHANNELS**-0.5
    steps = torch.arange(LENGTH)
    if has_distance:
        scores = scores + (steps[:, None] - steps) * 0.01
    if is_causal:
        scores = scores.masked_fill(steps[:, None] < steps, -torch.inf)
    return scores.softmax(-1) @ v


def check(got, expected, dtype):
    """Sums of up to LENGTH terms, of scores with CHANNELS terms each."""
    step = 16 * LENGTH**0.5 * torch.finfo(torch.float32).eps + 8 * torch.finfo(dtype).eps
    accuracy.assert_close(got, expected, Tolerance(step, step * float(expected.abs().max())))


def masks(is_causal, has_distance):
    mask = (
        create_block_mask(causal, None, None, LENGTH, LENGTH, device="npu") if is_causal else None
    )
    return {"score_mod": distance if has_distance else None, "block_mask": mask}


@pytest.mark.parametrize(("is_causal", "has_distance"), [(False, True), (True, False)])
def test_gradients(is_causal, has_distance):
    given = tensors()
    exact = [t.double().requires_grad_() for t in given]
    leaves = [t.npu().requires_grad_() for t in given]
    expected = defined(*exact, is_causal, has_distance)
    out = flex_attention(*leaves, **masks(is_causal, has_distance))
    assert out.device.type == "npu"
    check(out.detach(), expected.detach(), torch.float32)
    slope = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
    expected.backward(slope.double())
    out.backward(slope.npu())
    for leaf, reference in zip(leaves, exact, strict=True):
        check(leaf.grad, reference.grad, torch.float32)


def test_compiled():
    """One kernel serves both calls: it is in Inductor's cache after the first."""
    given = tensors(torch.bfloat16, heads=2)
    expected = defined(*(t.double() for t in given), True, True)
    compiled = torch.compile(flex_attention)
    out = compiled(*(t.npu() for t in given), enable_gqa=True, **masks(True, True))
    assert out.device.type == "npu"
    check(out, expected, torch.bfloat16)
    leaves = [t.npu().requires_grad_() for t in given]
    with torch.no_grad():
        out = compiled(*leaves, enable_gqa=True, **masks(True, True))
    check(out, expected, torch.bfloat16)


@pytest.mark.parametrize("learns", ["query", "value", "bias"])
def test_compiled_with_gradients_is_refused(learns):
    q, k, v = (t.npu() for t in tensors())
    bias = torch.zeros(HEADS, device="npu")
    {"query": q, "value": v, "bias": bias}[learns].requires_grad_()

    def shifted(score, b, h, q, kv):
        return score + bias[h]

    with pytest.raises(Exception, match=REFUSAL):
        torch.compile(flex_attention)(q, k, v, score_mod=shifted)


def test_compiled_sums_are_refused():
    given = [t.npu() for t in tensors()]
    with pytest.raises(Exception, match=REFUSAL), torch.no_grad():
        torch.compile(flex_attention)(*given, return_lse=True)


def test_backward_has_no_kernel():
    """Of an uncompiled call whose gradients are compiled: the forward's refusal does not see it."""
    from torch._inductor.lowering import lowerings

    importlib.import_module("torch._inductor.kernel.flex.flex_attention")
    query = SimpleNamespace(get_device=lambda: torch.device("npu"))
    with pytest.raises(NotImplementedError, match=REFUSAL):
        lowerings[torch.ops.higher_order.flex_attention_backward](query)


def test_other_devices_are_refused_as_before():
    with pytest.raises(ValueError, match="FlexAttention is only supported on"):
        flex_attention(*(t.to("meta") for t in tensors()))
