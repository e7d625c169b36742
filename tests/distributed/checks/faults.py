"""Ranks that end, hang or call something else: the others raise, in time, with the rank or the call."""

import os
import signal
import time
from datetime import timedelta

import torch
import torch.distributed as dist


def _failure(call):
    """The text of the error, and after how many seconds it came."""
    start = time.monotonic()
    try:
        call()
        torch.npu.synchronize()
    except Exception as error:
        return str(error), time.monotonic() - start
    return "", time.monotonic() - start


def killed():
    """The last rank ends in the middle of a collective."""
    tensor = torch.ones(1 << 20, device="npu")
    dist.all_reduce(tensor)
    torch.npu.synchronize()
    if dist.get_rank() == dist.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return _failure(lambda: dist.all_reduce(tensor))


def hanging(seconds, option):
    """The last rank does not call, and the group's time-out passes: that of ``option``, timeout or op_timeout."""
    options, limit = dist.ProcessGroupHCCL.Options(), timedelta(seconds=seconds)
    if option == "op_timeout":
        options.op_timeout, limit = limit, timedelta(seconds=600)
    group = dist.new_group(backend="hccl", timeout=limit, pg_options=options)
    tensor = torch.ones(4, device="npu")
    dist.all_reduce(tensor, group=group)
    torch.npu.synchronize()
    if dist.get_rank() == dist.get_world_size() - 1:
        time.sleep(3 * seconds)
        return "", 0
    failure = _failure(lambda: dist.all_reduce(tensor, group=group))
    try:
        dist.all_reduce(tensor, group=group)
    except dist.DistBackendError as error:
        return failure, str(error)
    return failure, "nothing raised"


def absent_peer(seconds):
    """The first rank receives from the last one, which does not send, and the group's time-out passes."""
    group = dist.new_group(backend="hccl", timeout=timedelta(seconds=seconds))
    if dist.get_rank() != 0:
        return "", 0
    peer = dist.get_world_size() - 1
    return _failure(lambda: dist.recv(torch.empty(4, device="npu"), peer, group=group))


def different_sizes():
    """Each rank reduces another number of elements."""
    group = dist.new_group(backend="hccl", timeout=timedelta(seconds=20))
    tensor = torch.ones(4 + dist.get_rank(), device="npu")
    return _failure(lambda: dist.all_reduce(tensor, group=group))
