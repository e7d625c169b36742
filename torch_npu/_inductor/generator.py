"""What torch 2.13's Inductor asks of a device by name to learn about its code generator: npu has that of the CPU, C++."""

from collections.abc import Callable
from functools import wraps

import sympy
import torch
from torch._inductor import config, scheduler, utils
from torch._inductor.codegen import common
from torch._inductor.codegen.cpp import CppTile2DKernel, CppVecKernel
from torch._inductor.lowering import lowerings
from torch._inductor.scheduler import BaseSchedulerNode

from torch_npu._core import environment

_current_backend = utils.get_current_backend
_needs_guard = utils.device_need_guard


def _is_cpu(node: BaseSchedulerNode) -> bool:
    """Whether loops stay as they are: orders that the scheduler tries for others are not for C++."""
    device = node.get_device()
    return device is not None and device.type in ("cpu", "npu")


def _backend(device_type: str | None = None) -> str:
    """The code generator's name; of the current device without an argument."""
    from torch._inductor.virtualized import V

    device_type = device_type or V.graph.get_current_device_or_throw().type
    return "cpp" if device_type == "npu" else _current_backend(device_type)


def _needs_guard_for_streams(device_type: str) -> bool:
    """Whether calls are put into a guard of their device: it defines the streams, where a graph uses several."""
    from torch._inductor.virtualized import V

    if device_type == "npu":
        return V.graph.scheduler._has_multi_stream_nodes()
    return _needs_guard(device_type)


def _with_copies(lower: Callable) -> Callable:
    """Lowers ``cat`` to copies of the inputs: C++ for one loop with a condition per input is not vectorized."""

    @wraps(lower)
    def lower_cat(inputs: list, *args: object, **kwargs: object) -> object:
        if inputs[0].get_device().type != "npu":
            return lower(inputs, *args, **kwargs)
        with config.patch(max_pointwise_cat_inputs=0, max_complex_pointwise_cat_inputs=0):
            return lower(inputs, *args, **kwargs)

    return lower_cat


_store_of_tiles = CppTile2DKernel.store


@wraps(_store_of_tiles)
def _store(
    self: CppTile2DKernel, name: str, index: sympy.Expr, value: object, mode: str | None = None
) -> None:
    """Stores a tile. Atomic additions by several threads take the row within the tile once, where torch 2.13 adds it twice."""
    from torch._inductor.virtualized import V

    is_threaded = config.cpp.dynamic_threads or self.num_threads != 1
    if (
        mode != "atomic_add"
        or not is_threaded
        or V.graph.get_current_device_or_throw().type != "npu"
    ):
        return _store_of_tiles(self, name, index, value, mode)
    if self.need_vec_transpose(self.rename_indexing(index)):
        return _store_of_tiles(self, name, index, value, mode)
    return CppVecKernel.store(self, name, index, value, mode)


def _limit_instructions() -> None:
    """Applies SOFTNPU_CPU_CAPABILITY, where a program did not choose the instructions of C++ kernels itself."""
    chosen = config.cpp.simdlen is not None or config.cpp.march is not None
    if environment.choice("SOFTNPU_CPU_CAPABILITY") == "avx2" and not chosen:
        config.cpp.simdlen, config.cpp.march = 256, "x86-64-v3"


def use_cpp() -> None:
    """Gives Inductor's questions the answers for C++, once."""
    _limit_instructions()
    BaseSchedulerNode.is_cpu = _is_cpu
    CppTile2DKernel.store = _store
    utils.get_current_backend = common.get_current_backend = _backend
    utils.device_need_guard = scheduler.device_need_guard = _needs_guard_for_streams
    for operator in (torch.ops.aten.cat.default, torch.ops.aten.cat):
        if operator in lowerings:
            lowerings[operator] = _with_copies(lowerings[operator])
