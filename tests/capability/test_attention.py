"""torch.nn.functional.scaled_dot_product_attention by the fused operator, against its definition in float64."""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.utils import explain

FUSED = "aten::_scaled_dot_product_fused_attention_overrideable"


def definition(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """softmax(scale q k' + mask) v; 0 for queries without visible keys."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is None or mask.dtype != torch.bool:
        return (scores if mask is None else scores + mask).softmax(-1) @ v
    least = -1e300  # not -inf, whose differences have no derivative
    return scores.where(mask, least).softmax(-1) * mask.any(-1, keepdim=True) @ v


def _mask(kind: str, b: int, h: int, s: int, t: int) -> Tensor | None:
    if kind == "bool":
        return torch.rand(b, 1, s, t) > 0.3
    if kind == "rows that see nothing":
        return (torch.arange(s) % 3 > 0)[:, None].expand(s, t)
    if kind == "bias":
        return torch.randn(b, h, s, t)
    if kind == "bias of the keys":
        return torch.randn(b, 1, 1, t)
    return None


# batch, heads, heads of keys, queries, keys, channels
SHAPES = [(2, 4, 4, 70, 130, 64), (1, 4, 2, 65, 65, 40), (2, 6, 1, 1, 200, 32), (1, 1, 1, 3, 5, 7)]  # fmt: skip
MASKS = ["none", "causal", "bool", "rows that see nothing", "bias", "bias of the keys"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward_and_backward(shape, kind, dtype):
    torch.manual_seed(0)
    b, h, g, s, t, d = shape
    # As from projections: [batch, positions, heads, channels], viewed with the heads first.
    leaves = [torch.randn(b, n, heads, d).to(dtype).transpose(1, 2) for n, heads in ((s, h), (t, g), (t, g))]  # fmt: skip
    mask = _mask(kind, b, h, s, t)
    mask = mask.to(dtype) if mask is not None and mask.is_floating_point() else mask
    is_causal = kind == "causal"
    scale = 0.3 if kind == "bias" else None
    npu = [x.npu().requires_grad_() for x in leaves]
    explanation = explain(
        F.scaled_dot_product_attention, *npu, None if mask is None else mask.npu(), 0.0, is_causal,
        scale=scale, enable_gqa=h != g,
    )  # fmt: skip
    assert explanation.calls(operator=FUSED) == 1
    assert explanation.calls("AI CPU") == explanation.synchronizations == 0
    out = explanation.result
    assert out.transpose(1, 2).is_contiguous()  # heads are merged without a copy
    gradient = torch.randn(b, h, s, d).to(dtype)
    out.backward(gradient.npu())

    widened = [x.double().requires_grad_() for x in leaves]
    widened_mask = mask.double() if mask is not None and mask.is_floating_point() else mask
    expected = definition(*widened, widened_mask, is_causal, scale)
    expected.backward(gradient.double())
    eps = torch.finfo(dtype).eps
    assert_near(out, expected, eps)
    for found, wanted in zip(npu, widened, strict=True):
        assert_near(found.grad, wanted.grad, eps)


def assert_near(found: Tensor, wanted: Tensor, eps: float) -> None:
    """A few roundings in the tensors' type, and those of float32 sums of some hundred terms."""
    scale = wanted.abs().max().item()
    bound = (4 * eps + 300 * torch.finfo(torch.float32).eps) * max(scale, 1)
    accuracy.assert_close(found, wanted, Tolerance(absolute=bound), equal_nan=False)


def _inputs(dtype: torch.dtype = torch.float32, **options: bool) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, 2, 4, 8, dtype=dtype, device="npu", **options) for _ in range(3)]


def _calls(call) -> int:
    return explain(call).calls(operator=FUSED)


def test_calls_that_do_not_use_the_fused_operator():
    q, k, v = _inputs()
    attention = F.scaled_dot_product_attention
    assert _calls(lambda: attention(q, k, v)) == 1
    assert _calls(lambda: attention(*_inputs(torch.float64))) == 0
    assert _calls(lambda: attention(q, k, v, dropout_p=0.5)) == 0
    assert _calls(lambda: attention(q, k, v[..., :4])) == 0
    mask = torch.zeros(4, 4, device="npu", requires_grad=True)
    assert _calls(lambda: attention(q, k, v, mask)) == 0
    with sdpa_kernel(SDPBackend.MATH):
        assert _calls(lambda: attention(q, k, v)) == 0


