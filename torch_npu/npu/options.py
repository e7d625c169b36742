"""Choices of a running program: precision of products, the CPU fallback."""

from enum import IntEnum

from torch_npu.npu import _state


class CubeMathType(IntEnum):
    """What a float32 product may be computed in; the values are aclnn's."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    USE_FP32_ADD = 4


def _checked_permission(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"allow_hf32 must be a bool, but got {type(value).__name__}")
    return value


class _Matmul:
    """``torch.npu.matmul``: how float32 matrix products may be computed.

    These are permissions. The software NPU computes float32 products in float32 whatever they say, but where the CPU
    multiplies matrices of bfloat16 (AMX): larger products are three products of bfloat16 there, which lose less than
    2^-15 of each term (``docs/precision.md``).
    """

    __slots__ = ()

    @property
    def cube_math_type(self) -> CubeMathType:
        """The value that aclnn's products are called with."""
        return CubeMathType(_state.native().cube_math_type())

    @cube_math_type.setter
    def cube_math_type(self, value: CubeMathType) -> None:
        if not isinstance(value, CubeMathType):
            raise TypeError(
                "value should be one of Enum CubeMathType when setting cube_math_type, "
                f"but got {type(value).__name__}"
            )
        _state.native().set_cube_math_type(value)

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 products may lose mantissa bits (HF32, Ascend's TF32). False at the start."""
        return self.cube_math_type is not CubeMathType.KEEP_DTYPE

    @allow_hf32.setter
    def allow_hf32(self, value: bool) -> None:
        allowed = _checked_permission(value)
        chosen = CubeMathType.ALLOW_FP32_DOWN_PRECISION if allowed else CubeMathType.KEEP_DTYPE
        self.cube_math_type = chosen


class _Conv:
    """``torch.npu.conv``: how float32 convolutions may be computed."""

    __slots__ = ()

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 convolutions and their gradients may lose mantissa bits (HF32). True at the start.

        Convolutions of 3 x 3 filters and stride 1, with 32 channels and more in multiples of 16, and both their gradients
        take a quarter of the multiplications then, by Winograd's minimal filtering: an error stays far below
        HF32's (2^-11 of the sum of the terms' magnitudes, ``docs/precision.md``); an infinity or NaN reaches up to three
        positions further than it would. Where the CPU multiplies matrices of bfloat16 (AMX), the others are three
        convolutions of bfloat16, which lose less than 2^-15 of each term.
        """
        return bool(_state.native().conv_allows_less())

    @allow_hf32.setter
    def allow_hf32(self, value: bool) -> None:
        _state.native().set_conv_allows_less(_checked_permission(value))


class _Config:
    """``torch.npu.config``. Attributes that it does not have cannot be set."""

    __slots__ = ()

    @property
    def allow_tf32(self) -> bool:
        """Both :attr:`torch.npu.matmul.allow_hf32` and :attr:`torch.npu.conv.allow_hf32`, as CUDA programs call it."""
        return matmul.allow_hf32 and conv.allow_hf32

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        matmul.allow_hf32 = value
        conv.allow_hf32 = value

    @property
    def allow_internal_format(self) -> bool:
        """Whether tensors may be given formats with blocks (``torch_npu.npu_format_cast``). False at the start."""
        return bool(_state.native().allow_internal_format())

    @allow_internal_format.setter
    def allow_internal_format(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"allow_internal_format must be a bool, but got {type(value).__name__}")
        _state.native().set_allow_internal_format(value)


matmul = _Matmul()
conv = _Conv()
config = _Config()


def set_operator_fallback(target: str | None) -> None:
    """Chooses how operators run that have no kernel of the NPU's own.

    Args:
        target: ``"cpu"`` runs ATen's CPU kernels on copies of the arguments in host memory, which overlap as the
            arguments do. ``"npu"`` or None, the default, runs them on the software NPU's AI CPU, where the arguments
            are. On an NPU whose memory the host cannot read it is always the former.

    Raises:
        ValueError: ``target`` is none of these.
    """
    if target not in ("cpu", "npu", None):
        raise ValueError(f"set_operator_fallback takes 'cpu', 'npu' or None, not {target!r}")
    _state.native().set_copies_arguments(target == "cpu")


def get_operator_fallback() -> str:
    """What :func:`set_operator_fallback` chose: ``"cpu"`` or ``"npu"``."""
    return "cpu" if _state.native().copies_arguments() else "npu"


def set_op_timeout_ms(timeout: int) -> None:
    """Limits how long an operator may run; what waits for one that runs longer raises an error that names it.

    Defined by torch_npu's ``npu.utils.set_op_timeout_ms``. On the software NPU the operator is left to end by itself:
    its stream waits for it, the other streams go on, and a later wait finds its results.

    Args:
        timeout: milliseconds; 0 stands for ever, which is the default.

    Raises:
        ValueError: ``timeout`` is negative.
    """
    _state.native().set_operator_timeout(timeout)


def set_compile_mode(jit_compile: bool = False) -> None:
    """Allows operators to be compiled while the program runs. It costs nothing here: aclnn's are compiled already.

    Defined by torch_npu's ``npu_config.set_compile_mode``; waits for the device, as there.

    Args:
        jit_compile: what :func:`is_jit_compile_false` denies from now on.
    """
    native = _state.native()
    if native.is_initialized():
        native.synchronize(native.current_device())
    native.set_jit_compile(bool(jit_compile))


def is_jit_compile_false() -> bool:
    """Whether :func:`set_compile_mode` has left compilation off, which is the default."""
    return not _state.native().jit_compile()


def set_task_queue_enable(mode: int | str) -> None:
    """Chooses who makes launches; what is queued is made first, and no other thread may launch meanwhile.

    Defined by torch_npu's ``npu.utils.set_task_queue_enable``; the variable ``TASK_QUEUE_ENABLE`` says it at the start.
    Stays 0 while ``ASCEND_LAUNCH_BLOCKING=1``.

    Args:
        mode: 0, the calling thread, the default; 1, a thread of their own; 2, the same, and an operator's workspace
            stays with its stream for the next one.

    Raises:
        RuntimeError: another mode.
    """
    _state.native().set_task_queue_level(int(mode))


def get_task_queue_enable() -> int:
    """The mode in effect: 0, 1 or 2."""
    return _state.native().task_queue_level()
