"""``torch.compile(model, backend="npugraph_ex")``: inference by softnpu's graph engine.

An ATen graph becomes a graph of the engine's operators (``lower``), which is planned once and launched on the current
stream (``compiled``). Parameters are read where they are. What the engine does not have is Inductor's (``backend``).
"""

from torch_npu._npugraph_ex.backend import npugraph_ex, npugraphs

__all__ = ["npugraph_ex", "npugraphs"]
