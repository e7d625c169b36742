"""Ascend Extension for PyTorch on a software NPU: the device ``npu`` on any machine.

``import torch`` loads this package by itself (entry point group ``torch.backends``). A program changes
``device="cuda"`` to ``"npu"`` and keeps the rest.
"""

import sys as _sys

# True while `import torch` runs us: what goes wrong here must not break a program that only wants torch.
_autoloading = "torch" in _sys.modules and getattr(
    _sys.modules["torch"].__spec__, "_initializing", False
)
_load_error: Exception | None = None


def _autoload() -> None:
    """What ``import torch`` calls after it imported this package. Never raises."""
    if _load_error is not None:
        # The next, explicit `import torch_npu` starts over and says why.
        _sys.modules.pop(__name__, None)


import torch  # noqa: E402, F401

from torch_npu import _load  # noqa: E402
from torch_npu.version import __version__  # noqa: E402

try:
    _load.load()
except Exception as error:
    _load_error = error
    if not _autoloading:
        raise

from torch_npu import npu, ops, utils  # noqa: E402
from torch_npu._formats import (  # noqa: E402
    Format,
    empty_with_format,
    get_npu_format,
    get_storage_size,
    npu_format_cast,
    npu_format_cast_,
    unsafe_empty_with_format,
)
from torch_npu._operators import npu_fusion_attention  # noqa: E402
from torch_npu.npu._missing import missing_attribute  # noqa: E402

npu._register(_load_error)

__all__ = [
    "Format",
    "__version__",
    "empty_with_format",
    "get_npu_format",
    "get_storage_size",
    "npu",
    "npu_format_cast",
    "npu_format_cast_",
    "npu_fusion_attention",
    "ops",
    "unsafe_empty_with_format",
    "utils",
]


def __getattr__(name: str) -> object:
    raise missing_attribute(_sys.modules[__name__], name)


# The operators of namespace npu, which codegen writes beside the native libraries.
if _load_error is None:
    from torch_npu.custom_ops import *  # noqa: F403
    from torch_npu.exposed_api import public_npu_functions as _public_npu_functions

    __all__ += _public_npu_functions
