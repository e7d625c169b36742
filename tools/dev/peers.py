"""`./dev bench peers`: an environment with the runtimes that npu is held against."""

import sys
from pathlib import Path

from dev.build import site_packages
from dev.paths import PACKAGE_ROOT, PYTHON, ROOT
from dev.run import run, say

VENV = ROOT / ".venv-peers"
INTERPRETER = VENV / "bin" / "python"
PACKAGES = ["onnx==1.23.2", "onnxruntime==1.31.1", "openvino==2026.4.1"]


def make_venv() -> None:
    """An environment with the peers of its own that sees torch and the checkout's plug-in."""
    ready = VENV / "ready"  # written last, so that a broken run is done anew
    if ready.exists() and ready.read_text() == "\n".join(PACKAGES):
        return
    say(f"virtual environment {VENV.name} with {', '.join(PACKAGES)}")
    run([sys.executable, "-m", "venv", "--clear", VENV])
    link = site_packages(INTERPRETER) / "checkout.pth"
    link.write_text(f"{site_packages()}\n{PACKAGE_ROOT}\n")
    run([INTERPRETER, "-m", "pip", "install", "--quiet", *PACKAGES])
    ready.write_text("\n".join(PACKAGES))


def interpreter(arguments: list[str]) -> Path:
    """What runs these arguments of `./dev bench`: the environment with the peers where they are asked for."""
    if "peers" not in arguments:
        return PYTHON
    make_venv()
    return INTERPRETER
