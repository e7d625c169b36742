"""Overflow: infinities and NaN (the default), or saturation with an overflow flag.

The software NPU computes infinities and NaN as IEEE 754 has them. ``INF_NAN_MODE_FORCE_DISABLE=1`` asks for the
saturation mode of earlier SoCs: in it each operator's floating-point results are checked, an infinity becomes the
dtype's largest number, NaN becomes 0, and either sets the overflow flag. ``FORCE_OVERFLOW_CHECK=1`` only sets the
flag. Both wait for every operator, and watch the thread that imported torch_npu and the backward passes that it starts.
"""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torch_npu._core import devices, environment, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn

# Operators that store numbers which the program wrote, or move elements: no results of computations.
_NAMES = """
_local_scalar_dense _unsafe_view arange as_strided_ cat clone constant_pad_nd detach empty
empty_like empty_strided fill fill_ full full_like gather index index_copy index_copy_
index_fill index_fill_ index_put index_put_ index_select lift_fresh masked_fill masked_fill_
masked_scatter masked_scatter_ masked_select nan_to_num nan_to_num_ new_empty new_full new_ones
new_zeros normal_ ones resize_ roll scalar_tensor scatter scatter_ set_ stack uniform_ where
zero_ zeros
"""
_MOVES = frozenset(_NAMES.split())
# Copies: they compute if they change the dtype.
_COPIES = frozenset(["_to_copy", "copy_"])


def _is_to_saturate() -> bool:
    return environment.flag("INF_NAN_MODE_FORCE_DISABLE")


class _Watch(TorchDispatchMode):
    """Checks the results of operators; guards nothing, since only the thread that runs an operator sees its results."""

    def __init__(self, saturates: bool) -> None:
        super().__init__()
        self.saturates = saturates
        self.flag = False

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func._schema.name.rsplit("::", 1)[-1]
        if name not in _MOVES and not func.is_view and not self._is_plain_copy(name, args, result):
            for tensor in tree_leaves(result):
                self._check(tensor)
            for tensor in tree_leaves(kwargs.get("out", ())):
                self._check(tensor)
            if func._schema.is_mutable:
                for argument, value in zip(func._schema.arguments, args, strict=False):
                    if argument.is_write:
                        for tensor in tree_leaves(value):
                            self._check(tensor)
        return result

    @staticmethod
    def _is_plain_copy(name: str, args: tuple, result: object) -> bool:
        if name not in _COPIES:
            return False
        source = args[1] if name == "copy_" else args[0]
        return not isinstance(source, torch.Tensor) or source.dtype == result.dtype  # type: ignore[attr-defined]

    def _check(self, tensor: object) -> None:
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.device.type != "npu":  # type: ignore[attr-defined]
            return
        if not tensor.is_floating_point() or tensor.layout is not torch.strided:  # type: ignore[attr-defined]
            return
        if bool(torch.isfinite(tensor).all()):  # type: ignore[arg-type]
            return
        self.flag = True
        if self.saturates:
            torch.nan_to_num_(tensor)  # type: ignore[arg-type]


_watch: _Watch | None = None


def init_from_environment() -> None:
    """Starts to watch overflows if a variable asks for it. Called once, when torch_npu is loaded."""
    global _watch
    if _is_to_saturate():
        _watch = _Watch(saturates=True)
    elif is_force_overflow_check():
        _watch = _Watch(saturates=False)
    else:
        return
    _watch.__enter__()


def is_saturating() -> bool:
    """Whether results saturate, and the overflow flag tells it, instead of becoming infinite."""
    return _watch is not None and _watch.saturates


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
    """Whether an operator has overflowed since :func:`clear_npu_overflow_flag`.

    Raises:
        RuntimeError: operators give infinities and there is no flag: use :func:`npu_check_overflow`.
    """
    if _watch is None:
        raise RuntimeError(
            "Unsupported api when soc_version >= Ascend910B1, please use npu_check_overflow"
            + pta_error(ErrCode.NOT_SUPPORT)
        )
    state.native().synchronize(devices.device_index(None))
    return _watch.flag


def clear_npu_overflow_flag() -> None:
    """Clears the overflow flag; warns if there is none."""
    if _watch is None:
        warn(
            "When soc_version >= Ascend910B1, clear_npu_overflow_flag is useless. Please remove it.",
            stacklevel=2,
        )
        return
    _watch.flag = False


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
