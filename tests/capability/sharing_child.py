"""What a process does with npu tensors that another one sends; a module, so that spawn finds it."""

import torch


def double_in_place(inbox, outbox):
    """Doubles each tensor, answers with the sum; None ends it."""
    while (tensor := inbox.get()) is not None:
        tensor.mul_(2)
        outbox.put((tensor.double().sum().item(), tensor.device.type, tensor.requires_grad))
        del tensor
    torch.npu.ipc_collect()


def hold(inbox, outbox):
    """Takes a tensor and says what is in it whenever asked; lets it go when told."""
    tensor = inbox.get()
    outbox.put("here")
    while inbox.get() == "look":
        outbox.put(tensor.unique().tolist())
    del tensor
    outbox.put("gone")
    inbox.get()


def die_with_it(inbox, outbox):
    """Ends while its tensor is alive."""
    global kept
    kept = inbox.get()
    outbox.put(kept.sum().item())


def share_memory(inbox, outbox):
    """Whether two views of one storage are one storage here as well."""
    a, b = inbox.get()
    a.fill_(7)
    outbox.put((b.tolist(), a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()))


def send_back(inbox, outbox):
    """Makes a tensor here and sends it, and stays until it was read."""
    keep = torch.arange(5, device="npu")
    outbox.put(keep)
    inbox.get()


def forward_it(inbox, outbox):
    """Tries to send on what was received."""
    tensor = inbox.get()
    try:
        torch.multiprocessing.reductions.reduce_tensor(tensor)
    except RuntimeError as error:
        outbox.put(str(error))


def load_module(inbox, outbox):
    """Runs a module whose parameters live in the other process."""
    module, x = inbox.get()
    outbox.put(module(x).tolist())
