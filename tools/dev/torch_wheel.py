"""Which torch `./dev setup` installs: the CPU build, from pip's own indexes or from PyTorch's."""

import json
import os
import platform
import re
from enum import Enum

from dev.paths import PYTHON
from dev.run import DevError, output, run, say

VERSION = "2.13.0"
TORCH = f"torch=={VERSION}"
# The index that pytorch.org gives for Linux, Pip, CPU.
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# The first pip whose installation report has a stable format.
OLDEST_PIP = 23
# Name prefixes of the packages that a torch with GPU kernels requires.
GPU_PACKAGES = ("nvidia-", "cuda-", "triton", "pytorch-triton", "rocm")


class Offer(Enum):
    """The package that pip would install; the values complete a sentence."""

    CPU = "the CPU build"
    GPU = "a build for GPUs only (several GB)"
    UNKNOWN = "none that pip could reach and read"


def is_cpu_build(version: str, requirements: list[str]) -> bool:
    """Whether a torch with these metadata is a CPU build: labelled so, or without a label and GPU packages."""
    label = version.partition("+")[2]
    if label:
        return label.split(".")[0] == "cpu"
    return not any(re.sub(r"[_.]", "-", r.lower()).startswith(GPU_PACKAGES) for r in requirements)


def offer(requirement: str, *source: str) -> Offer:
    """The package that pip would install for ``requirement``; UNKNOWN if pip does not report it, never a guess."""
    command = ["install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report"]
    report = output([PYTHON, "-m", "pip", *command, "-", *source, requirement])
    try:
        (item,) = json.loads(report[report.index("{") :])["install"]
        metadata = item["metadata"]
        cpu = is_cpu_build(metadata["version"], metadata.get("requires_dist", []))
    except (AttributeError, KeyError, TypeError, ValueError):
        return Offer.UNKNOWN
    return Offer.CPU if cpu else Offer.GPU


def _pip_version() -> str:
    return output([PYTHON, "-c", "import pip; print(pip.__version__)"]).strip() or "0"


def _upgrade_old_pip() -> None:
    """Upgrades an older pip, which cannot report what it would install; if the upgrade fails, offer() is UNKNOWN."""
    if int(_pip_version().split(".")[0]) < OLDEST_PIP:
        say("pip of .venv")
        output([PYTHON, "-m", "pip", "install", "--quiet", "--upgrade", f"pip>={OLDEST_PIP}"])


def choose() -> tuple[str, list[str]]:
    """The requirement to install, and pip's options for its index.

    Raises DevError if no index has a CPU build.
    """
    index = os.environ.get("TORCH_CPU_INDEX")
    if index:
        source = ["--index-url", index]
        if (found := offer(TORCH, *source)) is Offer.CPU:
            return TORCH, source
        tried = f"TORCH_CPU_INDEX={index} offers {found.value}"
    else:
        if (found := offer(TORCH)) is Offer.CPU:
            return TORCH, []
        # With the label, so that no other index of pip's configuration replaces it by a GPU build.
        labelled, source = f"{TORCH}+cpu", ["--index-url", CPU_INDEX]
        if offer(labelled, *source) is Offer.CPU:
            return labelled, source
        tried = f"pip's own indexes offer {found.value}, {CPU_INDEX} offers {Offer.UNKNOWN.value}"
    raise DevError(
        f"no CPU build of torch {VERSION} for Python {platform.python_version()} on {platform.machine()} "
        f"(pip {_pip_version()}): {tried}. Name an index that has one, TORCH_CPU_INDEX=<index> ./dev setup, "
        f"or install a torch {VERSION} of your choice into .venv: it is used as it is."
    )


def installed() -> bool:
    """Whether .venv has this version of torch, in any build."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    return output([PYTHON, "-c", code]).strip().split("+")[0] == VERSION


def install_torch() -> None:
    """Installs the CPU build of torch if .venv has no torch of this version.

    Raises DevError if there is none, instead of installing gigabytes of GPU packages.
    """
    if installed():
        return
    _upgrade_old_pip()
    requirement, source = choose()
    say(f"{TORCH} (CPU build{' of ' + source[1] if source else ''})")
    run([PYTHON, "-m", "pip", "install", "--quiet", *source, requirement])
