"""``torch.npu.set_option``: options under the official plug-in's names."""

import os
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn
from torch_npu.npu import dump, impl
from torch_npu.npu.options import CubeMathType, config, conv, matmul, set_compile_mode

_mm_bmm_is_nd = True


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Sets whether ``torch.nn.Linear`` multiplies in the format ND; True by default.

    The software NPU's products take ND and blocked formats, with the same results.
    """
    global _mm_bmm_is_nd
    _mm_bmm_is_nd = bool(is_nd)


def get_mm_bmm_format_nd() -> bool:
    """The value of :func:`set_mm_bmm_format_nd`."""
    return _mm_bmm_is_nd


def _set_switch_of_dump(on: bool) -> None:
    if on:
        dump.init_dump()
    else:
        dump.finalize_dump()


def _enable_op_hooks(on: bool) -> None:
    """Whether the functions of ``torch_npu/csrc/framework/OpHook.h``, which extensions register, are called."""
    state.native().enable_op_hooks(on)


# Setters of options with two values.
_CUBE_MATH_TYPE = "CUBE_MATH_TYPE"  # the numeric option
_DUMP_CONFIG = "mdldumpconfigpath"  # a path
_SWITCHES: dict[str, Callable[[bool], None]] = {
    "ALLOW_CONV_HF32": partial(setattr, conv, "allow_hf32"),
    "ALLOW_MATMUL_HF32": partial(setattr, matmul, "allow_hf32"),
    "ALLOW_INTERNAL_FORMAT": partial(setattr, config, "allow_internal_format"),
    "MM_BMM_ND_ENABLE": set_mm_bmm_format_nd,
    "OP_HOOK_ENABLE": _enable_op_hooks,
    "jitCompile": set_compile_mode,
    "mdldumpswitch": _set_switch_of_dump,
}
_COMPATIBLE = "TORCH_NPU_USE_COMPATIBLE_IMPL"  # "0" or "1"
# Options of the compiler, of tuning and of the debugger, which change no result: their values, or None for any.
_WITHOUT_EFFECT: dict[str, Iterable[str] | None] = {
    "ACL_PRECISION_MODE": ("allow_fp32_to_fp16", "must_keep_origin_dtype"),
    "ACL_OP_SELECT_IMPL_MODE": ("high_performance", "high_precision"),
    "ACL_AICORE_NUM": tuple(str(number) for number in range(1, 33)),
    "ACL_OPTYPELIST_FOR_IMPLMODE": None,
    "ACL_OP_DEBUG_LEVEL": ("0", "1", "2", "3", "4"),
    "ACL_DEBUG_DIR": None,
    "ACL_OP_COMPILER_CACHE_MODE": ("disable", "enable", "force"),
    "ACL_OP_COMPILER_CACHE_DIR": None,
    "ACL_OP_DEBUG_OPTION": None,
    "STRONG_CONSISTENCY": None,
    "FORCE_ACLNN_OP_LIST": None,
    "NPU_FUZZY_COMPILE_BLACKLIST": None,
    "autotune": None,
    "autotunegraphdumppath": None,
}
_KNOWN = (_CUBE_MATH_TYPE, _DUMP_CONFIG, _COMPATIBLE, *_SWITCHES, *_WITHOUT_EFFECT)


def _refused(name: str, values: Iterable[str], value: object) -> ValueError:
    return ValueError(
        f"value of {name} should be in {list(values)} but got {value}" + pta_error(ErrCode.PARAM)
    )


def _set_one(name: str, value: object) -> None:
    if name == _CUBE_MATH_TYPE:
        matmul.cube_math_type = CubeMathType(int(str(value)))
    elif name == _DUMP_CONFIG:
        dump.set_dump(str(value))
    elif name == _COMPATIBLE:
        if str(value) not in ("0", "1"):
            raise _refused(name, ("0", "1"), value)
        impl.use_compatible_impl(str(value) == "1")
    elif name in _SWITCHES:
        if value not in ("enable", "disable"):
            raise ValueError(
                f"set_option: {name} is 'enable' or 'disable', not {value!r}"
                + pta_error(ErrCode.VALUE)
            )
        _SWITCHES[name](value == "enable")
    elif name in _WITHOUT_EFFECT:
        values = _WITHOUT_EFFECT[name]
        if values is not None and str(value) not in values:
            raise _refused(name, values, value)
        warn(f"set_option: {name} has no effect here", stacklevel=3)
    else:
        near = get_close_matches(str(name), _KNOWN, 1)
        raise ValueError(
            f"set_option knows no {name!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
            + pta_error(ErrCode.VALUE)
        )


def set_option(option: dict[str, object]) -> None:
    """Sets options by their names. Defined by torch_npu's ``npu_config.set_option``.

    Args:
        option: ``ALLOW_CONV_HF32``, ``ALLOW_MATMUL_HF32``, ``ALLOW_INTERNAL_FORMAT``, ``MM_BMM_ND_ENABLE``, ``OP_HOOK_ENABLE``,
            ``jitCompile`` and ``mdldumpswitch`` with ``"enable"`` or ``"disable"``; ``CUBE_MATH_TYPE`` with a number of
            :class:`CubeMathType`; ``TORCH_NPU_USE_COMPATIBLE_IMPL`` with 0 or 1; ``mdldumpconfigpath`` with the file of
            :func:`set_dump`. The official plug-in's options of its compiler, tuner and debugger warn that they have no
            effect here.

    Raises:
        TypeError: ``option`` is not a dict.
        ValueError: an unknown option or an invalid value; options before it have been set.
    """
    if not isinstance(option, dict):
        raise TypeError(
            f"npu option must be a dict, but got {type(option).__name__}" + pta_error(ErrCode.PARAM)
        )
    for name, value in option.items():
        _set_one(name, value)


def set_aoe(dump_path: str) -> None:
    """Names the folder for the graphs of AOE, which tunes the operators of Ascend hardware; makes it if it is missing.

    The operators of the software NPU have nothing to tune: a warning says so, and the folder stays empty.

    Raises:
        TypeError: ``dump_path`` is no path.
        OSError: the folder cannot be made.
    """
    if not isinstance(dump_path, (str, os.PathLike)):
        raise TypeError("Type of dump_path is invalid." + pta_error(ErrCode.TYPE))
    try:
        Path(dump_path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"Value of dump_path is invalid: {error}." + pta_error(ErrCode.SYSCALL)
        ) from error
    warn(
        f"set_aoe: the software NPU's operators have nothing to tune; {dump_path} stays empty",
        stacklevel=2,
    )
