"""How the kernels of this folder become operators: the build has compiled them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from torch_npu.ascendc._operators import definition
from torch_npu.ascendc._operators.operator import Launch
from torch_npu.ascendc.kernels._tiling import Tiling
from torch_npu.ascendc.paths import installation

NAMESPACE = "ascendc"
"""Of the operators: ``torch.ops.ascendc.rms_norm``."""

TILING_KEYS = {torch.float32: 1, torch.float16: 2, torch.bfloat16: 3}
"""What TILING_KEY_IS of a kernel takes for each type."""

_HERE = Path(__file__).parent
_CORES = 48  # vector cores of an Ascend910B1
_CUBE_CORES = 24
_UNIFIED_BUFFER = 192 * 1024  # bytes of a vector core


def define(
    folder: str,
    schema: str,
    launch: Callable[..., Launch],
    check: Callable[..., object],
    outputs: Callable[..., object] | None = None,
    backward: Callable[..., object] | None = None,
    setup_context: Callable[..., None] | None = None,
) -> Callable[..., Any]:
    """Makes an operator of a kernel of the same name.

    Args:
        folder: of the kernel; the build has made ``lib<folder>.so`` of it.
        schema: ``name(Tensor x, …) -> …``; the kernel has the operator's name.
        launch: as load_ascendc() takes it, and so the others.
        check: gets the operator's arguments before anything else, and raises where the kernel does not take them.
        outputs: the same.
        backward: the same.
        setup_context: the same.

    Returns:
        A function that checks its arguments and calls the operator; ``torch.ops.ascendc.<name>`` checks them, too.

    Raises:
        RuntimeError: the library or its kernel is missing.
    """
    library = installation().libraries / "kernels" / f"lib{folder}.so"
    if not library.exists():
        raise RuntimeError(f"{library} is missing: in a checkout, run ./dev build")

    def allocate(*arguments: Any) -> object:  # noqa: ANN401
        check(*arguments)
        if outputs is not None:
            return outputs(*arguments)
        return torch.empty_like(arguments[0], memory_format=torch.contiguous_format)

    operator = definition.define(
        NAMESPACE, library, schema, launch, allocate, None, backward, setup_context
    )

    def call(*arguments: Any) -> object:  # noqa: ANN401
        check(*arguments)  # before PyTorch looks for the operator's kernel for another device
        return operator(*arguments)

    return call


def tiling(folder: str) -> Tiling:
    """The tiling structure of a kernel's folder."""
    return Tiling(_HERE / folder / f"{folder}_tiling.h")


def cores(work: int) -> int:
    """The number of blocks for ``work`` independent parts: at least 1, at most one for each vector core."""
    return max(1, min(work, _CORES))


def cube_cores(parts: int) -> int:
    """The number of blocks for ``parts`` parts of work that two vector cores of each cube core take in turn."""
    return max(1, min(-(-parts // 2), _CUBE_CORES))


def tile(columns: int, bytes_of_column: int, multiple: int = 64) -> int:
    """How many of ``columns`` elements a block takes at once.

    Args:
        columns: of a row.
        bytes_of_column: what all buffers together need for an element.
        multiple: of the result, in elements.
    """
    most = (_UNIFIED_BUFFER - 8192) // bytes_of_column // multiple * multiple
    return max(multiple, min(most, -(-columns // multiple) * multiple))


def check_same_shape(name: str, **tensors: torch.Tensor) -> None:
    """As check(), and that all tensors have one shape.

    Raises:
        ValueError: they do not.
    """
    check(name, **tensors)
    (first, x), *others = tensors.items()
    for other, tensor in others:
        if tensor.shape != x.shape:
            raise ValueError(
                f"{name}: {first} is {tuple(x.shape)} and {other} {tuple(tensor.shape)}: they have to be of one shape"
            )


def check(name: str, **tensors: torch.Tensor) -> torch.dtype:
    """Checks that all tensors have one type, which the kernels take, and one device, npu or meta.

    Args:
        name: of the function, for errors.
        tensors: by their names.

    Returns:
        The type.

    Raises:
        TypeError: one of them is no tensor.
        ValueError: they do not.
    """
    for other, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name}: {other} has to be a tensor, not {type(tensor).__name__}")
    first, x = next(iter(tensors.items()))
    if x.dtype not in TILING_KEYS:
        names = ", ".join(str(dtype).removeprefix("torch.") for dtype in TILING_KEYS)
        raise ValueError(
            f"{name}: {first} is {str(x.dtype).removeprefix('torch.')}; the kernel takes {names}"
        )
    for other, tensor in tensors.items():
        if tensor.device.type not in ("npu", "meta"):
            raise ValueError(
                f"{name}: {other} is on {tensor.device}: move it to the npu, {other}.npu()"
            )
        if tensor.dtype != x.dtype or tensor.device != x.device:
            raise ValueError(
                f"{name}: {other} is {tensor.dtype} on {tensor.device}, {first} {x.dtype} on {x.device}:"
                " they have to be the same"
            )
    return x.dtype