def test_derivatives_that_the_fused_operator_does_not_have():
    double = _inputs(torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(F.scaled_dot_product_attention, double, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(F.scaled_dot_product_attention, double)
    q, k, v = _inputs()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(q, torch.ones_like(q))
        tangent = forward_ad.unpack_dual(F.scaled_dot_product_attention(dual, k, v)).tangent
        assert tangent.shape == q.shape


def test_second_derivatives_of_float32():
    """The fused operator rejects them as on the CPU; the math backend has them."""
    leaves = [torch.randn(2, 2, 5, 4, dtype=torch.float64) for _ in range(3)]

    def second(device, dtype):
        q, k, v = (x.to(device, dtype).requires_grad_() for x in leaves)
        loss = F.scaled_dot_product_attention(q, k, v).square().sum()
        (first,) = torch.autograd.grad(loss, q, create_graph=True)
        return torch.autograd.grad(first.square().sum(), (q, k, v))

    for device in ("cpu", "npu"):
        with pytest.raises(RuntimeError, match="_backward is not implemented"):
            second(device, torch.float32)
    with sdpa_kernel(SDPBackend.MATH):
        for actual, expected in zip(
            second("npu", torch.float32), second("cpu", torch.float64), strict=True
        ):
            accuracy.assert_close(
                actual.cpu().double(), expected, Tolerance(1e-4, 1e-4), equal_nan=False
            )


def test_the_gradient_of_a_bias_by_the_operator_itself():
    """PyTorch requests it only if the operator is called directly."""
    q, k, v = _inputs()
    bias = torch.randn(1, 2, 4, 4, device="npu", requires_grad=True)
    out = torch.ops.aten._scaled_dot_product_fused_attention_overrideable(q, k, v, bias)[0]
    out.sum().backward()
    widened = [x.detach().cpu().double() for x in (q, k, v, bias)]
    widened[3].requires_grad_()
    definition(*widened, False, None).sum().backward()
    assert_near(bias.grad, widened[3].grad, torch.finfo(torch.float32).eps)


def test_unsupported_arguments_are_refused():
    q, k, v = _inputs()
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    with pytest.raises(RuntimeError, match="Double"):
        operator(*_inputs(torch.float64))
    with pytest.raises(RuntimeError, match="no dropout"):
        operator(q, k, v, dropout_p=0.1)
    with pytest.raises(RuntimeError, match="a bias of the same type"):
        operator(q, k, v, torch.zeros(3, 3, device="npu"))


def _of_cpu(call, *inputs: Tensor) -> Tensor:
    """The same by the definition in float64 on the CPU."""
    widened = [x.detach().cpu().double().requires_grad_(x.requires_grad) for x in inputs]
    return call(lambda q, k, v, mask=None: definition(q, k, v, mask, False, None), *widened)


def _loss_gradients(attention, *inputs: Tensor) -> list[Tensor]:
    out = attention(*inputs)
    loss = (
        out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape).to(out.device)
    ).sum()
    return list(torch.autograd.grad(loss, inputs))


EPS = torch.finfo(torch.float32).eps


def _heads_joined(attention, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    return attention(q * 2, k, v, mask).transpose(1, 2).flatten(2)


def _check_compiled(compiled, queries: int, masked: bool) -> None:
    torch.manual_seed(queries)
    inputs = [torch.randn(2, 2, n, 8, device="npu", requires_grad=True) for n in (queries, 6, 6)]
    mask = torch.rand(queries, 6, device="npu") > 0.3 if masked else None
    found = explain(lambda: _loss_gradients(lambda *x: compiled(*x, mask), *inputs))
    assert found.calls("aclnn", operator=FUSED) == 1
    host_mask = None if mask is None else mask.cpu()
    wanted = _of_cpu(
        lambda f, *x: _loss_gradients(lambda *y: _heads_joined(f, *y, host_mask), *x), *inputs
    )
    for gradient, of_cpu in zip(found.result, wanted, strict=True):
        assert_near(gradient, of_cpu, EPS)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("masked", [False, True], ids=["plain", "masked"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_training(backend, masked, dynamic):
    torch._dynamo.reset()

    def attend(q, k, v, mask=None):
        return _heads_joined(F.scaled_dot_product_attention, q, k, v, mask)

    compiled = torch.compile(attend, backend=backend, dynamic=dynamic)
    for queries in (4, 5):
        _check_compiled(compiled, queries, masked)


def test_exported_program_has_the_operator():
    class Attention(torch.nn.Module):
        def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    inputs = tuple(_inputs())
    program = torch.export.export(Attention(), inputs)
    found = program.module()(*inputs)
    torch.testing.assert_close(found, F.scaled_dot_product_attention(*inputs, is_causal=True))


def _mapped_inputs(**options: bool) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(3, 2, 2, n, 8, device="npu", **options) for n in (4, 6, 6)]


@pytest.mark.parametrize("dims", [(0, 0, 0), (0, None, None), (None, 2, 2), (1, 3, 3)], ids=str)
def test_vmap(dims):
    inputs = [
        x.movedim(0, dim) if dim is not None else x[0]
        for x, dim in zip(_mapped_inputs(), dims, strict=True)
    ]
    mapped = torch.func.vmap(F.scaled_dot_product_attention, in_dims=dims)
    explanation = explain(mapped, *inputs)
    assert explanation.calls("aclnn", operator=FUSED) == 1
    wanted = _of_cpu(
        lambda f, *x: torch.stack(
            [
                f(*(t if d is None else t.select(d, i) for t, d in zip(x, dims, strict=True)))
                for i in range(3)
            ]
        ),
        *inputs,
    )
    assert_near(explanation.result, wanted, EPS)


MAPPED_MASKS = [((3, 4, 6), 0), ((4, 6), None), ((3, 2, 1, 1, 6), 0), ((2, 4, 3, 6), 2), ((3, 2, 4, 1), 0)]  # fmt: skip


@pytest.mark.parametrize(("shape", "dim"), MAPPED_MASKS, ids=str)
def test_vmap_over_masks(shape, dim):
    inputs = _mapped_inputs()
    mask = torch.randn(shape, device="npu")
    found = torch.func.vmap(F.scaled_dot_product_attention, in_dims=(0, 0, 0, dim))(*inputs, mask)
    widened, widened_mask = [x.cpu().double() for x in inputs], mask.cpu().double()
    of = (lambda i: widened_mask) if dim is None else (lambda i: widened_mask.select(dim, i))
    wanted = torch.stack(
        [definition(*(x[i] for x in widened), of(i), False, None) for i in range(3)]
    )
    assert_near(found, wanted, EPS)


def test_gradients_of_each_sample():
    inputs = _mapped_inputs()

    def loss(q, k, v):
        return F.scaled_dot_product_attention(q, k, v).square().sum()

    per_sample = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1, 2)), in_dims=(0, 0, None))
    explanation = explain(per_sample, *inputs[:2], inputs[2][0])
    assert explanation.calls("aclnn", operator=FUSED) == 1
    for i in range(3):
        widened = [
            x.cpu().double().requires_grad_() for x in (inputs[0][i], inputs[1][i], inputs[2][0])
        ]
        definition(*widened, None, False, None).square().sum().backward()
        for found, leaf in zip(explanation.result, widened, strict=True):
            assert_near(found[i], leaf.grad, EPS)


