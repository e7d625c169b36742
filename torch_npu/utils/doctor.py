"""Reports what is bound and what is missing: ``torch-npu doctor``, ``python -m torch_npu.utils.doctor`` or ``./dev doctor``."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import torch

from torch_npu import _load
from torch_npu._core import environment, state
from torch_npu.version import __version__

CPU_FEATURES = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "neon", "sve")


def cpu() -> tuple[str, list[str]]:
    """The CPU's name, and its features that select kernels."""
    name, flags = platform.machine(), set()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            name = value.strip()
        if key.strip() in ("flags", "Features"):
            flags = set(value.split())
    return name, [feature for feature in CPU_FEATURES if feature in flags]


def huge_pages() -> str:
    """Whether device memory gets huge pages; if not, why."""
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
    if release >= (6, 1):
        return "yes (MADV_COLLAPSE)"
    shmem = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
    if shmem.exists() and "[never]" not in shmem.read_text():
        return "as shmem_enabled says"
    return f"no: Linux {platform.release()} is older than 6.1 and shmem_enabled is never"


def addresses(reserved: int, memory: int) -> str:
    """The addresses reserved for mappings after the memory; if they are fewer than usual, why."""
    window = max(0, reserved - memory)
    message = f"{window / 2**30:.0f} GiB for expandable segments and shared memory"
    return (
        message if window >= 31 * memory else f"{message}: the process may map no more (ulimit -v)"
    )


def report() -> tuple[list[tuple[str, str]], list[str]]:
    """Rows of (name, value), and the problems found, one sentence each."""
    problems: list[str] = []
    rows = [("python", sys.version.split()[0])]
    rows.append(("torch", torch.__version__))
    try:
        native = state.native()
        softnpu = native.softnpu_version()
        rows += [
            ("torch_npu", f"{__version__} in {_load.package_dir()}"),
            ("CANN bound", f"{softnpu or 'CANN'} ({native.cann_version()})"),
            ("runtime", _load.bound_library()),
            (
                "operators",
                _load.bound_library("libopapi.so") or "none: every operator runs on the AI CPU",
            ),
            (
                "oneDNN",
                _load.bound_library("libdnnl.so.3.2")
                or _load.bound_library("libdnnl.so.3")
                or "none",
            ),
            ("devices", f"{torch.npu.device_count()} x {native.soc_name()}"),
        ]
        if torch.npu.is_available():
            free, total = torch.npu.mem_get_info()
            rows.append(("memory", f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB free"))
            if softnpu:
                rows.append(("addresses", addresses(native.device_range(0)[1], total)))
        else:
            problems.append(f"no NPU is available: {torch.npu.unavailable_reason()}")
    except Exception as error:
        problems.append(str(error))
    name, features = cpu()
    cores = len(os.sched_getaffinity(0))
    rows += [("CPU", f"{name}, {cores} cores, {' '.join(features)}"), ("huge pages", huge_pages())]
    rows += environment.all_set()
    if len(list(metadata.distributions(name="torch-npu"))) == 0:
        problems.append(
            "no distribution torch-npu is installed, so `import torch` does not load it by itself"
        )
    return rows, problems


def main() -> int:
    """Prints the report; returns 1 if there is a problem."""
    rows, problems = report()
    for what, value in rows:
        print(f"{what:16} {value}")
    for problem in problems:
        print(f"{'problem':16} {problem}")
    if not problems:
        print(f"{'problems':16} none")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
