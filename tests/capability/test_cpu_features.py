"""The limit of the instruction set applies to softnpu's oneDNN and not to PyTorch's."""

import os
from functools import cache

import fresh
import pytest
import torch

# The values of dnnl_cpu_isa_t in oneDNN's documentation.
AVX2, AVX512_CORE = 0x7, 0x27

# softnpu's copy is found through the library that is linked with it.
PROGRAM = """
import ctypes, torch, torch_npu
from torch_npu import _load
a = torch.arange(64.0 * 64).view(64, 64).remainder(5)
assert torch.equal((a.npu() @ a.npu()).cpu(), a @ a)  # the limit is set at the first use
assert torch_npu._C.aclnn_launches() == 1
isa = ctypes.CDLL(_load.bound_library("libopapi.so")).dnnl_get_effective_cpu_isa()
print(isa, torch.backends.cpu.get_cpu_capability())
"""


@cache
def effective(**env) -> tuple[int, str]:
    """The instruction set of softnpu's oneDNN, and the capability of PyTorch's own kernels."""
    free = {"ONEDNN_MAX_CPU_ISA": "", "ATEN_CPU_CAPABILITY": "", "SOFTNPU_CPU_CAPABILITY": ""}
    isa, aten = fresh.output(PROGRAM, **{**free, **env}).split(" ", 1)
    return int(isa), aten


def test_the_limit_takes_effect():
    machine, aten = effective()
    assert effective(SOFTNPU_CPU_CAPABILITY="default") == (machine, aten)
    assert effective(SOFTNPU_CPU_CAPABILITY="avx512") == (machine & AVX512_CORE, aten)
    assert effective(SOFTNPU_CPU_CAPABILITY="avx2") == (machine & AVX2, aten)


def test_it_overrides_onednns_own_variable():
    machine, _ = effective()
    limited = effective(SOFTNPU_CPU_CAPABILITY="avx512", ONEDNN_MAX_CPU_ISA="SSE41")[0]
    assert limited == machine & AVX512_CORE


def test_a_malformed_value_is_named():
    message = fresh.output(
        "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())",
        SOFTNPU_CPU_CAPABILITY="sse",
    )
    assert message.startswith("False")
    assert (
        "SOFTNPU_CPU_CAPABILITY=sse is not understood: it takes default, avx2 or avx512" in message
    )


@pytest.mark.skipif("ATEN_CPU_CAPABILITY" not in os.environ, reason="no limit is set for this run")
def test_this_run_is_limited():
    """For ./dev test's configuration avx2: every library of this process is limited to AVX2."""
    assert torch.backends.cpu.get_cpu_capability() == "AVX2"
    isa, aten = fresh.output(PROGRAM).split(" ", 1)
    assert int(isa) & ~AVX2 == 0
    assert aten == "AVX2"
    convolution = "import torch; torch.nn.Conv2d(64, 64, 3)(torch.ones(4, 64, 40, 40))"
    verbose = fresh.output(convolution, ONEDNN_VERBOSE="1")
    assert "isa:Intel AVX2" in verbose
    assert "avx512" not in verbose
