"""Questions about CUDA that scripts and libraries ask: those that know npu by themselves are told the truth."""

import sys
from collections.abc import Callable

import torch

from torch_npu._core import devices

# Where these ask for CUDA they would take the way of CUDA's libraries; told the truth, they take their own way of npu.
KNOW_NPU = frozenset(
    {"accelerate", "diffusers", "peft", "torch", "torch_npu", "transformers", "trl"}
)

# Parts of torch that ask in a script's stead: torch.compile's tracer, and PyTorch's own tests, which are scripts.
_SCRIPTS = ("torch._dynamo.variables.", "torch.testing.")


def is_available() -> bool:
    """Whether an NPU can be used, for code that asks for CUDA."""
    caller = sys._getframe(1).f_globals.get("__name__", "")
    asks_for_cuda = caller.partition(".")[0] not in KNOW_NPU or caller.startswith(_SCRIPTS)
    return asks_for_cuda and torch.npu.is_available()


is_available._dynamo_marked_constant = True  # not traced: it is one value


def replacement(_: object) -> Callable[[], bool]:
    """What ``torch.cuda.is_available`` becomes; a function of this module, so that it can be pickled."""
    return is_available


def nccl_is_available(_tensors: object) -> bool:
    """Whether ``torch.cuda.nccl`` takes tensors: never, since those of npu are summed without it."""
    return False


def without_nccl(_: object) -> Callable[[object], bool]:
    """What ``torch.cuda.nccl.is_available`` becomes, also where torch is built with NCCL."""
    return nccl_is_available


# Inductor hashes the properties of CUDA's device into the keys of its caches; without a device it leaves them out.
_INDUCTOR = "torch._inductor."


def get_device_properties(device: devices.Device = None) -> object:
    """``torch.npu.get_device_properties``.

    Raises:
        RuntimeError: Inductor asks, which reads what only CUDA's properties have.
    """
    if sys._getframe(1).f_globals.get("__name__", "").startswith(_INDUCTOR):
        raise RuntimeError("there is no CUDA device; transfer_to_npu maps CUDA to npu")
    return torch.npu.get_device_properties(device)


get_device_properties._dynamo_marked_constant = True


def properties_replacement(_: object) -> Callable[[devices.Device], object]:
    """What ``torch.cuda.get_device_properties`` becomes."""
    return get_device_properties


def get_device_capability(device: devices.Device = None) -> tuple[int, int]:
    """``torch.npu.get_device_capability``; ``(0, 0)``, that of no CUDA device, where it has none.

    Scripts and torch.distributed take its first number to ask for features of CUDA's newer devices.
    """
    return torch.npu.get_device_capability(device) or (0, 0)


get_device_capability._dynamo_marked_constant = True


def capability_replacement(_: object) -> Callable[[devices.Device], tuple[int, int]]:
    """What ``torch.cuda.get_device_capability`` becomes."""
    return get_device_capability
