"""``use_compatible_impl``: operators as PyTorch itself defines them."""

from torch_npu._core import environment

_enabled: bool | None = None  # None: as the variable says


def use_compatible_impl(is_enable: bool) -> None:
    """Asks for operators that compute as PyTorch's own do, where the NPU's default differs (gelu, matmul, max_pool).

    The software NPU's operators always are PyTorch's definitions, so this changes no result; programs can read it by
    :func:`are_compatible_impl_enabled`. ``TORCH_NPU_USE_COMPATIBLE_IMPL`` has the initial value.
    """
    global _enabled
    _enabled = bool(is_enable)


def are_compatible_impl_enabled() -> bool:
    """The value of :func:`use_compatible_impl`; False by default."""
    if _enabled is None:
        return environment.flag("TORCH_NPU_USE_COMPATIBLE_IMPL")
    return _enabled
