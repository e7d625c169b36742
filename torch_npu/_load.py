"""Finds the CANN to bind and loads the native part.

``TORCH_NPU_CANN`` chooses: ``auto`` (the CANN on the library path, else the embedded softnpu), ``softnpu``, or
``system`` (only the library path). All CANN libraries come from one folder.
"""

import ctypes
import importlib
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

from torch_npu._core import environment, shared_objects
from torch_npu.version import TORCH_VERSION, native_folder

# The library that every CANN has, and the operator library, which an installation may lack.
_RUNTIME = "libascendcl.so"
_OPERATORS = "libopapi.so"
# Collectives, which an installation may lack, too.
_COLLECTIVES = "libhccl.so"
# Dependencies of softnpu's operator library and of the plug-in, in loading order: in CANN's folder, and beside it.
# Preloaded because the linker would search LD_LIBRARY_PATH before softnpu's folder.
_SIBLINGS = ("../libsoftnpu_workers.so", "libnnopbase.so", "../libhwy.so.1", "../libdnnl.so.3")
_PLUGIN = "../libtorch_npu.so"
# Of the embedded CANN each of these is there, or the installation is incomplete.
_EMBEDDED = (
    _RUNTIME,
    _OPERATORS,
    _COLLECTIVES,
    "libnnopbase.so",
    "../libsoftnpu_workers.so",
    _PLUGIN,
)
_AGAIN = (
    "run 'pip install --force-reinstall --no-deps' with the wheel or the sources that it is of, "
    "in a checkout ./dev build"
)


class LoadError(ImportError):
    """The native part cannot be used; the text says why and what to do, in one sentence."""


def package_dir() -> Path:
    """The folder of the native libraries: in a wheel that of the sources, in a checkout the build folder.

    Raises:
        LoadError: there is none.
    """
    folder = native_folder()
    if folder is None or not (folder / "_C.so").exists():
        raise LoadError(f"the native part of torch_npu is missing: {_AGAIN}")
    return folder


def check_single_installation() -> None:
    """Checks that neither the official wheel, which has the same import name, nor a second version is installed.

    Raises:
        LoadError: an official torch-npu distribution is on the path as well, or one folder has two versions.
    """
    versions: dict[str, str] = {}
    for distribution in metadata.distributions(name="torch-npu"):
        folder = str(distribution.locate_file(""))
        if "+softnpu" not in distribution.version:
            raise LoadError(
                f"the official torch_npu {distribution.version} is installed beside this one "
                f"({folder}): run 'pip uninstall torch-npu' and install the one you want"
            )
        # Of other folders the first one on the path is imported; files of two versions in one folder are mixed.
        if (other := versions.setdefault(folder, distribution.version)) != distribution.version:
            raise LoadError(
                f"{folder} has two versions of torch_npu, {other} and {distribution.version}: run 'pip uninstall "
                "torch-npu' until it finds none, and install the one you want"
            )


def _check_packages() -> None:
    """Checks that the imported packages have their ``__init__.py``: without it Python imports the folder, which is empty."""
    for name, module in list(sys.modules.items()):
        spec = module.__spec__ if name.startswith("torch_npu.") else None
        if spec is not None and spec.submodule_search_locations and spec.origin is None:
            file = Path(next(iter(spec.submodule_search_locations))) / "__init__.py"
            raise LoadError(f"{file} is missing, torch_npu is not installed completely: {_AGAIN}")


def check_complete(package: Path) -> None:
    """Checks that the native libraries of ``package`` are there and whole, as after an installation that ended.

    Raises:
        LoadError: one is missing, or shorter than it says it is.
    """
    _check_packages()
    cann = package / "lib" / "cann"
    for name in _EMBEDDED:
        path = cann / name
        if not path.exists():
            raise LoadError(
                f"{path.name} is missing in {path.parent.resolve()}, torch_npu is not installed completely: {_AGAIN}"
            )
    for path in (*cann.glob("*.so"), *cann.parent.glob("*.so*"), package / "_C.so"):
        if not shared_objects.is_whole(path):
            raise LoadError(f"{path} is cut off, torch_npu is not installed completely: {_AGAIN}")


def check_torch() -> None:
    """Checks that torch has the version for which this package was built.

    Raises:
        LoadError: it has another version.
    """
    import torch

    if torch.__version__.split("+")[0] != TORCH_VERSION:
        raise LoadError(
            f"torch_npu is built for torch {TORCH_VERSION}, but torch {torch.__version__} is installed: "
            f"run 'pip install torch=={TORCH_VERSION}'"
        )


def _preload(folder: Path, names: tuple[str, ...]) -> None:
    """Loads libraries by their full paths; libraries that need them later find them loaded."""
    # Not global: the operator library loads a oneDNN, whose symbols must not collide with those of another one.
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
    for entry in environment.text("LD_LIBRARY_PATH").split(":"):
        if entry and (Path(entry) / _RUNTIME).exists():
            return Path(entry)
    return None


def wants_transfer() -> bool:
    """Whether ``TORCH_TRANSFER_TO_NPU=1`` asks for ``torch_npu.contrib.transfer_to_npu``."""
    return environment.flag("TORCH_TRANSFER_TO_NPU")


def load(path: list[str]) -> ModuleType:
    """Loads the CANN and then ``torch_npu._C``.

    Args:
        path: where Python looks for modules of the package; the folder of the native libraries is added.

    Raises:
        LoadError: something is missing or does not match; the text is one sentence.
    """
    check_single_installation()
    check_torch()
    try:
        environment.check()
    except environment.VariableError as error:
        raise LoadError(str(error)) from None
    choice = environment.choice("TORCH_NPU_CANN")
    system = _system_folder()
    if choice == "system" and system is None:
        raise LoadError(
            f"TORCH_NPU_CANN=system, but no folder of LD_LIBRARY_PATH holds {_RUNTIME}: "
            "source the CANN's set_env.sh first"
        )
    package = package_dir()
    if str(package) not in path:  # Python runs in the checkout's root
        path.append(str(package))
    if system is not None and choice != "softnpu":
        _preload(system, (_RUNTIME, _OPERATORS, _COLLECTIVES))
    else:
        check_complete(package)
        _preload(
            package / "lib" / "cann", (_RUNTIME, *_SIBLINGS, _OPERATORS, _COLLECTIVES, _PLUGIN)
        )
    try:
        return importlib.import_module("torch_npu._C")
    except ImportError as error:
        raise LoadError(f"the native part of torch_npu does not load: {error}") from None


def bound_library(name: str = _RUNTIME) -> str:
    """The path of the loaded library ``name``; empty if it is not loaded."""
    if sys.platform != "linux":
        return ""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f"/{name}"):
            return line.split(maxsplit=5)[5]
    return ""
