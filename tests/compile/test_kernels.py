"""torch.compile on npu: what generated kernels compute."""

import pytest
import torch
from compiled import check_compiled, check_near
from torch.nn import functional as F

import torch_npu


def test_elementwise_and_reductions_are_one_kernel():
    def function(x, y):
        return (torch.sin(x) + y * 2).relu().sum(-1), torch.var_mean(x, -1), x.amax(0), x.argmin(-1)

    inputs = torch.randn(16, 300), torch.randn(16, 300)
    compiled = check_compiled(function, *inputs, terms=300)
    explained = torch_npu.utils.explain(compiled, *(x.npu() for x in inputs))
    assert set(explained.routes()) == {"generated"}
    assert explained.calls("generated") <= 2
    assert explained.synchronizations == 0


def test_dynamic_shapes():
    def function(x):
        return (x * 2 + x.shape[0]).softmax(-1).sum(0)

    compiled = torch.compile(function, dynamic=True, fullgraph=True)
    for rows in (3, 7, 200):
        x = torch.randn(rows, 17 + rows)
        check_near(compiled(x.npu()), function(x), terms=rows)
    with torch.compiler.set_stance("fail_on_recompile"):
        compiled(torch.randn(50, 20).npu())


def test_gathers_and_scatters():
    def function(x, indices, values):
        columns = indices[:, None].expand(-1, x.shape[1])
        put = x.index_put((indices,), values, accumulate=True)
        return (
            put,
            torch.zeros_like(x).scatter_add(0, columns, values),
            x[indices],
            x.gather(0, columns),
        )

    indices = torch.randint(20, (400,))
    check_compiled(function, torch.randn(20, 30), indices, torch.randn(400, 30), terms=400)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bits(dtype):
    def function(x, w):
        return F.layer_norm(F.gelu(x) + w, (64,))

    check_compiled(function, torch.randn(8, 64, dtype=dtype), torch.randn(64, dtype=dtype))


def test_views_offsets_and_concatenation():
    def function(x, y):
        x = x.sin().t() + 1
        return torch.cat((x, y * 2, x[:, :3]), 1), x.cumsum(0)

    x = torch.randn(1001)[1:].view(10, 100)[2:, 3:]
    check_compiled(function, x, torch.randn(97, 4), terms=97)


def test_a_number_on_the_cpu():
    scale = torch.tensor(3.0)
    x = torch.randn(10)
    result = torch.compile(lambda x, s: x * s + 1)(x.npu(), scale)
    scale.fill_(100)
    check_near(result, x * 3 + 1)


def test_complex_numbers_run_by_operators():
    check_compiled(lambda x: torch.view_as_real(x * x + 1), torch.randn(10, dtype=torch.complex64))


def test_inputs_are_changed():
    def function(x, y):
        x.add_(y)
        y[2:4] = x[2:4] * 2
        return x.sum()

    x, y = torch.randn(10, 10), torch.randn(10, 10)
    ours = x.npu(), y.npu()
    result = torch.compile(function)(*ours)
    check_near((result, *ours), (function(x, y), x, y), terms=100)


def test_random_numbers_follow_the_seed():
    def function(x):
        return F.dropout(x, 0.5), torch.randn_like(x), torch.randint(10, (8,), device=x.device)

    compiled = torch.compile(function, fullgraph=True)
    x = torch.ones(4096, device="npu")

    def drawn(seed):
        torch.manual_seed(seed)
        return compiled(x)

    first, again, other = drawn(3), drawn(3), drawn(4)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, other, strict=True))
    assert not torch.equal(compiled(x)[1], other[1])
    assert set(first[0].tolist()) == {0.0, 2.0}
    # Six deviations of a mean of 4096 numbers.
    assert abs(first[0].mean().item() - 1) < 6 / 64
    assert abs(first[1].mean().item()) < 6 / 64


def test_random_numbers_of_eager():
    x = torch.ones(1000, device="npu")
    torch.manual_seed(5)
    expected = F.dropout(x)
    with torch._inductor.config.patch(fallback_random=True):
        torch.manual_seed(5)
        assert torch.equal(torch.compile(F.dropout)(x), expected)
