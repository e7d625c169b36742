"""``torch.npu.aclnn``: how aclnn operators run.

``torch.npu.aclnn.allow_hf32`` is :attr:`torch.npu.conv.allow_hf32`; ``with torch.npu.aclnn.flags(allow_hf32=False):``
changes it for a block.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import ContextProp, PropModule, __allow_nonbracketed_mutation

from torch_npu.npu.aclnn import backends
from torch_npu.npu.aclnn.backends import version
from torch_npu.npu.options import conv


def _allows_hf32() -> bool:
    return conv.allow_hf32


def _set_allows_hf32(value: bool) -> None:
    conv.allow_hf32 = value


def set_flags(_allow_hf32: bool | None = None) -> tuple[bool]:
    """Sets the flags that are not None and returns the earlier ones: ``(allow_hf32,)``."""
    before = (_allows_hf32(),)
    if _allow_hf32 is not None:
        _set_allows_hf32(_allow_hf32)
    return before


@contextmanager
def flags(allow_hf32: bool = True) -> Iterator[None]:
    """Context manager: whether float32 convolutions may lose mantissa bits in the block."""
    with __allow_nonbracketed_mutation():
        before = set_flags(allow_hf32)
    try:
        yield
    finally:
        with __allow_nonbracketed_mutation():
            set_flags(*before)


class AclnnModule(PropModule):
    """The module, with a property that can be assigned."""

    allow_hf32 = ContextProp(_allows_hf32, _set_allows_hf32)


sys.modules[__name__] = AclnnModule(sys.modules[__name__], __name__)
allow_hf32: bool

__all__ = ["allow_hf32", "backends", "flags", "set_flags", "version"]
