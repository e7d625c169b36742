"""Sharing between processes through the C ABI alone, by ctypes: physical memory, permissions, and events."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "build/python/torch_npu/lib/cann/libascendcl.so"

# Common setup: device 0, one granule of addresses, and functions that raise.
COMMON = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
P, U, S = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
GRANULE = 2 << 20
signatures = {
    "aclrtReserveMemAddress": [P, S, S, P, U],
    "aclrtMapMem": [P, S, S, P, U],
    "aclrtMallocPhysical": [P, S, P, U],
    "aclrtMemExportToShareableHandle": [P, ctypes.c_int, U, P],
    "aclrtMemSetPidToShareableHandle": [U, P, S],
    "aclrtMemImportFromShareableHandle": [U, ctypes.c_int32, P],
    "aclrtMemcpy": [P, S, P, S, ctypes.c_int],
}
for name, arguments in signatures.items():
    getattr(acl, name).argtypes = arguments

def call(name, *arguments):
    if code := getattr(acl, name)(*arguments):
        raise RuntimeError(f"{code}: {acl.aclGetRecentErrMsg().decode()}")

call("aclInit", None)
call("aclrtSetDevice", 0)
address, physical = P(), P()
call("aclrtReserveMemAddress", ctypes.byref(address), GRANULE, 0, None, 0)
"""

PARENT = (
    COMMON
    + """
class Property(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in ("handle", "allocation", "memory", "device", "where")] + [("reserve", U)]

prop = Property(0, 0, 4, 0, 1, 0)
call("aclrtMallocPhysical", ctypes.byref(physical), GRANULE, ctypes.byref(prop), 0)
call("aclrtMapMem", address, GRANULE, 0, physical, 0)
call("aclrtMemcpy", address, 5, b"hello", 5, 1)
number = U()
call("aclrtMemExportToShareableHandle", physical, 0, 0, ctypes.byref(number))
print(number.value, flush=True)
while (pid := sys.stdin.readline().strip()):
    call("aclrtMemSetPidToShareableHandle", number, ctypes.byref(ctypes.c_int32(int(pid))), 1)
    print("allowed", flush=True)
back = ctypes.create_string_buffer(5)
call("aclrtMemcpy", back, 5, address, 5, 2)
print(back.raw.decode(), flush=True)
"""
)

CHILD = (
    COMMON
    + """
number = U(int(sys.stdin.readline()))
for _ in range(2):
    try:
        call("aclrtMemImportFromShareableHandle", number, 0, ctypes.byref(physical))
        break
    except RuntimeError as error:
        print(error, flush=True)
        sys.stdin.readline()
call("aclrtMapMem", address, GRANULE, 0, physical, 0)
seen = ctypes.create_string_buffer(5)
call("aclrtMemcpy", seen, 5, address, 5, 2)
call("aclrtMemcpy", address, 5, b"world", 5, 1)
print(seen.raw.decode(), flush=True)
"""
)


def start(program):
    return subprocess.Popen(
        [sys.executable, "-c", program, str(LIBRARY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def tell(process, line):
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_physical_memory_is_shared_only_with_named_processes():
    with start(PARENT) as parent, start(CHILD) as child:
        number = parent.stdout.readline().strip()
        tell(child, number)
        refused = child.stdout.readline()
        assert refused.startswith("207006: ")  # ACL_ERROR_RT_NO_PERMISSION
        assert f"has not named process {child.pid}" in refused
        tell(parent, child.pid)
        assert parent.stdout.readline() == "allowed\n"
        tell(child, "again")
        assert child.stdout.readline() == "hello\n"
        assert child.wait(60) == 0
        parent.stdin.close()
        assert parent.stdout.readline() == "world\n"
        assert parent.wait(60) == 0


# Parametrised names must be the same in every collecting process: this process's own number is used in the test.
NAMES_NOTHING = {
    "zero": lambda: 0,
    "serial 0": lambda: 1 << 32,
    "a process that cannot be": lambda: (1 << 63) - 1,
    "memory that was never shared": lambda: os.getpid() << 32 | 1,
}


@pytest.mark.parametrize("name", NAMES_NOTHING)
def test_an_unknown_shareable_handle_is_an_error(name):
    number = NAMES_NOTHING[name]()
    program = COMMON + (
        "\ncode = acl.aclrtMemImportFromShareableHandle(int(sys.argv[2]), 0, ctypes.byref(physical))"
        "\nprint(code, acl.aclGetRecentErrMsg().decode())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program, str(LIBRARY), str(number)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.startswith("107000 ")  # ACL_ERROR_RT_PARAM_INVALID
    assert f"the shareable handle {number} names no memory" in printed
