"""Options of a running program: precision of products, the CPU fallback."""

import fresh
import pytest
import torch
from torch.profiler import ProfilerActivity, profile


def work():
    """Work on several routes: in place, out=, a view, a list, an index, a gradient."""
    torch.manual_seed(3)
    x = torch.arange(24, dtype=torch.float32, device="npu").view(4, 6).requires_grad_()
    y = torch.flip(x, [0]).softmax(1).masked_fill(x > 20, 2.0)
    y.sum().backward()
    out = torch.empty(0, device="npu")
    torch.cumsum(y.detach(), 1, out=out)
    parts = torch._foreach_add([out, out.t()], 1.0)
    out[1:3].mul_(torch.tensor([[2.0], [3.0]], device="npu"))
    values = [y, x.grad, out, *parts, out[[2, 0]], torch.linalg.svdvals(out), out.std(0)]
    return [v.detach().cpu() for v in values]


@pytest.fixture
def on_copies():
    torch.npu.set_operator_fallback("cpu")
    yield
    torch.npu.set_operator_fallback(None)


def copies_of(work):
    """The number of copies between host and device in `work`."""
    with profile(activities=[ProfilerActivity.PrivateUse1]) as recorded:
        work()
    return sum("Memcpy" in event.name for event in recorded.events())


def test_the_fallback_gives_the_same_numbers():
    expected = work()
    torch.npu.set_operator_fallback("cpu")
    try:
        assert torch.npu.get_operator_fallback() == "cpu"
        actual = work()
    finally:
        torch.npu.set_operator_fallback("npu")
    assert torch.npu.get_operator_fallback() == "npu"
    for e, a in zip(expected, actual, strict=True):
        assert torch.equal(e, a)


def test_the_fallback_copies_and_the_aicpu_does_not(aicpu_route):
    x = torch.randn(100, device="npu")
    assert copies_of(lambda: torch.i0(x)) == 0
    torch.npu.set_operator_fallback("cpu")
    try:
        assert copies_of(lambda: torch.i0(x)) == 2
    finally:
        torch.npu.set_operator_fallback(None)
    assert copies_of(lambda: torch.i0(x)) == 0


def test_the_fallback_can_be_forbidden():
    program = """
import torch
x = torch.ones(3, device="npu")
torch.npu.set_operator_fallback("cpu")
try:
    torch.i0(x)
except NotImplementedError as error:
    print(str(error).splitlines()[0])
torch.npu.set_operator_fallback("npu")
print(torch.i0(x).round().tolist())
"""
    lines = fresh.output(program, TORCH_NPU_FALLBACK_CPU_DISABLE="1").splitlines()
    assert "i0 would run on the CPU, which TORCH_NPU_FALLBACK_CPU_DISABLE=1 forbids" in lines[0]
    assert lines[1] == "[1.0, 1.0, 1.0]"


LEAVES_THE_DEVICE = """
import sys
import torch

def sparse():
    crow, col = torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1])
    return torch.sparse_csr_tensor(crow, col, torch.tensor([1.0, 2, 3, 4]), size=(2, 2)).npu()

x = torch.tensor([1.0, float("nan"), 3.0], device="npu")
csr = sparse()
calls = {
    "fmax": lambda: torch.fmax(x, x.flip(0), out=torch.empty_like(x)),
    "sum": lambda: torch.ops.aten._sparse_csr_sum.dim_dtype(csr, [1], True, dtype=None),
    "prod": lambda: torch.ops.aten._sparse_csr_prod.dim_dtype(csr, [1], True, dtype=None),
    "add": lambda: x + 1,
}
torch.npu.set_operator_fallback("cpu")
for _ in range(3):
    assert calls[sys.argv[1]]().device.type == "npu"
print("done")
"""
WARNED = {
    "fmax": "'aten::fmax.out' will fall back to run on the CPU",
    "sum": "'aten::_sparse_csr_sum.dim_dtype' will fall back to",
    "prod": "'aten::_sparse_csr_prod.dim_dtype' will fall back to",
}


@pytest.mark.parametrize("call", WARNED)
def test_each_operator_that_leaves_the_device_is_warned_of_once(call):
    result = fresh.run(LEAVES_THE_DEVICE, call)
    assert result.stdout.strip() == "done", result.stderr
    assert result.stderr.count(WARNED[call]) == 1
    name = WARNED[call].split("'")[1]
    forbidden = fresh.run(LEAVES_THE_DEVICE, call, TORCH_NPU_FALLBACK_CPU_DISABLE="1")
    assert forbidden.returncode != 0
    assert "will fall back" not in forbidden.stderr
    assert f"{name} would run on the CPU, which TORCH_NPU_FALLBACK_CPU_DISABLE" in forbidden.stderr


