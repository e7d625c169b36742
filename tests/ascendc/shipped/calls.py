"""``python calls.py KERNEL VARIANT…``: calls of a shipped kernel in checked mode, each variant in a process of its own.

A variant is ``NAME=VALUE,…`` of environment variables without the prefix SOFTNPU_KERNEL_. Prints a line of JSON: what each
variant printed. The processes are forks, so that torch is imported once; they load the kernels themselves, whose library
reads the variables then.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable

import torch

import torch_npu  # noqa: F401

Operator = Callable[..., torch.Tensor]


def _random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype).npu().requires_grad_()


def _rms_norm(rms_norm: Operator) -> None:
    for shape, dtype in (((101, 40), torch.float32), ((1, 12_001), torch.float16)):
        y = rms_norm(_random(*shape, dtype=dtype), _random(shape[-1], dtype=dtype))
        y.backward(torch.ones_like(y))


def _add(add: Operator) -> None:
    for count, dtype in ((2_000_001, torch.float32), (21, torch.half), (70_001, torch.bfloat16)):
        add(_random(count, dtype=dtype), _random(count, dtype=dtype)).sum().backward()


def _softmax(softmax: Operator) -> None:
    for dtype in (torch.float32, torch.half, torch.bfloat16):
        for shape in ((1, 1), (13_001, 7), (3000, 64), (30, 200), (2, 20_003)):
            softmax(_random(*shape, dtype=dtype))


def _sepia(sepia: Operator) -> None:
    for dtype in (torch.float32, torch.half, torch.bfloat16):
        for shape in ((2, 1, 3, 5), (1, 3, 1, 1), (150, 3, 1, 7)):
            sepia(_random(*shape, dtype=dtype)).sum().backward()
    sepia(_random(3, 3, 401, 499)).sum().backward()


def _swiglu(swiglu: Operator) -> None:
    for shape, dtype in (((3, 600_001), torch.float32), ((100, 7), torch.float16)):
        y = swiglu(_random(*shape, dtype=dtype), _random(*shape, dtype=dtype))
        y.backward(torch.ones_like(y))


def _rope(rope: Operator) -> None:
    # Halves that fill no block, and several tiles for each block.
    for shape in ((2, 19, 3, 10), (1, 350, 20, 64)):
        cos, sin = (torch.randn(shape[1], shape[3] // 2).npu() for _ in range(2))
        for dtype in (torch.float32, torch.float16):
            for interleaved in (False, True):
                rope(_random(*shape, dtype=dtype), cos, sin, interleaved=interleaved)


def _linear(linear: Operator) -> None:
    for dtype in (torch.float32, torch.half):
        for activation in ("none", "gelu"):
            args = (_random(150, 40, dtype=dtype), _random(200, 40, dtype=dtype))
            linear(*args, _random(200, dtype=dtype), activation)
    linear(_random(900, 16), _random(900, 16))  # several tiles for each core


def _grouped_matmul(grouped_matmul: Operator) -> None:
    ends = torch.tensor([3, 150, 150, 400], dtype=torch.int32).npu()
    for dtype in (torch.float32, torch.half):
        grouped_matmul(
            _random(410, 24, dtype=dtype).detach(), _random(4, 24, 300, dtype=dtype).detach(), ends
        )


def _attention(attention: Operator) -> None:
    for dtype in (torch.float32, torch.half):
        for causal in (False, True):
            k, v = (_random(1, 1, 200, 24, dtype=dtype) for _ in range(2))
            attention(_random(1, 2, 70, 24, dtype=dtype), k, v, causal=causal)
    k, v = (_random(2, 30, 64, 8) for _ in range(2))
    attention(_random(2, 30, 64, 8), k, v)  # several tiles for each core


CALLS: dict[str, Callable[[Operator], None]] = {
    "add": _add,
    "attention": _attention,
    "grouped_matmul": _grouped_matmul,
    "linear": _linear,
    "rms_norm": _rms_norm,
    "rope": _rope,
    "sepia": _sepia,
    "softmax": _softmax,
    "swiglu": _swiglu,
}


def _output_of(kernel: str, variant: str) -> str:
    """What the kernel's calls print in a process with these variables; an error is its last line."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            for assignment in variant.split(","):
                name, _, value = assignment.partition("=")
                os.environ[f"SOFTNPU_KERNEL_{name}"] = value
            try:
                from torch_npu.ascendc import kernels

                CALLS[kernel](getattr(kernels, kernel))
                torch.npu.synchronize()
            except RuntimeError as error:
                print("ERROR", error, flush=True)
            sys.stdout.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        text = output.read()
    return text if status == 0 else f"{text}\nended with status {status}"


if __name__ == "__main__":
    print(json.dumps([_output_of(sys.argv[1], variant) for variant in sys.argv[2:]]))
