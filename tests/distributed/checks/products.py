"""Products with collectives against the same computed by torch.distributed and by itself."""

import pytest
import torch
import torch.distributed as dist

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance


def _name():
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device("npu"))
    return backend.get_hccl_comm_name(dist.get_rank())


def _drawn(rank, *size, low=-1.0, high=1.0):
    generator = torch.Generator().manual_seed(100 * rank + sum(size))
    return low + (high - low) * torch.rand(size, generator=generator)


def _ints(rank, *size):
    generator = torch.Generator().manual_seed(100 * rank + sum(size))
    return torch.randint(-9, 10, size, generator=generator, dtype=torch.int8)


def _near(got, expected, terms):
    """Sums of ``terms`` products in float32 and one rounding of the result."""
    eps = torch.finfo(got.dtype).eps
    size = expected.abs().max()
    accuracy.assert_close(got, expected, Tolerance(2 * eps, (4 * terms * 2**-23 + 2 * eps) * size))


def _everyone(function):
    return [function(rank) for rank in range(dist.get_world_size())]


def all_gather_base_mm():
    rank, ranks, name = dist.get_rank(), dist.get_world_size(), _name()
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        rows = torch.cat(_everyone(lambda r: _drawn(r, 3, 8))).to(dtype)
        x2, bias = _drawn(rank, 8, 5, low=0).to(dtype), _drawn(rank, 5).to(dtype)
        own = rows[3 * rank : 3 * rank + 3].npu()
        y, gathered = torch_npu.npu_all_gather_base_mm(own, x2.npu(), name, ranks, bias=bias.npu())
        assert torch.equal(gathered.cpu(), rows)
        _near(y, rows.double() @ x2.double() + bias.double(), 9)
        y, gathered = torch_npu.npu_all_gather_base_mm(
            own, x2.npu(), name, ranks, gather_output=False
        )
        assert gathered.numel() == 0
    rows, x2 = torch.cat(_everyone(lambda r: _ints(r, 3, 8))), _ints(rank, 8, 5)
    scales, factors = _drawn(0, 3 * ranks, low=0.5), _drawn(rank, 5, low=0.5)
    own = slice(3 * rank, 3 * rank + 3)
    y, _ = torch_npu.npu_all_gather_base_mm(
        rows[own].npu(), x2.npu(), name, ranks, x1_scale=scales[own, None].npu(), x2_scale=factors[None].npu(),
        output_dtype=torch.float16,
    )  # fmt: skip
    _near(y, rows.double() @ x2.double() * scales[:, None].double() * factors.double(), 8)
    packed = torch_npu.npu_trans_quant_param(factors.npu()[None])
    y, _ = torch_npu.npu_all_gather_base_mm(rows[own].npu(), x2.npu(), name, ranks, x2_scale=packed)
    assert y.dtype == torch.float16
    with pytest.raises(RuntimeError, match=f"world_size is {ranks + 1} for a group of {ranks}"):
        torch_npu.npu_all_gather_base_mm(rows[own].float().npu(), x2.float().npu(), name, ranks + 1)
    with pytest.raises(ValueError, match="hcom is 'nobody', which names no hccl group"):
        torch_npu.npu_all_gather_base_mm(rows[own].float().npu(), x2.float().npu(), "nobody", ranks)


