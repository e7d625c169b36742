"""Options of a running program: precision of products, the CPU fallback."""

from enum import IntEnum

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error


class CubeMathType(IntEnum):
    """The precision of float32 products; the values are aclnn's."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    FORCE_GRP_ACC_FOR_FP32 = 4  # the earlier name of USE_FP32_ADD
    USE_FP32_ADD = 4


def _checked_permission(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(
            f"allow_hf32 must be a bool, but got {type(value).__name__}" + pta_error(ErrCode.TYPE)
        )
    return value


class _Matmul:
    """``torch.npu.matmul``: the permitted precision of float32 matrix products.

    The software NPU uses the permission only if the CPU multiplies bfloat16 matrices (AMX): larger products may then be
    three products of bfloat16, where that is measured to be faster, with an error below 2^-15 of each term
    (``docs/precision.md``). Otherwise float32 products are computed in float32.
    """

    __slots__ = ()

    @property
    def cube_math_type(self) -> CubeMathType:
        """The value that is passed to aclnn's products."""
        return CubeMathType(state.native().cube_math_type())

    @cube_math_type.setter
    def cube_math_type(self, value: CubeMathType) -> None:
        if not isinstance(value, CubeMathType):
            raise TypeError(
                "value should be one of Enum CubeMathType when setting cube_math_type, "
                f"but got {type(value).__name__}" + pta_error(ErrCode.TYPE)
            )
        state.native().set_cube_math_type(value)

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 products may lose mantissa bits (HF32, Ascend's TF32). False by default."""
        return self.cube_math_type is not CubeMathType.KEEP_DTYPE

    @allow_hf32.setter
    def allow_hf32(self, value: bool) -> None:
        allowed = _checked_permission(value)
        chosen = CubeMathType.ALLOW_FP32_DOWN_PRECISION if allowed else CubeMathType.KEEP_DTYPE
        self.cube_math_type = chosen


class _Conv:
    """``torch.npu.conv``: the permitted precision of float32 convolutions."""

    __slots__ = ()

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 convolutions and their gradients may lose mantissa bits (HF32). True by default.

        Convolutions with 3 x 3 filters, stride 1 and at least 32 channels in multiples of 16, and both their
        gradients, then use Winograd's minimal filtering with a quarter of the multiplications. The error is far below
        HF32's (2^-11 of the sum of the terms' magnitudes, ``docs/precision.md``); an infinity or NaN affects up to
        three more positions. If the CPU multiplies bfloat16 matrices (AMX), convolutions may be three convolutions of
        bfloat16, with an error below 2^-15 of each term. Large shapes take what is measured to be fastest, float32
        among it; ``torch.use_deterministic_algorithms(True)`` and ``SOFTNPU_TUNE=0`` select by a fixed rule.
        """
        return bool(state.native().conv_allow_hf32())

    @allow_hf32.setter
    def allow_hf32(self, value: bool) -> None:
        state.native().set_conv_allow_hf32(_checked_permission(value))


class _Config:
    """``torch.npu.config``. Unknown attributes cannot be set."""

    __slots__ = ()

    @property
    def allow_tf32(self) -> bool:
        """Both :attr:`torch.npu.matmul.allow_hf32` and :attr:`torch.npu.conv.allow_hf32`, under CUDA's name."""
        return matmul.allow_hf32 and conv.allow_hf32

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        matmul.allow_hf32 = value
        conv.allow_hf32 = value

    @property
    def allow_internal_format(self) -> bool:
        """Whether tensors may have blocked formats (``torch_npu.npu_format_cast``). False by default."""
        return bool(state.native().allow_internal_format())

    @allow_internal_format.setter
    def allow_internal_format(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"allow_internal_format must be a bool, but got {type(value).__name__}"
                + pta_error(ErrCode.TYPE)
            )
        state.native().set_allow_internal_format(value)


