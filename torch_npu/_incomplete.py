"""Where Python files of torch_npu do not import: the sentence that says why, and a ``torch.npu`` that says it.

It needs torch alone, so that it works with whatever else is missing.
"""

import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

_AGAIN = "run 'pip install --force-reinstall --no-deps' with the wheel or the sources that it is of"


def _damaged() -> list[str]:
    """The installed files that are missing or shorter than pip's list of them says."""
    found = []
    for distribution in metadata.distributions(name="torch-npu"):
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            if path.suffix == ".pyc":  # Python writes them again
                continue
            if not path.exists():
                found.append(f"{path} is missing")
            elif path.stat().st_size < (file.size or 0):
                found.append(f"{path} is cut off")
    return found


def _is_load_error(error: Exception) -> bool:
    # By name: torch_npu._load, which has the class, may be what is missing.
    return type(error).__name__ == "LoadError"


def _wrong_choice() -> Exception | None:
    """Why these files are the wrong ones: another torch, or two versions in one folder."""
    try:
        from torch_npu import _load

        _load.check_single_installation()
        _load.check_torch()
    except Exception as error:
        return error if _is_load_error(error) else None
    return None


def explained(error: Exception) -> Exception:
    """The reason of ``error``, which an import of the package's files raised; ``error`` itself if the files are all there."""
    if (wrong := _wrong_choice()) is not None:
        return wrong
    damaged = [] if _is_load_error(error) else _damaged()
    if not damaged:
        return error
    others = f" (and {len(damaged) - 1} more files)" if damaged[1:] else ""
    return ImportError(
        f"{damaged[0]}{others}, torch_npu is not installed completely: {_AGAIN} ({type(error).__name__}: {error})"
    )


def register(reason: str) -> None:
    """Makes ``npu`` a device that is not available, with the few functions that programs ask before they use it."""
    import torch

    if (state := sys.modules.get("torch_npu._core.state")) is not None:
        state.attach(None, reason)
    if hasattr(torch, "npu"):
        return

    def fail() -> None:
        raise RuntimeError(f"No NPU is available: {reason}")

    module = ModuleType("torch.npu", "The device npu, which is not available.")
    functions = {
        "_is_in_bad_fork": lambda: False,
        "_lazy_init": fail,
        "device_count": lambda: 0,
        "init": fail,
        "is_available": lambda: False,
        "is_initialized": lambda: False,
        "unavailable_reason": lambda: reason,
    }
    module.__dict__.update(functions)
    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", module)
