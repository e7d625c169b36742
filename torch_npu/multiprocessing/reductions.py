"""How npu tensors are sent: by a key of their memory, which the receiver maps. No byte is copied.

The sender's memory lives until every receiver has dropped its tensors. Names and arguments follow
``torch.multiprocessing.reductions`` and the official torch_npu.
"""

from functools import wraps

import torch
from torch.multiprocessing import reductions
from torch.multiprocessing.reductions import StorageWeakRef, shared_cache, storage_from_cache

from torch_npu.npu import _state

_ORIGINAL_TENSOR = reductions.reduce_tensor
_ORIGINAL_STORAGE = reductions.reduce_storage


def _share_npu_(self: torch.UntypedStorage) -> tuple:
    """What another process needs to open this storage, once for each call.

    Returns:
        Device index, key of the memory, the storage's bytes, its offset in that memory, the file and place of the
        counter of its users, an event and whether it must be waited for (none: the device is waited for here).
    """
    return (*_state.native().share_storage(self), b"", False)


def _new_shared_npu(
    device: int,
    handle: bytes,
    size_bytes: int,
    offset_bytes: int,
    ref_counter_handle: bytes,
    ref_counter_offset: int,
    event_handle: bytes,
    event_sync_required: bool,
) -> torch.UntypedStorage:
    """The storage that another process described by :func:`_share_npu_`."""
    del event_handle, event_sync_required  # the sender has waited
    return _state.native().open_shared_storage(
        device, handle, size_bytes, offset_bytes, ref_counter_handle, ref_counter_offset
    )


def _release_ipc_counter_npu(
    ref_counter_handle: bytes, ref_counter_offset: int, device: object = None
) -> None:
    """Takes back one sending of a storage that is not opened."""
    del device
    _state.native().release_shared(ref_counter_handle, ref_counter_offset)


def rebuild_npu_tensor(
    tensor_cls: type,
    tensor_size: torch.Size,
    tensor_stride: tuple[int, ...],
    tensor_offset: int,
    storage_cls: type,
    dtype: torch.dtype,
    storage_device: int,
    storage_handle: bytes | None,
    storage_size_bytes: int,
    storage_offset_bytes: int,
    requires_grad: bool,
    ref_counter_handle: bytes,
    ref_counter_offset: int,
    event_handle: bytes,
    event_sync_required: bool,
) -> torch.Tensor:
    """The receiver's tensor on the sender's memory; two tensors of one storage share it here as well."""
    if storage_handle is None or storage_size_bytes == 0:
        storage = torch.UntypedStorage(0, device=torch.device("npu", storage_device))
    else:
        key = (storage_handle, storage_offset_bytes)
        storage = storage_from_cache(torch.UntypedStorage, key)
        if storage is None:
            storage = _new_shared_npu(
                storage_device,
                storage_handle,
                storage_size_bytes,
                storage_offset_bytes,
                ref_counter_handle,
                ref_counter_offset,
                event_handle,
                event_sync_required,
            )
            shared_cache[key] = StorageWeakRef(storage)
        else:
            _release_ipc_counter_npu(ref_counter_handle, ref_counter_offset)
    tensor = torch._utils._rebuild_tensor(
        torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True),
        tensor_offset,
        tensor_size,
        tensor_stride,
    )
    if tensor_cls is torch.nn.Parameter:
        return torch.nn.Parameter(tensor, requires_grad=requires_grad)
    return tensor.requires_grad_(requires_grad)


def _is_plain_npu(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "npu" and tensor.layout is torch.strided and not tensor.is_nested


@wraps(_ORIGINAL_TENSOR)
def _reduce_tensor(tensor: torch.Tensor) -> tuple:
    if not _is_plain_npu(tensor) or tensor.is_quantized:
        return _ORIGINAL_TENSOR(tensor)
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    torch.utils.hooks.warn_if_has_hooks(tensor)
    storage = tensor.untyped_storage()
    shared: tuple = (tensor.device.index, None, 0, 0, b"", 0, b"", False)
    if storage.nbytes() > 0:
        shared = _share_npu_(storage)
        # Sent back, it is found as the storage that it is.
        shared_cache[(shared[1], shared[3])] = StorageWeakRef(storage)
    device, handle, size, offset, *counter_and_event = shared
    return (
        rebuild_npu_tensor,
        (
            type(tensor),
            tensor.size(),
            tensor.stride(),
            tensor.storage_offset(),
            torch.UntypedStorage,
            tensor.dtype,
            device,
            handle,
            size,
            offset,
            tensor.requires_grad,
            *counter_and_event,
        ),
    )


@wraps(_ORIGINAL_STORAGE)
def _reduce_storage(storage: torch.UntypedStorage | torch.TypedStorage) -> tuple:
    if storage.device.type == "npu":
        raise RuntimeError("Cannot pickle NPU storage; try pickling a NPU tensor instead")
    return _ORIGINAL_STORAGE(storage)


def register() -> None:
    """Makes ``torch.multiprocessing`` send npu tensors."""
    torch.UntypedStorage._share_npu_ = _share_npu_
    torch.UntypedStorage._new_shared_npu = staticmethod(_new_shared_npu)
    torch.UntypedStorage._release_ipc_counter_npu = staticmethod(_release_ipc_counter_npu)
    reductions.reduce_tensor = _reduce_tensor
    reductions.reduce_storage = _reduce_storage
    reductions.init_reductions()
