"""Captured graphs of compiled models: ``torch.compile(mode="reduce-overhead")`` for inference.

A generated module wraps its ``call`` into a :class:`GraphedCall`. Inductor's own graph trees are for CUDA only.
"""

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

from torch_npu.npu.graphs import NPUGraph, graph, graph_pool_handle
from torch_npu.npu.streams import Stream, current_stream, is_current_stream_capturing

Call = Callable[[list[Any]], Sequence[Any]]
# Graphs of one compiled function. Each holds buffers of its inputs and results.
MAX_GRAPHS = 64


@cache
def warn_without_graph(reason: str) -> None:
    """Warns once of each reason in a process."""
    warnings.warn(
        f'torch.compile(mode="reduce-overhead") on npu launches each kernel here, as the default mode does: {reason}',
        stacklevel=2,
    )


def _signature(value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, torch.Tensor):
        return value
    return value.shape, value.stride(), value.dtype, value.device


class _Captured:
    """A graph of one call.

    Inputs of ``by_address`` are read where they are, and kept alive; the others are copied into buffers.
    """

    def __init__(
        self,
        call: Call,
        inputs: list[Any],
        by_address: frozenset[int],
        changed: Sequence[int],
        pool: tuple[int, int],
    ) -> None:
        self.by_address = by_address
        self.changed = [i for i in changed if i not in by_address]
        self.inputs = [
            value.clone() if isinstance(value, torch.Tensor) and i not in by_address else value
            for i, value in enumerate(inputs)
        ]
        self.addresses = {i: inputs[i].data_ptr() for i in by_address}
        self.graph = NPUGraph()
        with graph(self.graph, pool=pool):
            self.outputs = list(call(list(self.inputs)))
        # Results that are inputs are given back as they came.
        self.passed = [
            next((i for i, given in enumerate(self.inputs) if given is result), None)
            if isinstance(result, torch.Tensor)
            else None
            for result in self.outputs
        ]

    def moved(self, inputs: list[Any]) -> frozenset[int]:
        """The inputs that are elsewhere than at the capture."""
        return frozenset(i for i, at in self.addresses.items() if inputs[i].data_ptr() != at)

    def replay(self, inputs: list[Any]) -> list[Any]:
        """Runs it; the results are copies, since the next replay overwrites the graph's own."""
        for i, buffer in enumerate(self.inputs):
            if isinstance(buffer, torch.Tensor) and i not in self.by_address:
                buffer.copy_(inputs[i])
        self.graph.replay()
        for i in self.changed:
            inputs[i].copy_(self.inputs[i])
        return [
            inputs[at] if at is not None else r.clone() if isinstance(r, torch.Tensor) else r
            for r, at in zip(self.outputs, self.passed, strict=True)
        ]


class GraphedCall:
    """The ``call`` of a generated module: the first call of a signature runs it, the second captures it.

    A signature is the inputs' shapes, strides, types and devices, and the values of those that are not tensors.

    Args:
        call: takes a list of inputs, which it empties, and returns the results.
        is_inference: whether no backward pass uses the results; else calls are not captured.
        changed: the indices of inputs that it writes.
    """

    def __init__(self, call: Call, is_inference: bool, changed: Sequence[int]) -> None:
        """Stores the arguments."""
        self._call, self._is_inference, self._changed = call, is_inference, changed
        self._lock = threading.Lock()
        # By signature: the addresses of the first call, then the graph; None where it cannot be captured.
        self._known: dict[Any, dict[int, int] | _Captured | None] = {}
        self._pool = graph_pool_handle()
        self._stream: Stream | None = None

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        """Runs the function, by a graph where there is one."""
        if not self._is_inference:
            warn_without_graph(
                "only inference is captured (torch.no_grad(), torch.inference_mode())"
            )
            return self._call(args)
        if is_current_stream_capturing():  # part of the program's own graph
            return self._call(args)
        if not all(a.device.type == "npu" for a in args if isinstance(a, torch.Tensor)):
            warn_without_graph("an input is on the CPU")
            return self._call(args)
        with self._lock:
            return self._run(args)

    def _run(self, args: list[Any]) -> Sequence[Any]:
        signature = tuple(_signature(a) for a in args)
        known = self._known.get(signature, ())
        if known is None:
            return self._call(args)
        if known == ():
            if len(self._known) >= MAX_GRAPHS:
                warn_without_graph(f"it has {MAX_GRAPHS} graphs of other shapes")
                return self._call(args)
            self._known[signature] = {
                i: a.data_ptr() for i, a in enumerate(args) if isinstance(a, torch.Tensor)
            }
            return self._call(args)
        inputs = list(args)
        args.clear()
        captured = self._captured(known, inputs)
        self._known[signature] = captured
        if captured is None:
            return self._call(inputs)
        now = current_stream()
        if self._stream is not None and self._stream != now:
            now.wait_stream(self._stream)  # the graphs share their memory
        self._stream = now
        return captured.replay(inputs)

    def _captured(self, known: Any, inputs: list[Any]) -> _Captured | None:  # noqa: ANN401
        if isinstance(known, _Captured):
            moved = known.moved(inputs)
            if not moved:
                return known
            by_address = known.by_address - moved
        else:
            by_address = frozenset(i for i, at in known.items() if inputs[i].data_ptr() == at)
        try:
            return _Captured(self._call, inputs, by_address, self._changed, self._pool)
        except RuntimeError as error:
            warn_without_graph(str(error).partition("\n")[0])
            return None
