"""``torch.load`` and ``torch.save`` for npu tensors: the one as it is, the other in the background."""

import copy
import pickle
import threading
from os import PathLike
from typing import IO, Any

import torch
from torch.serialization import DEFAULT_PROTOCOL

from torch_npu.npu.device import current_device, set_device
from torch_npu.npu.streams import current_stream

# The name of the threads that write.
THREAD_NAME = "torch_npu.save_async"


def load(
    f: str | PathLike | IO[bytes],
    map_location: Any = None,  # noqa: ANN401
    pickle_module: Any = None,  # noqa: ANN401
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """``torch.load``, which takes npu tensors of files in the zip format and in the legacy one.

    Args:
        f: a path or a readable file.
        map_location: where the tensors go: a device, its name, a function or a dictionary of names.
        pickle_module: reads the objects; not with ``weights_only``.
        weights_only: refuse everything but tensors, plain types and what is declared safe; the default is torch's.
        mmap: maps the file instead of reading it.
        pickle_load_args: further arguments of ``pickle_module``.

    Returns:
        The object that was saved.
    """
    return torch.load(
        f,
        map_location,
        pickle_module,
        weights_only=weights_only,
        mmap=mmap,
        **pickle_load_args,
    )


def save_async(
    obj: object,
    f: str | PathLike | IO[bytes],
    pickle_module: Any = pickle,  # noqa: ANN401
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
    model: torch.nn.Module | None = None,
) -> None:
    """``torch.save`` in a thread: training goes on while the file is written.

    The file has the values of this moment: tensors are copied on their device, in the current stream, before this
    returns. The interpreter waits for the threads at its end; an error in one is printed as those of threads are.

    Args:
        obj: what ``torch.save`` and ``copy.deepcopy`` take: tensors are leaves or detached.
        f: a path, or a writable file that stays open.
        pickle_module: writes the objects.
        pickle_protocol: its protocol.
        model: not used: the values that a step changes were copied.

    Raises:
        RuntimeError: ``_use_new_zipfile_serialization`` is false, or a tensor is not a leaf.
    """
    if not _use_new_zipfile_serialization:
        raise RuntimeError(
            "save_async writes the zip format only: leave _use_new_zipfile_serialization true, "
            "or give torch.save tensors on the CPU"
        )
    device = current_device()
    copied = copy.deepcopy(obj)
    ready = current_stream().record_event()

    def write() -> None:
        set_device(device)
        ready.synchronize()
        torch.save(
            copied,
            f,
            pickle_module,
            pickle_protocol,
            _disable_byteorder_record=_disable_byteorder_record,
        )

    threading.Thread(target=write, name=THREAD_NAME).start()


__all__ = ["load", "save_async"]
