"""``torch.load``: tensors that were saved on cuda, or are wanted there, are loaded on npu."""

import torch

from torch_npu.contrib._transfer.devices import to_npu

# Before PyTorch's own entry for cuda, which has 20.
_PRIORITY = 19


def _never_tagged(_: object) -> None:
    return None


def _on_npu(storage: object, location: str) -> object:
    target = to_npu(location)
    if target is location:
        return None
    return torch.serialization.default_restore_location(storage, target)


_ENTRY = (_PRIORITY, _never_tagged, _on_npu)


def register() -> None:
    """Adds the entry to ``torch.serialization``'s registry."""
    torch.serialization.register_package(*_ENTRY)


def unregister() -> None:
    """Removes it."""
    torch.serialization._package_registry.remove(_ENTRY)
