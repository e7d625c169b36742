"""Overflow: infinities and NaN (the default), or saturation with an overflow flag.

The software NPU computes infinities and NaN as IEEE 754 has them. ``INF_NAN_MODE_FORCE_DISABLE=1`` asks for the
saturation mode of earlier SoCs: in it each operator's floating-point results are checked, an infinity becomes the
dtype's largest number, NaN becomes 0, and either sets the device's overflow flag. ``FORCE_OVERFLOW_CHECK=1`` only sets the
flag. The runtime does both, for the operators of all threads (``aclrtSetDeviceSatMode``,
``aclrtSetStreamOverflowSwitch``); operators that move elements keep infinities.
"""

import math

import torch

from torch_npu._core import devices, environment, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn

# OverflowCheck of torch_npu/csrc/core/overflow.h.
_NONE, _FLAG, _SATURATE = range(3)
_check = _NONE


def _is_to_saturate() -> bool:
    return environment.flag("INF_NAN_MODE_FORCE_DISABLE")


def init_from_environment() -> None:
    """Has devices watch for overflow if a variable asks for it. Called once, when torch_npu is loaded."""
    global _check
    if _is_to_saturate():
        _check = _SATURATE
    elif is_force_overflow_check():
        _check = _FLAG
    if _check != _NONE:
        state.native().set_overflow_check(_check)


def is_saturating() -> bool:
    """Whether results saturate, and the overflow flag tells it, instead of becoming infinite."""
    return _check == _SATURATE


def is_support_inf_nan() -> bool:
    """Whether operators give infinities and NaN: True, except in saturation mode.

    Raises:
        RuntimeError: ``INF_NAN_MODE_ENABLE=0`` without ``INF_NAN_MODE_FORCE_DISABLE=1``, as on Ascend910B.
    """
    try:
        is_enabled = environment.flag("INF_NAN_MODE_ENABLE")
    except environment.VariableError as error:
        text = "INF_NAN_MODE_ENABLE should be 0 or 1." + pta_error(ErrCode.VALUE)
        raise RuntimeError(text) from error
    if not is_enabled and not _is_to_saturate():
        raise RuntimeError(
            "INF_NAN_MODE_ENABLE shouldn't be set to 0 on the current device. If you want to disable inf-nan mode, "
            "please export INF_NAN_MODE_FORCE_DISABLE=1"
        )
    return not is_saturating()


def is_force_overflow_check() -> bool:
    """Whether ``FORCE_OVERFLOW_CHECK=1`` asks for an overflow flag although results may be infinite."""
    return environment.flag("FORCE_OVERFLOW_CHECK")


def get_npu_overflow_flag() -> bool:
    """Whether an operator on the current device has overflowed since :func:`clear_npu_overflow_flag`. Waits for it.

    Raises:
        RuntimeError: operators give infinities and there is no flag: use :func:`npu_check_overflow`.
    """
    if _check == _NONE:
        raise RuntimeError(
            "Unsupported api when soc_version >= Ascend910B1, please use npu_check_overflow"
            + pta_error(ErrCode.NOT_SUPPORT)
        )
    return bool(state.native().overflow_flag(devices.device_index(None)))


def clear_npu_overflow_flag() -> None:
    """Clears the overflow flag; warns if there is none."""
    if _check == _NONE:
        warn(
            "When soc_version >= Ascend910B1, clear_npu_overflow_flag is useless. Please remove it.",
            stacklevel=2,
        )
        return
    state.native().clear_overflow_flag(devices.device_index(None))


def npu_check_overflow(grad: torch.Tensor | float) -> bool:
    """Whether a gradient has overflowed: it has an infinity or NaN; in saturation mode, whether the flag is set.

    Args:
        grad: a tensor of any shape and floating dtype, or a float. Saturation mode does not read it, and clears the
            flag.

    Raises:
        RuntimeError: ``grad`` is neither.
    """
    if is_saturating():
        overflowed = get_npu_overflow_flag()
        clear_npu_overflow_flag()
        return overflowed
    if isinstance(grad, float):
        return not math.isfinite(grad)
    if isinstance(grad, torch.Tensor):
        return not bool(torch.isfinite(grad).all())
    raise RuntimeError(
        f"Unsupported type: npu_check_overflow takes a tensor or a float, but got {type(grad).__name__}"
        + pta_error(ErrCode.TYPE)
    )
