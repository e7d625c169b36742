"""Versions of the bound CANN."""

import re

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error

# The values are aclCANNPackageName's.
_PACKAGES = ("CANN", "RUNTIME", "COMPILER", "HCCL", "TOOLKIT", "OPP", "OPP_KERNEL", "DRIVER")


def get_cann_version(module: str = "CANN") -> str:
    """The version of a package of the bound CANN; empty if it is not installed.

    Args:
        module: ``"CANN"``, ``"RUNTIME"``, ``"COMPILER"``, ``"HCCL"``, ``"TOOLKIT"``, ``"OPP"``, ``"OPP_KERNEL"`` or
            ``"DRIVER"``. softnpu is one package: all have its version.

    Raises:
        ValueError: there is no such package.
    """
    if module not in _PACKAGES:
        raise ValueError(
            f"get_cann_version knows no {module!r}: it takes {', '.join(_PACKAGES)}"
            + pta_error(ErrCode.VALUE)
        )
    try:
        return str(state.native().cann_version(_PACKAGES.index(module)))
    except RuntimeError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.split("RC")[0])[:3])


def _is_gte_cann_version(version: str, module: str = "CANN") -> bool:
    """Whether :func:`get_cann_version` is at least ``version``, such as ``"8.3.RC1"``; release candidates count."""
    return _numbers(get_cann_version(module)) >= _numbers(version)