def mm_reduce_scatter_base():
    rank, ranks, name = dist.get_rank(), dist.get_world_size(), _name()
    for dtype in (torch.float32, torch.float16):
        x1 = _everyone(lambda r: _drawn(r, 2 * ranks, 8))
        x2 = _everyone(lambda r: _drawn(r, 8, 5, low=0))
        x1, x2 = [t.to(dtype) for t in x1], [t.to(dtype) for t in x2]
        y = torch_npu.npu_mm_reduce_scatter_base(x1[rank].npu(), x2[rank].npu(), name, ranks)
        whole = sum(a.double() @ b.double() for a, b in zip(x1, x2, strict=True))
        accuracy.assert_close(
            y, whole[2 * rank : 2 * rank + 2], Tolerance(0, 4 * (ranks + 1) * torch.finfo(dtype).eps * whole.abs().max())
        )  # fmt: skip
        y = torch_npu.npu_mm_all_reduce_base(x1[rank].npu(), x2[rank].npu(), name)
        accuracy.assert_close(
            y, whole, Tolerance(0, 4 * (ranks + 1) * torch.finfo(dtype).eps * whole.abs().max())
        )
    x1, x2 = _everyone(lambda r: _ints(r, 2 * ranks, 8)), _everyone(lambda r: _ints(r, 8, 5))
    factors = _drawn(0, 5, low=0.5)
    y = torch_npu.npu_mm_reduce_scatter_base(
        x1[rank].npu(),
        x2[rank].npu(),
        name,
        ranks,
        x2_scale=factors[None].npu(),
        output_dtype=torch.float16,
    )
    whole = sum(a.double() @ b.double() for a, b in zip(x1, x2, strict=True)) * factors.double()
    _near(y, whole[2 * rank : 2 * rank + 2], 8 * ranks)
    scale, offset = _drawn(1, 5, low=0.5), _drawn(2, 5)
    floats = _everyone(lambda r: _drawn(r, 3, 8))
    y = torch_npu.npu_mm_all_reduce_base(
        floats[rank].npu(), x2[0].npu(), name, antiquant_scale=scale.npu(), antiquant_offset=offset.npu(), bias=factors.npu()
    )  # fmt: skip
    weights = (x2[0].double() + offset.double()) * scale.double()
    _near(y, sum(f.double() @ weights + factors.double() for f in floats), 9 * ranks)


def experts_on_all_ranks():
    """Tokens go to their experts and come back by the opposite call."""
    rank, ranks, name, experts = dist.get_rank(), dist.get_world_size(), _name(), 2
    # counts[a][r * experts + e]: how many rows rank a sends to expert e of rank r.
    counts = _everyone(lambda r: [(3 * r + i) % 4 for i in range(ranks * experts)])
    sent = counts[rank]
    received = [counts[a][rank * experts + e] for a in range(ranks) for e in range(experts)]
    x = _everyone(lambda r: _drawn(r, sum(counts[r]), 6))
    weights = _everyone(lambda r: _drawn(r, experts, 6, 5, low=0))
    shared = _drawn(rank, 4, 6), _drawn(rank, 7, 6)
    y, of_shared, rows = torch_npu.npu_alltoallv_gmm(
        x[rank].npu(), weights[rank].npu(), name, ranks, sent, received, mm_x=shared[0].npu(), mm_weight=shared[1].npu(),
        trans_mm_weight=True, permute_out_flag=True,
    )  # fmt: skip
    by_expert, products = [], []
    for e in range(experts):
        for a in range(ranks):
            begin = sum(counts[a][: rank * experts + e])
            part = x[a][begin : begin + counts[a][rank * experts + e]]
            by_expert.append(part)
            products.append(part.double() @ weights[rank][e].double())
    assert torch.equal(rows.cpu(), torch.cat(by_expert))
    _near(y, torch.cat(products), 6)
    _near(of_shared, shared[0].double() @ shared[1].double().T, 6)
    back, nothing = torch_npu.npu_gmm_alltoallv(
        rows,
        weights[rank].transpose(1, 2).contiguous().npu(),
        name,
        ranks,
        received,
        sent,
        trans_gmm_weight=True,
    )
    assert nothing.numel() == 0
    expected, begin = [], 0
    for r in range(ranks):
        for e in range(experts):
            n = sent[r * experts + e]
            expected.append(x[rank][begin : begin + n].double() @ weights[r][e].double())
            begin += n
    _near(back, torch.cat(expected), 6)
    with pytest.raises(RuntimeError, match="send_counts has a sum of"):
        torch_npu.npu_alltoallv_gmm(
            x[rank][1:].npu(), weights[rank].npu(), name, ranks, sent, received
        )


def all_to_all():
    rank, ranks, name = dist.get_rank(), dist.get_world_size(), _name()
    x1 = _everyone(lambda r: _drawn(r, 2 * ranks, 3))
    x2, bias = _drawn(9, 3 * ranks, 4), _drawn(8, 4)
    y, rows = torch_npu.npu_all_to_all_matmul(x1[rank].npu(), x2.npu(), name, ranks, bias.npu())
    widened = torch.cat([x[2 * rank : 2 * rank + 2] for x in x1], 1)
    assert torch.equal(rows.cpu(), widened)
    _near(y, widened.double() @ x2.double() + bias.double(), 3 * ranks + 1)
    narrow = _drawn(7, 3, 2 * ranks)
    y = torch_npu.npu_matmul_all_to_all(x1[rank].npu(), narrow.npu(), name, ranks)
    whole = torch.cat([x.double() @ narrow.double()[:, 2 * rank : 2 * rank + 2] for x in x1])
    _near(y, whole, 3)


