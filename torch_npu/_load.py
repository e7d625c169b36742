"""Finds the CANN to bind and loads the native part.

``TORCH_NPU_CANN`` chooses: ``auto`` (the CANN on the library path, else the embedded softnpu), ``softnpu``, or
``system`` (only the library path). All CANN libraries come from one folder.
"""

import ctypes
import os
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

from torch_npu.version import TORCH_VERSION

_CHOICES = ("auto", "softnpu", "system")
# What a CANN cannot do without, and its operator library, which an installation may lack.
_RUNTIME = "libascendcl.so"
_OPERATORS = "libopapi.so"
# What softnpu's operator library and the plug-in need, each behind what it needs itself: from CANN's folder, and beside
# it. The linker looks for them on LD_LIBRARY_PATH before it looks where softnpu lies.
_SIBLINGS = ("../libsoftnpu_workers.so", "libnnopbase.so", "../libhwy.so.1", "../libdnnl.so.3")
_PLUGIN = "../libtorch_npu.so"


class LoadError(ImportError):
    """The native part cannot be used; the text is one sentence that says why and what to do."""


def _package_dir() -> Path:
    """Where the native libraries lie: beside the sources in a wheel, in the build folder in a checkout."""
    import torch_npu

    built = Path(__file__).resolve().parents[1] / "build" / "python" / "torch_npu"
    for folder in (*torch_npu.__path__, str(built)):
        if (Path(folder) / "_C.so").exists():
            if folder not in torch_npu.__path__:  # Python was started in the checkout's root
                torch_npu.__path__.append(folder)
            return Path(folder)
    raise LoadError("the native part of torch_npu is missing: in a checkout, run ./dev build")


def check_single_installation() -> None:
    """Refuses to run beside the official wheel, whose import name is the same.

    Raises:
        LoadError: an official torch-npu distribution is on the path as well.
    """
    for distribution in metadata.distributions(name="torch-npu"):
        if "+softnpu" not in distribution.version:
            raise LoadError(
                f"the official torch_npu {distribution.version} is installed beside this one "
                f"({distribution.locate_file('')}): run 'pip uninstall torch-npu' and install the one you want"
            )


def check_torch() -> None:
    """Compares torch with the version that this build serves.

    Raises:
        LoadError: it is another version.
    """
    import torch

    if torch.__version__.split("+")[0] != TORCH_VERSION:
        raise LoadError(
            f"torch_npu is built for torch {TORCH_VERSION}, but torch {torch.__version__} is installed: "
            f"run 'pip install torch=={TORCH_VERSION}'"
        )


def _preload(folder: Path, names: tuple[str, ...]) -> None:
    """Loads libraries by their full names; those that need them later find them loaded."""
    # The operator library brings a oneDNN with it, whose names must not meet those of another one: not global.
    for name in names:
        path = folder / name
        if name != _RUNTIME and not path.exists():
            continue
        try:
            ctypes.CDLL(
                str(path), mode=ctypes.RTLD_GLOBAL if name == _RUNTIME else ctypes.RTLD_LOCAL
            )
        except OSError as error:
            raise LoadError(f"{path.name} of {folder} does not load: {error}") from None


def _system_folder() -> Path | None:
    for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if entry and (Path(entry) / _RUNTIME).exists():
            return Path(entry)
    return None


def load() -> ModuleType:
    """Loads the CANN and then ``torch_npu._C``.

    Raises:
        LoadError: with one sentence, where something is missing or does not fit.
    """
    check_single_installation()
    check_torch()
    choice = os.environ.get("TORCH_NPU_CANN", "auto")
    if choice not in _CHOICES:
        raise LoadError(
            f"TORCH_NPU_CANN={choice} is not understood: it takes {', '.join(_CHOICES)}"
        )
    system = _system_folder()
    if choice == "system" and system is None:
        raise LoadError(
            f"TORCH_NPU_CANN=system, but no folder of LD_LIBRARY_PATH holds {_RUNTIME}: "
            "source the CANN's set_env.sh first"
        )
    if system is not None and choice != "softnpu":
        _preload(system, (_RUNTIME, _OPERATORS))
    else:
        embedded = _package_dir() / "lib" / "cann"
        _preload(embedded, (_RUNTIME, *_SIBLINGS, _OPERATORS, _PLUGIN))
    try:
        from torch_npu import _C
    except ImportError as error:
        raise LoadError(f"the native part of torch_npu does not load: {error}") from None
    return _C


def bound_library(name: str = _RUNTIME) -> str:
    """The path of the library ``name`` that this process has loaded; empty where there is none."""
    if sys.platform != "linux":
        return ""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f"/{name}"):
            return line.split(maxsplit=5)[5]
    return ""
