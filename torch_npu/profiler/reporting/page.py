"""A report as one HTML page that needs nothing else, and its tables as a workbook. Both need ``torch-npu[tools]``."""

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from torch_npu.profiler.reporting import text
from torch_npu.profiler.reporting.content import Report

MISSING = (
    "the page and the workbook need plotly and XlsxWriter: pip install 'torch-npu[tools]'; "
    "text and JSON work without them"
)
_MB = 1 << 20
_CHART_ROWS = 12
_PATH = re.compile(r"(?P<folder>/[^\s;]*/)(?P<line>[^/\s;]+:\d+)")
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2430; background: #f5f6f8; margin: 0; }
main { max-width: 1180px; margin: 0 auto; padding: 20px 16px 60px; }
h1 { font-size: 22px; margin: 8px 0 4px; } h2 { font-size: 17px; margin: 32px 0 8px; }
.path { color: #5b6676; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0; }
.card, .advice, .table, .chart { background: #fff; border: 1px solid #dde1e7; border-radius: 6px; }
.card { padding: 10px 14px; } .card b { display: block; font-size: 18px; white-space: nowrap; } .card span { color: #5b6676; }
.advice { padding: 12px 16px; margin: 10px 0; border-left: 4px solid #b3261e; }
.advice h3 { margin: 0 0 4px; font-size: 15px; } .advice p { margin: 4px 0; }
.none { border-left-color: #22794a; }
code { font: 13px/1.4 ui-monospace, monospace; background: #eef0f3; padding: 1px 4px; overflow-wrap: anywhere; }
.table { overflow-x: auto; } .chart { padding: 4px; margin-bottom: 10px; overflow: hidden; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid #edf0f3; vertical-align: top; }
td.long { overflow-wrap: anywhere; min-width: 140px; } th { white-space: nowrap; }
@media (max-width: 820px) { td.long { min-width: 80px; } th, td { padding: 5px 6px; } }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""


class MissingTools(ImportError):  # noqa: N818 - what is missing, not what went wrong
    """Plotly or XlsxWriter is not installed."""


def _plotly() -> tuple[Any, Any]:
    try:
        import plotly.graph_objects as go
        import plotly.io as io
    except ImportError:
        raise MissingTools(MISSING) from None
    return go, io


def _cell(text_: str) -> str:
    """With lines of files by their short names; the whole path is shown by the pointer."""
    return _PATH.sub(r'<span title="\g<0>">\g<line></span>', html.escape(text_))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: range) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="n"' if i in numbers else ' class="long"' for i in range(len(cells))]
        return "".join(f"<{tag}{k}>{_cell(c)}</{tag}>" for c, k in zip(cells, kinds, strict=True))

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f'<div class="table"><table><thead><tr>{row(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def _advice(found: Report) -> str:
    if not found.recommendations:
        return '<div class="advice none">No change would save a twentieth of the time.</div>'
    parts = []
    for item in found.recommendations:
        location = f" at <code>{html.escape(item.location)}</code>" if item.location else ""
        line = f"<p><code>{html.escape(item.line)}</code></p>" if item.line else ""
        facts = "".join(f"<li>{html.escape(fact)}</li>" for fact in item.evidence)
        parts.append(
            f'<div class="advice"><h3>{html.escape(item.fault)}{location}</h3>{line}<ul>{facts}</ul>'
            f"<p><b>Expected gain:</b> {text.ms(item.gain_ns)} ms, {text.percent(item.share)} % of the recording</p>"
            f"<p><b>Change:</b> {html.escape(item.change)}</p></div>"
        )
    return "".join(parts)


def _short(name: str) -> str:
    return name if len(name) <= 34 else name[:16] + "…" + name[-17:]


class _Charts:
    """The figures; the first one brings Plotly's script."""

    def __init__(self) -> None:
        self._go, self._io = _plotly()
        self._has_script = False

    def show(self, traces: list[Any], height: int, **layout: object) -> str:
        figure = self._go.Figure(traces)
        figure.update_layout(
            height=height,
            margin={"l": 10, "r": 20, "t": 10, "b": 40},
            template="plotly_white",
            legend={"orientation": "h", "y": 1.12},
            **layout,
        )
        figure.update_yaxes(automargin=True)
        script = "inline" if not self._has_script else False
        self._has_script = True
        part = self._io.to_html(
            figure,
            full_html=False,
            include_plotlyjs=script,
            config={"responsive": True, "displaylogo": False, "displayModeBar": False},
        )
        return f'<div class="chart">{part}</div>'

    def operators(self, found: Report) -> str:
        rows = found.operators[:_CHART_ROWS][::-1]
        bar = self._go.Bar(
            x=[row.total_ns / 1e6 for row in rows],
            y=[f"{_short(row.name)} ({_short(row.operator)})" for row in rows],
            customdata=[f"{text.percent(row.share)} %, {row.runs} runs<br>{row.location}" for row in rows],
            hovertemplate="%{y}: %{x:.3f} ms<br>%{customdata}<extra></extra>",
            orientation="h",
            marker_color="#2f6db5",
        )  # fmt: skip
        return self.show([bar], 90 + 26 * len(rows), xaxis_title="ms")

    def memory(self, found: Report) -> str:
        curve = self._go.Scatter(
            x=[moment / 1e6 for moment, _ in found.memory],
            y=[size / _MB for _, size in found.memory],
            line={"shape": "hv", "color": "#2f6db5"},
            fill="tozeroy",
        )
        return self.show([curve], 260, xaxis_title="ms", yaxis_title="MiB")

    def roofline(self, found: Report) -> str:
        assert found.limits is not None
        ridge = found.limits.gflops / found.limits.gbytes
        low = min([p.intensity for p in found.roofline] + [ridge]) / 4
        high = max([p.intensity for p in found.roofline] + [ridge]) * 4
        roof = self._go.Scatter(
            x=[low, ridge, high],
            y=[low * found.limits.gbytes, found.limits.gflops, found.limits.gflops],
            mode="lines",
            name="limit of this machine",
            line={"color": "#7a8494"},
        )
        kernels = self._go.Scatter(
            x=[p.intensity for p in found.roofline],
            y=[p.gflops for p in found.roofline],
            text=[f"{p.name}: {text.percent(p.share_of_limit)} % of the limit" for p in found.roofline],
            hovertemplate="%{text}<extra></extra>",
            mode="markers",
            name="kernels",
            marker={"size": 9, "color": "#b3261e"},
        )  # fmt: skip
        return self.show(
            [roof, kernels],
            340,
            xaxis={"type": "log", "title": "floating-point operations per byte"},
            yaxis={"type": "log", "title": "GFLOP/s"},
        )


def _cards(found: Report) -> str:
    cells = [
        (f"{text.ms(found.duration_ns)} ms", "recorded"),
        (str(found.steps), "steps"),
        (f"{text.percent(found.busy_ns / found.duration_ns)} %", "device at work"),
        (f"{text.ms(sum(w.total_ns for w in found.waits))} ms", "the host waited"),
        (f"{text.ms(sum(c.total_ns for c in found.copies))} ms", "copies to and from the host"),
    ]
    inner = "".join(f'<div class="card"><b>{a}</b><span>{b}</span></div>' for a, b in cells)
    return f'<div class="cards">{inner}</div>'


def _sections(found: Report, charts: _Charts) -> list[str]:
    parts = [
        "<h2>Recommendations</h2>",
        _advice(found),
        "<h2>Time by kernel</h2>",
        charts.operators(found),
        _table(text.OPERATOR_HEAD, text.operator_rows(found), range(3, 6)),
        "<h2>Longest times without work on the device</h2>",
        _table(
            ("at ms", "ms", "before", "after", "what the host did"),
            [
                (text.ms(gap.begin_ns), text.ms(gap.duration_ns), gap.before, gap.after,
                 "; ".join(f"{location} {text.percent(share)} %" for location, share in gap.host) or "not sampled")
                for gap in found.gaps
            ],
            range(2),
        ),
    ]  # fmt: skip
    waits = [(row.location, str(row.count), text.ms(row.total_ns)) for row in found.waits]
    copies = [
        (row.location, row.name, str(row.count), f"{row.bytes / _MB:.2f}", text.ms(row.total_ns))
        for row in found.copies
    ]
    fusion = [
        (" ".join(row.works), str(row.runs), text.ms(row.total_ns), row.ended)
        for row in found.fusion
    ]
    owners = [(row.name, str(row.blocks), f"{row.bytes / _MB:.2f}") for row in found.owners]
    if waits:
        parts += ["<h2>Waits of the host</h2>", _table(("line", "waits", "ms"), waits, range(1, 3))]
    if copies:
        head = ("line", "kind", "copies", "MiB", "ms")
        parts += ["<h2>Copies between host and device</h2>", _table(head, copies, range(2, 5))]
    if fusion:
        head4 = ("works", "runs", "ms", "why it ended")
        parts += ["<h2>Fusion groups</h2>", _table(head4, fusion, range(1, 3))]
    if found.limits is not None and found.roofline:
        parts += [
            "<h2>Roofline</h2>",
            f"<p>Limits measured on this machine: {found.limits.gflops:.0f} GFLOP/s, {found.limits.gbytes:.1f} GB/s. "
            "Kernels whose data are in the caches exceed the limit of memory.</p>",
            charts.roofline(found),
        ]
    if found.memory:
        parts += ["<h2>Memory</h2>", charts.memory(found)]
        parts += [_table(("operator, at the peak", "blocks", "MiB"), owners, range(1, 3))]
    return parts


def page(found: Report, before: Report | None = None) -> str:
    """The page.

    Args:
        found: the report.
        before: another one, with which a table compares it.

    Raises:
        MissingTools: Plotly is not installed.
    """
    parts = [
        "<h1>Where the time goes</h1>",
        f'<div class="path">{html.escape(found.folder)}</div>',
        _cards(found),
        *_sections(found, _Charts()),
    ]
    if before is not None:
        rows = text.comparison_rows(before, found)
        parts += [f"<h2>Against {html.escape(before.folder)}</h2>"]
        parts += [_table(text.COMPARISON_HEAD, rows, range(1, 4))]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>torch-npu report</title>'
        f"<style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>"
    )


def workbook(found: Report, path: Path) -> None:
    """Writes recommendations, kernels, waits and copies as sheets of an .xlsx file.

    Raises:
        MissingTools: XlsxWriter is not installed.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise MissingTools(MISSING) from None
    sheets: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {
        "recommendations": (
            ("fault", "line", "gain ms", "share", "change", "evidence"),
            [
                (r.fault, r.location, r.gain_ns / 1e6, r.share, r.change, "; ".join(r.evidence))
                for r in found.recommendations
            ],
        ),
        "kernels": (
            ("kernel", "operator", "core", "runs", "ms", "share", "line"),
            [
                (r.name, r.operator, r.core, r.runs, r.total_ns / 1e6, r.share, r.location)
                for r in found.operators
            ],
        ),
        "waits": (
            ("line", "waits", "ms"),
            [(r.location, r.count, r.total_ns / 1e6) for r in found.waits],
        ),
        "copies": (
            ("line", "kind", "copies", "bytes", "ms"),
            [(r.location, r.name, r.count, r.bytes, r.total_ns / 1e6) for r in found.copies],
        ),
    }
    with xlsxwriter.Workbook(str(path)) as book:
        bold = book.add_format({"bold": True})
        for name, (head, rows) in sheets.items():
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, head, bold)
            for number, cells in enumerate(rows, 1):
                sheet.write_row(number, 0, cells)
            sheet.freeze_panes(1, 0)
            sheet.autofit()
