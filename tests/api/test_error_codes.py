"""Codes and texts of errors, and the exception classes."""

import ast
import re
from pathlib import Path

import fresh
import pytest
import torch

from torch_npu.utils import _error_code
from torch_npu.utils._error_code import (
    ErrCode,
    dist_error,
    graph_error,
    ops_error,
    prof_error,
    pta_error,
)

LINE = re.compile(
    r"\n\[ERROR\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d \(PID:\d+, Device:-?\d+, RankID:-1\) ERR(\d\d)(\d{3}) ([A-Z]+) (.+)"
)


@pytest.mark.api(
    "torch_npu.utils._error_code.ErrCode",
    "torch_npu.utils._error_code.pta_error",
    "torch_npu.utils._error_code.ops_error",
    "torch_npu.utils._error_code.dist_error",
    "torch_npu.utils._error_code.graph_error",
    "torch_npu.utils._error_code.prof_error",
)
@pytest.mark.parametrize(
    ("function", "error", "expected"),
    [
        (pta_error, ErrCode.PARAM, ("00", "001", "PTA", "invalid parameter")),
        (ops_error, ErrCode.NOT_SUPPORT, ("01", "007", "OPS", "feature not supported")),
        (dist_error, ErrCode.HCCL, ("02", "200", "DIST", "call hccl api failed")),
        (graph_error, ErrCode.GE, ("03", "300", "GRAPH", "call ge api failed")),
        (prof_error, ErrCode.TIMEOUT, ("04", "011", "PROF", "timeout error")),
    ],
)
def test_a_line_has_its_module_and_code(function, error, expected):
    assert isinstance(error, ErrCode)
    assert LINE.fullmatch(function(error)).groups() == expected
    assert (error.code, error.msg) == (int(expected[1]), expected[3])


def test_the_line_names_the_current_device():
    torch.ones(1, device="npu")
    assert f"Device:{torch.npu.current_device()}," in pta_error(ErrCode.ACL)


@pytest.mark.api("torch_npu.utils._error_code.get_env_compact_error_output")
def test_compact_output_omits_the_line(monkeypatch):
    assert _error_code.get_env_compact_error_output() == 0
    monkeypatch.setenv("TORCH_NPU_COMPACT_ERROR_OUTPUT", "1")
    assert _error_code.get_env_compact_error_output() == 1
    assert pta_error(ErrCode.PARAM) == ""


def test_errors_end_with_the_line():
    with pytest.raises(TypeError, match="npu option must be a dict") as raised:
        torch.npu.set_option("jitCompile")
    assert LINE.search(str(raised.value)).groups()[:2] == ("00", "001")


@pytest.mark.api("torch.npu.OutOfMemoryError", "torch.npu.AcceleratorError")
def test_memory_that_does_not_suffice_has_its_exception():
    assert torch.npu.OutOfMemoryError is torch.OutOfMemoryError
    assert torch.npu.AcceleratorError is torch.AcceleratorError
    assert issubclass(torch.npu.DeferredNpuCallError, RuntimeError)
    with pytest.raises(torch.npu.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="npu")


WRONG_ARGUMENTS = {
    "fraction": (lambda: torch.npu.set_per_process_memory_fraction("1"), TypeError, "must be `float`", "ERR00002 PTA invalid type"),
    "fraction of two": (lambda: torch.npu.set_per_process_memory_fraction(2.0), ValueError, "fraction value: 2.0", "ERR00003 PTA invalid value"),
    "rounding mode": (lambda: torch.div(X(), X(), rounding_mode="test"), RuntimeError, "found 'test'", "ERR01001 OPS invalid parameter"),
    "rule": (lambda: X() @ torch.ones(3, device="npu"), RuntimeError, "size", "ERR01001 OPS invalid parameter"),
    "kernel": (lambda: torch.linalg.svd(X()), RuntimeError, "at least 2 dimensions", "ERR01001 OPS invalid parameter"),
    "dimension": (lambda: X().cumsum(3), IndexError, "Dimension out of range", "ERR01001 OPS invalid parameter"),
    "type": (lambda: torch.i0(X().to(torch.complex64)), NotImplementedError, "not implemented for", "ERR01007 OPS feature not supported"),
}  # fmt: skip


def X():  # noqa: N802
    return torch.ones(2, device="npu")


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_errors_of_wrong_arguments_have_their_code(name):
    call, kind, text, code = WRONG_ARGUMENTS[name]
    with pytest.raises(kind, match=text) as raised:
        call()
    message = str(raised.value)
    assert type(raised.value) is kind
    assert message.count("[ERROR]") == 1
    assert "ERR{} {}".format("".join(LINE.search(message).groups()[:2]), " ".join(LINE.search(message).groups()[2:])) == code  # fmt: skip


def raised_without_code(source: str) -> list[int]:
    """Lines that raise a TypeError or ValueError whose text does not end with a code."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and getattr(node.exc.func, "id", "") in ("TypeError", "ValueError")
        and "pta_error(" not in ast.unparse(node.exc)
    ]


def test_every_refusal_of_torch_npu_has_a_code():
    assert raised_without_code("raise TypeError('no')\nraise ValueError('a' + pta_error(x))") == [1]
    files = sorted(Path(_error_code.__file__).parents[1].glob("npu/**/*.py"))
    assert len(files) > 30
    missing = {
        file.name: lines for file in files if (lines := raised_without_code(file.read_text()))
    }
    assert missing == {}


def test_compact_output_omits_the_line_of_operators_too():
    program = """
import torch
x = torch.ones(2, device="npu")
for call in (lambda: torch.div(x, x, rounding_mode="test"), lambda: torch.npu.set_device(99)):
    try:
        call()
    except RuntimeError as error:
        print("[ERROR]" in str(error))
"""
    assert fresh.output(program, TORCH_NPU_COMPACT_ERROR_OUTPUT="1") == "False\nFalse"
    assert fresh.output(program) == "True\nTrue"


def test_the_line_has_no_device_before_it_is_used():
    program = """
import torch
from torch_npu.utils._error_code import ErrCode, pta_error
print("Device:-1," in pta_error(ErrCode.PARAM), torch.npu.is_initialized())
"""
    assert fresh.output(program) == "True False"
