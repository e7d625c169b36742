"""Collectives of libhccl against Gloo's on CPU tensors, in the same processes and in turn, without the plug-in.

``python collectives.py RANK RANKS PORT`` is one of the processes; rank 0 prints a line of JSON for each row.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch
import torch.distributed as dist
from results import Measured, table_of
from rich.console import Console
from rich.progress import track

LIBRARIES = Path(__file__).resolve().parents[1] / "build/python/torch_npu/lib/cann"
RANKS = (2, 4)
SIZES = tuple(1 << bits for bits in (10, 16, 20, 24, 28))  # bytes of the larger buffer of a rank
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all")
_ROUNDS = 5
_FLOAT, _SUM = 4, 0  # HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM
_ROOT_INFO = 4108
_DEVICE_TO_DEVICE = 3


class _Device:
    """Device 0 with a communicator of all ranks and two buffers of the largest size."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.ranks = ranks
        self._acl = ctypes.CDLL(str(LIBRARIES / "libascendcl.so"))
        self._acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self._hccl = ctypes.CDLL(str(LIBRARIES / "libhccl.so"))
        self._check(self._acl.aclInit(None))
        self._check(self._acl.aclrtSetDevice(0))
        info = ctypes.create_string_buffer(_ROOT_INFO)
        if rank == 0:
            self._check(self._hccl.HcclGetRootInfo(info))
        dist.broadcast(torch.frombuffer(info, dtype=torch.uint8), 0)
        self._comm, self._stream = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._hccl.HcclCommInitRootInfo(ranks, info, rank, ctypes.byref(self._comm)))
        self._check(self._acl.aclrtCreateStream(ctypes.byref(self._stream)))
        self._buffers = [self._allocate(max(SIZES)) for _ in range(2)]

    def _check(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(f"{code}: {self._acl.aclGetRecentErrMsg()}")

    def _allocate(self, size: int) -> ctypes.c_void_p:
        address = ctypes.c_void_p()
        self._check(self._acl.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(size), 0))
        self._check(self._acl.aclrtMemset(address, ctypes.c_size_t(size), 0, ctypes.c_size_t(size)))
        return address

    def _synchronize(self) -> None:
        self._check(self._acl.aclrtSynchronizeStream(self._stream))

    def copy(self, size: int) -> None:
        """Copies ``size`` bytes from one buffer to the other."""
        one, other = self._buffers
        count = ctypes.c_size_t(size)
        self._check(
            self._acl.aclrtMemcpyAsync(one, count, other, count, _DEVICE_TO_DEVICE, self._stream)
        )
        self._synchronize()

    def run(self, name: str, size: int) -> None:
        """Runs the collective; its larger buffer has ``size`` bytes."""
        one, other = self._buffers
        whole, part = (ctypes.c_uint64(n) for n in (size // 4, size // 4 // self.ranks))
        last = (self._comm, self._stream)
        hccl = self._hccl
        code = {
            "all_reduce": lambda: hccl.HcclAllReduce(one, one, whole, _FLOAT, _SUM, *last),
            "all_gather": lambda: hccl.HcclAllGather(one, other, part, _FLOAT, *last),
            "reduce_scatter": lambda: hccl.HcclReduceScatter(one, other, part, _FLOAT, _SUM, *last),
            "broadcast": lambda: hccl.HcclBroadcast(one, whole, _FLOAT, 0, *last),
            "all_to_all": lambda: hccl.HcclAlltoAll(one, part, _FLOAT, other, part, _FLOAT, *last),
        }[name]()
        self._check(code)
        self._synchronize()


def _moved(name: str, size: int, ranks: int) -> float:
    """Bytes that each rank reads and writes at least, without a cache, as all ranks' mean."""
    part = size / ranks
    return {
        "all_reduce": size + part + 2 * (size - part),
        "all_gather": 2 * size,
        "reduce_scatter": size + part,
        "broadcast": 2 * size * (ranks - 1) / ranks,
        "all_to_all": 2 * size,
    }[name]


def _gloo(name: str, buffers: tuple[torch.Tensor, torch.Tensor], size: int, ranks: int) -> None:
    one, other = (buffer[: size // 4] for buffer in buffers)
    part = size // 4 // ranks
    if name == "all_reduce":
        dist.all_reduce(one)
    elif name == "all_gather":
        dist.all_gather_into_tensor(other, one[:part])
    elif name == "reduce_scatter":
        dist.reduce_scatter_tensor(other[:part], one)
    elif name == "broadcast":
        dist.broadcast(one, 0)
    else:
        dist.all_to_all_single(other, one)


def _time(work: Callable[[], None], repeats: int) -> float:
    """Microseconds of one call, the ranks' beginning together."""
    work()
    dist.barrier()
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started) / repeats * 1e6


def _rank(rank: int, ranks: int) -> None:
    device = _Device(rank, ranks)
    buffers = (torch.zeros(max(SIZES) // 4), torch.zeros(max(SIZES) // 4))
    for name in COLLECTIVES:
        for size in SIZES:
            repeats = max(4, min(200, (8 << 20) // size))
            rounds = [
                (
                    _time(partial(device.run, name, size), repeats),
                    _time(partial(_gloo, name, buffers, size, ranks), max(1, repeats // 10)),
                    _time(partial(device.copy, size), repeats),
                )
                for _ in range(_ROUNDS)
            ]
            if rank == 0:
                hccl, gloo, copy = (median(times) for times in zip(*rounds, strict=True))
                copy *= _moved(name, size, ranks) / (2 * size)
                row = {"name": name, "size": size, "hccl": hccl, "gloo": gloo, "copy": copy}
                print(json.dumps(row), flush=True)
    dist.barrier()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def measure() -> list[Measured]:
    """Times of each collective, size and number of ranks; the ratios are libhccl / Gloo and libhccl / copy.

    "copy" is the time in which as many processes copy the bytes that the collective has to read and write.
    """
    measured = []
    rows_of_job = len(COLLECTIVES) * len(SIZES)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "SOFTNPU_CORES": "1",
        "SOFTNPU_HBM": "1G",
    }
    for ranks in RANKS:
        port = _free_port()
        processes = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__, *map(str, (rank, ranks, port))],
                stdout=subprocess.PIPE if rank == 0 else None,
                text=True,
                env=environment,
            )
            for rank in range(ranks)
        ]
        try:
            assert processes[0].stdout is not None
            lines = map(json.loads, processes[0].stdout)
            for row in track(lines, f"{ranks} ranks", total=rows_of_job, transient=True):
                work = f"{row['name']}, {row['size'] >> 10} KiB, {ranks} ranks"
                hccl = row["hccl"]
                measured += [
                    Measured("collectives", work, other, hccl, row[other], hccl / row[other])
                    for other in ("gloo", "copy")
                ]
            codes = [process.wait() for process in processes]
        finally:
            for process in processes:
                process.kill()
        if any(codes):
            sys.exit(f"collectives: a rank of {ranks} failed")
    Console(width=140).print(table_of("collectives", measured))
    return measured


if __name__ == "__main__":
    own_rank, all_ranks, rendezvous_port = map(int, sys.argv[1:4])
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{rendezvous_port}",
        rank=own_rank,
        world_size=all_ranks,
    )
    _rank(own_rank, all_ranks)
    dist.destroy_process_group()
