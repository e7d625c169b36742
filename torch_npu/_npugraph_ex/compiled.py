"""A compiled graph as a function of tensors: one graph of the engine for each combination of sizes and parameters."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes

from torch_npu._core import state
from torch_npu._core.warnings import warn_once
from torch_npu._npugraph_ex.builder import GraphBuilder, Ref, Unsupported
from torch_npu._npugraph_ex.lowering import Lowering
from torch_npu._npugraph_ex.options import Options
from torch_npu._npugraph_ex.patches import Box, Patched
from torch_npu.npu.options import conv, matmul
from torch_npu.npu.streams import is_current_stream_capturing

# Graphs of one compiled function: as many as the engine keeps of a model with open sizes.
MAX_GRAPHS = 8


def _hint(size: int | torch.SymInt) -> int:
    return int(size.node.hint) if isinstance(size, torch.SymInt) else int(size)


def _order(strides: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The dimensions as they are in memory, the innermost last."""
    return sorted(range(len(strides)), key=lambda dim: (-strides[dim], -sizes[dim], dim))


def _dense_order(tensor: Tensor) -> list[int]:
    """The order of a tensor without gaps; that of its dimensions where it is contiguous, or has gaps."""
    whole = list(range(tensor.dim()))
    if tensor.is_contiguous():
        return whole
    order = _order(tensor.stride(), tensor.shape)
    return order if tensor.permute(order).is_contiguous() else whole


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


@dataclass(frozen=True)
class _Input:
    """How the program's tensor number ``index`` is given to the engine."""

    index: int
    order: list[int] | None  # of its dimensions; None: contiguous

    def of(self, args: Sequence[Any]) -> Tensor:
        """The tensor as the engine reads it."""
        tensor = args[self.index] if self.order is None else args[self.index].permute(self.order)
        return tensor if tensor.is_contiguous() else tensor.contiguous()


@dataclass(frozen=True)
class _Output:
    """A result that the engine writes: its sizes and strides in memory, and how the program sees it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype
    order: list[int] | None

    def of(self, stored: Tensor) -> Tensor:
        """The result as the program sees it."""
        return stored if self.order is None else stored.permute(self.order)


@dataclass(frozen=True)
class _Argument:
    """A result that is an input."""

    index: int


@dataclass(frozen=True)
class _Written:
    """An input that is changed: boxes of it, and the numbers of the outputs that they get."""

    index: int
    parts: list[tuple[Box, int]]

    def of(self, args: Sequence[Any], seen: Sequence[Tensor]) -> Tensor:
        """The input, after the writes."""
        for box, number in self.parts:
            args[self.index][tuple(slice(*bounds) for bounds in box)].copy_(seen[number])
        return args[self.index]


class _Planned:
    """A graph of the engine, and how a call's tensors become its own."""

    def __init__(
        self, lowering: Lowering, parameters: frozenset[int], device: int, args: Sequence[Any]
    ) -> None:
        self.device = device
        self.builder = GraphBuilder(device, (conv.allow_hf32, matmul.allow_hf32))
        self.inputs: list[_Input] = []
        given: list[Ref | int] = []
        for i, value in enumerate(args):
            if not isinstance(value, Tensor):
                given.append(value)
                continue
            order = _dense_order(value)
            is_plain = order == sorted(order)
            stored = value if is_plain else value.permute(order)
            if i in parameters and stored.is_contiguous():
                ref = self.builder.parameter(stored)
            else:
                self.inputs.append(_Input(i, None if is_plain else order))
                ref = self.builder.input(
                    torch.empty(stored.shape, dtype=value.dtype, device="meta")
                )
            given.append(ref if is_plain else self.builder.transpose(ref, _inverse(order)))
        values = lowering.run(self.builder, given)
        self.outputs: list[_Output] = []
        # Of each result: the number of an output, or what it is.
        self.results: list[tuple[bool, Any]] = []
        self._set_outputs(lowering, values)

    def _set_outputs(self, lowering: Lowering, values: dict[Node, Any]) -> None:
        ids: list[int] = []
        numbers: dict[Node, int] = {}
        for k, node in enumerate(lowering.outputs):
            if not isinstance(node, Node):
                self.results.append((False, node))
                continue
            value = values[node]
            if isinstance(value, Patched):
                index = lowering.changed[k] if k < len(lowering.changed) else -1
                own = values[lowering.placeholders[index]] if index >= 0 else None
                if own is not None and value.is_whole and value.base == own.base:
                    parts = []
                    for box, patch in value.patches:
                        parts.append((box, len(ids)))
                        ids.append(self._add_plain(patch))
                    self.results.append((False, _Written(index, parts)))
                    continue
                value = value.read(self.builder)
            if node.op == "placeholder":
                self.results.append((False, _Argument(lowering.placeholders.index(node))))
            elif not isinstance(value, Ref):
                self.results.append((False, value))
            else:
                if node not in numbers:
                    numbers[node] = len(ids)
                    ids.append(self._add_output(node, value))
                self.results.append((True, numbers[node]))
        try:
            self.builder.graph.compile(ids)
        except ValueError as error:
            raise Unsupported(str(error)) from None

    def _add_plain(self, value: Ref) -> int:
        strides = torch.empty(value.shape, device="meta").stride()
        self.outputs.append(_Output(value.shape, strides, value.dtype, None))
        return value.id

    def _add_output(self, node: Node, value: Ref) -> int:
        strides = [_hint(stride) for stride in node.meta["val"].stride()]
        order = _order(strides, [_hint(size) for size in node.meta["val"].shape])
        is_plain = order == sorted(order) or node.meta["val"].is_contiguous()
        stored = value if is_plain else self.builder.transpose(value, order)
        dense = torch.empty(stored.shape, device="meta").stride()
        back = None if is_plain else _inverse(order)
        self.outputs.append(_Output(stored.shape, dense, value.dtype, back))
        return stored.id

    def run(self, args: Sequence[Any]) -> list[Any]:
        """Launches the graph on the current stream."""
        empty = state.native().empty_strided
        stored = [empty(o.shape, o.strides, o.dtype, self.device) for o in self.outputs]
        self.builder.graph.run([one.of(args) for one in self.inputs], stored)
        seen = [o.of(tensor) for o, tensor in zip(self.outputs, stored, strict=True)]
        return [
            seen[what]
            if is_output
            else args[what.index]
            if isinstance(what, _Argument)
            else what.of(args, seen)
            if isinstance(what, _Written)
            else what
            for is_output, what in self.results
        ]


