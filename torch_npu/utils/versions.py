"""The version of the CANN that is bound."""

from torch_npu.npu import _state

# In the order of aclCANNPackageName.
_PACKAGES = ("CANN", "RUNTIME", "COMPILER", "HCCL", "TOOLKIT", "OPP", "OPP_KERNEL", "DRIVER")


def get_cann_version(module: str = "CANN") -> str:
    """The version of a part of CANN, for example ``8.2.RC1``; softnpu is one package, of one version.

    Args:
        module: one of CANN, RUNTIME, COMPILER, HCCL, TOOLKIT, OPP, OPP_KERNEL, DRIVER.

    Raises:
        ValueError: there is no such part.
        RuntimeError: the native part could not be loaded, or CANN does not know its version.
    """
    if module not in _PACKAGES:
        raise ValueError(f"module is one of {', '.join(_PACKAGES)}, not {module!r}")
    return str(_state.native().cann_version(_PACKAGES.index(module)))


__all__ = ["get_cann_version"]
