"""Wrappers, the Python functions that call a graph's kernels in turn."""

import torch
from torch._inductor import config
from torch._inductor.codegen import wrapper
from torch._inductor.codegen.common import IndentedBuffer
from torch._inductor.codegen.cpp import parallel_num_threads
from torch._inductor.virtualized import V

from torch_npu._inductor.source import MARK

_CPU_KERNEL = "async_compile.cpp_pybinding("


class _NpuCalls:
    """What wrappers of graphs and of subgraphs do for npu."""

    def define_kernel(
        self, kernel_name: str, kernel_body: str, *args: object, **kwargs: object
    ) -> None:
        """Has the kernels of npu compiled by this package."""
        if kernel_body.startswith(_CPU_KERNEL) and MARK in kernel_body:
            call = f"compile_npu_kernel(async_compile, {kernel_name!r}, {parallel_num_threads()}, "
            kernel_body = call + kernel_body.removeprefix(_CPU_KERNEL)
        super().define_kernel(kernel_name, kernel_body, *args, **kwargs)

    def _generate_kernel_call_helper(
        self, kernel_name: str, call_args: list[str], *, device: object = None, **kwargs: object
    ) -> None:
        device = device or V.graph.get_current_device_or_throw()
        if device.type == "npu":
            self.writeline(self.wrap_kernel_call(kernel_name, call_args))
        else:
            super()._generate_kernel_call_helper(kernel_name, call_args, device=device, **kwargs)

    def make_allocation(
        self,
        name: str,
        device: torch.device,
        dtype: torch.dtype,
        shape: object,
        stride: object,
        allocation_shape: object = None,
        is_pinned: bool = False,
    ) -> str:
        """Text that allocates a buffer: on the graph's device also where another one is current."""
        if device.type != "npu":
            return super().make_allocation(
                name, device, dtype, shape, stride, allocation_shape, is_pinned
            )
        allocated = shape if allocation_shape is None else allocation_shape
        sizes, strides, viewed = map(self.codegen_python_shape_tuple, (allocated, stride, shape))
        text = f"{name} = empty_strided_npu({sizes}, {strides}, {dtype}, {device.index or 0})"
        return text if viewed == sizes else f"{text}.as_strided({viewed}, {strides})"


class _SubgraphWrapper(_NpuCalls, wrapper.SubgraphPythonWrapperCodegen):
    """The wrapper of a subgraph."""


class PythonWrapperCodegen(_NpuCalls, wrapper.PythonWrapperCodegen):
    """The wrapper of a graph."""

    @staticmethod
    def create(
        is_subgraph: bool,
        subgraph_name: str | None,
        parent_wrapper: wrapper.PythonWrapperCodegen | None,
        partition_signatures: object = None,
    ) -> wrapper.PythonWrapperCodegen:
        """The wrapper of a graph or of a subgraph."""
        if is_subgraph:
            return _SubgraphWrapper(subgraph_name, parent_wrapper, partition_signatures)
        return PythonWrapperCodegen()

    def write_header(self) -> None:
        """The imports of the generated module."""
        super().write_header()
        self.imports.writeline("from torch_npu._inductor.compile import compile_npu_kernel")
        self.header.writeline("from torch_npu._C import empty_strided as empty_strided_npu")

    def generate_after_suffix(self, result: IndentedBuffer) -> None:
        """With mode="reduce-overhead", has ``call`` captured. In the module, since it may come from a cache."""
        super().generate_after_suffix(result)
        if config.triton.cudagraphs:
            changed = tuple(V.graph.mutated_input_idxs)
            result.writeline("from torch_npu._inductor.graphs import GraphedCall")
            result.writeline(f"call = GraphedCall(call, {V.graph.is_inference}, {changed})")


class CppWrapperCodegen(wrapper.PythonWrapperCodegen):
    """Wrappers in C++, which call kernels without Python: not for npu."""

    @staticmethod
    def create(*_: object) -> wrapper.PythonWrapperCodegen:
        """Fails.

        Raises:
            RuntimeError: always; it says which option to leave out.
        """
        raise RuntimeError(
            "Inductor's C++ wrapper (torch._inductor.config.cpp_wrapper, AOTInductor) is not available for npu: "
            "its kernels are launched on a stream from Python; compile without it"
        )
