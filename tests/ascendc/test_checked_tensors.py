"""Checked mode knows the tensors of PyTorch's allocator: accesses behind their ends and to freed ones are errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = Path(__file__).parent / "kernels" / "tiles.asc"
# An allocator of the program: cuts tensors from one allocation, and never reuses memory.
ARENA = """
#include <stddef.h>
#include <sys/types.h>
int aclrtMalloc(void**, size_t, int);
static char* next;
static size_t left = (size_t)256 << 20;
void* give(ssize_t size, int device, void* stream) {
  const size_t bytes = ((size_t)size + 511) / 512 * 512;
  if (next == NULL && aclrtMalloc((void**)&next, left, 0) != 0) return NULL;
  if (bytes > left) return NULL;
  left -= bytes;
  return (next += bytes) - bytes;
}
void take(void* address, ssize_t size, int device, void* stream) {}
"""
# Each case prints CASE, its name, the reports, and whether the wait failed.
PROGRAM = """
import ctypes
import sys
import torch
import torch_npu
from torch_npu.utils.cpp_extension import load_ascendc

if {arena!r}:
    torch.npu.change_current_allocator(torch.npu.NPUPluggableAllocator({arena!r}, "give", "take"))

def load(name, kind):
    return load_ascendc(
        name,
        {kernel!r},
        f"{{name}}({{kind}} x, Tensor(a!) y, int count) -> ()",
        kernel="tiles",
        launch=lambda x, y, count: (1, (x, y, count)),
        extra_cflags=("-O1",),
        build_directory={folder!r},
    )

tiles = load("tiles", "Tensor")
tiles_at = load("tiles_at", "int")

def ones(count):
    return torch.ones(count, device="npu")

def behind_by_a_part():
    x, other, y = ones(1000), ones(1000), ones(2000)
    tiles(x, y, 1024)
    return x, other

def never_written():
    x, y = torch.empty(2048, device="npu"), ones(2048)
    x[:1024] = 1
    tiles(x, y, 2048)
    return x, y  # what is freed before the kernel runs is not judged

def behind_by_tiles():
    x = ones(1024)
    other = ones(1024)  # the neighbour
    y = ones(2048)
    tiles(x, y, 1280)
    return x, other

def written_behind():
    x, y, other = ones(2000), ones(1000), ones(1000)
    tiles(x, y, 1024)
    torch.npu.synchronize()
    return y, other

def freed():
    x, y = ones(1024), ones(1024)
    address = x.data_ptr()
    del x
    tiles_at(address, y, 1024)

def behind_a_view():
    x, y = ones(1024), ones(2048)
    tiles(x[520:], y, 504)
    tiles(x[520:768], y, 512)

def legal_address():
    x, y = ones(1024), ones(1024)
    tiles_at(x.data_ptr(), y, 1024)
    torch.npu.synchronize()

def legal_late_free():
    y = torch.zeros(1024, device="npu")
    slow = torch.ones(1500, 1500, device="npu")
    for _ in range(4):
        slow = slow @ slow
    x = ones(1024)
    tiles(x, y, 1024)
    del x
    later = [torch.zeros(1024, device="npu") for _ in range(4)]
    torch.npu.synchronize()
    assert y.sum().item() == 1024

def legal_other_stream():
    x, y = ones(1024), ones(1024)
    side = torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        tiles(x, y, 1024)
    x.record_stream(side)
    del x
    torch.npu.current_stream().wait_stream(side)

def legal_last_unit():
    x, y = ones(25), ones(25)
    tiles(x, y, 32)

def legal_resized():
    x, y = ones(8), ones(4096)
    x.resize_(4096).fill_(1)
    tiles(x, y, 4096)
    y.untyped_storage().resize_(32768)
    tiles(x, y, 4096)

def legal_memory_that_is_used_again():
    y = ones(1024)
    for _ in range(200):
        x = torch.empty(1024, device="npu").fill_(1)
        tiles(x, y, 1024)
        del x

def legal_pool():
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        x, y = ones(1024), ones(1024)
    tiles(x, y, 1024)
    torch.npu.synchronize()

def legal_memory_of_the_program():
    runtime = ctypes.CDLL(torch_npu._load.bound_library())
    address = ctypes.c_void_p()
    assert runtime.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(8192), 0) == 0
    y = ones(2048)
    tiles_at(address.value, y, 2048)
    torch.npu.synchronize()
    assert runtime.aclrtFree(address) == 0

