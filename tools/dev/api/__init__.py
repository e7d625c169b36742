"""`./dev api`: how much of the official Python API there is, which names no test proves, which tests prove nothing."""

import argparse
import json
import os
import subprocess
from pathlib import Path

from dev.api import official
from dev.api.table import OTHER_NAMES
from dev.command_line import Parser
from dev.files import commit_count
from dev.paths import BUILD, PYTHON, ROOT
from dev.run import DevError, run

TESTS = "tests/api"


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev api`."""
    parser.add_argument("--tests", action="store_true", help="the names that no test proves")
    parser.add_argument(
        "--schemas", action="store_true", help="the operators of the namespaces npu and atb"
    )
    parser.add_argument(
        "--break",
        dest="sample",
        type=int,
        metavar="N",
        help="replaces the bodies of N names by `return None`, one at a time: their tests must fail",
    )
    parser.add_argument(
        "--seed", type=int, help="which N names; the number of commits if not given"
    )
    parser.add_argument("--name", action="append", default=[], help="breaks this name")
    parser.add_argument(
        "--official",
        type=Path,
        metavar="FOLDER",
        help="counts the names of the package torch_npu in the folder (an unpacked wheel), in place of those of 2.13.0",
    )
    parser.add_argument(
        "--at-least", type=float, default=0, metavar="PERCENT", help="fails if there is less"
    )


def _pytest(*options: str) -> None:
    run(
        [PYTHON, "-m", "pytest", "-q", "--no-header", TESTS, *options],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )


def _inspected(module: str) -> dict[str, str]:
    """What ``module`` of this package prints about the built torch_npu."""
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-m", module],
        cwd=BUILD,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DevError(f"the package cannot be inspected:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def missing() -> dict[str, str]:
    """Each official name that does not count, with what is wrong, as the built package says."""
    return _inspected("dev.api.coverage")


def untested(gone: dict[str, str]) -> list[str]:
    """The names that are there and that no test proves."""
    from dev.api.coverage import status
    from dev.api.table import names

    index = BUILD / "api_tests.json"
    _pytest("--api-index", str(index))
    tested = json.loads(index.read_text())
    return [
        official.name
        for official in names()
        if official.name not in (*gone, *tested) and not status(official.name)
    ]


def break_sample(count: int, seed: int | None = None, chosen: list[str] | None = None) -> None:
    """Breaks ``count`` names that ``seed`` selects, and those of ``chosen``; raises DevError if tests still pass."""
    number = commit_count() if seed is None else seed
    options = [word for name in chosen or [] for word in ("--api-break", name)]
    _pytest(*options, *(["--api-sample", f"{count}@{number}"] if count else []))


def take_names_of(folder: Path) -> None:
    """Counts the names of the package ``torch_npu`` in ``folder`` from here on, in the programs that this one starts, too."""
    if not (folder / "torch_npu" / "__init__.py").is_file():
        raise DevError(f"{folder} has no package torch_npu: unpack an official wheel there")
    names = BUILD / "api_names.tsv"
    names.write_text(official.table(folder / "torch_npu", str(folder)))
    os.environ[OTHER_NAMES] = str(names)


def api(options: argparse.Namespace) -> None:
    """Runs what the options say.

    Raises DevError if a broken name is not noticed, if there is less than ``--at-least``, or no package in ``--official``.
    """
    if options.official:
        take_names_of(options.official)
    from dev.api import schemas
    from dev.api.coverage import percent, report

    if options.schemas:
        print(schemas.report(_inspected("dev.api.schemas")))
        return

    if options.sample is not None or options.name:
        break_sample(options.sample or 0, options.seed, options.name)
        return
    gone = missing()
    if options.tests:
        names = untested(gone)
        print("\n".join((*names, f"{len(names)} names without a test")))
        return
    print(report(gone))
    if (share := percent(gone)) < options.at_least:
        raise DevError(f"{share:.1f} % of the names are there, not {options.at_least:g} %")
