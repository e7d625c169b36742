"""`./dev bench peers`: an environment with the runtimes that npu is held against."""

from pathlib import Path

from dev.build import site_packages
from dev.paths import PACKAGE_ROOT, PYTHON, ROOT
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-peers"
INTERPRETER = VENV / "bin" / "python"
PACKAGES = ["onnx==1.23.2", "onnxruntime==1.31.1", "openvino==2026.4.1"]


def make_venv() -> None:
    """An environment with the peers of its own that sees torch and the checkout's plug-in."""
    make_side_venv(VENV, PACKAGES, [site_packages(), PACKAGE_ROOT])


def interpreter(arguments: list[str]) -> Path:
    """What runs these arguments of `./dev bench`: the environment with the peers where they are asked for."""
    if "peers" not in arguments:
        return PYTHON
    make_venv()
    return INTERPRETER
