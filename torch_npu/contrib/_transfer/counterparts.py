"""What each public name of ``torch.cuda`` is on npu: the object of the same name in ``torch.npu``, looked up there."""

import importlib
import inspect
import sys
from collections.abc import Iterator
from functools import reduce
from types import ModuleType
from typing import NamedTuple

import torch

# A module of CUDA, and where its names are looked up on npu, in this order. Those without any have no counterpart.
MODULES: dict[str, tuple[str, ...]] = {
    "torch.cuda": ("torch.npu",),
    "torch.cuda.amp": ("torch.npu.amp",),
    "torch.cuda.amp.autocast_mode": ("torch.npu.amp",),
    "torch.cuda.amp.common": (),
    "torch.cuda.amp.grad_scaler": ("torch.npu.amp",),
    "torch.cuda.gds": (),
    "torch.cuda.graphs": ("torch.npu",),
    "torch.cuda.green_contexts": (),
    "torch.cuda.jiterator": (),
    "torch.cuda.memory": ("torch.npu.memory", "torch.npu"),
    "torch.cuda.nccl": (),
    "torch.cuda.nvtx": ("torch.npu.mstx",),
    "torch.cuda.profiler": ("torch.npu.profiler",),
    "torch.cuda.random": ("torch.npu.random", "torch.npu"),
    "torch.cuda.sparse": (),
    "torch.cuda.streams": ("torch.npu",),
    "torch.cuda.tunable": (),
}

# Names that npu spells otherwise.
RENAMED = {
    "CUDAGraph": "NPUGraph",
    "CUDAPluggableAllocator": "NPUPluggableAllocator",
}

# Names that mean the same on every device: they stay as they are.
KEPT = {
    "torch.cuda.AcceleratorError",
    "torch.cuda.CudaError",
    "torch.cuda.DeferredCudaCallError",
    "torch.cuda.OutOfMemoryError",
    "torch.cuda.amp.amp_definitely_not_available",
    "torch.cuda.amp.common.amp_definitely_not_available",
    "torch.cuda.get_arch_list",
    "torch.cuda.get_device_capability",  # a rule of its own: :mod:`availability`
    "torch.cuda.get_device_properties",  # a rule of its own: :mod:`availability`
    "torch.cuda.get_gencode_flags",
    "torch.cuda.has_half",
    "torch.cuda.has_magma",
    "torch.cuda.is_available",  # a rule of its own: :mod:`availability`
    "torch.cuda.nccl.is_available",  # a rule of its own: :mod:`availability`
    "torch.cuda.nvtx.range",  # calls range_push and range_pop, which are mapped
}


class Counterpart(NamedTuple):
    """A name of CUDA and what it is on npu: ``target`` is its dotted name there, None if there is none."""

    name: str
    target: str | None
    kept: bool = False


def resolve(dotted: str) -> object:
    """The object of a dotted name that begins with ``torch``.

    Raises:
        AttributeError: there is none.
    """
    parts = dotted.split(".")
    if parts[0] != "torch":
        raise AttributeError(f"{dotted!r} does not begin with 'torch'")
    return reduce(getattr, parts[1:], torch)


def exists(dotted: str) -> bool:
    """Whether :func:`resolve` finds the name."""
    try:
        resolve(dotted)
    except AttributeError:
        return False
    return True


def module(name: str) -> ModuleType:
    """A module of ``torch.cuda``, imported if it was not."""
    return sys.modules.get(name) or importlib.import_module(name)


def _public_names(name: str) -> list[str]:
    there = module(name)
    listed = getattr(there, "__all__", None)
    if listed is not None:
        return [listed_name for listed_name in listed if hasattr(there, listed_name)]
    return [
        own
        for own, value in vars(there).items()
        if not own.startswith("_") and getattr(value, "__module__", None) == name
    ]


def _helpers() -> Iterator[tuple[str, str]]:
    """Private functions of CUDA that npu has as well: PyTorch itself calls them, and scripts some of ``memory``."""
    for owner, location in (("torch.cuda", "torch.npu"), ("torch.cuda.memory", "torch.npu.memory")):
        for name, value in list(vars(module(owner)).items()):
            if name.startswith("_") and inspect.isfunction(value) and exists(f"{location}.{name}"):
                yield f"{owner}.{name}", f"{location}.{name}"


def counterpart(dotted: str) -> Counterpart:
    """What ``dotted``, a name of CUDA such as ``torch.cuda.Stream``, is on npu now."""
    owner, _, name = dotted.rpartition(".")
    if dotted in KEPT:
        return Counterpart(dotted, dotted, kept=True)
    renamed = RENAMED.get(dotted, RENAMED.get(name, name))
    for location in MODULES.get(owner, ()):
        if exists(f"{location}.{renamed}"):
            return Counterpart(dotted, f"{location}.{renamed}")
    return Counterpart(dotted, None)


def all_counterparts() -> list[Counterpart]:
    """Every public name of every module of :data:`MODULES`, and the private ones that PyTorch calls."""
    found = []
    for owner in MODULES:
        for name in _public_names(owner):
            if not inspect.ismodule(getattr(module(owner), name)):
                found.append(counterpart(f"{owner}.{name}"))
    found += [Counterpart(name, target) for name, target in _helpers()]
    return found