def test_the_gradient_of_a_bias_of_each_sample():
    inputs = _mapped_inputs()
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    bias = torch.randn(3, 4, 1, 4, 6, device="npu")[:, :2]

    def loss(q, k, v, bias):
        return operator(q, k, v, bias)[0].square().sum()

    found = torch.func.vmap(torch.func.grad(loss, argnums=3))(*inputs, bias)
    for i in range(3):
        widened = [x[i].cpu().double() for x in (*inputs, bias)]
        widened[3].requires_grad_()
        definition(*widened, False, None).square().sum().backward()
        assert_near(found[i], widened[3].grad, EPS)


@pytest.mark.parametrize("mapped", [False, True], ids=["jvp", "jvp of vmap"])
def test_forward_mode(mapped):
    inputs = _mapped_inputs()
    directions = [torch.randn_like(x) for x in inputs]
    attention = torch.func.vmap(F.scaled_dot_product_attention) if mapped else F.scaled_dot_product_attention  # fmt: skip
    if not mapped:
        inputs, directions = ([x[0] for x in of] for of in (inputs, directions))
    out, tangent = torch.func.jvp(attention, tuple(inputs), tuple(directions))
    by_definition = lambda q, k, v: definition(q, k, v, None, False, None)  # noqa: E731
    wanted = torch.func.jvp(
        torch.func.vmap(by_definition) if mapped else by_definition,
        tuple(x.cpu().double() for x in inputs),
        tuple(x.cpu().double() for x in directions),
    )
    assert_near(out, wanted[0], EPS)
    assert_near(tangent, wanted[1], EPS)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoint(use_reentrant):
    from torch.utils.checkpoint import checkpoint

    inputs = _inputs(requires_grad=True)

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q.sin(), k, v).cos()

    direct = _loss_gradients(attend, *inputs)
    out = checkpoint(attend, *inputs, use_reentrant=use_reentrant)
    weights = torch.linspace(-1, 1, out.numel(), device="npu").view(out.shape)
    (out * weights).sum().backward()
    for x, wanted in zip(inputs, direct, strict=True):
        assert torch.equal(x.grad, wanted)
