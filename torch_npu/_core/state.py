"""The native module ``torch_npu._C``, or the reason for its absence."""

from types import ModuleType

_native: ModuleType | None = None
_reason: str = ""


def attach(native: ModuleType | None, reason: str) -> None:
    """Sets the native module, or the reason for its absence."""
    global _native, _reason
    _native, _reason = native, reason


def native() -> ModuleType:
    """The native module.

    Raises:
        RuntimeError: it could not be loaded; the text says why.
    """
    if _native is None:
        raise RuntimeError(f"torch_npu could not be loaded: {_reason}")
    return _native


def is_loaded() -> bool:
    """Whether the native module is loaded."""
    return _native is not None


def unavailable_reason() -> str:
    """Why ``torch.npu.is_available()`` is False; empty if it is True."""
    if _native is None:
        return _reason
    return "" if _native.device_count() > 0 else str(_native.device_count_error())
