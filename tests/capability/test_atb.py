"""Operators of namespace atb that are composed of ATen's, against their definitions in float64 on the CPU."""

import pytest
import torch

import torch_npu
from tests.capability.composed_cases import values
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

ATB = torch.ops.atb
TYPES = [torch.float32, torch.float16, torch.bfloat16]
TESTED = {
    "_npu_flash_attention_unpad", "_npu_flash_attention_unpad_v2", "_npu_group_topk", "_npu_matmul_add_fp32",
    "_npu_paged_attention_get_workspace", "_npu_paged_attention_mla", "_npu_quantize_per_tensor",
}  # fmt: skip


def near(got, expected):
    """Sums of up to 64 terms in float32, and one rounding of the result."""
    eps = torch.finfo(got.dtype).eps
    accuracy.assert_close(
        got, expected, Tolerance(2 * eps, (64 * 2**-23 + eps) * expected.abs().max())
    )


def attend(q, k, v, scale):
    """Of [T, N, D] to [S, M, D]: the result, and the logarithms of sums."""
    q, k, v = (
        q.double(),
        *(t.double().repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v)),
    )
    scores = torch.einsum("tnd,snd->nts", q, k) * scale
    return torch.einsum("nts,sne->tne", scores.softmax(-1), v), scores.logsumexp(-1).T


def paged(pages, row, count):
    return pages[row.long()].flatten(0, 1)[:count]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_prompts_without_a_mask(dtype):
    q, k, v = (
        values(7, 4, 8).to(dtype),
        values(7, 2, 8, low=-1).to(dtype),
        values(7, 2, 8, low=-3).to(dtype),
    )
    out = torch.empty(7, 4, 8, dtype=dtype, device="npu")
    lengths = torch.tensor([4, 3], dtype=torch.int32)
    torch_npu._npu_flash_attention_unpad(q.npu(), k.npu(), v.npu(), lengths, 0.5, 4, 2, out)
    expected = torch.cat([attend(q[s], k[s], v[s], 0.5)[0] for s in (slice(0, 4), slice(4, 7))])
    near(out, expected)
    again = torch.zeros_like(out)
    version = again._version
    torch_npu._npu_flash_attention_unpad_v2(
        q.npu(), k.npu(), v.npu(), lengths.npu(), 0.5, 4, 2, out=again
    )
    assert torch.equal(again, out)
    assert again._version > version
    with pytest.raises(RuntimeError, match="sequences have 8 queries, there are 7"):
        torch_npu._npu_flash_attention_unpad(q.npu(), k.npu(), v.npu(), lengths + torch.tensor([0, 1]).int(), 0.5, 4, 2, out)  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_attention_to_pages(dtype):
    pages = values(5, 2, 1, 8).to(dtype)
    table, lengths = torch.tensor([[3, 0, 4], [1, 2, 0]], dtype=torch.int32), [5, 3]
    q = values(2, 4, 8, low=-1).to(dtype)
    out = torch.empty(2, 4, 6, dtype=dtype, device="npu")
    torch_npu._npu_paged_attention_mla(q.npu(), pages.npu(), 1, 4, 0.5, table.npu(), torch.tensor(lengths).int(), 6, out)  # fmt: skip
    rows = [paged(pages, r, n) for r, n in zip(table, lengths, strict=True)]
    near(out, torch.cat([attend(q[i : i + 1], r, r[..., :6], 0.5)[0] for i, r in enumerate(rows)]))
    own = (pages * 2).npu()
    out = torch.empty(2, 4, 8, dtype=dtype, device="npu")
    given = ATB._npu_paged_attention_v2.out(
        q.npu(), pages.npu(), table.npu(), lengths, value_cache=own, num_kv_heads=1, num_heads=4, scale_value=0.5, out=out
    )  # fmt: skip
    assert given is out
    near(out, torch.cat([attend(q[i : i + 1], r, r * 2, 0.5)[0] for i, r in enumerate(rows)]))
    space = ATB._npu_paged_attention_v2_get_workspace(
        q.npu(), pages.npu(), table.npu(), lengths, out=out
    )
    assert space.device.type == "npu"
    with pytest.raises(RuntimeError, match="block_table has a number that is none of 5 pages"):
        torch_npu._npu_paged_attention_mla(q.npu(), pages.npu(), 1, 4, 0.5, table.npu() + 9, torch.tensor(lengths).int(), 6, out[..., :6].clone())  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_latent_attention(dtype):
    nope, rope = values(5, 2, 1, 8).to(dtype), values(5, 2, 1, 4, low=-1).to(dtype)
    table, lengths, counts = torch.tensor([[3, 0, 4], [1, 2, 0]], dtype=torch.int32), [5, 3], [2, 1]
    q = values(3, 4, 8, low=-1).to(dtype), values(3, 4, 4).to(dtype)
    args = (*(t.npu() for t in (*q, nope, rope, table)), lengths, 4, 0.5, 1)
    expected, sums = [], []
    for r, n, (a, b) in zip(table, lengths, ((0, 2), (2, 3)), strict=True):
        own = paged(nope, r, n)
        keys = torch.cat((own, paged(rope, r, n)), -1)
        out, sum_of = attend(torch.cat(q, -1)[a:b], keys, own, 0.5)
        expected.append(out)
        sums.append(sum_of)
    expected, sums = torch.cat(expected), torch.cat(sums)
    near(ATB.npu_multi_head_latent_attention(*args, qseqlen=counts), expected)
    out, lse = ATB.npu_multi_head_latent_attention.lse(*args, True, qseqlen=counts)
    near(out, expected)
    near(lse, sums)
    out, lse = torch.empty_like(out), torch.empty_like(lse)
    ATB.npu_multi_head_latent_attention.lse_out(*args, True, qseqlen=counts, output=out, lse=lse)
    near(lse, sums)
    assert ATB.npu_multi_head_latent_attention.out(*args, qseqlen=counts, output=out) is out
    near(out, expected)
    with pytest.raises(NotImplementedError, match="cache_mode is 'nzcache'"):
        ATB.npu_multi_head_latent_attention(*args, qseqlen=counts, cache_mode="nzcache")


