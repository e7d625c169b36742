"""Graphs: work that is captured from a stream once and replayed. Interfaces follow torch.cuda.graphs."""

import gc
from typing import Any

import torch
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook
from torch.utils import _pytree as pytree
from torch.utils.hooks import RemovableHandle

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu.npu.device import synchronize
from torch_npu.npu.memory import empty_cache
from torch_npu.npu.streams import Stream, is_current_stream_capturing, stream

Pool = tuple[int, int]


def graph_pool_handle() -> Pool:
    """The id of a memory pool that several graphs may share."""
    first, second = state.native().graph_pool_handle()
    return int(first), int(second)


def graph_task_group_begin(stream: torch.Stream) -> None:
    """Begins a task group: the work of ``stream`` until :func:`graph_task_group_end` can be replaced after the capture.

    Raises:
        RuntimeError: the stream is not being captured, or has an open task group.
    """
    state.native().graph_task_group_begin(stream.device_index, stream.stream_id)


def graph_task_group_end(stream: torch.Stream) -> Any:  # noqa: ANN401 (a handle without members)
    """Ends the task group of ``stream`` and gives its handle, which is valid as long as the graph.

    Raises:
        RuntimeError: the stream is not being captured, or has no open task group.
    """
    return state.native().graph_task_group_end(stream.device_index, stream.stream_id)


def graph_task_update_begin(stream: torch.Stream, handle: Any) -> None:  # noqa: ANN401
    """Lets the work of ``stream`` until :func:`graph_task_update_end` replace that of a task group.

    Call the same operators as in the group, with other arguments, such as lengths that the host knows. Pass results by
    ``out=``: memory that is allocated on ``stream`` until the end is the graph's, whose replays write it.

    Raises:
        RuntimeError: ``stream`` is one of another device than the graph's, or is being captured; the graph's capture
            has not ended.
    """
    state.native().graph_task_update_begin(stream.device_index, stream.stream_id, handle)


def graph_task_update_end(stream: torch.Stream) -> None:
    """Ends the update. Replays that begin after the work enqueued on ``stream`` so far run the new work.

    Raises:
        RuntimeError: no update was begun on the stream, or its work is not that of the task group.
    """
    state.native().graph_task_update_end(stream.device_index, stream.stream_id)


