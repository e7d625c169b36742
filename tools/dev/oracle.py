"""`./dev oracle`: the official torch_npu wheel, unmodified, on softnpu's libraries."""

import os
import sys

from dev.build import build, site_packages
from dev.paths import PACKAGE_ROOT, ROOT
from dev.run import run, say

VENV = ROOT / ".venv-oracle"
INTERPRETER = VENV / "bin" / "python"
WHEEL = "torch_npu==2.13.0"
TESTS = ROOT / "tests" / "oracle"


def make_venv() -> None:
    """An environment with the wheel of its own that sees torch and pytest of .venv, and not the checkout's plug-in."""
    ready = VENV / "ready"  # written last, so that a broken run is done anew
    if ready.exists():
        return
    say(f"virtual environment {VENV.name} with {WHEEL}")
    run([sys.executable, "-m", "venv", "--clear", VENV])
    # A path in a .pth file is searched, but the .pth files in it (the checkout's) are not read.
    link = site_packages(INTERPRETER) / "torch_of_the_checkout.pth"
    link.write_text(f"{site_packages()}\n")
    run([INTERPRETER, "-m", "pip", "install", "--quiet", "--no-deps", WHEEL])
    ready.touch()


def oracle(arguments: list[str]) -> None:
    """Builds softnpu, installs the wheel where it is missing, and runs tests/oracle with it.

    ``arguments`` go to pytest.
    """
    build()
    make_venv()
    libraries = PACKAGE_ROOT / "torch_npu" / "lib"
    # -P, no configuration and a folder of its own: the checkout's torch_npu must not be found.
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
    run(
        [INTERPRETER, *pytest, "--rootdir", TESTS, TESTS, *arguments],
        cwd=VENV,
        env={
            "LD_LIBRARY_PATH": os.pathsep.join(str(p) for p in (libraries / "cann", libraries)),
            "OMP_NUM_THREADS": "1",
        },
    )
