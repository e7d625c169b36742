"""The C ABI for any language: softnpu's libascendcl through ctypes, without torch in the process."""

import subprocess
from pathlib import Path

import fresh
import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "build/python/torch_npu/lib/cann/libascendcl.so"

PROGRAM = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
acl.aclrtGetSocName.restype = ctypes.c_char_p
p, n = ctypes.c_void_p(), ctypes.c_size_t
acl.aclrtMemcpy.argtypes = [ctypes.c_void_p, n, ctypes.c_void_p, n, ctypes.c_int]
acl.aclrtMemset.argtypes = [ctypes.c_void_p, n, ctypes.c_int, n]
acl.aclrtMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), n, ctypes.c_int]
acl.aclrtFree.argtypes = [ctypes.c_void_p]
count = ctypes.c_uint32()
assert acl.aclrtGetDeviceCount(ctypes.byref(count)) == 0 and count.value == 1
assert acl.aclrtMalloc(ctypes.byref(p), 1000, 0) == 100001
print(acl.aclGetRecentErrMsg().decode())
assert acl.aclrtSetDeviceSatMode(7) == 100000 and acl.aclrtSetDeviceSatMode(1) == 0
assert acl.aclrtSetDevice(0) == 0  # initializes by itself
assert acl.aclInit(None) == 100002
left = ctypes.c_uint64(9)
assert acl.aclInit(None) == 100002
assert acl.aclFinalizeReference(ctypes.byref(left)) == 0 and left.value == 1
assert acl.aclrtMalloc(ctypes.byref(p), 1000, 0) == 0
assert acl.aclrtMemset(p, 1000, 7, 1000) == 0
host = ctypes.create_string_buffer(1000)
assert acl.aclrtMemcpy(host, 1000, p, 1000, 2) == 0 and host.raw == b"\\7" * 1000
assert acl.aclrtMemcpy(host, 1000, p, 1001, 2) == 100000
print(acl.aclGetRecentErrMsg().decode())
assert acl.aclrtMemcpy(p, 5000, host, 1001, 1) == 107000
print(acl.aclGetRecentErrMsg().decode())
stream, event = ctypes.c_void_p(), ctypes.c_void_p()
assert acl.aclrtCreateStream(ctypes.byref(stream)) == 0
assert acl.aclrtCreateEvent(ctypes.byref(event)) == 0
assert acl.aclrtRecordEvent(event, stream) == 0 and acl.aclrtSynchronizeEvent(event) == 0
assert acl.aclrtDestroyEvent(event) == 0 and acl.aclrtDestroyStream(stream) == 0
assert acl.aclrtFree(p) == 0 and acl.aclrtFree(p) == 107000
assert acl.aclrtResetDevice(0) == 0 and acl.aclFinalize() == 0
assert acl.aclrtSetDevice(0) == 100001
print(acl.aclGetRecentErrMsg().decode())
print(acl.aclrtGetSocName().decode(), "torch" in sys.modules)
"""


def test_a_program_without_torch():
    lines = fresh.output(PROGRAM, str(LIBRARY)).splitlines()
    assert (
        "aclInit was not called: it, or aclrtSetDevice, comes before all that uses the NPU"
        in lines[0]
    )
    assert "a copy of 1001 bytes into a destination of 1000 bytes" in lines[1]
    assert "runs past its allocation: 1001 bytes at byte 0 of 1000" in lines[2]
    assert "aclFinalize was called: the NPU can be used after another aclInit" in lines[3]
    assert lines[4] == "Ascend910B1 False"


REPORTS = """
import ctypes, sys, threading
acl = ctypes.CDLL(sys.argv[1])
stream, thread = ctypes.c_void_p(), ctypes.c_uint64(threading.get_ident())
assert acl.aclrtSetDevice(0) == 0 and acl.aclInit(None) == 100002
assert acl.aclrtProcessReport(1) == 107012  # serves no stream yet
assert acl.aclrtCreateStream(ctypes.byref(stream)) == 0
assert acl.aclrtSubscribeReport(thread, stream) == 0
assert acl.aclrtProcessReport(1) == 507012
assert acl.aclrtUnSubscribeReport(thread, stream) == 0
"""


@pytest.mark.parametrize("level", ["3", "1"], ids=["errors", "information"])
def test_waits_for_reports_are_no_errors(level):
    log = {"ASCEND_GLOBAL_LOG_LEVEL": level, "ASCEND_SLOG_PRINT_TO_STDOUT": "1"}
    message = fresh.output(REPORTS, str(LIBRARY), **log)
    if level == "3":
        assert message == ""
    else:
        assert "no stream launched a callback within 1 ms" in message
        assert "call aclrtSubscribeReport first" in message


def test_no_torch_in_the_library():
    printed = subprocess.run(
        ["ldd", str(LIBRARY)], capture_output=True, text=True, check=True
    ).stdout
    needed = {Path(line.split()[0]).name for line in printed.splitlines()}
    assert {"libc.so.6", "libstdc++.so.6"} <= needed
    assert not [name for name in needed if "torch" in name or "c10" in name]
