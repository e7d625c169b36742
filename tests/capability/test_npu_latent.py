"""Operators of latent attention that write caches, take types of one byte, or have no reference of their own."""

from itertools import pairwise

import pytest
import torch

import torch_npu
from tests.capability import latent_cases, scaled_cases, sparse_cases
from tests.capability.composed_cases import values
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
TESTED = {
    "empty_with_swapped_memory", "npu_add_quant_gmm_", "npu_add_quant_matmul_", "npu_bert_apply_adam",
    "npu_fused_causal_conv1d", "npu_fusion_attention_grad_v3", "npu_fusion_attention_v3", "npu_kv_quant_sparse_flash_attention", "npu_mla_prolog",
    "npu_mla_prolog_v2", "npu_mla_prolog_v3", "npu_prefetch", "npu_quant_grouped_matmul_dequant",
    "npu_quant_matmul_dequant",
}  # fmt: skip


def near(got, expected, terms=1):
    """Sums of ``terms`` products in float32, and roundings of the result's type."""
    eps = torch.finfo(got.dtype).eps
    size = expected.abs().max().clamp(min=1)
    accuracy.assert_close(got, expected, Tolerance(4 * eps, (8 * terms * 2**-23 + 4 * eps) * size))


def on(device, given):
    move = lambda v: v.to(device) if isinstance(v, torch.Tensor) else v  # noqa: E731
    return (
        {k: move(v) for k, v in given.items()}
        if isinstance(given, dict)
        else [move(v) for v in given]
    )


def typed(args, dtype):
    floats = lambda t: isinstance(t, torch.Tensor) and t.is_floating_point()  # noqa: E731
    return [t.to(dtype) if floats(t) else t for t in args]


def same(got, expected, terms=200):
    if got.is_floating_point():
        near(got, expected, terms)
    else:
        off = (got.cpu().long() - expected.long()).abs()
        assert off.max() <= 1
        assert off.sum() <= 1 + 0.02 * off.numel()


PLAIN = latent_cases.inputs(2, 3)
INDEX = torch.tensor([[7, 0, 2], [1, 11, 5]])


@pytest.mark.parametrize("mode", ["PA_BSND", "PA_NZ"])
def test_projections_are_written_to_the_callers_caches(mode):
    widened = [*PLAIN[:9], torch.zeros(3, 4, 1, 32).double(), torch.zeros(3, 4, 1, 4).double()]
    args = typed(widened, torch.float32)
    if mode == "PA_NZ":  # a block of 32 bytes is 8 numbers: the rotated part needs as many
        args[10] = args[10].repeat(1, 1, 1, 2)
        rope = torch.cat((args[7], args[7]), -1), torch.cat((args[8], args[8]), -1)
        args[7], args[8] = rope
        args[2] = values(6, 2 * 12, low=-1.5).float()
        args[4] = values(12, 40, low=-1.1).float()
    expected = latent_cases.projected(
        *(t.double() for t in args[:9]), *args[9:], cache_index=INDEX, cache_mode=mode
    )
    for name in ("npu_mla_prolog", "npu_mla_prolog_v2", "npu_mla_prolog_v3"):
        device = on("npu", args)
        caches = device[9:]
        if name == "npu_mla_prolog_v3":
            version = caches[0]._version
            got = OPS.npu_mla_prolog_v3(*device, cache_index=INDEX.npu(), cache_mode=mode)
            assert caches[0]._version > version
        else:
            got = getattr(OPS, name)(*device[:9], INDEX.npu(), *caches, cache_mode=mode)
            assert got[2].data_ptr() == caches[0].data_ptr()
        for a, b in zip((*got[:2], *caches), (*expected[:2], *expected[5:]), strict=True):
            same(a, b)


