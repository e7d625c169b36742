"""Jupyter notebooks: their code cells as one program, and findings by cell."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from torch_npu.tools.migrate.findings import Finding

# What IPython takes and Python does not: magics, commands of the shell, questions.
_LINE = re.compile(r"^(\s*)(?:[%!?].*|.*\?\s*)$")
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)[%!].*$")


def _python_line(line: str) -> str:
    line = _ASSIGNED.sub(r"\1None", line)
    return _LINE.sub(r"\1pass", line)


def _python_lines(source: str) -> list[str]:
    lines = source.splitlines() or [""]
    if lines[0].startswith("%%"):  # a cell of another language
        return [""] * len(lines)
    return [_python_line(line) for line in lines]


def code_cells(notebook: bytes) -> list[list[str]]:
    """The lines of each code cell as Python.

    Raises:
        ValueError: it is no notebook.
    """
    try:
        cells = json.loads(notebook)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [_python_lines(s if isinstance(s, str) else "".join(s)) for s in sources]
    except (ValueError, KeyError, TypeError):
        raise ValueError("not a Jupyter notebook") from None


def by_cell(findings: list[Finding], cells: list[list[str]]) -> Iterator[tuple[int, list[Finding]]]:
    """The number of each code cell, from 1, and its findings, whose lines then count in the cell.

    Args:
        findings: those of all cells, one after another.
        cells: what :func:`code_cells` returned.
    """
    first = 0
    for number, lines in enumerate(cells, 1):
        inside = [f for f in findings if first < f.line <= first + len(lines)]
        yield number, [replace(f, line=f.line - first) for f in inside]
        first += len(lines)
