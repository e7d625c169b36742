"""How near a result is to a reference: element by element, with tolerances that are formulas of the rounding steps.

``compare`` gives a :class:`Comparison`: how many elements are wrong, which one is the worst, the largest differences and
the cosine similarity. ``assert_close`` raises where an element is wrong. ``tolerance_of`` has the formulas by kind of
operator and data type. ``table`` prints many comparisons in aligned columns. The command ``torch-npu compare`` is this
library on saved files.

    import torch
    from torch_npu import accuracy

    a, b = torch.randn(64, 256), torch.randn(256, 32)
    exact = a.double() @ b.double()
    magnitude = a.double().abs() @ b.double().abs()
    tolerance = accuracy.tolerance_of(accuracy.Kind.PRODUCT, torch.float32, terms=256, magnitude=magnitude)
    accuracy.assert_close(a.npu() @ b.npu(), exact, tolerance)

``torch_npu.accuracy.judge`` compares results of a call that can be run again in double precision: it finds the tolerance
of each element by itself.
"""

from torch_npu.accuracy.comparison import Comparison, Element, assert_close, compare
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.tables import table
from torch_npu.accuracy.tolerance import Tolerance, tolerance_of

__all__ = [
    "Comparison",
    "Element",
    "Kind",
    "Tolerance",
    "assert_close",
    "compare",
    "table",
    "tolerance_of",
]
