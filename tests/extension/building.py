"""Extensions of tests and examples, built as quickly as they can be: headers by operator, no optimization."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
QUICK = ("-O0", "-g0", "-DAT_PER_OPERATOR_HEADERS", "-Wall", "-Werror")
_SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

flags = {flags}
setup(
    name={name!r},
    ext_modules=[NpuExtension({name!r}, [{source!r}], extra_compile_args=flags)],
    cmdclass={{"build_ext": BuildExtension.with_options(use_ninja=False, no_python_abi_suffix=True)}},
)
"""


def build(source: str, folder: Path) -> Path:
    """Builds the extension of one file of this folder in ``folder``, by its own ``setup.py``."""
    shutil.copy(HERE / source, folder)
    name = Path(source).stem
    (folder / "setup.py").write_text(_SETUP.format(name=name, source=source, flags=list(QUICK)))
    return run_setup(folder, name)


def run_setup(folder: Path, name: str, **env: str) -> Path:
    """``setup.py build_ext --inplace``; the library of the extension ``name``."""
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=600, env=env or None
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / f"{name}.so"
