"""aclGetRecentErrMsg: the text is that of the thread's newest failing call, for every function that the libraries export."""

import json
import re
from pathlib import Path

import fresh
import pytest

from softnpu.abi import tables

BUILT = Path(__file__).resolve().parents[2] / "build/python/torch_npu"
# Those about errors themselves, and those that end the use of the device.
LEFT_OUT = {
    "aclGetRecentErrMsg", "aclrtGetLastError", "aclrtPeekAtLastError", "aclFinalize", "aclFinalizeReference",
}  # fmt: skip
# Null says that the cache has no such call.
NO_FAILURE = {"PTAGetExecCache", "PTAFindExecCache"}
DECLARATION = re.compile(r"ACL_FUNC_VISIBILITY\s+([\w\s*]+?)(\w+)\(([^;]*)\);")

PREFIX = """
import ctypes, json, sys, threading
folder = sys.argv[1]
acl = ctypes.CDLL(folder + "/libascendcl.so")
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
def recent():
    said = acl.aclGetRecentErrMsg()
    return said and said.decode()
assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
"""

# Calls each function with zeros after a failure of another one; prints {name: [result, text]}.
CALL = (
    PREFIX
    + """
said = {}
for library, name, returns, count in json.loads(sys.argv[2]):
    function = getattr(ctypes.CDLL(folder + "/" + library), name)
    function.restype = None if returns == "void" else ctypes.c_void_p if "*" in returns else ctypes.c_int
    assert acl.aclrtSetDevice(-7) != 0
    result = function(*[ctypes.c_void_p()] * count)
    said[name] = [result, recent()]
    assert recent() is None, "a text is handed out once"
print(json.dumps(said))
"""
)

# Prints what the thread reads after the calls of each case.
CASES = (
    PREFIX
    + """
out = ctypes.c_void_p()
def elsewhere(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
cases = {
    "repeated aclInit": [lambda: acl.aclInit(None)],
    "repeated aclInit, success": [lambda: acl.aclInit(None), lambda: acl.aclrtSetDevice(0)],
    "repeated aclInit, failure": [lambda: acl.aclInit(None), lambda: acl.aclrtSetDevice(-7)],
    "failure, success": [lambda: acl.aclrtSetDevice(-7), lambda: acl.aclrtSetDevice(0)],
    "failure, failure": [lambda: acl.aclrtSetDevice(-7), lambda: acl.aclrtMalloc(None, 8, 0)],
    "failure of another thread": [lambda: elsewhere(lambda: acl.aclrtSetDevice(-7))],
    "without a text": [lambda: acl.aclrtSetDevice(-7), lambda: acl.softnpuSetRecentError(b"aclF", 7, b"")],
    "a stream that does not exist": [
        lambda: acl.aclrtSynchronizeStreamWithTimeout(ctypes.c_void_p(8), 5)
    ],
    "null info": [lambda: acl.aclrtSetDevice(-7), lambda: acl.aclrtGetTaskIdFromExceptionInfo(None)],
}
said = {}
for name, calls in cases.items():
    for call in calls:
        call()
    said[name] = [recent(), acl.aclrtGetLastError(0)]
print(json.dumps(said))
"""
)
SET_DEVICE = "aclrtSetDevice: device -7 does not exist"


def functions():
    """``(library, name, type, number of arguments)`` of the table's functions and of those of the aclnn headers."""
    found = [
        (f.library, f.name, f.returns or "aclError", f.parameter_count) for f in tables.functions()
    ]
    for library, headers in ("libnnopbase.so", "aclnn"), ("libopapi.so", "aclnnop"):
        for path in sorted((BUILT / "cann/include" / headers).glob("*.h")):
            for returns, name, parameters in DECLARATION.findall(path.read_text()):
                count = 0 if parameters in ("", "void") else parameters.count(",") + 1
                found.append((library, name, returns.strip(), count))
    return sorted({row for row in found if row[1] not in LEFT_OUT})


CODES = ("aclError", "aclnnStatus", "rtError_t", "int32_t")


def fails(returns, result):
    """Whether the result is an error code, or null instead of an object."""
    if "*" in returns:
        return result is None
    return returns in CODES and result != 0


@pytest.fixture(scope="module")
def message():
    return json.loads(fresh.output(CALL, str(BUILT / "lib/cann"), json.dumps(functions())))


@pytest.fixture(scope="module")
def texts():
    return json.loads(fresh.output(CASES, str(BUILT / "lib/cann")))


def test_each_failing_function_speaks_of_itself(message):
    """Both phases of an operator speak by its name."""
    wrong = {}
    failing = 0
    for _, name, returns, _ in functions():
        result, text = message[name]
        if name in NO_FAILURE or not fails(returns, result):
            continue
        failing += 1
        own = name.removesuffix("GetWorkspaceSize")
        if not re.match(rf"{name}: \S|{own}: \S", text or ""):
            wrong[name] = text
    assert wrong == {}
    # The others, as libdcmi's and marks, have codes of their own or none.
    speaking = [name for _, name, returns, _ in functions() if "*" in returns or returns in CODES]
    assert failing > len(speaking) * 0.9


def test_no_function_speaks_of_a_third_one(message):
    """What does not fail leaves the text of the failure before it."""
    wrong = {
        name: text
        for name, (_, text) in message.items()
        if not (text or "").startswith((f"{name.removesuffix('GetWorkspaceSize')}: ", SET_DEVICE))
        and not (text or "").startswith(f"{name}: ")
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("case", "text", "code"),
    [
        ("repeated aclInit", "aclInit: aclInit was called before [error 100002]", 100002),
        ("repeated aclInit, success", None, 0),
        ("repeated aclInit, failure", SET_DEVICE, 107001),
        ("failure, success", SET_DEVICE, 107001),
        ("failure, failure", "aclrtMalloc: devPtr is null", 100000),
        ("failure of another thread", None, 0),
        ("without a text", "aclF: failed without a text of its own [error 7]", 7),
        (
            "a stream that does not exist",
            "aclrtSynchronizeStreamWithTimeout: stream 0x8 does not exist",
            107003,
        ),
        ("null info", "aclrtGetTaskIdFromExceptionInfo: info is null", 100000),
    ],
)
def test_the_text_is_that_of_the_newest_failing_call(texts, case, text, code):
    found, error = texts[case]
    assert error == code
    assert found == text if text is None else found.startswith(text)
