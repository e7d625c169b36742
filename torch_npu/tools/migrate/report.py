"""How findings are printed: a table for people, JSON for programs."""

import json
from collections import Counter

from torch_npu.tools.migrate.findings import Finding, Status


def table(path: str, findings: list[Finding]) -> str:
    """The findings of one file in columns that line up: line, status, what, what it is on npu."""
    rows = [(str(f.line), f.status.value, f.what, f.on_npu) for f in findings]
    widths = [max(len(row[i]) for row in rows) for i in range(3)] if rows else []
    lines = [
        f"  {line:>{widths[0]}}  {status:<{widths[1]}}  {what:<{widths[2]}}  {on_npu}".rstrip()
        for line, status, what, on_npu in rows
    ]
    return "\n".join([path, *(lines or ["  nothing of CUDA"])])


def summary(findings: list[Finding]) -> str:
    """One line that counts the statuses."""
    counts = Counter(f.status for f in findings)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status)


def as_json(files: dict[str, list[Finding]], errors: dict[str, str]) -> str:
    """``{"files": {path: [finding, ...]}, "errors": {path: text}}``."""
    listed = {
        path: [
            {
                "line": f.line,
                "column": f.column,
                "what": f.what,
                "status": f.status.value,
                "on_npu": f.on_npu,
            }
            for f in findings
        ]
        for path, findings in files.items()
    }
    return json.dumps({"files": listed, "errors": errors}, indent=2)
