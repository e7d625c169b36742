"""`./dev gen`: runs codegen into the build folder; `--update-goldens` writes the files that its tests compare with."""

import argparse
import json
import sys
from pathlib import Path

from dev.build import configure, program
from dev.command_line import Parser
from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run, say

GENERATED = BUILD / "torch_npu" / "csrc" / "generated"


def table(rows: list[dict], folder: Path) -> str:
    """One line for each kind of text that codegen wrote: its name, its count, its files in ``folder``."""
    width = max(len(row["what"]) for row in rows)
    lines = [f"{row['what']:{width}}  {row['operators']:>6,}  {row['files']}" for row in rows]
    return "\n".join((f"{'what':{width}}  {'number':>6}  files in {folder}", *lines))


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev gen`."""
    parser.add_argument(
        "--update-goldens",
        action="store_true",
        help="also writes what codegen's tests compare with",
    )


def gen(options: argparse.Namespace) -> None:
    """Generates the files and prints a table of them.

    Raises DevError with the YAML's file and line if the YAML is invalid.
    """
    configure()
    if options.update_goldens:
        say("goldens")
        run([PYTHON, "-m", "codegen.goldens"])
    # CMake has the options; the stamp says that they were used.
    (GENERATED / "stamp").unlink(missing_ok=True)
    run(
        [program("ninja"), "-C", BUILD, "generated"],
        hint="the line above names the entry",
        quiet=True,
    )
    rows = json.loads((GENERATED / "summary.json").read_text())
    sys.stdout.write(table(rows, GENERATED.relative_to(ROOT)) + "\n")
