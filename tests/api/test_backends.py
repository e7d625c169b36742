"""torch.backends.npu, torch.npu.backends: attention, linear algebra, FFT plans."""

import pytest
import torch
import torch.nn.functional as F

NAMES = (
    "enable_flash_sdp", "flash_sdp_enabled", "enable_math_sdp", "math_sdp_enabled", "enable_mem_efficient_sdp",
    "mem_efficient_sdp_enabled", "sdp_kernel", "preferred_linalg_library",
)  # fmt: skip
PREFIXES = ("torch.npu.", "torch.npu.backends.", "torch.backends.npu.")
MODULES = pytest.mark.parametrize(
    "module", [torch.npu, torch.npu.backends, torch.backends.npu], ids=PREFIXES
)


def api(*names):
    return pytest.mark.api(*(prefix + name for name in names for prefix in PREFIXES))


@pytest.fixture(autouse=True)
def defaults():
    yield
    torch.npu.enable_flash_sdp(True)
    torch.npu.enable_math_sdp(True)
    torch.npu.enable_mem_efficient_sdp(True)
    torch.npu.matmul.allow_hf32 = False
    torch.backends.npu.allow_fp16_bf16_reduction_math_sdp(False)


def is_fused():
    query = torch.rand(1, 2, 16, 8, device="npu")
    return torch._fused_sdp_choice(query, query, query) != 0


@api("enable_flash_sdp", "flash_sdp_enabled")
@MODULES
def test_flash_is_the_fused_operator(module):
    query = torch.rand(1, 2, 16, 8, device="npu")
    assert module.flash_sdp_enabled() is True
    assert is_fused()
    expected = F.scaled_dot_product_attention(query, query, query)
    module.enable_flash_sdp(False)
    assert module.flash_sdp_enabled() is False
    assert not is_fused()
    torch.testing.assert_close(F.scaled_dot_product_attention(query, query, query), expected)
    module.enable_flash_sdp(True)
    assert is_fused()


@api("enable_math_sdp", "math_sdp_enabled", "enable_mem_efficient_sdp", "mem_efficient_sdp_enabled")
@MODULES
def test_the_other_switches_are_pytorchs(module):
    module.enable_math_sdp(False)
    assert module.math_sdp_enabled() is torch._C._get_math_sdp_enabled() is False
    module.enable_mem_efficient_sdp(False)
    assert module.mem_efficient_sdp_enabled() is torch._C._get_mem_efficient_sdp_enabled() is False
    module.enable_math_sdp(True)
    module.enable_mem_efficient_sdp(True)
    assert module.math_sdp_enabled() is True
    assert module.mem_efficient_sdp_enabled() is True


@api("sdp_kernel")
@MODULES
def test_the_switches_are_set_for_a_block(module):
    with module.sdp_kernel(enable_flash=False, enable_mem_efficient=False):
        assert not is_fused()
        assert (module.math_sdp_enabled(), module.mem_efficient_sdp_enabled()) == (True, False)
    assert is_fused()
    with pytest.raises(ZeroDivisionError), module.sdp_kernel(enable_math=False):
        1 // int(module.math_sdp_enabled())
    assert module.math_sdp_enabled() is True


@api("preferred_linalg_library")
@MODULES
def test_there_is_one_library_of_linear_algebra(module):
    default = torch._C._LinalgBackend.Default
    for backend in (None, "default", default):
        assert module.preferred_linalg_library(backend) == default
    with pytest.warns(UserWarning, match="magma is not used"):
        assert module.preferred_linalg_library("magma") == default
    with pytest.raises(RuntimeError, match="Choose from: cusolver, default, magma"):
        module.preferred_linalg_library("lapack")
    with pytest.raises(RuntimeError, match="value type: int"):
        module.preferred_linalg_library(1)


@pytest.mark.api("torch.npu.backends.NPUFFTPlanCache", "torch.backends.npu.fft_plan_cache")
def test_the_cache_of_fft_plans_has_a_limit():
    cache = torch.npu.backends.NPUFFTPlanCache()
    torch.fft.fft(torch.rand(8, device="npu"))
    cache.clear()
    assert cache.size == 0
    cache.max_size = 7
    assert cache.max_size == 7
    with pytest.raises(RuntimeError, match="read-only"):
        cache.size = 3
    with pytest.raises(RuntimeError, match="non-negative"):
        cache.max_size = -1
    with pytest.raises(AttributeError):
        cache.other = 1
    assert isinstance(torch.npu.backends.fft_plan_cache, torch.npu.backends.NPUFFTPlanCache)
    assert torch.backends.npu.fft_plan_cache is torch.npu.backends.fft_plan_cache


@pytest.mark.api("torch.backends.npu", "torch.backends.npu.is_built", "torch.backends.npu.matmul")
def test_the_module_of_torch_backends():
    import torch.backends.npu as module

    assert module is torch.backends.npu
    assert module.is_built() is True
    module.matmul.allow_tf32 = True
    assert torch.npu.matmul.allow_hf32 is True
    assert module.matmul.allow_tf32 is True
    module.matmul.allow_tf32 = False
    assert torch.npu.matmul.allow_hf32 is False


@pytest.mark.api(
    "torch.backends.npu.allow_fp16_bf16_reduction_math_sdp",
    "torch.backends.npu.fp16_bf16_reduction_math_sdp_allowed",
)
def test_half_precision_reductions_are_allowed():
    module = torch.backends.npu
    assert module.fp16_bf16_reduction_math_sdp_allowed() is False
    module.allow_fp16_bf16_reduction_math_sdp(True)
    assert module.fp16_bf16_reduction_math_sdp_allowed() is True


@pytest.mark.api(
    "torch.backends.npu.SDPAParams",
    "torch.backends.npu.can_use_flash_attention",
    "torch.backends.npu.can_use_efficient_attention",
    "torch.backends.npu.is_flash_attention_available",
)
def test_programs_can_ask_for_fused_attention():
    module = torch.backends.npu
    query = torch.rand(1, 2, 16, 8, device="npu")
    params = module.SDPAParams(query, query, query, None, 0.0, False, False)
    assert module.is_flash_attention_available() is True
    assert module.can_use_flash_attention(params) is True
    assert module.can_use_efficient_attention(params) is False
    with_dropout = module.SDPAParams(query, query, query, None, 0.5, False, False)
    with pytest.warns(UserWarning, match="without dropout"):
        assert module.can_use_flash_attention(with_dropout, debug=True) is False