def quantized():
    """Products of float8 and int8 with scales of rows, tensors and blocks."""
    rank, ranks, name = dist.get_rank(), dist.get_world_size(), _name()
    number = 15  # of torch.bfloat16
    rows = [_drawn(r, 2 * ranks, 70).to(torch.float8_e4m3fn) for r in range(ranks)]
    x2 = [_drawn(r, 70, 5, low=0).to(torch.float8_e5m2) for r in range(ranks)]
    scales, factor = [_drawn(r, 2 * ranks, low=0.5) for r in range(ranks)], torch.tensor([0.25])
    y, gathered, nothing = torch_npu.npu_all_gather_quant_mm(
        rows[rank].npu(), x2[rank].npu(), name, ranks, x1_scale=scales[rank].npu(), x2_scale=factor.npu(), y_dtype=number
    )  # fmt: skip
    whole = torch.cat([r.double() * s[:, None].double() for r, s in zip(rows, scales, strict=True)])
    assert torch.equal(
        gathered.cpu().view(torch.uint8), torch.cat([r.view(torch.uint8) for r in rows])
    )
    assert nothing.numel() == 0
    _near(y, whole @ x2[rank].double() * 0.25, 70)
    powers = [(_drawn(r, 2 * ranks, 2, 2, low=120, high=130)).to(torch.uint8) for r in range(ranks)]
    others = [(_drawn(r, 2, 5, 2, low=120, high=130)).to(torch.uint8) for r in range(ranks)]

    def widened(bits, dim):
        powers_of = (2.0 ** (bits.double() - 127)).flatten(dim, dim + 1)
        return powers_of.repeat_interleave(32, dim).narrow(dim, 0, 70)

    left = [r.double() * widened(p, 1) for r, p in zip(rows, powers, strict=True)]
    right = [x.double() * widened(p.transpose(1, 2), 0) for x, p in zip(x2, others, strict=True)]
    kwargs = {"x1_scale": powers[rank].npu(), "x2_scale": others[rank].npu(), "y_dtype": number}
    y, gathered, _ = torch_npu.npu_all_gather_quant_mm(
        rows[rank].npu(), x2[rank].npu(), name, ranks, gather_output=False, **kwargs
    )
    assert gathered.numel() == 0
    _near(y, torch.cat(left) @ right[rank], 70)
    y, _ = torch_npu.npu_quant_mm_reduce_scatter(
        rows[rank].npu(), x2[rank].npu(), name, ranks, **kwargs
    )
    total = sum(a @ b for a, b in zip(left, right, strict=True))
    own = slice(2 * rank, 2 * rank + 2)
    accuracy.assert_close(y, total[own], Tolerance(0, 2**-7 * total.abs().max()))
    plain = [_drawn(r, 2 * ranks, 8).half() for r in range(ranks)]
    y, _ = torch_npu.npu_quant_mm_reduce_scatter(
        plain[rank].npu(), plain[0].T.contiguous().npu(), name, ranks
    )
    total = sum(p.double() @ plain[0].double().T for p in plain)
    accuracy.assert_close(y, total[own], Tolerance(0, 2**-8 * total.abs().max()))
    with pytest.raises(RuntimeError, match="y_dtype is None for input of Float8_e4m3fn"):
        torch_npu.npu_quant_mm_reduce_scatter(
            rows[rank].npu(), x2[rank].npu(), name, ranks, **{**kwargs, "y_dtype": None}
        )


def _dispatched(tokens, ids, active, experts, rank, ranks):
    """The rows that come to each expert of `rank`: source, token, choice, in the order of experts, ranks and tokens."""
    local = experts // ranks
    for e in range(rank * local, (rank + 1) * local):
        for source in range(ranks):
            for t, k in (ids[source] == e).nonzero().tolist():
                if active[source] is None or active[source][t]:
                    yield e, source, t, k


