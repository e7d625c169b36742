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

``check_operators`` runs a function, such as a training step, and judges each of its operators: which is the first that is
wrong, in which module, on which line, with a script that runs it alone. ``Dump`` writes what operators and modules give, ``compare_dumps`` holds two such
folders against each other. ``check_determinism`` compares the bits of runs.

``torch_npu.accuracy.judge`` compares results of a call that can be run again in double precision: it finds the tolerance
of each element by itself.
"""

from torch_npu.accuracy.comparison import Comparison, Element, assert_close, compare
from torch_npu.accuracy.determinism import Determinism, check_determinism
from torch_npu.accuracy.dump import Dump, DumpError, compare_dumps
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.operators import (
    Divergence,
    OperatorCheck,
    OperatorReport,
    check_operators,
)
from torch_npu.accuracy.rows import Row, write_csv, write_html, write_xlsx
from torch_npu.accuracy.tables import table
from torch_npu.accuracy.tolerance import Tolerance, tolerance_of

__all__ = [
    "Comparison",
    "Determinism",
    "Divergence",
    "Dump",
    "DumpError",
    "Element",
    "Kind",
    "OperatorCheck",
    "OperatorReport",
    "Row",
    "Tolerance",
    "assert_close",
    "check_determinism",
    "check_operators",
    "compare",
    "compare_dumps",
    "table",
    "tolerance_of",
    "write_csv",
    "write_html",
    "write_xlsx",
]
