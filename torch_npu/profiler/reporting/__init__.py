"""What a recording says: where the time goes, and what to change. The command is ``torch-npu report``.

Example:
    >>> from torch_npu import profiler
    >>> from torch_npu.profiler.reporting.text import text
    >>> print(text(profiler.report("profiles")))
"""

from torch_npu.profiler.reporting.advice import Recommendation
from torch_npu.profiler.reporting.content import Report, report
from torch_npu.profiler.reporting.run import ReportError
from torch_npu.profiler.reporting.text import comparison

__all__ = ["Recommendation", "Report", "ReportError", "comparison", "report"]
