"""`./dev oracle`: runs the official torch_npu wheel, unmodified, on softnpu's libraries."""

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from dev.build import build, site_packages
from dev.paths import PACKAGE_ROOT, ROOT
from dev.run import run, say
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-oracle"
INTERPRETER = VENV / "bin" / "python"
WHEEL = "torch_npu==2.13.0"
TESTS = ROOT / "tests" / "oracle"
JIT_TESTS = TESTS / "test_jit_compile.py"
LIBRARIES = PACKAGE_ROOT / "torch_npu" / "lib"


def make_venv() -> None:
    """Makes an environment with the wheel that sees torch and pytest of .venv, but not the checkout's plug-in."""
    make_side_venv(VENV, [WHEEL], [site_packages()], "--no-deps")


# The dynamic linker's report of a failed look-up.
_MISS = re.compile(
    r"(?P<library>/.+?): error: symbol lookup error: undefined symbol: (?P<name>\w+)"
)


def missing_names(lines: Iterable[str], folder: Path) -> dict[str, list[str]]:
    """The names whose look-up failed in ``lines`` of the dynamic linker, by library of ``folder``, sorted."""
    found: dict[str, set[str]] = {}
    for match in filter(None, map(_MISS.search, lines)):
        library = Path(match["library"])
        if library.parent == folder:
            found.setdefault(library.name, set()).add(match["name"])
    return {library: sorted(found[library]) for library in sorted(found)}


def oracle(arguments: Sequence[str] = ()) -> None:
    """Builds softnpu, installs the wheel if it is missing, and runs tests/oracle with it.

    Prints the functions that the wheel looked up and softnpu does not have. ``arguments`` are passed to pytest.
    """
    build()
    make_venv()
    with tempfile.TemporaryDirectory() as reports:
        try:
            _run_tests(arguments, Path(reports))
        finally:
            _print_missing(Path(reports))


def _print_missing(reports: Path) -> None:
    lines = (line for report in reports.iterdir() for line in report.read_text().splitlines())
    for library, names in missing_names(lines, LIBRARIES / "cann").items():
        say(f"looked up in {library} and not there: {len(names)}")
        print(*(f"    {name}" for name in names), sep="\n", flush=True)


def _run_tests(arguments: Sequence[str], reports: Path) -> None:
    # -P, no configuration and a separate folder: Python must not find the checkout's torch_npu.
    pytest = [
        "-P",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--noconftest",
    ]
    # A process that computed gradients in one compile mode cannot change to the other: the wheel's threads differ.
    for tests in ([TESTS, "--ignore", JIT_TESTS], [JIT_TESTS]):
        run(
            [INTERPRETER, *pytest, "--rootdir", TESTS, *tests, *arguments],
            cwd=VENV,
            env={
                "LD_LIBRARY_PATH": os.pathsep.join(str(p) for p in (LIBRARIES / "cann", LIBRARIES)),
                "OMP_NUM_THREADS": "1",
                # The smallest category of the dynamic linker's reports that includes failed look-ups.
                "LD_DEBUG": "reloc",
                "LD_DEBUG_OUTPUT": str(reports / "report"),
            },
        )
