"""``torch.npu.set_option``: options under the official plug-in's names."""

import warnings
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from torch_npu.npu.options import CubeMathType, config, conv, matmul, set_compile_mode

# Setters of options with two values.
_CUBE_MATH_TYPE = "CUBE_MATH_TYPE"  # the numeric option
_SWITCHES: dict[str, Callable[[bool], None]] = {
    "ALLOW_CONV_HF32": partial(setattr, conv, "allow_hf32"),
    "ALLOW_MATMUL_HF32": partial(setattr, matmul, "allow_hf32"),
    "ALLOW_INTERNAL_FORMAT": partial(setattr, config, "allow_internal_format"),
    "jitCompile": set_compile_mode,
}
# Options of the compiler and the debugger, which change no result.
_WITHOUT_EFFECT = frozenset(
    [
        "ACL_PRECISION_MODE",
        "ACL_OP_SELECT_IMPL_MODE",
        "ACL_AICORE_NUM",
        "ACL_OPTYPELIST_FOR_IMPLMODE",
        "ACL_OP_DEBUG_LEVEL",
        "ACL_DEBUG_DIR",
        "ACL_OP_COMPILER_CACHE_MODE",
        "ACL_OP_COMPILER_CACHE_DIR",
        "ACL_OP_DEBUG_OPTION",
        "MM_BMM_ND_ENABLE",
        "STRONG_CONSISTENCY",
        "OP_HOOK_ENABLE",
        "FORCE_ACLNN_OP_LIST",
        "NPU_FUZZY_COMPILE_BLACKLIST",
        "autotune",
        "mdldumpswitch",
        "mdldumpconfigpath",
    ]
)


def set_option(option: dict[str, object]) -> None:
    """Sets options by their names. Defined by torch_npu's ``npu_config.set_option``.

    Args:
        option: ``ALLOW_CONV_HF32``, ``ALLOW_MATMUL_HF32``, ``ALLOW_INTERNAL_FORMAT`` and ``jitCompile`` with ``"enable"``
            or ``"disable"``, ``CUBE_MATH_TYPE`` with a number of :class:`CubeMathType`. The official plug-in's options of
            its compiler and debugger warn that they have no effect here.

    Raises:
        TypeError: ``option`` is not a dict.
        ValueError: an unknown option or an invalid value; options before it have been set.
    """
    if not isinstance(option, dict):
        raise TypeError(f"npu option must be a dict, but got {type(option).__name__}")
    for name, value in option.items():
        if name == _CUBE_MATH_TYPE:
            matmul.cube_math_type = CubeMathType(int(str(value)))
        elif name in _SWITCHES:
            if value not in ("enable", "disable"):
                raise ValueError(f"set_option: {name} is 'enable' or 'disable', not {value!r}")
            _SWITCHES[name](value == "enable")
        elif name in _WITHOUT_EFFECT:
            warnings.warn(f"set_option: {name} has no effect here", stacklevel=2)
        else:
            near = get_close_matches(str(name), [_CUBE_MATH_TYPE, *_SWITCHES, *_WITHOUT_EFFECT], 1)
            raise ValueError(
                f"set_option knows no {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            )
