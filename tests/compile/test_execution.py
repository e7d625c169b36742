"""torch.compile on npu: how generated kernels run."""

import platform
import re
import subprocess

import fresh
import pytest
import torch
from compiled import check_near
from gated import Gate

import torch_npu
from torch_npu import _C


def _wave(x):
    return (x * 2).sin() + 1


def test_the_host_does_not_wait_and_order_is_kept():
    compiled = torch.compile(_wave)
    x = torch.randn(256, 256, device="npu") / 16
    compiled(x @ x)
    torch.npu.synchronize()
    waits = torch_npu.utils.synchronizations()
    with Gate(torch.npu.current_stream()):
        product = x @ x
        result = compiled(product)
        follows = result @ result
        assert not torch.npu.current_stream().query()
        assert torch_npu.utils.synchronizations() == waits
    check_near(result, _wave(product.cpu()))
    check_near(follows, result.cpu() @ result.cpu(), terms=256)


def test_memory_that_is_freed_meanwhile():
    """A buffer of the graph is used again by a call behind it only."""
    compiled = torch.compile(lambda x: (_wave(x) @ x).cos())
    x = torch.randn(2048, 2048, device="npu") / 64
    expected = compiled(x).cpu()
    with Gate(torch.npu.current_stream()):
        results = [compiled(x) for _ in range(4)]
    assert all(torch.equal(result.cpu(), expected) for result in results)


def test_the_current_stream():
    compiled = torch.compile(_wave)
    x = torch.randn(1000, device="npu")
    stream = torch.npu.Stream()
    torch.npu.synchronize()
    with torch.npu.stream(stream):
        result = compiled(x)
    stream.synchronize()
    check_near(result, _wave(x.cpu()))


def test_packed_weights_follow_a_kernel_that_writes():
    weight, x = torch.randn(256, 256).npu(), torch.randn(128, 256).npu()
    double = torch.compile(lambda w: w.mul_(2))
    for _ in range(3):
        for _ in range(3):
            x @ weight  # packs the weight
        double(weight)
        check_near(x @ weight, x.cpu() @ weight.cpu(), terms=256)


def test_an_index_out_of_range_is_reported_by_a_wait():
    compiled = torch.compile(lambda x, i: x[i] + 1)
    x = torch.randn(10, device="npu")
    compiled(x, torch.tensor([1, 20]).npu())
    with pytest.raises(IndexError, match="index out of bounds") as raised:
        torch.npu.synchronize()
    assert ".cpp" not in str(raised.value)


def test_a_division_by_zero_is_reported_by_a_wait():
    compiled = torch.compile(lambda a, b: a // b)
    compiled(torch.arange(10).npu(), torch.zeros(10, dtype=torch.int64).npu())
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.npu.synchronize()


def test_threads_are_those_of_softnpu():
    from torch._inductor.utils import fresh_cache

    x = torch.randn(1 << 16, 64)
    with fresh_cache():
        from torch_npu._inductor import compile as compiling

        known = set(compiling._NpuCodeCache.cache)
        result = torch.compile(lambda x: (x.exp() + 1).log().sum())(x.npu())
        check_near(result, (x.double().exp() + 1).log().sum().float(), terms=x.numel())
        loaded = [
            compiling._NpuCodeCache.cache[key]()
            for key in compiling._NpuCodeCache.cache.keys() - known
        ]
        assert loaded
        for library in loaded:
            listed = subprocess.run(
                ["nm", "-D", "--undefined-only", library._name],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            assert not re.search(r"\b(GOMP_|omp_)", listed)


def test_import_torch_imports_no_compiler():
    code = "import sys, torch; print(*{'torch._dynamo', 'torch._inductor'} & set(sys.modules))"
    assert fresh.output(code) == ""


def test_wrong_arguments_of_a_kernel():
    from torch._inductor.async_compile import AsyncCompile

    from torch_npu._inductor.compile import compile_npu_kernel

    source = """
        #include <torch/csrc/inductor/cpp_prefix.h>
        extern "C" void kernel(const float* in, float* out, const int64_t count) {
          for (int64_t i = 0; i < count; ++i) out[i] = in[i] + 1;
        }
    """
    types = ["const float*", "float*", "const int64_t"]
    kernel = compile_npu_kernel(AsyncCompile(), "plus_one", 1, types, source)
    kernel = kernel if isinstance(kernel, _C.GeneratedKernel) else kernel.result()
    assert (kernel.name, kernel.signature) == ("plus_one", "rwi")
    x, out = torch.randn(4, device="npu"), torch.empty(4, device="npu")
    before = _C.generated_launches()
    for wrong in ((x, out), (x, 4, 4), (x, out, "4")):
        with pytest.raises(TypeError):
            kernel(*wrong)
    with pytest.raises(RuntimeError, match="cannot write a tensor on cpu"):
        kernel(x, out.cpu(), 4)
    assert _C.generated_launches() == before
    kernel(x.cpu(), out, 4)
    assert _C.generated_launches() == before + 1
    assert torch.equal(out, x + 1)


def test_the_cpp_wrapper_is_refused():
    with (
        torch._inductor.config.patch(cpp_wrapper=True),
        pytest.raises(Exception, match=r"C\+\+ wrapper .* is not available for npu"),
    ):
        torch.compile(_wave)(torch.randn(8, device="npu"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is x86-64's")
def test_kernels_use_no_more_instructions_than_allowed(tmp_path):
    program = """
import torch
x = torch.rand(1000)  # positive: the sum does not cancel
def f(x): return x.exp() * 3 + x
assert torch.allclose(torch.compile(f)(x.npu()).cpu(), f(x))
print(torch._inductor.config.cpp.simdlen, torch._inductor.config.cpp.march)
"""
    where = str(tmp_path)
    limited = fresh.output(
        program, SOFTNPU_CPU_CAPABILITY="avx2", TORCHINDUCTOR_CACHE_DIR=where, timeout=300
    )
    assert limited == "256 x86-64-v3"
    code = [
        subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True).stdout
        for file in tmp_path.glob("**/*.so")
    ]
    kernels = [text for text in code if "torch_npu_run" in text]
    assert kernels
    assert all("%ymm" in text and "%zmm" not in text for text in kernels)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is x86-64's")
def test_cached_graphs_are_for_the_vectors_they_run_with(tmp_path):
    program = """
import torch
x = torch.arange(1000.0)
def f(x): return x * 3 + 1
assert torch.equal(torch.compile(f)(x.npu()).cpu(), f(x))
"""
    where = str(tmp_path)
    for capability in ("default", "avx2"):
        fresh.output(
            program, SOFTNPU_CPU_CAPABILITY=capability, TORCHINDUCTOR_CACHE_DIR=where, timeout=300
        )


def test_cached_graphs_depend_on_this_package():
    torch.compile(_wave)(torch.randn(8, device="npu"))
    from torch._inductor.codegen.common import get_custom_backend_pass_for_device

    from torch_npu._inductor.cache_key import CacheKey

    key = get_custom_backend_pass_for_device("npu")
    assert isinstance(key, CacheKey)
    assert len(key.uuid()) == 32
