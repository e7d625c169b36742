"""``torch-npu accuracy script.py``: which operators of a script are wrong, in which module, on which line.

Each operator on npu is judged by the CPU and by double precision, with the inputs that it had. The script runs slowly.
"""

import argparse
import os
import runpy
import sys
import traceback
from pathlib import Path

from torch_npu.accuracy import OperatorCheck, write_csv, write_html, write_xlsx


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--most", type=int, default=10, help="end the checks after so many (10)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a row for each result")
    parser.add_argument("--html", type=Path, metavar="FILE", help="the same as a page")
    parser.add_argument("--xlsx", type=Path, metavar="FILE", help="the same as a workbook")
    parser.add_argument(
        "--alone", type=Path, metavar="FILE", help="a script that runs the first wrong one alone"
    )
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _run(check: OperatorCheck, script: str, arguments: list[str]) -> BaseException | None:
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    with check:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as left:
            return left if left.code else None
        except BaseException as raised:
            return raised
    return None


def main(arguments: list[str], program: str = "torch-npu accuracy") -> int:
    """Runs a script and lists its wrong operators; 1 if there are any or if it failed, 2 if a file cannot be used.

    Args:
        arguments: of the command.
        program: its name, for help and errors.
    """
    options = _parser(program).parse_args(arguments)
    if not os.path.isfile(options.script):
        print(f"{program}: there is no file {options.script}", file=sys.stderr)
        return 2
    check = OperatorCheck(most=options.most)
    error = _run(check, options.script, options.arguments)
    if error is not None:
        traceback.print_exception(error)
    found = check.report
    for divergence in found.divergences:
        print(divergence)
    wrong, skipped = len(found.divergences), sum(found.skipped.values())
    print(
        f"{wrong or 'no'} operators are wrong; {len(found.rows)} results compared, {skipped} calls have none"
    )
    try:
        for path, write in (
            (options.csv, write_csv),
            (options.html, write_html),
            (options.xlsx, write_xlsx),
        ):
            if path is not None:
                write(found.rows, path)
        if options.alone is not None and found.first is not None:
            found.first.write_script(options.alone)
    except (OSError, ImportError) as failed:
        print(f"{program}: {failed}", file=sys.stderr)
        return 2
    return int(bool(wrong) or error is not None)