class NPUGraph:
    """A captured graph. Its tensors keep their addresses: write new inputs into them before :meth:`replay`.

    The graph owns the memory that was allocated during its capture.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        """Makes an empty graph.

        Args:
            keep_graph: :meth:`instantiate` may be called. A graph is always kept, and instantiated by its capture's end.
        """
        self._graph = state.native()._NPUGraph()
        self._keep_graph = keep_graph
        self._optimizer_hook: RemovableHandle | None = None

    def capture_begin(self, pool: Pool | None = None, capture_error_mode: str = "global") -> None:
        """Captures the current stream from now on. :class:`torch.npu.graph` calls it.

        Args:
            pool: the memory pool of another graph, or one of :func:`graph_pool_handle`; default: an own one.
            capture_error_mode: which threads may not call what disturbs a capture: ``"global"`` all, ``"thread_local"``
                this one, ``"relaxed"`` none.

        Raises:
            RuntimeError: the current stream is the default one or is captured already; the graph was captured.
            ValueError: there is no such mode.
        """
        self._graph.capture_begin(pool, capture_error_mode)
        self._optimizer_hook = register_optimizer_step_pre_hook(_refuse_uncapturable)

    def register_generator_state(self, generator: torch.Generator) -> None:
        """Lets the capture, which begins later, draw random numbers from ``generator``.

        Each replay draws the numbers that the same calls would draw, and the generator advances. The default generator
        of the device is registered by itself.

        Raises:
            RuntimeError: the generator is not one of an npu, or the graph is being captured.
        """
        self._graph.register_generator_state(generator)

    def capture_end(self) -> None:
        """Ends the capture.

        Raises:
            RuntimeError: why the work could not be captured. The graph is empty then, and the stream usable.
        """
        self._forget_optimizers()
        self._graph.capture_end()

    def _forget_optimizers(self) -> None:
        if self._optimizer_hook is not None:
            self._optimizer_hook.remove()
            self._optimizer_hook = None

    def instantiate(self) -> None:
        """Does nothing to a captured graph: the capture's end has prepared it for replays.

        Raises:
            RuntimeError: nothing was captured, or the graph was not made with ``keep_graph=True``.
        """
        if not self._keep_graph:
            raise RuntimeError(
                "instantiate() is intended to be called by the user only when keep_graph=true"
                + pta_error(ErrCode.PARAM)
            )
        self.pool()  # raises without a capture

    def enable_debug_mode(self) -> None:
        """Does nothing: :meth:`debug_dump` writes any captured graph."""

    def replay(self) -> None:
        """Runs the captured work on the current stream, after the work that is enqueued there.

        Raises:
            RuntimeError: nothing was captured.
        """
        self._graph.replay()

    def reset(self) -> None:
        """Forgets the captured work and releases its memory."""
        self._forget_optimizers()
        self._graph.reset()

    def pool(self) -> Pool:
        """The id of the graph's memory pool, for another graph's capture.

        Raises:
            RuntimeError: nothing was captured.
        """
        first, second = self._graph.pool()
        return int(first), int(second)

    def debug_dump(self, debug_path: str) -> None:
        """Writes the captured tasks as JSON that chrome://tracing shows.

        Raises:
            RuntimeError: nothing was captured, or the file cannot be written.
        """
        self._graph.debug_dump(debug_path)


def _refuse_uncapturable(optimizer: Optimizer, _args: object, _kwargs: object) -> None:
    """A hook: an optimizer that counts its steps on the CPU would be captured with the count of the capture."""
    if is_current_stream_capturing() and not all(
        group.get("capturable", True) for group in optimizer.param_groups
    ):
        raise RuntimeError(
            f"Attempting CUDA graph capture of step() for an instance of {type(optimizer).__name__}, on npu, but "
            "param_groups' capturable is False: make the optimizer with capturable=True"
            + pta_error(ErrCode.PARAM)
        )


class graph:  # noqa: N801 (the name of torch.cuda.graph)
    """Captures the work of a block into an :class:`NPUGraph`.

    Args:
        npu_graph: the graph.
        pool: see :meth:`NPUGraph.capture_begin`.
        stream: the stream to capture; default: one that all captures share.
        capture_error_mode: see :meth:`NPUGraph.capture_begin`.
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        npu_graph: NPUGraph,
        pool: Pool | None = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        """Stores the arguments."""
        if stream is None and graph.default_capture_stream is None:
            graph.default_capture_stream = Stream()
        self.npu_graph, self.pool = npu_graph, pool
        self.capture_stream = stream or graph.default_capture_stream
        self.capture_error_mode = capture_error_mode

    def __enter__(self) -> None:
        """Waits for the device, frees what it can, and begins the capture."""
        synchronize()
        if torch.compiler.config.force_cudagraph_gc:
            gc.collect()
        empty_cache()
        self._in_stream = stream(self.capture_stream)
        self._in_stream.__enter__()
        try:
            self.npu_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self._in_stream.__exit__(None, None, None)
            raise

    def __exit__(
        self, exc_type: type | None, exc_value: BaseException | None, traceback: object
    ) -> None:
        """Ends the capture. An exception of the block stays, with the capture's own as a note."""
        try:
            self.npu_graph.capture_end()
        except RuntimeError as error:
            if exc_value is None:
                raise
            exc_value.add_note(f"The capture failed, too: {error}")
        finally:
            self._in_stream.__exit__(exc_type, exc_value, traceback)


def make_graphed_callables(
    callables: Any,  # noqa: ANN401
    sample_args: tuple[Any, ...],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Pool | None = None,
) -> Any:  # noqa: ANN401
    """Functions or modules whose forward and backward passes are replays of graphs.

    Args:
        callables: one, or a tuple in the order in which they run.
        sample_args: the arguments of one, or a tuple of such tuples: tensors of the sizes that all calls have.
        num_warmup_iters: runs before the capture.
        allow_unused_input: arguments need no gradient by the result.
        pool: see :meth:`NPUGraph.capture_begin`.

    Returns:
        A callable for each. A module keeps its identity: its ``forward`` is replaced for the present training mode.

    Raises:
        RuntimeError: a callable cannot be captured, or its module has hooks.
        TypeError: an argument is no tensor.
    """
    is_one = not isinstance(callables, tuple)
    functions = (callables,) if is_one else callables
    samples = (sample_args,) if is_one else sample_args
    if len(functions) != len(samples):
        raise RuntimeError(
            f"{len(functions)} callables with {len(samples)} tuples of sample arguments"
            + pta_error(ErrCode.PARAM)
        )
    memory = graph_pool_handle() if pool is None else pool
    graphed = [
        _Graphed(function, args, memory, allow_unused_input, num_warmup_iters)
        for function, args in zip(functions, samples, strict=True)
    ]
    for one in graphed:
        one.capture_forward()
    for one in reversed(graphed):
        one.capture_backward()
    created = [one.wrap() for one in graphed]
    return created[0] if is_one else tuple(created)


