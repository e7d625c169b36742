"""What PyTorch's storages and legacy tensor types lack on npu: clones in their format, ``torch.ByteTensor.is_npu``."""

from functools import wraps

import torch

from torch_npu._core import state


def _with_formats(original: object) -> object:
    @wraps(original)  # type: ignore[arg-type]
    def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
        result = None
        if self.device.type == "npu":
            result = state.native().clone_storage_with_format(self)
        return original(self) if result is None else result  # type: ignore[operator]

    return clone


def _tell_legacy_types() -> None:
    """``is_npu`` is False for the types of CPU and CUDA tensors; ``torch.npu.ByteTensor`` has its own."""
    for kind in torch._tensor_classes:
        if not hasattr(kind, "is_npu") or not isinstance(kind.is_npu, bool):
            state.native().set_type_attribute(kind, "is_npu", False)


def register() -> None:
    """Called once. ``copy.deepcopy`` of tensors clones their storages."""
    torch.UntypedStorage.clone = _with_formats(torch.UntypedStorage.clone)
    _tell_legacy_types()