def test_rows_of_pages():
    caches = values(5, 2, 3, 4).npu(), values(5, 2, 3, 2, low=-1).npu()
    table, starts = torch.tensor([[3, 0, 4], [1, 2, 0]]).npu(), torch.tensor([1, 0]).npu()
    for lengths, ends in (
        (torch.tensor([3, 4]), False),
        (torch.tensor([3, 7]), True),
        (torch.tensor([0, 3, 7]), True),
    ):
        key, value = ATB.npu_paged_cache_load(
            *caches, table, lengths.npu(), seq_starts=starts, cumsum=ends
        )
        for got, cache in ((key, caches[0]), (value, caches[1])):
            rows = [cache[table[0]].flatten(0, 1)[1:4], cache[table[1]].flatten(0, 1)[:4]]
            assert torch.equal(got, torch.cat(rows))
        ATB.npu_paged_cache_load.out(*caches, table, lengths.npu(), seq_starts=starts, cumsum=ends, key=key.zero_(), value=value)  # fmt: skip
        assert torch.equal(key[:3], caches[0][table[0]].flatten(0, 1)[1:4])
    with pytest.raises(RuntimeError, match="block_table is of size"):
        ATB.npu_paged_cache_load(*caches, table, torch.tensor([9, 1]).npu())


def test_sums_of_products_in_float32():
    x, weight, own = values(9, 3).half(), values(9, 4, low=-1).half(), values(3, 4).float()
    device = own.npu()
    torch_npu._npu_matmul_add_fp32(x.npu(), weight.npu(), device)
    near(device, own.double() + x.double().T @ weight.double())
    with pytest.raises(RuntimeError, match=r"\[K, M\], \[K, N\] and \[M, N\] are taken"):
        torch_npu._npu_matmul_add_fp32(x.npu(), weight[:8].npu(), device)


