"""``torch-npu report RUN``: where the time of a recording went, and what to change."""

import argparse
import json
import sys
from pathlib import Path

from torch_npu.profiler.device import ProfilerError
from torch_npu.profiler.reporting import page
from torch_npu.profiler.reporting.content import report
from torch_npu.profiler.reporting.limits import measure
from torch_npu.profiler.reporting.run import ReportError
from torch_npu.profiler.reporting.text import comparison, text


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument(
        "run",
        type=Path,
        help="a folder that torch_npu.profiler or msprof wrote, or one that holds some: the newest",
    )
    parser.add_argument("--before", type=Path, help="an earlier recording, to be compared with it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write one page")
    parser.add_argument("--xlsx", type=Path, metavar="FILE", help="also write the tables")
    parser.add_argument(
        "--no-limits", action="store_true", help="do not measure this machine for the roofline"
    )
    return parser


def main(arguments: list[str], program: str = "torch-npu report") -> int:
    """Prints a report, and writes the files that are asked for; 2 if there is no recording or a file cannot be written.

    Args:
        arguments: of the command.
        program: its name, for help and errors.
    """
    options = _parser(program).parse_args(arguments)
    try:
        limits = None if options.no_limits else measure()
        found = report(options.run, limits)
        before = report(options.before, limits) if options.before else None
        print(text(found) if before is None else comparison(before, found) + "\n\n" + text(found))
        if options.json:
            options.json.write_text(json.dumps(found.as_dict(), indent=1))
        if options.html:
            options.html.write_text(page.page(found, before))
        if options.xlsx:
            page.workbook(found, options.xlsx)
    except (ReportError, ProfilerError, page.MissingTools, OSError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    return 0
