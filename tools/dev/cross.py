"""`./dev cross aarch64`: builds softnpu and its C++ tests for aarch64, and runs the tests by qemu where it is installed."""

import argparse
import os
import shutil
from pathlib import Path

from dev.build import ccache, program
from dev.command_line import Parser
from dev.paths import PYTHON, ROOT
from dev.run import DevError, run, say

FOLDER = ROOT / "build-aarch64"
SYSROOT = FOLDER / "root"
TOOLCHAIN = ROOT / "tools" / "cross" / "aarch64.cmake"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64-static"
# Debian's arm64 packages of what softnpu links with, and of what a program needs to start.
PACKAGES = (
    "libc6",
    "libgcc-s1",
    "libgomp1",
    "libgtest-dev",
    "libhwy-dev",
    "libhwy1",
    "libjpeg62-turbo",
    "libjpeg62-turbo-dev",
    "libpng-dev",
    "libpng16-16",
    "libstdc++6",
    "zlib1g",
    "zlib1g-dev",
)
# What a program of the tests is run with: a small device, since 32 times its memory is reserved, and no cases that
# start other programs, which qemu does not run without binfmt_misc.
ENVIRONMENT = {"SOFTNPU_HBM": "256M"}
STARTS_PROGRAMS = (
    "ExitTest.*",
    "HeapTest.*",
    "*RedZone*",
)


def arguments(parser: Parser) -> None:
    """The arguments of `./dev cross`."""
    parser.add_argument("machine", choices=["aarch64"])
    parser.add_argument(
        "--test", action="store_true", help=f"runs softnpu_tests by {EMULATOR} after the build"
    )


def _check() -> None:
    missing = [name for name in (COMPILER, "apt-get", "dpkg-deb") if not shutil.which(name)]
    if missing:
        raise DevError(
            f"this needs {', '.join(missing)}: on Debian, "
            "sudo apt-get install g++-aarch64-linux-gnu qemu-user-static"
        )


def unpack_root(root: Path = SYSROOT) -> None:
    """Unpacks Debian's arm64 packages into ``root``, with lists of packages of its own: the system's apt is unchanged.

    Raises:
        DevError: apt-get does not reach its mirrors.
    """
    done = root / "packages.txt"
    if done.exists() and done.read_text().split() == list(PACKAGES):
        return
    state = root.with_name("apt")
    archives = state / "archives"
    for folder in (state / "lists" / "partial", archives):
        folder.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = [
        "-oAPT::Architecture=arm64",
        "-oAPT::Architectures=arm64",
        f"-oDir::State={state}",
        f"-oDir::State::lists={state / 'lists'}",
        f"-oDir::State::status={state / 'status'}",
        f"-oDir::Cache={state}",
    ]
    say("packages for arm64")
    hint = "apt-get could not reach its mirrors: check the network"
    run(["apt-get", *options, "update", "-qq"], hint=hint)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    run(["apt-get", *options, "download", "-qq", *PACKAGES], cwd=archives, hint=hint)
    for package in sorted(archives.glob("*.deb")):
        run(["dpkg-deb", "-x", package, root], quiet=True)
    shutil.rmtree(archives)
    done.write_text("\n".join(PACKAGES))


def cross(options: argparse.Namespace) -> None:
    """Builds softnpu for ``options.machine``; with ``options.test`` runs softnpu_tests by qemu.

    Raises:
        DevError: the cross compiler is missing, or the build or a test fails.
    """
    _check()
    unpack_root()
    run(
        [
            program("cmake"),
            *("-S", ROOT, "-B", FOLDER, "-G", "Ninja", "-DTORCH_NPU_PLUGIN=OFF"),
            *(f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", f"-DSOFTNPU_CROSS_ROOT={SYSROOT}"),
            f"-DPython3_EXECUTABLE={PYTHON}",
        ]
    )
    run([program("ninja"), "-C", FOLDER], env=ccache())
    if not options.test:
        return
    if not shutil.which(EMULATOR):
        raise DevError(f"{EMULATOR} is missing: on Debian, sudo apt-get install qemu-user-static")
    tests = FOLDER / "softnpu" / "tests" / "softnpu_tests"
    left_out = ":".join(STARTS_PROGRAMS)
    say(f"left out, since they start other programs: {' '.join(STARTS_PROGRAMS)}")
    run(
        [EMULATOR, "-L", SYSROOT, tests, f"--gtest_filter=-{left_out}"],
        env={**os.environ, **ENVIRONMENT},
    )
