"""The checkout's requirements of the system, and one sentence that names those that are missing or too old."""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.run import DevError, output, run, say

Version = tuple[int, ...]
OS_RELEASE = Path("/etc/os-release")
# Present, in any version.
PRESENT: Version = ()
# Input of the preprocessor, which prints a line for each library that it finds. Highway moved its version to base.h.
PROBE = """
#if __has_include(<gtest/gtest.h>)
dev_probe GoogleTest
#endif
#if __has_include(<hwy/highway.h>)
#include <hwy/base.h>
#ifndef HWY_MAJOR
#include <hwy/highway.h>
#endif
dev_probe Highway HWY_MAJOR HWY_MINOR HWY_PATCH
#endif
#if __has_include(<jpeglib.h>)
dev_probe libjpeg-turbo
#endif
#if __has_include(<png.h>)
dev_probe libpng
#endif
"""


def version_in(text: str) -> Version | None:
    """The first version number in ``text``, without a Debian epoch ("4:14.2.0-1")."""
    found = re.search(r"(?:^|[^\d:.])(\d+(?:\.\d+)+)", re.sub(r"\b\d+:", " ", text))
    return tuple(map(int, found[1].split("."))) if found else None


def _program(name: str, *options: str) -> Version | None:
    if not shutil.which(name):
        return None
    return version_in(output([name, *options])) if options else PRESENT


def _compiler() -> str:
    return os.environ.get("CXX") or "g++"


def _library(name: str) -> Version | None:
    if not shutil.which(_compiler()):
        return None
    command = [_compiler(), "-std=c++17", "-E", "-P", "-x", "c++", "-"]
    printed = subprocess.run(command, input=PROBE, capture_output=True, text=True, check=False)
    found = re.search(rf"^dev_probe {name}((?: \d+)*)\s*$", printed.stdout, re.MULTILINE)
    return tuple(map(int, found[1].split())) if found else None


def _python_headers() -> Version | None:
    return PRESENT if (Path(sysconfig.get_path("include")) / "Python.h").exists() else None


def _ensurepip() -> Version | None:
    return PRESENT if importlib.util.find_spec("ensurepip") else None


def _debian_package(name: str) -> Version | None:
    """The version of a package without a program; PRESENT on non-Debian systems, because only linting needs it."""
    if not shutil.which("dpkg-query"):
        return PRESENT
    status = output(["dpkg-query", "-W", "-f", "${db:Status-Status}", name])
    return PRESENT if status == "installed" else None


@dataclass(frozen=True)
class Need:
    """A requirement: its name, Debian's package, the oldest version, and the function that finds it.

    ``required``: no build without it. ``wheel``: what pip installs into .venv instead. ``builds_wheels``: whether a wheel
    is built with it.
    """

    name: str
    package: str
    oldest: Version
    find: Callable[[], Version | None]
    required: bool = True
    wheel: str = ""
    builds_wheels: bool = True

    def is_met(self) -> bool:
        """Whether the system has it in a sufficient version."""
        found = self.find()
        return found is not None and (not found or found >= self.oldest)

    def described(self) -> str:
        """Its name, and the oldest version if the version matters."""
        return f"{self.name} {shown(self.oldest)} or newer" if self.oldest else self.name


_PYTHON = f"python3.{sys.version_info.minor}"
NEEDS = (
    Need("g++", "g++", (12,), lambda: _program(_compiler(), "-dumpfullversion", "-dumpversion")),
    Need("Highway", "libhwy-dev", (1, 0, 3), lambda: _library("Highway")),
    Need(
        "GoogleTest", "libgtest-dev", PRESENT, lambda: _library("GoogleTest"), builds_wheels=False
    ),
    Need("libjpeg-turbo", "libjpeg62-turbo-dev", PRESENT, lambda: _library("libjpeg-turbo")),
    Need("libpng", "libpng-dev", PRESENT, lambda: _library("libpng")),
    Need("Python's headers", f"{_PYTHON}-dev", PRESENT, _python_headers),
    Need("Python's ensurepip", f"{_PYTHON}-venv", PRESENT, _ensurepip, builds_wheels=False),
    Need(
        "CMake",
        "cmake",
        (3, 25),
        lambda: _program("cmake", "--version"),
        required=False,
        wheel="cmake==3.31.10",
    ),
    Need(
        "Ninja",
        "ninja-build",
        PRESENT,
        lambda: _program("ninja"),
        required=False,
        wheel="ninja==1.13.2",
    ),
    # Without them builds take longer, and ./dev lint names what is missing.
    Need("ccache", "ccache", PRESENT, lambda: _program("ccache"), required=False),
    Need("clang-tidy", "clang-tidy", PRESENT, lambda: _program("run-clang-tidy"), required=False),
    Need(
        "OpenMP of clang",
        "libomp-dev",
        PRESENT,
        lambda: _debian_package("libomp-dev"),
        required=False,
    ),
)


