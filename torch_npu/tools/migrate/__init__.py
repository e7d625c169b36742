"""Lists what in a program is written for CUDA, and what it is on npu: ``python -m torch_npu.tools.migrate script.py``."""

from torch_npu.tools.migrate.findings import Finding, Status
from torch_npu.tools.migrate.scan import scan_source

__all__ = ["Finding", "Status", "scan_source"]
