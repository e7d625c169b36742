"""Turns a graph of ATen nodes into one of the engine, for inputs whose sizes are known."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from torch_npu._npugraph_ex import patches
from torch_npu._npugraph_ex.builder import GraphBuilder, Ref, Unsupported
from torch_npu._npugraph_ex.lower import TABLE
from torch_npu._npugraph_ex.lower.images import convolution
from torch_npu._npugraph_ex.lower.norms import folded_norm
from torch_npu._npugraph_ex.lower.table import aten
from torch_npu._npugraph_ex.patches import Patched

_CONVOLUTION = aten.convolution.default
_NORM = aten._native_batch_norm_legit_no_training.default


@dataclass(frozen=True)
class _Deferred:
    """A convolution that is computed with the batch norm behind it: its arguments."""

    args: tuple[Any, ...]


class _NodeUnsupported(Unsupported):
    """The engine does not have one node of the graph."""


def _is_parameter(value: object, parameters: frozenset[Node]) -> bool:
    return value is None or value in parameters


def _dtype(node: Any) -> torch.dtype:  # noqa: ANN401
    return node.meta["val"].dtype


def _is_relayout(node: Node) -> bool:
    """Whether a view by strides has its input's elements in their places: PyTorch adds such views for memory formats."""
    source: Any = node.args[0]
    before, after = source.meta["val"], node.meta["val"]
    if any(not isinstance(size, int) for size in (*before.shape, *after.shape)):
        return False
    strides = zip(before.stride(), after.stride(), after.shape, strict=False)
    return (
        before.shape == after.shape
        and before.storage_offset() == after.storage_offset()
        and all(own == new or size == 1 for own, new, size in strides)
    )


class Lowering:
    """Lowers one graph, for any sizes.

    Args:
        module: an ATen graph whose first results are the new contents of changed inputs.
        parameters: the indices of inputs that are parameters and buffers.
        changed: the indices of changed inputs, in the results' order.
        folds: whether convolutions take the batch norms behind them.
    """

    def __init__(
        self,
        module: GraphModule,
        parameters: frozenset[int],
        changed: Sequence[int],
        folds: bool,
    ) -> None:
        """Stores the arguments."""
        self.module, self.changed = module, tuple(changed)
        nodes = list(module.graph.nodes)
        self.placeholders = [node for node in nodes if node.op == "placeholder"]
        self.outputs: Sequence[Any] = nodes[-1].args[0]
        given = frozenset(self.placeholders[i] for i in parameters)
        self._norms = {n for n in nodes if folds and self._folds(n, given)}

    @staticmethod
    def _folds(node: Node, parameters: frozenset[Node]) -> bool:
        """Whether ``node`` is a batch norm behind a convolution that nothing else reads."""
        if node.target is not _NORM:
            return False
        args: Any = node.args
        before = args[0]
        return bool(
            isinstance(before, Node)
            and before.target is _CONVOLUTION
            and len(before.users) == 1
            and before.args[6] is False
            and all(_is_parameter(x, parameters) for x in (*before.args[1:3], *args[1:5]))
            and before.meta["val"].dtype == _dtype(before.args[1])
        )

    def run(self, b: GraphBuilder, inputs: Sequence[Ref | int]) -> dict[Node, Any]:
        """Adds the graph to ``b``; returns the value of each node.

        Raises:
            Unsupported: the engine does not have a node; the text names it.
        """
        values: dict[Node, Any] = dict(zip(self.placeholders, inputs, strict=True))
        for i in self.changed:
            value = inputs[i]
            if isinstance(value, Ref):
                values[self.placeholders[i]] = Patched.whole(value)
        for node in self.module.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            b.node_name = node.name
            try:
                values[node] = self._value(b, node, values)
                self._check(node, values[node])
            except _NodeUnsupported:
                raise
            except Unsupported as error:
                raise _NodeUnsupported(f"{node.name} ({node.target}): {error}") from None
            except (TypeError, IndexError, RuntimeError) as error:
                # Arguments of an overload that the table's function does not take.
                text = str(error).partition("\n")[0]
                raise _NodeUnsupported(f"{node.name} ({node.target}): {text}") from error
        return values

    def _value(self, b: GraphBuilder, node: Node, values: Mapping[Node, Any]) -> object:
        if node.op == "get_attr":
            return self._constant(b, getattr(self.module, str(node.target)))
        if node.op != "call_function":
            raise Unsupported("a call of a module")
        if node.target is _CONVOLUTION and any(user in self._norms for user in node.users):
            return _Deferred(map_arg(node.args, values.__getitem__))
        target: Any = node.target
        result = patches.lower(b, target, map_arg(node.args, values.__getitem__))
        if result is not None:
            return result

        def read(argument: Node) -> Any:  # noqa: ANN401
            value = values[argument]
            return value.read(b) if isinstance(value, Patched) else value

        args: Any = map_arg(node.args, read)
        kwargs: Any = map_arg(node.kwargs, read)
        if target is operator.getitem:
            return args[0][args[1]]
        if target is aten.sym_size.int:
            return args[0].shape[args[1]]
        if node in self._norms:
            return self._folded(b, args)
        if target is aten.as_strided.default and _is_relayout(node):
            return args[0]
        lower = TABLE.get(target)
        if lower is not None:
            return lower(b, *args, **kwargs)
        is_python = callable(target) and not isinstance(target, torch._ops.OpOverload)
        if is_python and _are_numbers(args):
            return target(*args)  # of sizes
        raise Unsupported("the graph engine does not have this operator")

    def _folded(self, b: GraphBuilder, args: Sequence[Any]) -> tuple[Ref, None, None]:
        before, weight, bias, mean, variance, _, eps = args
        x, own, shift, *rest = before.args
        filters, moved = folded_norm(b, (own, shift), weight, bias, mean, variance, eps)
        return convolution(b, x, filters, moved, *rest), None, None

    @staticmethod
    def _constant(b: GraphBuilder, tensor: object) -> Ref:
        if not isinstance(tensor, torch.Tensor):
            raise Unsupported("a graph within the graph")
        return b.constant(tensor.detach().cpu())

    @staticmethod
    def _check(node: Node, value: object) -> None:
        """Refuses a result that differs in type or rank from PyTorch's, or that is missing."""
        expected = node.meta.get("val")
        if value is None and isinstance(expected, torch.Tensor) and node.users:
            raise Unsupported("the engine computes the first result only")
        if not isinstance(value, Ref) or not isinstance(expected, torch.Tensor):
            return
        sizes = [own for own in expected.shape if isinstance(own, int)]
        is_fixed = len(sizes) == expected.dim()
        if value.dtype != expected.dtype or value.rank != expected.dim():
            raise Unsupported(f"the engine's result is {value.dtype}, of {value.rank} dimensions")
        if is_fixed and tuple(sizes) != value.shape:
            raise Unsupported(f"the engine's result has the sizes {list(value.shape)}")


def _are_numbers(values: object) -> bool:
    if isinstance(values, (list, tuple)):
        return all(map(_are_numbers, values))
    return isinstance(values, (int, float, bool))
