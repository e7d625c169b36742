"""Mixture of experts in namespace npu: choice, order and sums of rows, against their definitions on the CPU."""

import pytest
import torch
from torch.autograd import gradcheck

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
NARROW = [torch.float16, torch.bfloat16, torch.float32]
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def values(*size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(size) + sum(size))
    return torch.randn(size, generator=generator).to(dtype)


def experts(*size, count=5, dtype=torch.int32):
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randint(0, count, size, generator=generator, dtype=dtype)


def check_near(got, reference, terms):
    assert got.shape == reference.shape
    if not reference.numel():
        return
    eps = torch.finfo(torch.promote_types(got.dtype, torch.float32)).eps
    size = reference.abs().max().clamp(min=1)
    accuracy.assert_close(
        got, reference, Tolerance(torch.finfo(got.dtype).eps, 8 * terms * eps * size)
    )


def permute(tokens, indices, count):
    top_k = 1 if indices.dim() == 1 else indices.shape[1]
    order = indices.flatten().argsort(stable=True)
    return tokens[order[:count] // top_k], order.argsort()


def unpermute(rows, positions, probs=None):
    weights = rows.new_ones(len(positions), 1) if probs is None else probs
    padded = torch.cat((rows, rows.new_zeros(1, rows.shape[1])))
    copies = padded[positions.long().clamp(max=len(rows))]
    return (copies.unflatten(0, weights.shape) * weights.unsqueeze(-1)).sum(1)


@pytest.mark.parametrize("dtype", [*NARROW, torch.float64], ids=str)
@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize(
    ("shape", "count"), [((7,), None), ((7, 1), 0), ((7, 3), None), ((7, 3), 11), ((7, 3), -4)]
)
def test_token_permute(dtype, index, shape, count):
    tokens, indices = values(7, 10, dtype=dtype), experts(*shape, dtype=index)
    all_ = indices.numel()
    kept = count if (count or 0) > 0 else all_ + (count or 0)
    rows, positions = permute(tokens, indices, kept)
    got = torch_npu.npu_moe_token_permute(tokens.npu(), indices.npu(), num_out_tokens=count)
    assert torch.equal(got[0].cpu(), rows)
    assert got[1].dtype == torch.int32
    assert torch.equal(got[1].cpu().long(), positions)


def test_experts_far_apart_are_sorted():
    indices = torch.tensor([[10**12, -5], [0, 10**12], [-(10**15), 0]])
    tokens = values(3, 4)
    got, positions = OPS.npu_moe_token_permute(tokens.npu(), indices.npu())
    rows, wanted = permute(tokens, indices, 6)
    assert torch.equal(got.cpu(), rows)
    assert torch.equal(positions.cpu().long(), wanted)


@pytest.mark.parametrize("dtype", [*NARROW, torch.float64], ids=str)
@pytest.mark.parametrize("probs", [None, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("count", [None, 9])
def test_token_unpermute(dtype, probs, count):
    top_k = 1 if probs is None else 3
    indices = experts(6, top_k)
    rows, positions = permute(values(6, 10, dtype=dtype), indices, count or indices.numel())
    weights = None if probs is None else values(6, 3).to(probs)
    got = OPS.npu_moe_token_unpermute(
        rows.npu(), positions.int().npu(), None if weights is None else weights.npu()
    )
    assert got.dtype == dtype
    widened = None if weights is None else weights.double()
    check_near(got, unpermute(rows.double(), positions, widened), top_k)


@pytest.mark.parametrize("count", [None, 9])
def test_gradients_agree_with_finite_differences(count):
    indices = experts(4, 3).npu()
    tokens = values(4, 5).double().npu().requires_grad_()
    assert gradcheck(lambda t: OPS.npu_moe_token_permute(t, indices, count)[0], (tokens,))
    rows, positions = OPS.npu_moe_token_permute(tokens.detach(), indices, count)
    weights = values(4, 3).double().npu().requires_grad_()
    assert gradcheck(
        lambda r, w: OPS.npu_moe_token_unpermute(r, positions, w), (rows.requires_grad_(), weights)
    )
    alone = experts(4).npu()
    rows, positions = OPS.npu_moe_token_permute(tokens.detach(), alone)
    assert gradcheck(lambda r: OPS.npu_moe_token_unpermute(r, positions), (rows.requires_grad_(),))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_gradients_of_a_layer(dtype):
    indices = experts(6, 2)
    tokens, weights = values(6, 8, dtype=dtype), values(6, 2, dtype=dtype)
    near = [t.npu().requires_grad_() for t in (tokens, weights)]
    widened = [t.double().requires_grad_() for t in (tokens, weights)]
    rows, positions = OPS.npu_moe_token_permute(near[0], indices.npu())
    OPS.npu_moe_token_unpermute(rows * 2, positions, near[1]).square().sum().backward()
    unpermute(
        2 * permute(widened[0], indices, 12)[0], permute(widened[0], indices, 12)[1], widened[1]
    ).square().sum().backward()
    for got, reference in zip(near, widened, strict=True):
        assert got.grad.dtype == dtype
        # Values of the forward pass are rounded to the type.
        size = reference.grad.abs().max()
        accuracy.assert_close(
            got.grad, reference.grad, Tolerance(0, 32 * torch.finfo(dtype).eps * size)
        )


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("shape", [(6, 9), (2, 3, 9)])
@pytest.mark.parametrize("finished", [False, True])
def test_gating_top_k_softmax(dtype, shape, finished):
    x = values(*shape, dtype=dtype)
    x[..., 3] = x[..., 5]
    done = torch.arange(6).reshape(shape[:-1]) % 2 == 1 if finished else None
    y, chosen, source = torch_npu.npu_moe_gating_top_k_softmax(
        x.npu(), None if done is None else done.npu(), k=4
    )
    probabilities = x.double().softmax(-1)
    order = torch.argsort(-probabilities, dim=-1, stable=True)[..., :4]
    check_near(y, probabilities.gather(-1, order), 9)
    wanted = order if done is None else order.masked_fill(done.unsqueeze(-1), 9)
    assert (y.dtype, chosen.dtype, source.dtype) == (dtype, torch.int32, torch.int32)
    assert torch.equal(chosen.cpu().long(), wanted)
    assert torch.equal(source.cpu().reshape(6, 4).long(), torch.arange(24).reshape(4, 6).T)


def gating(x, k, bias=None, k_group=1, group_count=1, group_select_mode=0, norm_type=0, factor=1.0):
    """The definition; the choice is made without a gradient."""
    p = x.sigmoid() if norm_type else x.softmax(-1)
    scores = (p if bias is None else p + bias).detach()
    if group_count > 1:
        groups = scores.unflatten(-1, (group_count, -1))
        best = groups.topk(2)[0].sum(-1) if group_select_mode else groups.amax(-1)
        kept = torch.argsort(-best, dim=-1, stable=True)[:, :k_group]
        mask = torch.ones_like(best, dtype=torch.bool).scatter(1, kept, False)
        scores = groups.masked_fill(mask.unsqueeze(-1), -torch.inf).flatten(1)
    chosen = torch.argsort(-scores, dim=-1, stable=True)[:, :k]
    y = p.gather(1, chosen)
    return (y / (y.sum(-1, keepdim=True) + 1e-20) if norm_type else y) * factor, chosen, p


GATINGS = [
    {"k": 2},
    {"k": 3, "norm_type": 1, "factor": 2.5},
    {"k": 3, "norm_type": 1, "k_group": 2, "group_count": 4, "group_select_mode": 1},
    {"k": 4, "k_group": 3, "group_count": 4},
]


@pytest.mark.parametrize("dtype", [*NARROW, torch.float64], ids=str)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("variant", GATINGS, ids=str)
def test_gating_top_k(dtype, biased, variant):
    x, bias = values(6, 12, dtype=dtype), values(12) if biased else None
    wanted = gating(x.double(), bias=None if bias is None else bias.double(), **variant)
    named = {
        {"factor": "routed_scaling_factor"}.get(k, k): v for k, v in variant.items() if k != "k"
    }
    y, chosen, p = OPS.npu_moe_gating_top_k(
        x.npu(), variant["k"], bias=None if bias is None else bias.npu(), **named
    )
    assert (y.dtype, chosen.dtype) == (dtype, torch.int32)
    assert p.dtype == torch.promote_types(dtype, torch.float32)
    assert torch.equal(chosen.cpu().long(), wanted[1])
    check_near(y, wanted[0], 12)
    check_near(p, wanted[2], 12)


@pytest.mark.parametrize("variant", GATINGS, ids=str)
def test_gradients_of_gating_agree_with_finite_differences(variant):
    named = {
        {"factor": "routed_scaling_factor"}.get(k, k): v for k, v in variant.items() if k != "k"
    }
    x = values(3, 12).double().npu().requires_grad_()
    assert gradcheck(lambda t: OPS.npu_moe_gating_top_k(t, variant["k"], **named)[0], (x,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_gradients_of_gating(dtype):
    x = values(3, 12, dtype=dtype)
    near, widened = x.npu().requires_grad_(), x.double().requires_grad_()
    weights = torch.arange(6.0).reshape(3, 2)
    (OPS.npu_moe_gating_top_k(near, 2, norm_type=1)[0] * weights.to(dtype).npu()).sum().backward()
    (gating(widened, 2, norm_type=1)[0] * weights.double()).sum().backward()
    assert near.grad.dtype == dtype
    size = widened.grad.abs().max()
    accuracy.assert_close(near.grad, widened.grad, Tolerance(0, 32 * torch.finfo(dtype).eps * size))


def test_gating_of_nan_ends():
    x = torch.full((2, 5), float("nan"))
    y, chosen, _ = OPS.npu_moe_gating_top_k_softmax(x.npu(), k=2)
    assert y.isnan().all()
    assert chosen.cpu().tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_compute_expert_tokens(dtype):
    chosen = torch.tensor([0, 0, 2, 2, 2, 5, 7], dtype=dtype)
    got = torch_npu.npu_moe_compute_expert_tokens(chosen.npu(), 7)
    assert got.dtype == dtype
    assert got.tolist() == [2, 2, 5, 5, 5, 6, 6]
    assert OPS.npu_moe_compute_expert_tokens(chosen[:0].npu(), 2).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("active", [3, 7, 99])
def test_init_routing(dtype, active):
    x, chosen = values(7, 10, dtype=dtype), experts(7, 3)
    numbers = torch.arange(21, dtype=torch.int32).reshape(3, 7).T.contiguous()
    got = torch_npu.npu_moe_init_routing(x.npu(), numbers.npu(), chosen.npu(), active)
    order = chosen.flatten().argsort(stable=True)
    source = numbers.flatten()[order].long()
    rows = x[source[: min(active, 7) * 3] % 7]
    position = torch.zeros(21, dtype=torch.long).index_put((source,), torch.arange(21))
    for a, b in zip(got, (rows, position.int(), chosen.flatten()[order]), strict=True):
        assert torch.equal(a.cpu(), b)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize(
    "parts", [("skip1", "skip2", "bias", "scales"), ("scales",), ("skip2",), ()]
)
def test_finalize_routing(dtype, mode, parts):
    n, k, h, count = 5, 3 if "scales" in parts else 1, 8, 4
    shape = (count, 6, h) if mode % 2 else (n * k, h)
    rows = values(*shape, dtype=dtype)
    index = torch.randperm(n * k, generator=torch.Generator().manual_seed(1)).int()
    if mode % 2:
        index[::4] = -1
    chosen = experts(n, k, count=count)
    sizes = {"skip1": (n, h), "skip2": (n, h), "bias": (count, h), "scales": (n, k)}
    given = {p: values(*sizes[p], dtype=dtype) if p in parts else None for p in sizes}
    widened = {p: None if t is None else t.double() for p, t in given.items()}
    at = (index.reshape(k, n).T if mode < 2 else index.reshape(n, k)).long()
    flat = torch.cat((rows.double().reshape(-1, h), torch.zeros(1, h, dtype=torch.float64)))
    terms = flat[at.where(at >= 0, len(flat) - 1)]
    if widened["bias"] is not None:
        terms = terms + widened["bias"][chosen.long()]
    if widened["scales"] is not None:
        terms = terms * widened["scales"].unsqueeze(-1)
    expected = terms.sum(1) + sum(widened[p] for p in ("skip1", "skip2") if p in parts)
    got = torch_npu.npu_moe_finalize_routing(
        rows.npu(),
        *(
            None if given[p] is None else given[p].npu()
            for p in ("skip1", "skip2", "bias", "scales")
        ),
        index.npu(),
        chosen.npu(),
        drop_pad_mode=mode,
    )
    assert got.dtype == dtype
    check_near(got, expected, 2 * k + 2)


def arguments():
    """Every operator with arguments that it takes."""
    tokens, indices = values(4, 6).npu(), experts(4, 2).npu()
    rows, positions = OPS.npu_moe_token_permute(tokens, indices)
    probs = values(4, 2).npu()
    numbers = torch.arange(8, dtype=torch.int32).reshape(2, 4).T.npu()
    return {
        "npu_moe_token_permute": (tokens, indices),
        "npu_moe_token_permute_grad": (tokens, rows, indices, positions),
        "npu_moe_token_unpermute": (rows, positions, probs),
        "npu_moe_token_unpermute_grad": (rows, tokens, positions, probs),
        "npu_moe_gating_top_k_softmax": (tokens, torch.zeros(4, dtype=torch.bool).npu(), 2),
        "npu_moe_gating_top_k": (tokens, 2),
        "npu_moe_gating_top_k_backward": (tokens, probs, indices),
        "npu_moe_compute_expert_tokens": (torch.arange(4).npu(), 3),
        "npu_moe_init_routing": (tokens, numbers, indices, 4),
        "npu_moe_finalize_routing": (rows, tokens, tokens, None, probs, positions, None),
    }


@pytest.mark.parametrize("name", arguments())
def test_opcheck_and_other_devices(name):
    given = arguments()[name]
    op = getattr(OPS, name).default
    torch.library.opcheck(op, given, test_utils=CHECKS)
    for i, value in enumerate(given):
        if isinstance(value, torch.Tensor):
            with pytest.raises(RuntimeError, match=f"npu::{name}.* is .*on cpu"):
                op(*(v.cpu() if k == i else v for k, v in enumerate(given)))


@pytest.mark.parametrize("name", arguments())
def test_views(name):
    given = arguments()[name]
    op = getattr(OPS, name)
    spread = [torch.stack((v, v), -1)[..., 0] if isinstance(v, torch.Tensor) else v for v in given]
    for a, b in zip(
        *([t] if isinstance(t, torch.Tensor) else t for t in (op(*given), op(*spread))), strict=True
    ):
        assert torch.equal(a.cpu(), b.cpu())


def test_tensors_without_elements():
    none = torch.empty(0, 6, device="npu", requires_grad=True)
    rows, positions = OPS.npu_moe_token_permute(
        none, torch.empty(0, 2, dtype=torch.int32, device="npu")
    )
    assert (rows.shape, positions.shape) == ((0, 6), (0,))
    rows.sum().backward()
    assert none.grad.shape == (0, 6)
    tokens, indices = torch.empty(4, 0, device="npu"), experts(4, 2).npu()
    rows, positions = OPS.npu_moe_token_permute(tokens, indices)
    assert rows.shape == (8, 0)
    assert torch.equal(
        positions.cpu().long(), indices.cpu().flatten().argsort(stable=True).argsort()
    )
    kept = OPS.npu_moe_token_permute(values(4, 6).npu(), indices, -8)[0]
    assert kept.shape == (0, 6)
    assert not OPS.npu_moe_token_unpermute(kept, positions, torch.ones(4, 2).npu()).any()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x, i: OPS.npu_moe_token_permute(x, i, padded_mode=True), NotImplementedError, "padded_mode is True"),
        (lambda x, i: OPS.npu_moe_token_permute(x, i[:2]), RuntimeError, "indices of size .2, 2."),
        (lambda x, i: OPS.npu_moe_token_permute(x, i, -9), RuntimeError, "num_out_tokens is -9"),
        (lambda x, i: OPS.npu_moe_token_permute(x, x), RuntimeError, "indices is a tensor of Float"),
        (lambda x, i: OPS.npu_moe_token_unpermute(x, i.flatten(), x), RuntimeError, "probs is"),
        (lambda x, i: OPS.npu_moe_token_unpermute(x, i), RuntimeError, "sorted_indices of size"),
        (lambda x, i: OPS.npu_moe_token_unpermute(x, i.flatten() - 9), RuntimeError, "out of range"),
        (lambda x, i: OPS.npu_moe_gating_top_k_softmax(x, k=7), RuntimeError, "k is 7 where x has 6 experts"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 4, k_group=1, group_count=2), RuntimeError, "k is 4, kGroup 1"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 2, group_count=4), RuntimeError, "groupCount 4 for 6 experts"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 2, renorm=1), RuntimeError, "renorm is 1"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 2, norm_type=2), RuntimeError, "normType is 2"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 2, bias=x[0, :3]), RuntimeError, "bias is"),
        (lambda x, i: OPS.npu_moe_gating_top_k(x, 2, input_ids=i[:, 0]), NotImplementedError, "input_ids or tid2eid"),
        (lambda x, i: OPS.npu_moe_gating_top_k_backward(x, x[:, :2], i + 6), RuntimeError, "out of range"),
        (lambda x, i: OPS.npu_moe_compute_expert_tokens(i.flatten().flip(0) * 0 + torch.arange(8, 0, -1).npu().int(), 3), RuntimeError, "falls"),
        (lambda x, i: OPS.npu_moe_init_routing(x, i + 8, i, 4), RuntimeError, "rowIdx: index"),
        (lambda x, i: OPS.npu_moe_init_routing(x, i[:3], i, 4), RuntimeError, "rowIdx"),
        (lambda x, i: OPS.npu_moe_finalize_routing(x, None, None, None, None, i[:, 0] - 1, None, 0), RuntimeError, "index -1 is out of range"),
        (lambda x, i: OPS.npu_moe_finalize_routing(x, None, None, x, None, i[:, 0], None), RuntimeError, "expertIdx"),
        (lambda x, i: OPS.npu_moe_finalize_routing(x, None, None, None, None, i[:, 0], None, 4), RuntimeError, "dropPadMode is 4"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, error, says):
    indices = torch.tensor([[0, 1], [2, 0], [1, 1], [0, 2]], dtype=torch.int32).npu()
    x = values(4, 6).npu()

    def run():
        call(x, indices)
        torch.npu.synchronize()

    with pytest.raises((error, IndexError), match=says):
        run()
