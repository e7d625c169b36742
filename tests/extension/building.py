"""Extensions of tests and examples, built as quickly as they can be: headers by operator, no optimization."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

flags = ["-DAT_PER_OPERATOR_HEADERS", "-Wall", "-Werror"]
setup(
    name={name!r},
    ext_modules=[NpuExtension({name!r}, [{source!r}], extra_compile_args=flags)],
    cmdclass={{"build_ext": BuildExtension.with_options(use_ninja=False, no_python_abi_suffix=True)}},
)
"""


def run_setup(folder: Path) -> None:
    """``python setup.py build_ext --inplace`` in ``folder``."""
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "CFLAGS": "-O0 -g0"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def build(source: str, folder: Path) -> Path:
    """Builds the extension of one file of this folder in ``folder``, by a ``setup.py``; the library."""
    shutil.copy(HERE / source, folder)
    name = Path(source).stem
    (folder / "setup.py").write_text(_SETUP.format(name=name, source=source))
    run_setup(folder)
    return folder / f"{name}.so"
