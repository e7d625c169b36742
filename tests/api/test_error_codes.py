"""Codes and texts of errors, and the exception classes."""

import re

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


def test_the_line_has_no_device_before_it_is_used():
    program = """
import torch
from torch_npu.utils._error_code import ErrCode, pta_error
print("Device:-1," in pta_error(ErrCode.PARAM), torch.npu.is_initialized())
"""
    assert fresh.output(program) == "True False"
