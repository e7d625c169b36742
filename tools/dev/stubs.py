"""`./dev stubs`: the types of `torch_npu._C`, written by pybind11-stubgen from the module that was built."""

import re
import tempfile
from pathlib import Path

from dev.paths import PYTHON, ROOT
from dev.run import run, say

STUBS = "torch_npu/_C"
_HEAD = "# Written by ./dev stubs.\n"


def _corrected(text: str) -> str:
    """Without what mypy does not take of a generated file."""
    # The generator takes the name of a module's module for one of its attributes.
    text = text.replace("torch.jit.torch.jit.", "torch.jit.")
    text = re.sub(r"^__all__.*\n", "", text, flags=re.MULTILINE)  # the module has none
    return _HEAD + text.replace("*args", "*args: typing.Any").replace(
        "**kwargs", "**kwargs: typing.Any"
    )


def generated(folder: Path) -> dict[str, str]:
    """Runs the generator in ``folder``; {file name: text}."""
    # Defaults that are objects of PyTorch have no expression: a stub has dots there.
    command = [PYTHON, "-m", "pybind11_stubgen", "--ignore-invalid-expressions", "<torch.*"]
    run([*command, "torch_npu._C", "-o", folder], quiet=True, cwd=ROOT)
    files = (folder / STUBS).glob("*.pyi")
    return {file.name: _corrected(file.read_text()) for file in sorted(files)}


def stubs() -> None:
    """Writes the stubs of the module that was built."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in generated(Path(folder)).items():
            (ROOT / STUBS / name).write_text(text)
            say(f"{STUBS}/{name}")