for name in sys.argv[1:]:
    print("CASE", name, flush=True)
    try:
        kept = globals()[name]()
        torch.npu.synchronize()
        print("no error", flush=True)
    except RuntimeError as error:
        print("ERROR", flush=True)
    kept = None
"""
GENERATED = '    return torch.ones(count, device="npu")'
WRONG = [
    "never_written",
    "behind_by_a_part",
    "behind_by_tiles",
    "written_behind",
    "freed",
    "behind_a_view",
]
LEGAL = [
    line.removeprefix("def ").removesuffix("():")
    for line in PROGRAM.splitlines()
    if line.startswith("def legal_")
]


def _line(text: str) -> int:
    return PROGRAM.splitlines().index(text) + 1


def _compiled_arena(folder: Path) -> str:
    source, library = folder / "arena.c", folder / "libarena.so"
    source.write_text(ARENA)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return str(library)


@pytest.fixture(scope="module", params=["default", "expandable", "pluggable", "uncached"])
def cases(request, tmp_path_factory):
    """What each case prints, with an allocator each."""
    folder = tmp_path_factory.mktemp("tensors")
    program = folder / "program.py"
    arena = _compiled_arena(folder) if request.param == "pluggable" else ""
    program.write_text(
        PROGRAM.format(kernel=str(KERNEL), folder=str(folder / "built"), arena=arena)
    )
    names = ("SOFTNPU_KERNEL_SCHEDULE", "PYTORCH_NPU_ALLOC_CONF")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    environment |= {"SOFTNPU_KERNEL_CHECK": "1", "TASK_QUEUE_ENABLE": "1"}
    if request.param == "expandable":
        environment["PYTORCH_NPU_ALLOC_CONF"] = "expandable_segments:True"
    if request.param == "uncached":
        environment["PYTORCH_NO_NPU_MEMORY_CACHING"] = "1"
    result = subprocess.run(
        [sys.executable, str(program), *WRONG, *LEGAL],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout
    parts = [part.partition("\n") for part in result.stdout.split("CASE ")[1:]]
    return {name: text for name, _, text in parts}


def test_a_read_behind_the_end_names_the_tensor_and_its_line(cases):
    text = cases["behind_by_a_part"]
    assert (
        "memcheck: DataCopy reads 96 bytes behind the end of a tensor of 4000 bytes at 0x" in text
    )
    assert f"program.py:{_line(GENERATED)}" in text
    assert "launched at" in text
    assert f"program.py:{_line('    tiles(x, y, 1024)')}" in text
    assert "ERROR" in text


def test_tiles_of_a_neighbour_are_reported(cases):
    text = cases["behind_by_tiles"]
    assert "memcheck: DataCopy reads a tensor that no argument of the kernel points to" in text
    assert "it begins at byte 0 of a tensor of 4096 bytes at 0x" in text
    assert "the kernel's tensor before it: a tensor of 4096 bytes at 0x" in text
    assert "ERROR" in text


def test_a_write_behind_the_end_names_the_tensor(cases):
    text = cases["written_behind"]
    assert (
        "memcheck: DataCopy writes 96 bytes behind the end of a tensor of 4000 bytes at 0x" in text
    )
    assert "ERROR" in text


def test_an_access_to_a_freed_tensor_is_reported(cases, request):
    text = cases["freed"]
    if request.node.callspec.params["cases"] == "uncached":
        # Its memory went back to the device.
        assert "memcheck: DataCopy reads global memory that is not allocated" in text
    else:
        assert "memcheck: DataCopy reads a tensor that was freed" in text
        assert "it begins at byte 0 of a freed tensor of 4096 bytes at 0x" in text
    assert "ERROR" in text


def test_a_view_ends_with_its_storage(cases):
    text = cases["behind_a_view"]
    assert text.count("memcheck:") == 1
    assert "DataCopy reads 32 bytes behind the end of a tensor of 4096 bytes at 0x" in text
    assert "it begins at byte 3104 of a tensor of 4096 bytes at 0x" in text
    assert "ERROR" in text


def test_a_read_of_what_nothing_has_written_is_reported(cases):
    text = cases["never_written"]
    assert "initcheck: DataCopy reads bytes of global memory that nothing has written" in text
    assert "in byte 4096 of a tensor of 8192 bytes at 0x" in text
    assert "ERROR" in text


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_is_not_reported(cases, name):
    assert "=========" not in cases[name]
    assert cases[name].strip() == "no error"