class CompiledGraph:
    """The function that AOTAutograd calls: takes a list of inputs, which it empties, and returns the results.

    Args:
        module: an ATen graph whose first results are the new contents of changed inputs.
        inputs: fake tensors and symbols.
        parameters: the indices of inputs that are parameters and buffers.
        changed: the indices of changed inputs, in the results' order.
        options: the program's.

    Raises:
        Unsupported: the engine does not have a node.
    """

    _boxed_call = True

    def __init__(
        self,
        module: GraphModule,
        inputs: Sequence[Any],
        parameters: frozenset[int],
        changed: Sequence[int],
        options: Options,
    ) -> None:
        """Tries the graph with the sizes of ``inputs``."""
        self.module, self.parameters = module, parameters
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        devices = {value.device for value in tensors}
        if len(devices) != 1 or next(iter(devices)).type != "npu":
            raise Unsupported(f"its inputs are on {sorted(map(str, devices))}, not on one npu")
        self.device = next(iter(devices)).index or 0
        self._lowering = Lowering(module, parameters, changed, options.fold_batch_norms)
        self._lock = threading.Lock()
        self._planned: OrderedDict[Any, _Planned | None] = OrderedDict()
        with _disable_current_modes():
            trial = [
                torch.empty_strided(
                    [_hint(size) for size in value.shape],
                    [_hint(stride) for stride in value.stride()],
                    dtype=value.dtype,
                    device="meta",
                )
                if isinstance(value, Tensor)
                else _hint(value)
                for value in inputs
            ]
            _Planned(self._lowering, frozenset(), self.device, trial)

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        """Runs the graph; in a capture of the program's the graph's own operators."""
        inputs = list(args)
        args.clear()
        if is_current_stream_capturing():
            return self.module(*inputs)
        key = (
            conv.allow_hf32,
            matmul.allow_hf32,
            *(
                value.data_ptr()
                if i in self.parameters
                else value.shape
                if isinstance(value, Tensor)
                else value
                for i, value in enumerate(inputs)
            ),
        )
        with self._lock:
            planned = self._find(key, inputs)
        return self.module(*inputs) if planned is None else planned.run(inputs)

    def _find(self, key: object, inputs: Sequence[Any]) -> _Planned | None:
        if key in self._planned:
            self._planned.move_to_end(key)
            return self._planned[key]
        try:
            planned = _Planned(self._lowering, self.parameters, self.device, inputs)
        except Unsupported as error:
            warn_once(f'backend="npugraph_ex" runs operators one by one for these sizes: {error}')
            planned = None
        self._planned[key] = planned
        if len(self._planned) > MAX_GRAPHS:
            self._planned.popitem(last=False)
        return planned

    def memory(self) -> list[dict[str, int]]:
        """Bytes of each planned graph: ``work``, ``weights`` of its own, ``parameters`` of the program."""
        return [one.builder.graph.memory() for one in self._planned.values() if one is not None]
