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


# `python -m torch_npu.softnpu` serves programs that do without torch: Python imports this package first, and it stays
# empty.
if _sys.argv[:1] != ["-m"] or "torch_npu.softnpu" not in _sys.orig_argv:
    import torch  # noqa: F401

    from torch_npu import _load
    from torch_npu.version import __version__

    try:
        _load.load()
    except Exception as error:
        _load_error = error
        if not _autoloading:
            raise

    from torch_npu import npu, utils
    from torch_npu._operators import npu_fusion_attention

    npu._register(_load_error)

    __all__ = ["__version__", "npu", "npu_fusion_attention", "utils"]