def test_int8_projections():
    kwargs = {k: v for k, v in latent_cases.FULL.items() if not k.endswith("mode")}
    args = typed(latent_cases.inputs(5, full=True), torch.float32)
    widened = [t.double() if t.is_floating_point() else t for t in args]
    expected = latent_cases.projected(
        *widened, cache_index=latent_cases.TOKENS, **latent_cases.FULL
    )
    device = on("npu", args)
    got = OPS.npu_mla_prolog_v2(
        *device[:9], latent_cases.TOKENS.npu(), *device[9:], **on("npu", kwargs)
    )
    order = (0, 1, 5, 6, 2)
    for a, b in zip(got, (expected[i] for i in order), strict=True):
        same(a, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("key_type", [torch.int8, torch.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("layout", ["BSND", "PA_BSND"])
def test_keys_of_one_byte(dtype, key_type, layout):
    plain, rope, tile = 16, 4, 8
    rows = (5, 2) if layout == "PA_BSND" else (2, 6)
    numbers = values(*rows, 1, plain, low=-100, high=100)
    numbers = numbers.round().to(torch.int8) if key_type == torch.int8 else numbers.to(key_type)
    ropes, scales = (
        values(*rows, 1, rope).to(dtype),
        values(*rows, 1, plain // tile, low=0.005, high=0.01).float(),
    )
    key = torch.cat([t.contiguous().view(torch.int8) for t in (numbers, ropes, scales)], -1).view(
        key_type
    )
    query = values(2, 4, 3, plain + rope).to(dtype)
    index = sparse_cases.chosen(2, 4, 1, 3, below=6 if layout == "BSND" else 4)
    pages = {}
    if layout == "PA_BSND":
        pages = {"block_table": sparse_cases.TABLE, "actual_seq_lengths_kv": sparse_cases.COUNTS}
    widened = numbers.float().double() * scales.double().repeat_interleave(tile, -1)
    whole = torch.cat((widened, ropes.double()), -1)
    expected = sparse_cases.flash(query.double(), whole, widened, index, 0.3, **pages)[0]
    given = on("npu", pages)
    got = OPS.npu_kv_quant_sparse_flash_attention(
        query.npu(), key.npu(), key.npu(), index.npu(), 0.3, 2, 2, layout_kv=layout, attention_mode=2, tile_size=tile,
        rope_head_dim=rope, **given,
    )  # fmt: skip
    near(got, expected, plain + rope)


def powers(*size):
    return values(*size, low=120, high=130).long().to(torch.uint8)


def spread(bits, dim, count):
    return (
        scaled_cases.powers(bits)
        .flatten(dim, dim + 1)
        .repeat_interleave(32, dim)
        .narrow(dim, 0, count)
    )


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_blocks_of_float8_are_added(dtype):
    x1, x2 = values(3, 70).to(dtype), values(70, 5).to(dtype)
    s1, s2 = powers(3, 2, 2), powers(2, 5, 2)
    a = x1.double() * spread(s1, 1, 70)
    b = x2.double() * spread(s2.transpose(1, 2), 0, 70)
    y = values(3, 5).float()
    device = y.npu()
    version = device._version
    kwargs = {"group_sizes": [1, 1, 32], "x1_scale_dtype": torch_npu.float8_e8m0fnu}
    assert (
        OPS.npu_add_quant_matmul_(device, x1.npu(), x2.npu(), s2.npu(), x1_scale=s1.npu(), **kwargs)
        is device
    )
    assert device._version > version
    near(device, y.double() + a @ b, 70)


def test_groups_of_blocks_are_added():
    """What npu_grouped_dynamic_mx_quant gives is taken."""
    ends = torch.tensor([70, 70, 140])
    left, right = values(140, 3).float(), values(140, 5, low=-1).float()
    (a, sa), (b, sb) = (
        OPS.npu_grouped_dynamic_mx_quant(t.npu(), ends.int().npu(), dst_type=24)
        for t in (left, right)
    )
    y = values(3, 3, 5).float()
    device = y.npu()
    OPS.npu_add_quant_gmm_(device, a.t(), b, sb, ends.npu(), x1_scale=sa.transpose(0, 1))
    expected, begin = y.double(), 0
    for group, end in enumerate(ends.tolist()):
        first = begin // 64 + group
        parts = []
        for x, s in ((a, sa), (b, sb)):
            own = s.cpu()[first : first + -(-(end - begin) // 64)].transpose(1, 2)
            if end > begin:
                parts.append(x.cpu()[begin:end].double() * spread(own, 0, end - begin))
        if parts:
            expected[group] += parts[0].T @ parts[1]
        begin = end
    near(device, expected, 140)
    assert (expected[2] - y[2]).abs().max() > 1


@pytest.mark.parametrize("mode", ["pertoken", "pertensor"])
def test_int8_weights_with_values_that_are_quantized(mode):
    x, weight, factor = (
        values(6, 32).half(),
        scaled_cases.int8(2, 5, 32),
        values(2, 5, low=0.01).float(),
    )
    smooth = values(32, low=0.5).half()
    own = {"x_scale": torch.tensor([0.03])} if mode == "pertensor" else {}
    y = x.float() * smooth.float()
    scale = y.abs().amax(1, keepdim=True) / 127 if mode == "pertoken" else torch.tensor([[0.03]])
    whole = (y / scale).round().clamp(-128, 127).double()
    kwargs = {"smooth_scale": smooth.npu(), "quant_mode": mode, **on("npu", own)}
    got = OPS.npu_quant_matmul_dequant(x.npu(), weight[0].npu(), factor[0].npu(), **kwargs)
    near(got, whole @ weight[0].double().T * factor[0] * scale.double(), 32)
    ends = torch.tensor([2, 5])
    got = OPS.npu_quant_grouped_matmul_dequant(
        x.npu(), weight.npu(), factor.npu(), ends.npu(), **kwargs
    )
    rows = [
        whole[:2] @ weight[0].double().T * factor[0],
        whole[2:5] @ weight[1].double().T * factor[1],
    ]
    expected = torch.cat((*rows, torch.zeros(1, 5).double())) * scale.double()
    near(got, expected, 32)


@pytest.mark.parametrize("limit", [-1.0, 0.5])
def test_bert_adam(limit):
    var, m, v, g = (values(7, 3, low=0.1 * k).float() for k in range(4))
    v = v.abs()
    out = on("npu", (var, m, v))
    torch_npu.npu_bert_apply_adam(0.1, 0.9, 0.99, 1e-6, g.npu(), limit, 2.0, 0.01, out=out)
    g = g.double() * (0.25 if limit > 0 else 1)
    m, v = 0.9 * m.double() + 0.1 * g, 0.99 * v.double() + 0.01 * g * g
    near(out[1], m)
    near(out[2], v)
    near(out[0], var.double() - 0.1 * (m / (v.sqrt() + 1e-6) + 0.01 * var.double()), 4)
    with pytest.raises(NotImplementedError, match="adam_mode is 1"):
        torch_npu.npu_bert_apply_adam(
            0.1, 0.9, 0.99, 1e-6, g.float().npu(), 1, 1, 0, adam_mode=1, out=out
        )


@pytest.mark.parametrize("keep_prob", [1.0, 0.5])
@pytest.mark.parametrize("layout", ["BNSD", "TND"])
def test_the_third_version_of_attention(keep_prob, layout):
    size = (2, 4, 16, 8) if layout == "BNSD" else (32, 4, 8)
    rows = [values(*size, low=-1.0 - k).float() for k in range(3)]
    ends = {} if layout == "BNSD" else {"actual_seq_qlen": [12, 32], "actual_seq_kvlen": [12, 32]}
    tensors = {k: torch.tensor(v) for k, v in ends.items()}
    kwargs = {"scale": 0.3, "keep_prob": keep_prob}
    torch.manual_seed(7)  # the first version draws a seed where it gets 0
    third = [t.npu().requires_grad_() for t in rows]
    got = OPS.npu_fusion_attention_v3(*third, 4, layout, **kwargs, **tensors)
    seed, offset = (int(t) for t in got[4:]) if keep_prob < 1 else (0, 0)
    first = [t.npu().requires_grad_() for t in rows]
    expected = OPS.npu_fusion_attention(
        *first, 4, layout, **kwargs, **ends, seed=seed, offset=offset
    )
    for a, b in zip(got[:3], expected[:3], strict=True):
        assert torch.equal(a, b)
    got[0].sum().backward()
    expected[0].sum().backward()
    for a, b in zip(third, first, strict=True):
        assert torch.equal(a.grad, b.grad)
    args = [t.detach().to("meta") for t in third]
    for a, b in zip(OPS.npu_fusion_attention_v3(*args, 4, layout, **kwargs), got, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)


def test_hints_check_their_arguments():
    x = torch.ones(8, 8, device="npu")
    assert torch_npu.npu_prefetch(x, None, 1000) is None
    assert torch_npu.npu_prefetch(x, x, 1, 255) is None
    with pytest.raises(RuntimeError, match="max_size should be greater than zero, but got -1"):
        torch_npu.npu_prefetch(x, None, -1)
    with pytest.raises(RuntimeError, match="offset should be nonnegative, but got -1"):
        torch_npu.npu_prefetch(x, None, 1, -1)
    with pytest.raises(RuntimeError, match="offset is 256 for a tensor of 256 bytes"):
        torch_npu.npu_prefetch(x, None, 1, 256)
    with pytest.raises(RuntimeError, match=r"dependency is .* on cpu"):
        torch_npu.npu_prefetch(x, x.cpu(), 1)
    y = torch_npu.empty_with_swapped_memory(
        [2, 2], dtype=torch.float32, device=torch.device("npu:0")
    )
    assert y.fill_(3).add_(x[:2, :2]).tolist() == [[4, 4], [4, 4]]
    assert torch_npu.empty_with_swapped_memory([3]).device.type == "npu"
    with pytest.raises(
        RuntimeError, match="empty_with_swapped_memory makes npu tensors, not on cpu"
    ):
        torch_npu.empty_with_swapped_memory([3], device=torch.device("cpu"))


def call(case, name, **changed):
    args = on("npu", typed(case.args, torch.float32))
    kwargs = dict(zip(case.kwargs, typed(case.kwargs.values(), torch.float32), strict=True))
    return lambda: getattr(OPS, name)(*args, **on("npu", {**kwargs, **changed}))


V3 = "npu_mla_prolog_v3_functional"
PROJECTION = latent_cases.PROJECTIONS[V3]
DENSE, SPARSE = (
    "npu_dense_lightning_indexer_grad_kl_loss",
    "npu_sparse_lightning_indexer_grad_kl_loss",
)
GROUPS = scaled_cases.SCALED["npu_add_quant_gmm"]


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (call(PROJECTION, V3, cache_mode="NZ"), RuntimeError, "cache_mode is 'NZ'"),
        (call(PROJECTION, V3, cache_index=None), RuntimeError, "cache_index is None"),
        (call(PROJECTION, V3, cache_index=INDEX + 9), RuntimeError, "index has 20 for 12 slots"),
        (call(PROJECTION, V3, cache_index=INDEX[:1]), RuntimeError, "cache_index has 3 numbers for 6 tokens"),
        (call(PROJECTION, V3, weight_quant_mode=3), NotImplementedError, "weight_quant_mode is 3"),
        (call(PROJECTION, V3, query_quant_mode=1), RuntimeError, "query_quant_mode 1: .0, 0, 0."),
        (call(PROJECTION, V3, weight_quant_mode=1), RuntimeError, "weight_uq_qr is a tensor of Float"),
        (call(latent_cases.LOSSES[DENSE], DENSE, layout="SBND"), RuntimeError, "layout is 'SBND'"),
        (call(latent_cases.LOSSES[DENSE], DENSE, layout="TND"), RuntimeError, "is of size"),
        (call(latent_cases.LOSSES[DENSE], DENSE, sparse_mode=1), RuntimeError, "sparse_mode is 1"),
        (call(latent_cases.LOSSES[DENSE], DENSE, actual_seq_qlen=[2, 6]), RuntimeError, "actual_seq_qlen has 2"),
        (call(latent_cases.LOSSES[SPARSE], SPARSE, sinks=torch.ones(4)), NotImplementedError, "sinks is given"),
        (call(GROUPS, "npu_add_quant_gmm", x1_scale=torch.ones(4)), RuntimeError, "3 groups of K = 30"),
        (call(GROUPS, "npu_add_quant_gmm", group_list_type=2), RuntimeError, "group_list_type is 2"),
        (call(GROUPS, "npu_add_quant_gmm", group_list_type=1), RuntimeError, "group_list has 30 behind 20"),
        (call(GROUPS, "npu_add_quant_gmm", group_sizes=[1, 1, 16]), NotImplementedError, "group_sizes is .1, 1, 16."),
        (
            lambda: OPS.npu_grouped_dynamic_mx_quant(torch.ones(4, 2).npu(), torch.tensor([3, 2]).npu()),
            RuntimeError, "group_index has 2 behind 3 for 4 rows",
        ),
        (
            lambda: OPS.npu_dynamic_dual_level_mx_quant(torch.ones(4, 3).half().npu()),
            RuntimeError, "an even last dimension",
        ),
        (
            lambda: OPS.npu_quant_matmul_dequant(
                torch.ones(2, 4).half().npu(), torch.ones(3, 5).char().npu(), torch.ones(3).npu()
            ),
            RuntimeError, "quantized_weight of size .3, 5.",
        ),
    ],
)  # fmt: skip
def test_errors_name_the_cause(function, error, says):
    with pytest.raises(error, match=says):
        function()


def windows(x, weight, states, starts, lines, taken, done, bias, adds, resets):
    """Rows [T, dim] by the definition: each sequence behind what its line keeps."""
    states, out, taps, kept = states.clone(), torch.zeros_like(x), len(weight), states.shape[1]
    for b, (begin, end) in enumerate(pairwise(starts)):
        line = lines[b]
        if line < 0:
            continue
        offset = 0 if done[b] == 0 else (kept - taps + 1 if taken is None else taken[b] - 1)
        before = (
            torch.zeros(taps - 1, x.shape[1]) if done[b] == 0 else states[line, : offset + taps - 1]
        )
        padded = torch.cat((before.to(x), x[begin:end]))
        count = min(kept, len(padded))
        states[line, kept - count :] = padded[len(padded) - count :]
        for t in range(end - begin):
            y = (padded[offset + t : offset + t + taps] * weight).sum(0) + bias
            if resets and t < taps - 1 - done[b]:
                y = torch.zeros_like(y)
            out[begin + t] = y + x[begin + t] * adds
    return out, states


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("resets", [False, True])
def test_convolutions_keep_rows_of_sequences(dtype, resets):
    x, weight, bias = values(9, 4).to(dtype), values(3, 4, low=-1).to(dtype), values(4).to(dtype)
    states = values(5, 3, 4, low=-3).to(dtype)
    starts, lines, taken, done = [0, 3, 3, 7, 9], [4, 0, 2, -1], [2, 1, 1, 1], [5, 2, 0, 3]
    number = lambda v: torch.tensor(v, dtype=torch.int32).npu()  # noqa: E731
    device = states.npu()
    version = device._version
    got = torch_npu.npu_fused_causal_conv1d(
        x.npu(), weight.npu(), device, query_start_loc=number(starts), cache_indices=number(lines), bias=bias.npu(),
        num_accepted_tokens=number(taken), num_computed_tokens=number(done), residual_connection=1,
        conv_mode="pangu" if resets else "default",
    )  # fmt: skip
    widened = (t.double() for t in (x, weight, states))
    expected, kept = windows(*widened, starts, lines, taken, done, bias.double(), True, resets)
    near(got, expected, 4)
    near(device, kept)
    assert device._version > version
    batch = torch_npu.npu_fused_causal_conv1d(
        x[:6].reshape(2, 3, 4).npu(), weight.npu(), states.npu()
    )
    expected, _ = windows(
        x[:6].double(),
        weight.double(),
        states.double(),
        [0, 3, 6],
        [0, 1],
        None,
        [1, 1],
        0,
        False,
        False,
    )
    near(batch, expected.reshape(2, 3, 4), 4)
    with pytest.raises(RuntimeError, match="cache_indices has 5 for 5 lines"):
        torch_npu.npu_fused_causal_conv1d(
            x.npu(), weight.npu(), device, query_start_loc=number([0, 9]), cache_indices=number([5])
        )
    with pytest.raises(NotImplementedError, match="activation is 'silu'"):
        torch_npu.npu_fused_causal_conv1d(x[None].npu(), weight.npu(), device, activation="silu")
