"""Results beside their references, one a row: similarity, errors, shares; as CSV, XLSX and HTML."""

import csv
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from torch_npu.accuracy.comparison import compare
from torch_npu.accuracy.dtypes import widened

# Names of the columns that tools for Ascend know.
HEAD = (
    "NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape", "Cosine",
    "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio",
    "Accuracy Reached or Not", "Err_message", "Module", "Line",
)  # fmt: skip
MISSING = (
    "a workbook needs XlsxWriter: pip install 'torch-npu[tools]'; CSV and HTML work without it"
)


@dataclass(frozen=True)
class Row:
    """One result.

    Args:
        name: of the result, "aten.mul.Tensor.3.forward.output.0".
        dtype: of the result and of the reference.
        shape: of the result and of the reference.
        cosine: the cosine similarity of all elements.
        max_absolute: the largest absolute difference.
        max_relative: the largest difference divided by the reference's magnitude.
        within_thousandth: the share of elements whose relative error is below 0.001.
        within_five_thousandths: the same for 0.005.
        problem: what is wrong, with the worst element; empty if nothing is.
        module: in which it was computed.
        location: the program's line.
    """

    name: str
    dtype: tuple[str, str]
    shape: tuple[tuple[int, ...], tuple[int, ...]]
    cosine: float
    max_absolute: float
    max_relative: float
    within_thousandth: float
    within_five_thousandths: float
    problem: str
    module: str = ""
    location: str = ""

    @property
    def is_close(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problem

    def cells(self) -> list[str | float]:
        """In the order of :data:`HEAD`."""
        return [
            self.name, self.name, *self.dtype, *map(str, map(list, self.shape)), self.cosine, self.max_absolute,
            self.max_relative, self.within_thousandth, self.within_five_thousandths,
            "Yes" if self.is_close else "No", self.problem, self.module, self.location,
        ]  # fmt: skip


def _shares(actual: torch.Tensor, expected: torch.Tensor) -> tuple[float, float]:
    a, e = widened(actual), widened(expected)
    error = (a - e).abs() / e.abs()
    error = torch.where((a == e) | (a.isnan() & e.isnan()), 0.0, error.nan_to_num(math.inf))
    if not error.numel():
        return 1.0, 1.0
    return float((error < 0.001).double().mean()), float((error < 0.005).double().mean())


def row_of(
    name: str,
    actual: torch.Tensor,
    expected: torch.Tensor,
    problem: str,
    module: str = "",
    location: str = "",
) -> Row:
    """The row of a result that was judged already.

    Args:
        name: of the result.
        actual: the result, on any device.
        expected: the reference.
        problem: what the judge says; empty if the result is right.
        module: in which it was computed.
        location: the program's line.
    """
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    found = compare(actual, expected, check_dtype=False)
    same_shape = actual.shape == expected.shape
    shares = _shares(actual, expected) if same_shape else (0.0, 0.0)
    types = tuple(str(t.dtype).removeprefix("torch.") for t in (actual, expected))
    return Row(
        name,
        (types[0], types[1]),
        (tuple(actual.shape), tuple(expected.shape)),
        found.cosine,
        found.max_absolute,
        found.max_relative,
        *shares,
        problem or found.problem,
        module,
        location,
    )


def write_csv(rows: Sequence[Row], path: str | Path) -> None:
    """A line for each row below :data:`HEAD`."""
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(row.cells() for row in rows)


def write_xlsx(rows: Sequence[Row], path: str | Path) -> None:
    """The same as a workbook; rows that are wrong are red.

    Raises:
        ImportError: XlsxWriter is not installed.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise ImportError(MISSING) from None
    with xlsxwriter.Workbook(str(path), {"nan_inf_to_errors": True}) as book:
        sheet = book.add_worksheet("accuracy")
        sheet.write_row(0, 0, HEAD, book.add_format({"bold": True}))
        red = book.add_format({"font_color": "#b3261e"})
        for number, row in enumerate(rows, 1):
            sheet.write_row(number, 0, row.cells(), None if row.is_close else red)
        sheet.freeze_panes(1, 1)
        sheet.autofit()


def write_html(rows: Sequence[Row], path: str | Path) -> None:
    """The same as a page that needs nothing else; rows that are wrong are red."""

    def text(cell: str | float) -> str:
        return html.escape(cell if isinstance(cell, str) else f"{cell:.6g}")

    head = "".join(f"<th>{html.escape(name)}</th>" for name in HEAD)
    body = "".join(
        f"<tr{'' if row.is_close else ' class=wrong'}>"
        + "".join(f"<td>{text(cell)}</td>" for cell in row.cells())
        + "</tr>"
        for row in rows
    )
    wrong = sum(not row.is_close for row in rows)
    Path(path).write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>accuracy</title><style>'
        "body{font:14px/1.5 system-ui,sans-serif;margin:20px;color:#1c2430}div{overflow-x:auto}"
        "table{border-collapse:collapse;font-size:13px}td,th{padding:4px 8px;border-bottom:1px solid #dde1e7;"
        "text-align:left;vertical-align:top}.wrong{background:#fbe9e7;color:#8c1d18}</style>"
        f"<h1>{wrong} of {len(rows)} results are wrong</h1>"
        f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></html>"
    )
