"""The comparisons that the project began with: fused operators against what they are made of, whole networks."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
from interleave import Row
from networks import PROMPT, decode, prefill, resnet
from ops import HEADS, TOKENS, WIDTH, rms_norm, rope, with_and_without
from torch import Tensor, nn
from torch.nn import functional as F

import torch_npu

CHANNELS = 64


def _blocks() -> list[Row]:
    """A convolution, batch norm and ReLU at 32 x 64 x 56 x 56: batch statistics, gradients on, forward alone."""
    torch.manual_seed(0)
    image = torch.randn(32, CHANNELS, 56, 56)
    separate = nn.Sequential(
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS), nn.ReLU()
    )
    fused = torch_npu.ops.fused_conv_bn_relu(CHANNELS, CHANNELS, 3, padding=1).npu()
    work = partial(fused, image.npu())
    name = "fused_conv_bn_relu, 32 x 64 x 56 x 56"
    on_cpu = partial(separate, image)
    on_npu = partial(deepcopy(separate).npu(), image.npu())
    against_cpu = Row(name, work, on_cpu, 2, "three layers on the CPU")
    return [Row(name, work, on_npu, 2, "three layers on npu"), *with_and_without(against_cpu)]


def _sepia() -> list[Row]:
    """The filter of 4 x 3 x 224 x 224, as multiples of a copy and against a sum of products."""
    image = torch.randn(4, 3, 224, 224)
    weights = torch.rand(3, 3)
    on_npu = image.npu()
    forward = partial(torch_npu.ops.sepia_filter_forward, on_npu)
    backward = partial(torch_npu.ops.sepia_filter_backward, on_npu, on_npu)
    composite = partial(torch.einsum, "oc,nchw->nohw", weights, image)
    return [
        Row("sepia, forward", forward, on_npu.clone, 50, "a copy on npu"),
        Row("sepia, backward", backward, on_npu.clone, 50, "a copy on npu"),
        Row("sepia, forward", forward, composite, 50, "einsum on the CPU"),
    ]


def _composites() -> list[Row]:
    """One operator against several, all on npu, at 1 x 2048 x 4096."""
    x = torch.randn(1, TOKENS, WIDTH, device="npu")
    weight = torch.randn(WIDTH, device="npu")
    q = x.view(1, TOKENS, HEADS, WIDTH // HEADS)
    cos, sin = (torch.randn(1, TOKENS, 1, WIDTH // HEADS, device="npu") for _ in range(2))
    halves = torch.randn(1, TOKENS, 2 * WIDTH, device="npu")

    def gate(pair: Tensor) -> Tensor:
        a, b = pair.chunk(2, -1)
        return F.silu(a) * b

    apart = "operators on npu"
    return [
        Row("npu_rotary_mul", partial(torch_npu.npu_rotary_mul, q, cos, sin), partial(rope, q, cos, sin), 3, apart),
        Row("npu_swiglu", partial(torch_npu.npu_swiglu, halves), partial(gate, halves), 3, apart),
        Row("npu_rms_norm", partial(torch_npu.npu_rms_norm, x, weight), partial(rms_norm, x, weight), 3, apart),
    ]  # fmt: skip


def _resnet50(batch: int) -> list[Row]:
    """As it is ported: channels_last and jit_compile=True, against the CPU's plain way."""

    def ported() -> Callable[[], object]:
        torch.npu.set_compile_mode(jit_compile=True)
        return resnet("npu", batch, trained=False, memory_format=torch.channels_last)

    name = f"ResNet-50, batch {batch}, channels_last"
    return with_and_without(Row(name, ported(), resnet("cpu", batch, trained=False), 1))


def _decoder() -> list[Row]:
    """The first token, after a prompt, and the tokens behind it."""
    return [
        Row(f"Llama-like, first token after {PROMPT}", prefill("npu"), prefill("cpu"), 2),
        Row("Llama-like, tokens", decode("npu"), decode("cpu"), 1),
    ]


def rows() -> list[Row]:
    """All of them."""
    return [*_blocks(), *_sepia(), *_composites(), *_resnet50(1), *_resnet50(8), *_decoder()]
