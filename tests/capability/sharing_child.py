"""Functions for processes that receive npu tensors; a module, so that spawn finds it."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

import torch


@contextlib.contextmanager
def child(target: Callable) -> Iterator[tuple]:
    """A process with a queue in each direction; it must exit successfully."""
    context = torch.multiprocessing.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=target, args=(inbox, outbox))
    process.start()
    try:
        yield inbox, lambda: outbox.get(timeout=100), process
        process.join(100)
        assert process.exitcode == 0
    finally:
        process.kill()


def double_in_place(inbox, outbox):
    """Doubles each tensor and answers with the sum; None ends it."""
    while (tensor := inbox.get()) is not None:
        tensor.mul_(2)
        outbox.put((tensor.double().sum().item(), tensor.device.type, tensor.requires_grad))
        del tensor
    torch.npu.ipc_collect()


def hold(inbox, outbox):
    """Takes a tensor, returns its contents on request, and releases it when told."""
    tensor = inbox.get()
    outbox.put("here")
    while inbox.get() == "look":
        outbox.put(tensor.unique().tolist())
    del tensor
    outbox.put("gone")
    inbox.get()


def hold_with_a_child(inbox, outbox):
    """Like hold(), with a forked child, which inherits the process's files and lives longer."""
    tensor = inbox.get()
    child = os.fork()
    if child == 0:
        time.sleep(100)
        os._exit(0)
    outbox.put(child)
    outbox.put("here")
    inbox.get()
    del tensor


def die_with_it(inbox, outbox):
    """Ends while its tensor is alive."""
    global kept
    kept = inbox.get()
    outbox.put(kept.sum().item())


def share_memory(inbox, outbox):
    """Reports whether two views of one storage share one storage here too."""
    a, b = inbox.get()
    a.fill_(7)
    outbox.put((b.tolist(), a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()))


def send_back(inbox, outbox):
    """Creates a tensor and sends it, and lives until it was read."""
    keep = torch.arange(5, device="npu")
    outbox.put(keep)
    inbox.get()


def forward_it(inbox, outbox):
    """Tries to forward a received tensor."""
    tensor = inbox.get()
    try:
        torch.multiprocessing.reductions.reduce_tensor(tensor)
    except RuntimeError as error:
        outbox.put(str(error))


def load_module(inbox, outbox):
    """Runs a module whose parameters are in the other process."""
    module, x = inbox.get()
    outbox.put(module(x).tolist())


def change_the_first(inbox, outbox):
    """Changes the first element of a tensor to a large number and back, until told to end."""
    tensor = inbox.get()
    good, bad = (
        tensor[:1].clone(),
        torch.full_like(tensor[:1], torch.iinfo(tensor.dtype).max // 4),
    )
    outbox.put("here")
    while inbox.empty():
        tensor[:1].copy_(bad)
        tensor[:1].copy_(good)
    torch.npu.synchronize()


class Ends:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        """``os._exit(3)``."""
        return os._exit, (3,)


class Waits:
    """Unpickled, it is what a pipe at ``path`` has, once somebody has written it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        """The pipe's contents."""
        return _contents, (self.path,)


def _contents(path):
    with open(path) as file:
        return file.read()


def expect_sum(_, tensor, expected):
    """Succeeds if the tensor's sum is ``expected``."""
    assert tensor.sum().item() == expected