def test_operators_of_the_device_are_not_warned_of():
    for variables in ({}, {"TORCH_NPU_FALLBACK_CPU_DISABLE": "1"}):
        result = fresh.run(LEAVES_THE_DEVICE, "add", **variables)
        assert result.stdout.strip() == "done", result.stderr
        assert "will fall back" not in result.stderr


def test_an_unknown_fallback_is_refused(on_copies):
    with pytest.raises(ValueError, match="not 'gpu'"):
        torch.npu.set_operator_fallback("gpu")
    assert torch.npu.get_operator_fallback() == "cpu"


def test_tf32_is_a_permission():
    a, b = torch.randn(40, 30), torch.randn(30, 20)
    expected = (a.npu() @ b.npu()).cpu()
    # As in the official plug-in: convolutions may lose precision, products may not.
    assert torch.npu.conv.allow_hf32 is True
    assert torch.npu.matmul.allow_hf32 is False
    assert torch.npu.config.allow_tf32 is False
    torch.npu.config.allow_tf32 = True
    try:
        assert torch.npu.matmul.allow_hf32 is True
        assert torch.npu.conv.allow_hf32 is True
        assert torch.npu.matmul.cube_math_type is torch.npu.CubeMathType.ALLOW_FP32_DOWN_PRECISION
        assert torch.equal((a.npu() @ b.npu()).cpu(), expected)
        torch.npu.matmul.cube_math_type = torch.npu.CubeMathType.USE_HF32
        assert torch.npu.config.allow_tf32 is True
        torch.npu.config.allow_tf32 = False
        assert torch.npu.conv.allow_hf32 is False
    finally:
        torch.npu.matmul.allow_hf32 = False
        torch.npu.conv.allow_hf32 = True
    assert torch.npu.matmul.cube_math_type is torch.npu.CubeMathType.KEEP_DTYPE


@pytest.mark.parametrize("value", [1, "yes", None])
def test_values_that_are_not_bool_are_refused(value):
    with pytest.raises(TypeError, match="allow_hf32 must be a bool"):
        torch.npu.config.allow_tf32 = value
    with pytest.raises(TypeError, match="allow_hf32 must be a bool"):
        torch.npu.conv.allow_hf32 = value
    with pytest.raises(TypeError, match="Enum CubeMathType"):
        torch.npu.matmul.cube_math_type = value


def test_options_are_set_by_their_names():
    try:
        torch.npu.set_option({"ALLOW_CONV_HF32": "disable", "ALLOW_MATMUL_HF32": "enable"})
        assert torch.npu.conv.allow_hf32 is False
        assert torch.npu.matmul.allow_hf32 is True
        torch.npu.set_option({"CUBE_MATH_TYPE": "3", "jitCompile": "enable"})
        assert torch.npu.matmul.cube_math_type is torch.npu.CubeMathType.USE_HF32
        assert not torch.npu.is_jit_compile_false()
        torch.npu.set_option({"ALLOW_INTERNAL_FORMAT": "enable"})
        assert torch.npu.config.allow_internal_format
        with pytest.warns(UserWarning, match="ACL_PRECISION_MODE has no effect"):
            torch.npu.set_option({"ACL_PRECISION_MODE": "must_keep_origin_dtype"})
    finally:
        torch.npu.set_option(
            {
                "ALLOW_CONV_HF32": "enable",
                "ALLOW_MATMUL_HF32": "disable",
                "ALLOW_INTERNAL_FORMAT": "disable",
                "jitCompile": "disable",
            }
        )
    assert torch.npu.matmul.cube_math_type is torch.npu.CubeMathType.KEEP_DTYPE


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ("ALLOW_CONV_HF32", TypeError, "must be a dict, but got str"),
        ({"ALLOW_CONV_HF33": "enable"}, ValueError, "did you mean 'ALLOW_CONV_HF32'"),
        ({"ALLOW_CONV_HF32": True}, ValueError, "'enable' or 'disable', not True"),
        ({"CUBE_MATH_TYPE": 9}, ValueError, "9"),
    ],
    ids=str,
)
def test_options_that_do_not_exist_are_refused(option, error, message):
    with pytest.raises(error, match=message):
        torch.npu.set_option(option)


def test_compile_mode_is_kept_and_changes_no_result():
    x = torch.randn(8, 8, device="npu")
    expected = (x @ x).relu().cpu()
    try:
        for on in (True, False, True):
            torch.npu.set_compile_mode(jit_compile=on)
            assert torch.npu.is_jit_compile_false() is not on
            assert torch.equal((x @ x).relu().cpu(), expected)
    finally:
        torch.npu.set_compile_mode()
    assert torch.npu.is_jit_compile_false()
