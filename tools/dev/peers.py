"""`./dev bench peers`: makes an environment with the runtimes that npu is compared with."""

from dev.build import site_packages
from dev.paths import PACKAGE_ROOT, ROOT
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-peers"
INTERPRETER = VENV / "bin" / "python"
PACKAGES = ["onnx==1.23.2", "onnxruntime==1.31.1", "openvino==2026.4.1"]


def make_venv() -> None:
    """Makes an environment with its own packages of the peers that sees torch and the checkout's plug-in."""
    make_side_venv(VENV, PACKAGES, [site_packages(), PACKAGE_ROOT])
