"""The layers of the Python package: import-linter compares the imports with `.importlinter`."""

from pathlib import Path

from dev.paths import ROOT, VENV
from dev.run import run

CONTRACTS = ".importlinter"


def python_layers(root: Path = ROOT) -> None:
    """Checks the imports of ``torch_npu`` in ``root``.

    Raises DevError after printing the imports that no layer allows.
    """
    # Without its cache, which keeps how an import was resolved before a module was added.
    command = [VENV / "bin" / "lint-imports", "--no-logo", "--no-cache", root / CONTRACTS]
    run(command, cwd=root, quiet=True, hint=f"{CONTRACTS} has the layers from top to bottom")
