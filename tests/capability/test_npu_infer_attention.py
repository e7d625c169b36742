"""Attention without gradients, over contiguous and paged keys, against its definition on the CPU in double precision."""

import math

import pytest
import torch

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
INFER = OPS.npu_fused_infer_attention_score
INFER2 = OPS.npu_fused_infer_attention_score_v2
VALUES = [torch.float32, torch.float16, torch.bfloat16]
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
LAYOUTS = [
    "BSH",
    "BSND",
    "BNSD",
    "BNSD_BSND",
    "BSH_BNSD",
    "BSND_BNSD",
    "BSH_NBSD",
    "BSND_NBSD",
    "BNSD_NBSD",
]
B, N, KN, SQ, SK, D, DV = 3, 4, 2, 5, 9, 8, 6
SCALE = 0.3


def values(*size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(size) + sum(size))
    return torch.randn(size, generator=generator).to(dtype)


def arranged(bnsd, layout):
    """[B, N, S, D] in the order of a layout."""
    if layout.endswith("H"):
        return bnsd.transpose(1, 2).flatten(2)
    order = {"B": 0, "N": 1, "S": 2, "D": 3}
    return bnsd.permute([order[c] for c in layout]).contiguous()


def attention(q, k, v, hidden=None, bias=None, sink=None):
    """Of [N, Sq, D] and [KN, Sk, D]: the result and the logarithms of the sums, in double precision."""
    k, v = (t.double().repeat_interleave(len(q) // len(t), 0) for t in (k, v))
    scores = SCALE * q.double() @ k.mT + (0 if bias is None else bias.double())
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    if sink is not None:
        scores = torch.cat((scores, sink.double()[:, None, None].expand(*scores.shape[:2], 1)), -1)
    weights = scores.softmax(-1).nan_to_num(0)
    log_sum = scores.logsumexp(-1)
    return weights[..., : k.shape[1]] @ v, log_sum.where(log_sum > -math.inf, math.inf)


def check(got, exact, steps=1):
    assert got.shape == exact.shape
    eps = torch.finfo(torch.float32).eps
    finite = exact.isfinite()
    assert torch.equal(got.cpu().isfinite(), finite)
    got, exact = got.cpu()[finite], exact[finite]
    size = exact.abs().max().clamp(min=4) if exact.numel() else 1
    accuracy.assert_close(
        got, exact, Tolerance(steps * torch.finfo(got.dtype).eps, 64 * eps * size)
    )


def causal(queries, keys, from_last=True):
    shift = keys - queries if from_last else 0
    return torch.ones(queries, keys, dtype=torch.bool).triu(1 + shift)


def batch(dtype=torch.float32, sq=SQ, dv=DV):
    return (
        values(B, N, sq, D, dtype=dtype),
        values(B, KN, SK, D, dtype=dtype),
        values(B, KN, SK, dv, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sq", [SQ, 1])
def test_layouts(dtype, layout, sq):
    q, k, v = batch(dtype, sq)
    inner, _, outer = layout.partition("_")
    given = [arranged(t, inner).npu() for t in (q, k, v)]
    got, log_sum = INFER(
        *given,
        input_layout=layout,
        num_heads=N,
        num_key_value_heads=KN,
        scale=SCALE,
        softmax_lse_flag=True,
    )
    exact = [attention(*t) for t in zip(q, k, v, strict=True)]
    assert got.dtype == dtype
    check(got, arranged(torch.stack([e for e, _ in exact]), outer or inner))
    assert log_sum.dtype == torch.float32
    check(log_sum, torch.stack([s for _, s in exact])[..., None])


@pytest.mark.parametrize("mode", range(5))
@pytest.mark.parametrize("variant", ["square", "batch"])
def test_masks(mode, variant):
    q, k, v = batch()
    full = torch.rand(B, 1, SQ, SK, generator=torch.Generator().manual_seed(0)) < 0.4
    if variant == "square":
        full = full[:1].expand(B, 1, SQ, SK)
    own = torch.arange(SK)[None] - torch.arange(SQ)[:, None]
    band = lambda shift: (own - shift < -2) | (own - shift > 1)  # noqa: E731
    hidden = {
        0: full[:, 0] | band(0),
        1: full[:, 0],
        2: causal(SQ, SK, False).expand(B, SQ, SK),
        3: causal(SQ, SK).expand(B, SQ, SK),
        4: band(SK - SQ).expand(B, SQ, SK),
    }[mode]
    pattern = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
    mask = pattern if mode > 1 else full[0, 0] if variant == "square" else full
    got = INFER(
        *(t.npu() for t in (q, k, v)), atten_mask=mask.npu(), input_layout="BNSD", num_heads=N, scale=SCALE,
        num_key_value_heads=KN, sparse_mode=mode, pre_tokens=2, next_tokens=1, softmax_lse_flag=True,
    )  # fmt: skip
    exact = [attention(q[i], k[i], v[i], hidden[i]) for i in range(B)]
    check(got[0], torch.stack([e for e, _ in exact]))
    check(got[1], torch.stack([s for _, s in exact])[..., None])


@pytest.mark.parametrize("mode", [0, 2, 3])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.uint8], ids=str)
def test_one_query_sees_all_that_the_mask_has(mode, dtype):
    q, k, v = batch(sq=1)
    hidden = torch.rand(B, SK, generator=torch.Generator().manual_seed(2)) < 0.4
    mask = hidden.to(dtype) if mode == 0 else torch.ones(2048, 2048, dtype=dtype).triu(1)
    got = INFER(
        *(t.npu() for t in (q, k, v)), atten_mask=mask.npu(), input_layout="BNSD", num_heads=N,
        num_key_value_heads=KN, scale=SCALE, sparse_mode=mode, pre_tokens=0, next_tokens=0,
    )[0]  # fmt: skip
    exact = [attention(q[i], k[i], v[i], hidden[i] if mode == 0 else None)[0] for i in range(B)]
    check(got, torch.stack(exact))


def test_bias_and_lengths():
    q, k, v = batch()
    bias = values(1, N, SQ, SK)
    lengths, key_lengths = [5, 2, 0], [9, 4, 3]
    got, log_sum = INFER(
        *(t.npu() for t in (q, k, v)), pse_shift=bias.npu(), input_layout="BNSD", num_heads=N, scale=SCALE,
        num_key_value_heads=KN, actual_seq_lengths=lengths, actual_seq_lengths_kv=key_lengths, softmax_lse_flag=True,
    )  # fmt: skip
    for i, (n, m) in enumerate(zip(lengths, key_lengths, strict=True)):
        exact, sums = attention(q[i, :, :n], k[i, :, :m], v[i, :, :m], bias=bias[0, :, :n, :m])
        check(got[i, :, :n], exact)
        check(log_sum[i, :, :n, 0], sums)
        assert not got[i, :, n:].any()
    one = INFER(
        *(t.npu() for t in (q, k, v)), input_layout="BNSD", num_heads=N, num_key_value_heads=KN, scale=SCALE,
        actual_seq_lengths_kv=[4],
    )[0]  # fmt: skip
    check(one, torch.stack([attention(q[i], k[i, :, :4], v[i, :, :4])[0] for i in range(B)]))


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("layout", ["TND", "NTD", "TND_NTD", "NTD_TND"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_concatenated_sequences(dtype, layout, is_causal):
    ends, key_ends = [3, 3, 8], [4, 7, 12]
    q, k, v = (values(t, n, d, dtype=dtype) for t, n, d in ((9, N, D), (13, KN, D), (13, KN, DV)))
    turned = layout.startswith("N")
    given = [(t.transpose(0, 1).contiguous() if turned else t).npu() for t in (q, k, v)]
    pattern = torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    got, log_sum = INFER(
        *given, input_layout=layout, num_heads=N, num_key_value_heads=KN, scale=SCALE, softmax_lse_flag=True,
        actual_seq_lengths=ends, actual_seq_lengths_kv=key_ends,
        atten_mask=pattern if is_causal else None, sparse_mode=3 if is_causal else 0,
    )  # fmt: skip
    if layout.endswith("NTD"):
        got = got.transpose(0, 1)
    assert log_sum.shape == (9, N, 1)
    starts, key_starts = [0, *ends], [0, *key_ends]
    for i in range(3):
        part, keys = slice(starts[i], ends[i]), slice(key_starts[i], key_ends[i])
        hidden = causal(ends[i] - starts[i], key_ends[i] - key_starts[i]) if is_causal else None
        exact, sums = attention(
            *(t[s].transpose(0, 1) for t, s in ((q, part), (k, keys), (v, keys))), hidden
        )
        check(got[part], exact.transpose(0, 1))
        check(log_sum[part, :, 0], sums.mT)
    assert not got[8:].any()


def paged(tensors, lengths, page, pages, by_head):
    """[B, KN, S, D] in pages of a random order, and their table; pages that no sequence has are not numbers."""
    columns = max(-(-n // page) for n in lengths) + 1
    order = torch.randperm(pages, generator=torch.Generator().manual_seed(5)).tolist()
    table = torch.full((len(lengths), columns), -7, dtype=torch.int32)
    stores = [t.new_full((pages, t.shape[1], page, t.shape[3]), math.nan) for t in tensors]
    for i, n in enumerate(lengths):
        for j in range(-(-n // page)):
            table[i, j] = order.pop()
            for store, t in zip(stores, tensors, strict=True):
                part = t[i, :, j * page : min(n, (j + 1) * page)]
                store[table[i, j], :, : part.shape[1]] = part
    if not by_head:
        stores = [s.transpose(1, 2).flatten(2) for s in stores]
    return stores, table


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("by_head", [False, True])
@pytest.mark.parametrize(("page", "long"), [(4, 30), (16, 50), (128, 300)])
@pytest.mark.parametrize("layout", ["BSH", "BNSD"])
@pytest.mark.parametrize("sq", [1, 6])
def test_pages(dtype, by_head, page, long, layout, sq):
    lengths = [long, page, 1]
    q = values(B, N, sq, 32, dtype=dtype)
    k, v = values(B, KN, long, 32, dtype=dtype), values(B, KN, long, 32, dtype=dtype) * 2
    (keys, contents), table = paged((k, v), lengths, page, 20, by_head)
    got, log_sum = INFER(
        arranged(q, layout).npu(), keys.npu(), contents.npu(), input_layout=layout, num_heads=N,
        num_key_value_heads=KN, scale=SCALE, block_table=table.npu(), block_size=page,
        actual_seq_lengths_kv=lengths, softmax_lse_flag=True,
    )  # fmt: skip
    exact = [attention(q[i], k[i, :, :n], v[i, :, :n]) for i, n in enumerate(lengths)]
    check(got, arranged(torch.stack([e for e, _ in exact]), layout))
    check(log_sum, torch.stack([s for _, s in exact])[..., None])
    if sq == 1:
        same = torch_npu.npu_incre_flash_attention(
            arranged(q, layout).npu(), keys.npu(), contents.npu(), input_layout=layout, num_heads=N, block_size=page,
            num_key_value_heads=KN, scale_value=SCALE, block_table=table.npu(), actual_seq_lengths=lengths,
        )  # fmt: skip
        assert torch.equal(same.cpu(), got.cpu())


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("by_head", [False, True])
def test_pages_of_concatenated_queries(dtype, by_head):
    """As serving calls it: chunks of prompts and single queries in one batch, causal from the last."""
    ends, lengths, page = [5, 6, 10], [9, 21, 4], 8
    q = values(10, N, D, dtype=dtype)
    k, v = values(B, KN, 21, D, dtype=dtype), values(B, KN, 21, DV, dtype=dtype)
    (keys, contents), table = paged((k, v), lengths, page, 16, by_head)
    got = INFER(
        q.npu(), keys.npu(), contents.npu(), input_layout="TND", num_heads=N, num_key_value_heads=KN, scale=SCALE,
        block_table=table.npu(), block_size=page, actual_seq_lengths=ends, actual_seq_lengths_kv=lengths,
        sparse_mode=3, atten_mask=torch.ones(2048, 2048, dtype=torch.int8).triu(1).npu(),
    )[0]  # fmt: skip
    for i, (start, end, n) in enumerate(zip([0, *ends], ends, lengths, strict=False)):
        hidden = causal(end - start, n)
        exact, _ = attention(q[start:end].transpose(0, 1), k[i, :, :n], v[i, :, :n], hidden)
        check(got[start:end], exact.transpose(0, 1))


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("is_paged", [False, True])
def test_rope_in_tensors_of_its_own(dtype, is_paged):
    """Latent attention: one head of keys, whose rotated channels are apart."""
    lengths, page = [9, 5, 3], 4
    q, qr = values(B, N, 2, 16, dtype=dtype), values(B, N, 2, 4, dtype=dtype)
    k, kr = values(B, 1, SK, 16, dtype=dtype), values(B, 1, SK, 4, dtype=dtype)
    given = [k, k, kr]
    others = {}
    if is_paged:
        given, table = paged((k, k, kr), lengths, page, 12, True)
        others = {"block_table": table.npu(), "block_size": page}
    keys, contents, rope = (t.npu() for t in given)
    got = INFER(
        q.npu(), keys, contents, query_rope=qr.npu(), key_rope=rope, input_layout="BNSD", num_heads=N,
        num_key_value_heads=1, scale=SCALE, actual_seq_lengths_kv=lengths, sparse_mode=3,
        atten_mask=torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu(), **others,
    )[0]  # fmt: skip
    whole, keys = torch.cat((q, qr), -1), torch.cat((k, kr), -1)
    for i, n in enumerate(lengths):
        check(got[i], attention(whole[i], keys[i, :, :n], k[i, :, :n], causal(2, n))[0])


def test_second_version_with_sinks():
    q, k, v = batch()
    sink = values(N)
    got, log_sum = INFER2(
        *(t.npu() for t in (q, k, v)), input_layout="BNSD", num_query_heads=N, num_key_value_heads=KN,
        softmax_scale=SCALE, learnable_sink=sink.npu(), return_softmax_lse=True, query_dtype=torch.float32,
    )  # fmt: skip
    exact = [attention(*t, sink=sink) for t in zip(q, k, v, strict=True)]
    check(got, torch.stack([e for e, _ in exact]))
    check(log_sum, torch.stack([s for _, s in exact])[..., None])
    first = INFER(
        *(t.npu() for t in (q, k, v)),
        input_layout="BNSD",
        num_heads=N,
        num_key_value_heads=KN,
        scale=SCALE,
    )
    second = INFER2(
        *(t.npu() for t in (q, k, v)),
        input_layout="BNSD",
        num_query_heads=N,
        num_key_value_heads=KN,
        softmax_scale=SCALE,
    )
    assert torch.equal(first[0].cpu(), second[0].cpu())


def test_prompts():
    q, k, v = batch()
    hidden = causal(SQ, SK, False)
    got = torch_npu.npu_prompt_flash_attention(
        *(t.npu() for t in (q, k, v)), input_layout="BNSD", num_heads=N, num_key_value_heads=KN, scale_value=SCALE,
        atten_mask=hidden.npu(), next_tokens=0,
    )  # fmt: skip
    check(got, torch.stack([attention(*t, hidden)[0] for t in zip(q, k, v, strict=True)]))
    short = OPS.npu_prompt_flash_attention(
        *(t.npu() for t in (q, k, v)), input_layout="BNSD", num_heads=N, num_key_value_heads=KN, scale_value=SCALE,
        actual_seq_lengths=[2], actual_seq_lengths_kv=[3, 9, 1],
    )  # fmt: skip
    for i, n in enumerate([3, 9, 1]):
        check(short[i, :, :2], attention(q[i, :, :2], k[i, :, :n], v[i, :, :n])[0])
        assert not short[i, :, 2:].any()


def test_long_prompts_have_blocks():
    q, k, v = (values(1, 2, n, 64) for n in (300, 500, 501))
    v = v[:, :, :500]
    pattern = torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    got = INFER(
        q.npu(), k.npu(), v.contiguous().npu(), input_layout="BNSD", num_heads=2, scale=SCALE, sparse_mode=3,
        atten_mask=pattern,
    )[0]  # fmt: skip
    check(got[0], attention(q[0], k[0], v[0], causal(300, 500))[0])


def test_results_of_the_caller():
    q, k, v = (t.npu() for t in batch())
    given = {
        "input_layout": "BNSD",
        "num_heads": N,
        "num_key_value_heads": KN,
        "scale": SCALE,
        "softmax_lse_flag": True,
    }
    wanted = INFER(q, k, v, **given)
    workspace = OPS._npu_fused_infer_attention_score_get_max_workspace(q, k, v, **given)
    out = OPS._npu_fused_infer_attention_score_infer_output(
        q, v, input_layout="BNSD", num_heads=N, num_key_value_heads=KN, softmax_lse_flag=True
    )
    INFER.out(q, k, v, **given, workspace=workspace, out=list(out))
    for a, b in zip(out, wanted, strict=True):
        assert torch.equal(a.cpu(), b.cpu())
    given = {"input_layout": "BNSD", "num_query_heads": N, "num_key_value_heads": KN}
    workspace = OPS._npu_fused_infer_attention_score_v2_get_max_workspace(
        q, k, v, **given, softmax_scale=SCALE
    )
    out = OPS._npu_fused_infer_attention_score_v2_infer_output(q, v, **given)
    INFER2.out(q, k, v, **given, softmax_scale=SCALE, workspace=workspace, out=list(out))
    assert torch.equal(out[0].cpu(), wanted[0].cpu())
    with pytest.raises(
        RuntimeError, match=r"the first of out is a tensor of Float, size .3, 4, 5, 8."
    ):
        INFER.out(q, k, v, input_layout="BNSD", num_heads=N, num_key_value_heads=KN, out=[q, q])
    with pytest.raises(RuntimeError, match="out has 1 tensors"):
        INFER.out(q, k, v, input_layout="BNSD", num_heads=N, num_key_value_heads=KN, out=[q])


def test_opcheck_and_empty():
    q, k, v = (t.npu() for t in batch())
    given = {"input_layout": "BNSD", "num_heads": N, "num_key_value_heads": KN}
    for flag in (False, True):
        torch.library.opcheck(
            INFER.default, (q, k, v), {**given, "softmax_lse_flag": flag}, test_utils=CHECKS
        )
    torch.library.opcheck(
        OPS.npu_prompt_flash_attention.default, (q, k, v), given, test_utils=CHECKS
    )
    torch.library.opcheck(
        OPS.npu_incre_flash_attention.default, (q[:, :, :1], k, v), given, test_utils=CHECKS
    )
    given2 = {"input_layout": "BNSD", "num_query_heads": N, "num_key_value_heads": KN}
    torch.library.opcheck(INFER2.default, (q, k, v), given2, test_utils=CHECKS)
    assert not INFER(q, k[:, :, :0], v[:, :, :0], **given)[0].any()
    assert INFER(q[:0], k[:0], v[:0], **given)[0].shape == (0, N, SQ, DV)
    assert INFER(q, k, v, **given)[1].shape == (0,)


def table_call(table, **others):
    page = 4
    lengths = [9, 4, 1]
    (keys, contents), good = paged(batch()[1:], lengths, page, 8, True)
    given = {
        "block_table": table(good).npu(), "block_size": page, "actual_seq_lengths_kv": lengths,
        "input_layout": "BNSD", "num_heads": N, "num_key_value_heads": KN, **others,
    }  # fmt: skip
    INFER(
        batch()[0].npu(),
        keys.npu(),
        contents.npu(),
        **{k: v for k, v in given.items() if v is not None},
    )
    torch.npu.synchronize()


@pytest.mark.parametrize(
    ("table", "others", "says"),
    [
        (lambda t: t.clamp(min=0) + 100, {}, "blockTable: page 0 of sequence 0 is 10[0-9]"),
        (lambda t: -t - 1, {}, "blockTable: page 0 of sequence 0 is -"),
        (lambda t: t[:, :2], {}, "sequence 0 has 9 of 8 keys"),
        (lambda t: t[:2], {}, "blockTable is int32.2, 4.; int32 of .3, pages."),
        (lambda t: t.long(), {}, "block_table is a tensor of Long"),
        (lambda t: t, {"block_size": 5}, "blockSize is 5"),
        (lambda t: t, {"actual_seq_lengths_kv": None}, "the lengths of keys are not given"),
        (lambda t: t, {"actual_seq_lengths_kv": [9, 4, -1]}, "sequence 2 has -1"),
        (lambda t: t, {"actual_seq_lengths_kv": [9, 4]}, "2 lengths of keys for 3 sequences"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit(table, others, says):
    with pytest.raises(RuntimeError, match=says):
        table_call(table, **others)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"input_layout": "BDNS"}, ValueError, "input_layout is 'BDNS'"),
        ({"input_layout": "BSH"}, RuntimeError, "the layout BSH has 3 dimensions"),
        ({"num_heads": 0}, RuntimeError, "heads is 0"),
        ({"num_heads": 3}, RuntimeError, "heads is 3 for a query"),
        ({"sparse_mode": 5}, RuntimeError, "sparseMode is 5"),
        ({"actual_seq_lengths": [6]}, RuntimeError, "sequence 0 has 6 of 5 queries"),
        ({"actual_seq_lengths_kv": [10]}, RuntimeError, "sequence 0 has 10 of 9 keys"),
        ({"atten_mask": torch.ones(4, SK).bool()}, RuntimeError, "attenMask is bool.4, 9., which is not broadcast"),
        ({"atten_mask": torch.ones(SQ, SK)}, RuntimeError, "atten_mask is a tensor of Float"),
        ({"pse_shift": torch.ones(1, N, SQ, 3)}, RuntimeError, "pse is float32.1, 4, 5, 3."),
        ({"query_rope": torch.ones(B, N, SQ, 2)}, RuntimeError, "one of queryRope and keyRope"),
        ({"query_rope": torch.ones(B, N, SQ, 2), "key_rope": torch.ones(B, KN, SK, 3)}, RuntimeError, "queryRope is"),
        ({"dequant_scale1": torch.ones(1)}, NotImplementedError, "dequant_scale1 is given"),
        ({"kv_padding_size": torch.ones(1).long()}, NotImplementedError, "kv_padding_size is given"),
        ({"key_shared_prefix": torch.ones(1)}, NotImplementedError, "key_shared_prefix is given"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(change, error, says):
    given = {"input_layout": "BNSD", "num_heads": N, "num_key_value_heads": KN}
    moved = {k: v.npu() if isinstance(v, torch.Tensor) else v for k, v in change.items()}
    with pytest.raises(error, match=says):
        INFER(*(t.npu() for t in batch()), **{**given, **moved})


def test_tensors_that_do_not_fit():
    q, k, v = (t.npu() for t in batch())
    given = {"input_layout": "BNSD", "num_heads": N, "num_key_value_heads": KN}
    for tensors, says in (
        ((q.cpu(), k, v), "query is a tensor of Float.* on cpu"),
        ((q, k.cpu(), v), "key is a tensor of Float.* on cpu"),
        ((q, k, v.half()), "value is a tensor of Half"),
        ((q, k[:2], v), "do not fit"),
        ((q, k, v[:, :, :3]), "do not fit"),
        ((q, k[..., :4], v), "do not fit"),
        ((q, k, v[0]), "value is of size"),
    ):
        with pytest.raises(RuntimeError, match=says):
            INFER(*tensors, **given)
    ends = {"input_layout": "TND", "num_heads": N, "num_key_value_heads": KN}
    tnd = [t[0].transpose(0, 1).contiguous() for t in (q, k, v)]
    for lengths, says in (
        (([3, 2], [4, 9]), "sequence 1 ends at 2 and 9: ends grow"),
        (([3, 5], [4, 10]), "ends grow up to 5 and 9"),
        (([3, 5], [4]), "2 sequences of queries, 1 of keys"),
    ):
        with pytest.raises(RuntimeError, match=says):
            INFER(*tnd, **ends, actual_seq_lengths=lengths[0], actual_seq_lengths_kv=lengths[1])
    with pytest.raises(RuntimeError, match="actualSeqLengths is not given"):
        INFER(*tnd, **ends)
