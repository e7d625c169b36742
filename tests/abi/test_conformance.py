"""The libraries against the tables in softnpu/abi, through ctypes, without torch in the process.

The headers' declarations are checked against the same tables when softnpu's C++ tests are compiled
(softnpu/abi/checks.py).
"""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import fresh
import pytest
from rich.console import Console
from rich.table import Table

from softnpu.abi import tables

FOLDER = Path(__file__).resolve().parents[2] / "build/python/torch_npu/lib/cann"
FUNCTIONS = tables.functions()
LIBRARIES = sorted({function.library for function in FUNCTIONS})
UNSUPPORTED = [function for function in FUNCTIONS if function.status == "unsupported"]

# Calls each function with zeros, which fit every integer and pointer, and prints {name: [result, newest error text]}.
CALL = """
import ctypes, json, sys
libraries = {}
acl = ctypes.CDLL(sys.argv[1] + "/libascendcl.so")
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
said = {}
for library, name, returns, count in json.loads(sys.argv[2]):
    owner = libraries.setdefault(library, ctypes.CDLL(sys.argv[1] + "/" + library))
    try:
        function = getattr(owner, name)
    except AttributeError:
        said[name] = "missing"
        continue
    function.restype = {"void": None, "double": ctypes.c_double}.get(returns, ctypes.c_void_p if "*" in returns else ctypes.c_int)
    result = function(*[ctypes.c_void_p()] * count)
    message = acl.aclGetRecentErrMsg()
    said[name] = [result, message and message.decode()]
assert "torch" not in sys.modules
print(json.dumps(said))
"""

# Opens one library and looks names up in it and in its dependencies.
LOOK_UP = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(*(name for name in sys.argv[2:] if not hasattr(library, name)))
"""


def exported(library):
    """The symbols that `library` itself exports."""
    printed = subprocess.run(
        ["nm", "-D", "--defined-only", FOLDER / library], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1] for line in printed.splitlines()}


@pytest.fixture(scope="module")
def recorded():
    calls = [[f.library, f.name, f.returns, f.parameter_count] for f in UNSUPPORTED]
    return json.loads(fresh.output(CALL, str(FOLDER), json.dumps(calls)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_function_is_exported_by_its_library(library):
    wanted = {function.name for function in FUNCTIONS if function.library == library}
    assert sorted(wanted - exported(library)) == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_cann_function_outside_of_the_table_is_exported(library):
    known = {function.name for function in FUNCTIONS if function.library == library}
    canns = {name for name in exported(library) if re.match(r"acl|rt[A-Z]|Msprof|Hccl|ge", name)}
    assert sorted(canns - known) == []


@pytest.mark.parametrize("how", ["link", "dlsym"])
def test_the_official_wheels_look_ups_are_exported(how):
    """A linked symbol may be in any loaded library; a looked-up one must be in the library that is named."""
    everywhere = set().union(*map(exported, LIBRARIES))
    missing = [
        function.name
        for function in FUNCTIONS
        if function.wheel == how
        and function.name not in (everywhere if how == "link" else exported(function.library))
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["aclSetCompileopt", "aclInit", "aclrtGetSysParamOpt"])
def test_the_op_compiler_also_exports_runtime_functions(name):
    """The official wheel looks up some of the runtime's functions in libacl_op_compiler.so."""
    assert fresh.output(LOOK_UP, str(FOLDER / "libacl_op_compiler.so"), name) == ""


LACKING = [
    "c_sec", "ge_runner", "metadef", "op_common", "opapi_nn", "platform", "profapi",
    "register", "runtime",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["hccl", "hcomm", "acl_tdt_channel", "fmk_onnx_parser", "ge_compiler", "graph", *LACKING],
)
def test_libraries_that_programs_are_linked_with_load(name):
    assert fresh.output(LOOK_UP, str(FOLDER / f"lib{name}.so")) == ""


@pytest.mark.parametrize("name", LACKING)
def test_libraries_without_functions_of_their_own_say_so(name):
    log = {"ASCEND_GLOBAL_LOG_LEVEL": "1", "ASCEND_SLOG_PRINT_TO_STDOUT": "1"}
    recorded = fresh.output(LOOK_UP, str(FOLDER / f"lib{name}.so"), **log)
    assert re.search(rf"lib{name}\.so was loaded: \S+( \S+){{4,}}", recorded), recorded


@pytest.mark.parametrize(
    ("name", "function"),
    [("runtime", "rtKernelLaunch"), ("profapi", "MsprofReportApi"), ("opapi_nn", "aclnnAdd")],
)
def test_functions_are_found_through_the_other_names(name, function):
    assert fresh.output(LOOK_UP, str(FOLDER / f"lib{name}.so"), function) == ""


@pytest.mark.parametrize("function", UNSUPPORTED, ids=lambda function: function.name)
def test_unimplemented_functions_return_an_error(recorded, function):
    assert recorded[function.name] != "missing"
    result, message = recorded[function.name]
    # "": no permitted source has the prototype.
    codes = {"aclError": 200006, "": 200006, "rtError_t": 0x17, "HcclResult": 5}
    is_number = "*" not in function.returns and function.returns != "void"
    # null for pointers, nothing for void
    assert result == codes.get(function.returns, 0 if is_number else None)
    assert re.fullmatch(rf"{function.name}: \S+( \S+){{4,}} \[error 200006\]", message), message


def test_the_counts_are_shown(capsys):
    """Prints the coverage of each library."""
    shown = Table("library", *tables.STATUSES, "exported", title="CANN's C ABI")
    total = Counter()
    for library in LIBRARIES:
        own = [function for function in FUNCTIONS if function.library == library]
        count = Counter(function.status for function in own)
        count["exported"] = len({function.name for function in own} & exported(library))
        total += count
        shown.add_row(library, *(str(count[key]) for key in (*tables.STATUSES, "exported")))
    shown.add_row("together", *(str(total[key]) for key in (*tables.STATUSES, "exported")))
    with capsys.disabled():
        Console().print("\n", shown)
    assert sum(total[status] for status in tables.STATUSES) == len(FUNCTIONS)