class _Graphed:
    """One callable with the graphs of its passes and their tensors."""

    def __init__(
        self,
        function: Any,  # noqa: ANN401
        args: tuple[Any, ...],
        pool: Pool,
        allow_unused: bool,
        warmups: int,
    ) -> None:
        self.function, self.args, self.pool, self.allow_unused = function, args, pool, allow_unused
        self.inputs = tuple(pytree.arg_tree_leaves(*args))
        for value in self.inputs:
            if not isinstance(value, torch.Tensor):
                raise TypeError(
                    f"sample arguments are tensors, not {type(value).__name__}"
                    + pta_error(ErrCode.TYPE)
                )
        self.parameters: tuple[torch.Tensor, ...] = ()
        if isinstance(function, torch.nn.Module):
            if function._forward_hooks or function._forward_pre_hooks or function._backward_hooks:
                raise RuntimeError(
                    "modules with hooks are not graphed: register hooks afterwards"
                    + pta_error(ErrCode.PARAM)
                )
            self.parameters = tuple(function.parameters())
        self.leaves = self.inputs + self.parameters
        self.forward_graph, self.backward_graph = NPUGraph(), NPUGraph()
        self._warm_up(warmups)

    def _gradients(
        self, outputs: tuple[torch.Tensor, ...], given: tuple[torch.Tensor, ...]
    ) -> tuple[Any, ...]:
        wanted = tuple(leaf for leaf in self.leaves if leaf.requires_grad)
        return tuple(
            torch.autograd.grad(
                outputs,
                wanted,
                grad_outputs=given,
                only_inputs=True,
                allow_unused=self.allow_unused,
            )
        )

    def _warm_up(self, count: int) -> None:
        synchronize()
        with stream(Stream()):
            for _ in range(count):
                outputs = pytree.tree_leaves(self.function(*self.args))
                differentiable = tuple(o for o in outputs if o.requires_grad)
                if differentiable:
                    self._gradients(
                        differentiable, tuple(torch.empty_like(o) for o in differentiable)
                    )
        synchronize()

    def capture_forward(self) -> None:
        with graph(self.forward_graph, pool=self.pool):
            result = self.function(*self.args)
        outputs, self.spec = pytree.tree_flatten(result)
        self.outputs = tuple(outputs)

    def capture_backward(self) -> None:
        self.output_grads = tuple(
            torch.empty_like(o) if o.requires_grad else None for o in self.outputs
        )
        differentiable = tuple(o for o in self.outputs if o.requires_grad)
        found: tuple[Any, ...] = ()
        if differentiable:
            with graph(self.backward_graph, pool=self.pool):
                found = self._gradients(
                    differentiable, tuple(g for g in self.output_grads if g is not None)
                )
        gradients = iter(found)
        self.input_grads = tuple(
            next(gradients) if leaf.requires_grad and differentiable else None
            for leaf in self.leaves
        )

    def wrap(self) -> Any:  # noqa: ANN401
        call = _autograd_function(self)

        def replayed(*args: Any) -> Any:  # noqa: ANN401
            flat = tuple(pytree.arg_tree_leaves(*args))
            return pytree.tree_unflatten(list(call.apply(*flat, *self.parameters)), self.spec)

        if not isinstance(self.function, torch.nn.Module):
            return replayed
        module, training, eager = self.function, self.function.training, self.function.forward

        def forward(*args: Any) -> Any:  # noqa: ANN401
            return replayed(*args) if module.training == training else eager(*args)

        module.forward = forward
        return module


def _autograd_function(graphed: _Graphed) -> Any:  # noqa: ANN401
    class Replay(torch.autograd.Function):
        """The replays of one callable."""

        @staticmethod
        def forward(_: Any, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:  # noqa: ANN401
            for static, given in zip(graphed.inputs, inputs, strict=False):
                if static.data_ptr() != given.data_ptr():
                    static.copy_(given)
            graphed.forward_graph.replay()
            return tuple(o.detach() for o in graphed.outputs)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(_: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
            for static, given in zip(graphed.output_grads, grads, strict=True):
                if static is not None and static.data_ptr() != given.data_ptr():
                    static.copy_(given)
            graphed.backward_graph.replay()
            # Copies: autograd keeps them as .grad, and the next replay writes the graph's own.
            return tuple(None if g is None else g.clone() for g in graphed.input_grads)

    return Replay


__all__ = [
    "NPUGraph",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
]