matmul = _Matmul()
conv = _Conv()
config = _Config()


def set_operator_fallback(target: str | None) -> None:
    """Sets how operators without an NPU kernel run.

    Args:
        target: ``"cpu"`` runs ATen's CPU kernels on copies of the arguments in host memory, with the same overlaps.
            Each operator that does is warned of once; ``TORCH_NPU_FALLBACK_CPU_DISABLE=1`` makes it raise.
            ``"npu"`` or None, the default, runs them on the software NPU's AI CPU, on the arguments in place. On an
            NPU whose memory the host cannot read, ``"cpu"`` is always used.

    Raises:
        ValueError: ``target`` is none of these.
    """
    if target not in ("cpu", "npu", None):
        raise ValueError(
            f"set_operator_fallback takes 'cpu', 'npu' or None, not {target!r}"
            + pta_error(ErrCode.VALUE)
        )
    state.native().set_copies_arguments(target == "cpu")


def get_operator_fallback() -> str:
    """The value of :func:`set_operator_fallback`: ``"cpu"`` or ``"npu"``."""
    return "cpu" if state.native().copies_arguments() else "npu"


def set_op_timeout_ms(timeout: int) -> None:
    """Limits how long an operator may run; waits for a longer one raise an error that names it.

    Defined by torch_npu's ``npu.utils.set_op_timeout_ms``. On the software NPU the operator is not stopped: its
    stream waits for it, other streams continue, and a later wait gets its results.

    Args:
        timeout: milliseconds; 0, the default, means no limit.

    Raises:
        ValueError: ``timeout`` is negative.
    """
    state.native().set_operator_timeout(timeout)


def set_compile_mode(jit_compile: bool = False) -> None:
    """Allows compilation of operators at run time. It has no cost here: aclnn's are compiled already.

    Defined by torch_npu's ``npu_config.set_compile_mode``; waits for the device, as there.

    Args:
        jit_compile: the opposite of :func:`is_jit_compile_false`.
    """
    native = state.native()
    if native.is_initialized():
        native.synchronize(native.current_device())
    native.set_jit_compile(bool(jit_compile))


def is_jit_compile_false() -> bool:
    """Whether :func:`set_compile_mode` has disabled compilation, which is the default."""
    return not state.native().jit_compile()


def set_task_queue_enable(mode: int | str) -> None:
    """Sets which thread makes launches. Queued launches are made first; no other thread may launch meanwhile.

    Defined by torch_npu's ``npu.utils.set_task_queue_enable``; the variable ``TASK_QUEUE_ENABLE`` has the initial
    value. Stays 0 while ``ASCEND_LAUNCH_BLOCKING=1``.

    Args:
        mode: 0, the calling thread, the default; 1, a separate thread; 2, the same, and operators share their
            stream's workspace.

    Raises:
        RuntimeError: another mode.
    """
    state.native().set_task_queue_level(int(mode))


def get_task_queue_enable() -> int:
    """The mode in effect: 0, 1 or 2."""
    return state.native().task_queue_level()


_SYNC_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Finds operators that make the host wait for the device: copies between them, ``item()``, ``nonzero``.

    Explicit waits (:func:`torch.npu.synchronize`, streams, events) and operators of the AI CPU are not among them.

    Args:
        debug_mode: ``"default"`` or 0, nothing; ``"warn"`` or 1, such an operator warns; ``"error"`` or 2, it raises a
            RuntimeError before it waits.

    Raises:
        RuntimeError: another mode.
    """
    if isinstance(debug_mode, str):
        if debug_mode not in _SYNC_DEBUG_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode!r}"
            )
        debug_mode = _SYNC_DEBUG_MODES[debug_mode]
    state.native().set_sync_debug_mode(debug_mode)


def get_sync_debug_mode() -> int:
    """The mode of :func:`set_sync_debug_mode`: 0, 1 or 2."""
    return int(state.native().sync_debug_mode())
