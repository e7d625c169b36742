"""`./dev setup`: system packages, the virtual environment, pinned Python packages. Steps that are done are skipped."""

import hashlib
import os
import pwd
import shlex
import shutil
import sys
from pathlib import Path

from dev.paths import PYTHON, ROOT, VENV
from dev.run import DevError, output, run, say
from dev.system import check_system, install_system, wheels_in_place
from dev.torch_wheel import install_torch

REQUIREMENTS = ROOT / "tools" / "requirements.txt"
MODELS = ROOT / "tools" / "requirements-models.txt"


def become_caller() -> None:
    """Under sudo, in a checkout of its caller: continues as the caller, who then owns .venv as well."""
    caller = int(os.environ.get("SUDO_UID", "0"))
    if os.geteuid() != 0 or caller == 0 or ROOT.stat().st_uid != caller:
        return
    user = pwd.getpwuid(caller)
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(caller)
    os.environ.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)


def make_venv() -> None:
    """Makes .venv with this interpreter; replaces an incomplete one of an interrupted run.

    Raises DevError if DEV_PYTHON names another Python than that of an existing .venv, or if that one is another
    user's.
    """
    if VENV.exists() and not os.access(VENV, os.W_OK):
        raise DevError(f".venv is {VENV.owner()}'s: sudo rm -r '{VENV}', then ./dev setup")
    found = output([PYTHON, "-m", "pip", "--version"]) if PYTHON.exists() else ""
    if found:
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        if os.environ.get("DEV_PYTHON") and f"(python {running})" not in found:
            version = found.rpartition("(python ")[2].strip(" )\n")
            raise DevError(
                f".venv is of Python {version}, DEV_PYTHON asks for {running}: "
                "remove .venv, or take another checkout"
            )
        return
    say("virtual environment .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    run([sys.executable, "-m", "venv", VENV], hint="on Debian: apt-get install python3-venv")


def _install_requirements(path: Path, *options: str) -> None:
    # A hash of what was installed last, so that the next call is fast.
    stamp = VENV / f"{path.stem}.sha256"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"Python packages of {path.relative_to(ROOT)}")
    run([PYTHON, "-m", "pip", "install", "--quiet", *options, "-r", path])
    stamp.write_text(digest)


def remove_stray_tests(venv: Path = VENV) -> None:
    """Removes the top-level package `tests` that some wheels install: it hides the folder tests of this checkout."""
    for package in venv.glob("lib/python*/site-packages/tests"):
        shutil.rmtree(package)


def _install_programs() -> None:
    """Installs CMake and Ninja into .venv if the system's are missing or too old."""
    wheels = wheels_in_place()
    if any(not (VENV / "bin" / wheel.split("==")[0]).exists() for wheel in wheels):
        say(f"{' '.join(wheels)} into .venv")
        run([PYTHON, "-m", "pip", "install", "--quiet", *wheels])


def write_ascendc() -> None:
    """The command `ascendc` of this checkout, as `pip install` gives it for a wheel."""
    script = VENV / "bin" / "ascendc"
    text = f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} {shlex.quote(str(ROOT / "torch_npu" / "ascendc"))} "$@"\n'
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
        script.chmod(0o755)


def _python_packages() -> None:
    make_venv()
    install_torch()
    _install_requirements(REQUIREMENTS)
    # Their metadata require packages that this project must not install (torchvision, a CUDA torch).
    _install_requirements(MODELS, "--no-deps")
    remove_stray_tests()
    _install_programs()
    write_ascendc()


def ensure() -> None:
    """Does what every verb needs: checks the system's packages and makes .venv if it is missing.

    Raises DevError if the system lacks something: only `./dev setup` installs system packages.
    """
    check_system()
    _python_packages()


def setup() -> None:
    """Installs everything that a build, the tests and the demo need."""
    install_system()
    become_caller()
    _python_packages()