def test_values_in_int8():
    x, y = values(3, 4).half(), torch.empty(3, 4, dtype=torch.int8, device="npu")
    scale, zero = values(4, low=0.01, high=0.03).half(), torch.tensor([3], dtype=torch.int8)
    torch_npu._npu_quantize_per_tensor(x.npu(), scale.npu(), zero.npu(), y)
    expected = (x.double() / scale.double() + 3).round().clamp(-128, 127)
    assert (y.cpu().double() - expected).abs().max() <= 1
    assert (y.cpu().double() - expected).abs().sum() <= 1


def test_groups_of_experts():
    scores = values(5, 12, low=0, high=1).float()
    for n in (1, 2):
        device = scores.npu()
        torch_npu._npu_group_topk(device, k=2, group_num=4, n=n)
        groups = scores.unflatten(1, (4, 3))
        best = groups.topk(n, -1).values.sum(-1).topk(2, -1).indices
        kept = torch.zeros(5, 4).scatter(1, best, 1.0).bool()
        assert torch.equal(device.cpu(), torch.where(kept[..., None], groups, 0).flatten(1))
    with pytest.raises(RuntimeError, match="E a multiple of group_num"):
        torch_npu._npu_group_topk(scores.npu(), 2, 5)


@pytest.mark.parametrize("is_norm", [True, False])
def test_best_experts_of_the_best_groups(is_norm):
    x, bias = values(5, 12).float(), values(12, low=-1).float()
    y, which = ATB.npu_fused_add_topk_div(x.npu(), bias.npu(), group_num=4, group_topk=2, n=2, k=4, is_norm=is_norm, scale=2.5)  # fmt: skip
    scores = x.double().sigmoid()
    groups = (scores + bias.double()).unflatten(1, (4, 3))
    best = groups.topk(2, -1).values.sum(-1).topk(2, -1).indices
    kept = torch.zeros(5, 4).scatter(1, best, 1.0).bool()[..., None]
    chosen = torch.where(kept, groups, -torch.inf).flatten(1).topk(4, -1).indices
    assert torch.equal(which.cpu().long(), chosen)
    weights = scores.gather(1, chosen)
    near(y, (weights / weights.sum(1, keepdim=True) if is_norm else weights) * 2.5)
    again, numbers = torch.empty_like(y), torch.empty_like(which)
    ATB.npu_fused_add_topk_div.out(x.npu(), bias.npu(), group_num=4, group_topk=2, n=2, k=4, is_norm=is_norm, scale=2.5, y=again, indices=numbers)  # fmt: skip
    assert torch.equal(again, y)
    assert torch.equal(numbers, which)


def test_meta_tensors_give_shapes():
    q, pages = torch.empty(2, 4, 8, device="meta"), torch.empty(5, 2, 1, 8, device="meta")
    table = torch.empty(2, 3, dtype=torch.int32, device="meta")
    out = torch.empty(2, 4, 6, device="meta")
    torch_npu._npu_paged_attention_mla(q, pages, 1, 4, 0.5, table, table[:, 0], 6, out)
    y, which = ATB.npu_fused_add_topk_div(
        torch.empty(5, 12, device="meta"), torch.empty(12, device="meta"), k=3
    )
    assert (y.shape, which.dtype) == ((5, 3), torch.int32)
    latent, lse = ATB.npu_multi_head_latent_attention.lse(q, q[..., :4], pages, pages[..., :4], table, [1, 2], 4, 0.5, 1, True)  # fmt: skip
    assert (latent.shape, lse.shape) == ((2, 4, 8), (2, 4))
    with pytest.raises(RuntimeError, match="query requires a gradient"):
        torch_npu._npu_paged_attention_mla(
            q.requires_grad_(), pages, 1, 4, 0.5, table, table[:, 0], 6, out
        )
