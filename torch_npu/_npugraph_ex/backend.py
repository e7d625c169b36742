"""The backends of ``torch.compile`` that Dynamo knows by name."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NoReturn

from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx import GraphModule

from torch_npu._core.warnings import warn_once
from torch_npu._inductor.graphs import GraphedCall
from torch_npu._npugraph_ex.builder import Unsupported
from torch_npu._npugraph_ex.compiled import CompiledGraph
from torch_npu._npugraph_ex.lower import TABLE
from torch_npu._npugraph_ex.options import Options, read_options

Compiled = Callable[..., Any]


@cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of what the table does not have."""
    return {op: rule for op, rule in core_aten_decompositions().items() if op not in TABLE}


def _parameters() -> tuple[frozenset[int], list[int]]:
    """The indices of parameters and buffers that a graph only reads, and of inputs that it changes."""
    context = TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    if metadata is None:
        return frozenset(), []
    changed = list(metadata.mutated_inp_runtime_indices)
    return frozenset(metadata.static_input_indices) - set(changed), changed


def _compile_inference(
    options: Options, module: GraphModule, inputs: Sequence[Any]
) -> CompiledGraph:
    parameters, changed = _parameters()
    return CompiledGraph(module, inputs, parameters, changed, options)


def _refuse_training(_module: GraphModule, _inputs: Sequence[Any]) -> NoReturn:
    raise Unsupported(
        "its results need gradients, and the graph engine is for inference (torch.no_grad(), torch.inference_mode())"
    )


def npugraph_ex(
    module: GraphModule,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, object] | None = None,
    mode: str | None = None,
) -> Compiled:
    """Compiles a graph of Dynamo for the graph engine; what it does not have for Inductor, with one warning.

    Args:
        module: the graph.
        inputs: its inputs as examples.
        options: ``fold_batch_norms`` and ``fallback``, see :class:`Options`.
        mode: None.

    Raises:
        ValueError: an option that there is not, or a mode.
        RuntimeError: with ``fallback`` False, what the graph engine does not have.
    """
    chosen = read_options(options, mode)
    compiler = aot_autograd(
        fw_compiler=_refuse_training,
        inference_compiler=partial(_compile_inference, chosen),
        decompositions=_decompositions(),
    )
    try:
        return compiler(module, inputs)
    except Unsupported as reason:
        if not chosen.fallback:
            raise RuntimeError(f'backend="npugraph_ex", fallback=False: {reason}') from None
        warn_once(f'backend="npugraph_ex" compiles this graph by Inductor: {reason}')
    from torch._inductor.compile_fx import compile_fx  # takes seconds

    compiled: Any = compile_fx(module, inputs)
    return compiled


def _capture(module: GraphModule, _inputs: Sequence[Any]) -> Compiled:
    _, changed = _parameters()

    def call(args: list[Any]) -> Sequence[Any]:
        inputs = list(args)
        args.clear()
        return module(*inputs)

    captured = GraphedCall(call, True, sorted(changed))
    captured._boxed_call = True  # type: ignore[attr-defined]
    return captured


def npugraphs(module: GraphModule, inputs: Sequence[Any]) -> Compiled:
    """Captures the operators of inference as they are, as PyTorch's "cudagraphs" does; training runs them one by one."""
    from torch._functorch.aot_autograd import make_boxed_func

    return aot_autograd(
        fw_compiler=lambda graph, _: make_boxed_func(graph.forward),
        inference_compiler=_capture,
        keep_inference_input_mutations=True,
    )(module, inputs)