def shown(version: Version) -> str:
    """A version as text."""
    return ".".join(map(str, version))


def _system() -> str:
    text = OS_RELEASE.read_text() if OS_RELEASE.exists() else ""
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.MULTILINE)
    return name[1] if name else platform.system()


def _candidate(need: Need) -> Version | None:
    """The version that apt-get would install; None if its lists do not have the package."""
    text = output(["apt-cache", "show", "--no-all-versions", need.package])
    line = re.search(r"^Version: (.*)$", text, re.MULTILINE)
    return version_in(line[1]) if line else None


def _apt_get(needs: list[Need]) -> list[str]:
    packages = [need.package for need in needs]
    return ["apt-get", "install", "-y", "--no-install-recommends", *packages]


def _check_candidates(needs: list[Need]) -> None:
    """Raises DevError if this system's packages are too old for a requirement."""
    offered = {need: _candidate(need) for need in needs if need.required and need.oldest}
    old = [
        f"{need.name} {shown(version)} ({shown(need.oldest)} or newer is needed)"
        for need, version in offered.items()
        if version is not None and version < need.oldest
    ]
    if old:
        raise DevError(
            f"{_system()} is too old: it has {', '.join(old)}. "
            "Debian 12, Ubuntu 24.04 and newer ones have what is needed."
        )


def unmet(*, required: bool) -> list[Need]:
    """The requirements that are missing or too old; with ``required`` only those that every build needs."""
    return [need for need in NEEDS if (need.required or not required) and not need.is_met()]


def check_system() -> None:
    """Raises DevError, with one sentence that says what to do, if the system lacks a requirement."""
    if missing := unmet(required=True):
        raise DevError(
            f"{_refusal(missing)}: run sudo ./dev setup, which installs them, or this and then ./dev setup:\n"
            f"  sudo {' '.join(_apt_get(missing))}"
        )


def check_build_tools() -> None:
    """Raises DevError if the system lacks what a wheel is built with: no requirements of tests and of .venv."""
    if missing := [need for need in unmet(required=True) if need.builds_wheels]:
        raise DevError(f"{_refusal(missing)}: sudo {' '.join(_apt_get(missing))}")


def _refusal(missing: list[Need]) -> str:
    """Says what is missing; raises DevError if apt-get cannot install it."""
    names = ", ".join(need.described() for need in missing)
    if not shutil.which("apt-get"):
        raise DevError(
            f"this needs {names}: install them as {_system()} does, with their development files "
            "(only where there is apt-get does ./dev setup install them)"
        )
    _check_candidates(missing)
    return f"this needs {names}"


def install_system() -> None:
    """Installs missing packages if the user is root and apt-get exists.

    Raises DevError if a requirement is missing and cannot be installed.
    """
    if os.geteuid() == 0 and shutil.which("apt-get") and (missing := unmet(required=False)):
        say(f"system packages: {' '.join(need.package for need in missing)}")
        run(
            ["apt-get", "update", "-qq"],
            hint="apt-get could not reach its mirrors: check the network",
        )
        _check_candidates(missing)
        run(_apt_get(missing), env={"DEBIAN_FRONTEND": "noninteractive"})
    check_system()


def wheels_in_place() -> list[str]:
    """Pinned wheels of the programs that are missing or too old on the system."""
    return [need.wheel for need in NEEDS if need.wheel and not need.is_met()]
