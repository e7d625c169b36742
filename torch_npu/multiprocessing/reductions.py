"""npu tensors in ``torch.multiprocessing``: a queue or pipe transfers a key of the memory, which the receiver maps.

Bytes are not copied. A block stays allocated until each receiver has dropped its last tensor on it. Names and
arguments of functions that programs and PyTorch call (``rebuild_npu_tensor``, ``UntypedStorage._share_npu_`` and
others) are those of the official torch_npu 2.13.0.
"""

from collections.abc import Callable
from functools import partial, wraps
from multiprocessing.reduction import ForkingPickler
from typing import NamedTuple

import torch
from torch.multiprocessing import reductions

from torch_npu._core import state
from torch_npu.npu import _receivers
from torch_npu.npu.streams import Event


class _Memory(NamedTuple):
    """The data to open a storage in another process, in the order of ``_share_npu_``'s result."""

    device: int
    handle: bytes | None  # of the allocation; None: a storage without bytes
    size_bytes: int
    offset_bytes: int  # in the allocation
    ref_counter_handle: bytes  # file of the counter of users
    ref_counter_offset: int
    event_handle: bytes  # none: the sender waits for its device
    event_sync_required: bool

    @property
    def key(self) -> tuple[bytes | None, int]:
        """The same key for all tickets of one storage."""
        return self.handle, self.offset_bytes


def _share_npu_(self: torch.UntypedStorage) -> tuple:
    """Adds a user of the storage and returns the data for its process, a ``_Memory`` as a tuple."""
    return (*state.native().share_storage(self), b"", False)


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
    """Maps the result of :func:`_share_npu_` in another process; the counted user is now this storage."""
    return state.native().open_shared_storage(
        device, handle, size_bytes, offset_bytes, ref_counter_handle, ref_counter_offset
    )


def _release_ipc_counter_npu(
    ref_counter_handle: bytes, ref_counter_offset: int, device: object = None
) -> None:
    """Removes a counted user for which no storage was opened."""
    state.native().release_shared(ref_counter_handle, ref_counter_offset)


def _release(memory: _Memory) -> None:
    _release_ipc_counter_npu(memory.ref_counter_handle, memory.ref_counter_offset)


def _open(memory: _Memory) -> torch.UntypedStorage:
    """This process's storage for ``memory``: one for all tensors that share it, including the sender's own."""
    if not memory.size_bytes:
        return torch.UntypedStorage(0, device=torch.device("npu", memory.device))
    if known := reductions.storage_from_cache(torch.UntypedStorage, memory.key):
        _release(memory)
        return known
    opened = _new_shared_npu(*memory)
    _remember(opened, memory)
    return opened


def _remember(storage: torch.UntypedStorage, memory: _Memory) -> None:
    reductions.shared_cache[memory.key] = reductions.StorageWeakRef(storage)


def rebuild_npu_event(device: torch.device | int, handle: bytes) -> Event:
    """The receiver's event: the sender's, by the handle that ``Event.ipc_handle`` made, on ``device``."""
    return Event.from_ipc_handle(device, handle)


def _send_event(event: Event) -> tuple[Callable, tuple]:
    """The reduction of an event that was made with ``interprocess=True`` for pickle."""
    return rebuild_npu_event, (event.device, event.ipc_handle())


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
    """The receiver's tensor: sizes, strides and offset in elements of ``dtype``, on the sender's memory.

    Returns:
        A tensor, or a parameter if ``tensor_cls`` is one, that shares storage with others received from it.
    """
    memory = _Memory(
        storage_device,
        storage_handle,
        storage_size_bytes,
        storage_offset_bytes,
        ref_counter_handle,
        ref_counter_offset,
        event_handle,
        event_sync_required,
    )
    typed = torch.storage.TypedStorage(wrap_storage=_open(memory), dtype=dtype, _internal=True)
    tensor = torch._utils._rebuild_tensor(typed, tensor_offset, tensor_size, tensor_stride)
    if tensor_cls is torch.nn.Parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _send(tensor: torch.Tensor) -> tuple[Callable, tuple]:
    """The reduction of a strided npu tensor for pickle."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "cannot send a non-leaf tensor which requires_grad: autograd does not cross processes. Send its detach()."
        )
    torch.utils.hooks.warn_if_has_hooks(tensor)
    storage = tensor.untyped_storage()
    if storage.nbytes():
        _receivers.collect()
        memory = _Memory(*_share_npu_(storage))
        _receivers.on_death(partial(_release, memory))
        _remember(storage, memory)  # a tensor that is sent back uses this storage
    else:
        memory = _Memory(tensor.device.index, None, 0, 0, b"", 0, b"", False)
    return rebuild_npu_tensor, (
        type(tensor),
        tensor.size(),
        tensor.stride(),
        tensor.storage_offset(),
        torch.UntypedStorage,
        tensor.dtype,
        *memory[:4],
        tensor.requires_grad,
        *memory[4:],
    )


def _with_npu_tensors(reduce: Callable) -> Callable:
    @wraps(reduce)
    def reduce_tensor(tensor: torch.Tensor) -> tuple:
        is_plain = tensor.layout is torch.strided and not (tensor.is_nested or tensor.is_quantized)
        return _send(tensor) if is_plain and tensor.device.type == "npu" else reduce(tensor)

    return reduce_tensor


def _without_npu_storages(reduce: Callable) -> Callable:
    @wraps(reduce)
    def reduce_storage(storage: torch.UntypedStorage | torch.TypedStorage) -> tuple:
        if storage.device.type == "npu":
            raise RuntimeError("cannot pickle an NPU storage; try pickling a NPU tensor on it")
        return reduce(storage)

    return reduce_storage


def register() -> None:
    """Registers the reductions of npu tensors and events. Called once, when torch_npu is loaded."""
    ForkingPickler.register(Event, _send_event)
    torch.UntypedStorage._share_npu_ = _share_npu_
    torch.UntypedStorage._new_shared_npu = staticmethod(_new_shared_npu)
    torch.UntypedStorage._release_ipc_counter_npu = staticmethod(_release_ipc_counter_npu)
    reductions.reduce_tensor = _with_npu_tensors(reductions.reduce_tensor)
    reductions.reduce_storage = _without_npu_storages(reductions.reduce_storage)
    reductions.init_reductions()