def experts_by_ids():
    """Tokens go to the ranks of their experts and come back as sums."""
    rank, ranks, name, each = dist.get_rank(), dist.get_world_size(), _name(), 2
    experts, tokens, choices, size = ranks * each, 5, 2, 8
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        ids = [
            torch.stack([torch.randperm(experts, generator=generator)[:choices] for _ in range(tokens)]).int()
            for _ in range(ranks)
        ]  # fmt: skip
        x = _everyone(lambda r: _drawn(r, tokens, size).half())
        weights = _everyone(lambda r: _drawn(r + 7, tokens, choices, low=0))
        active = [None if seed < 2 else torch.arange(tokens) < 3 + r % 2 for r in range(ranks)]
        shared = _drawn(rank + 3, tokens, size).half()
        mask = None if active[rank] is None else active[rank].npu()
        group = (name, ranks, rank, experts)
        rows = list(_dispatched(x, ids, active, experts, rank, ranks))
        expected = (
            torch.stack([x[s][t] for _, s, t, _ in rows]) if rows else torch.empty(0, size).half()
        )
        counts = [sum(e == rank * each + i for e, *_ in rows) for i in range(each)]
        by_rank = [
            sum((e, s) == (rank * each + i, r) for e, s, *_ in rows)
            for i in range(each)
            for r in range(ranks)
        ]
        quantized = {} if seed != 1 else {"quant_mode": 2}
        for version in ("", "_v2"):
            dispatch = getattr(torch_npu, f"npu_moe_distribute_dispatch{version}")
            out, scales, assist, numbers, sums, _, factors = dispatch(
                x[rank].npu(), ids[rank].npu(), *group, x_active_mask=mask, expert_scales=weights[rank].npu(), **quantized
            )  # fmt: skip
            got = out[: len(rows)]
            if quantized:
                assert got.dtype == torch.int8
                bound = expected.abs().amax(1, keepdim=True).double() / 127
                _near(scales[: len(rows)], bound[:, 0], 1)
                accuracy.assert_close(
                    (got.double() * scales[: len(rows), None]),
                    expected.double(),
                    Tolerance(0, bound.max()),
                )
            else:
                assert torch.equal(got.cpu(), expected)
            assert out[len(rows) :].abs().max() == 0 if len(rows) < len(out) else True
            assert numbers.tolist() == counts
            assert sums.tolist() == torch.tensor(by_rank).cumsum(0).tolist()
            taken = torch.tensor([weights[s][t, k] for _, s, t, k in rows])
            assert torch.equal(factors[: len(rows)].cpu(), taken)
            if version:
                assert assist[: 3 * len(rows)].reshape(-1, 3).tolist() == [
                    [s, t, k] for _, s, t, k in rows
                ]
            combine = getattr(torch_npu, f"npu_moe_distribute_combine{version}")
            processed = torch.zeros(len(out), size).half()
            for n, (e, *_) in enumerate(rows):
                processed[n] = expected[n] * (e + 1)
            y = combine(
                processed.npu(), ids[rank].npu(), assist, sums, weights[rank].npu(), *group, x_active_mask=mask,
                shared_expert_x=shared.npu(),
            )  # fmt: skip
            whole = shared.double()
            for t in range(tokens):
                if active[rank] is None or active[rank][t]:
                    for k in range(choices):
                        scaled = (x[rank][t] * (ids[rank][t, k] + 1)).double()
                        whole[t] += scaled * weights[rank][t, k].double()
            _near(y, whole, choices + 1)
    with pytest.raises(
        RuntimeError, match=f"expert_ids has a number that is none of {experts} experts"
    ):
        torch_npu.npu_moe_distribute_dispatch(x[rank].npu(), ids[rank].npu() + experts, *group)
    with pytest.raises(RuntimeError, match=f"ep_rank_id is {(rank + 1) % ranks} on rank {rank}"):
        torch_npu.npu_moe_distribute_dispatch(
            x[rank].npu(), ids[rank].npu(), name, ranks, (rank + 1) % ranks, experts
        )
    with pytest.raises(NotImplementedError, match="shared_expert_rank_num 1"):
        torch_npu.npu_moe_distribute_dispatch(
            x[rank].npu(), ids[rank].npu(), *group, shared_expert_rank_num=1
        )
