"""npu_moe_init_routing_v2 against its definition on the CPU, element by element."""

import pytest
import torch

import torch_npu

OPS = torch.ops.npu
ROUTE = OPS.npu_moe_init_routing_v2
VALUES = [torch.float16, torch.bfloat16, torch.float32]
EXPERTS, N, K, H = 6, 9, 3, 10


def values(*size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(size) + sum(size))
    return torch.randn(size, generator=generator).mul(4).to(dtype)


def chosen(low=0):
    generator = torch.Generator().manual_seed(3)
    return torch.randint(low, EXPERTS, (N, K), generator=generator, dtype=torch.int32)


def routed(x, experts, start=0, end=EXPERTS, capacity=0, active=0):
    """Each row's element of ``experts``, -1 for none; the positions; how many rows each expert of the range has."""
    flat = experts.flatten().tolist()
    order = sorted((i for i, e in enumerate(flat) if start <= e < end), key=lambda i: flat[i])
    counts = [flat.count(e) for e in range(start, end)]
    if capacity:
        source = [-1] * (EXPERTS * capacity)
        for e in range(EXPERTS):
            own = [i for i in order if flat[i] == e][:capacity]
            source[e * capacity : e * capacity + len(own)] = own
    else:
        rows = min(active, len(flat)) if active > 0 else len(flat)
        source = (order + [-1] * len(flat))[:rows]
    listed = source if capacity else order
    positions = [listed.index(i) if i in listed else -1 for i in range(len(flat))]
    return source, positions, counts, order


def rows_of(x, source):
    padded = torch.cat((x, x.new_zeros(1, x.shape[1])))
    return padded[torch.tensor([len(x) if i < 0 else i // K for i in source], dtype=torch.long)]


@pytest.mark.parametrize("dtype", [*VALUES, torch.int8], ids=str)
@pytest.mark.parametrize("active", [-1, 0, 7, 99])
@pytest.mark.parametrize("range_", [None, (0, EXPERTS), (2, 4), (1, 2)])
@pytest.mark.parametrize("index_type", [0, 1])
def test_rows(dtype, active, range_, index_type):
    x, experts = values(N, H, dtype=dtype), chosen(low=-1)
    scale = values(N)
    start, end = range_ or (0, EXPERTS)
    got = torch_npu.npu_moe_init_routing_v2(
        x.npu(), experts.npu(), scale=scale.npu(), active_num=active, expert_num=EXPERTS,
        active_expert_range=list(range_ or ()), row_idx_type=index_type,
        expert_tokens_num_flag=True, expert_tokens_num_type=1,
    )  # fmt: skip
    source, positions, counts, order = routed(x, experts, start, end, active=active)
    assert torch.equal(got[0].cpu(), rows_of(x, source))
    wanted = positions if index_type == 0 else (order + [-1] * (N * K))[: N * K]
    assert got[1].dtype == torch.int32
    assert got[1].tolist() == wanted
    assert got[2].dtype == torch.int64
    assert got[2].tolist() == counts
    assert torch.equal(got[3].cpu(), rows_of(scale[:, None], source)[:, 0])


@pytest.mark.parametrize("type_", range(3))
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("range_", [(0, EXPERTS), (2, 4)])
def test_counts(type_, flag, range_):
    x, experts = values(N, H), chosen() // 2 * 2
    _, _, counts, _ = routed(x, experts, *range_)
    pairs = [[e, n] for e, n in zip(range(*range_), counts, strict=True) if n]
    wanted = {
        0: torch.tensor(counts).cumsum(0).tolist(),
        1: counts,
        2: (pairs + [[0, 0]] * EXPERTS)[:EXPERTS],
    }[type_]
    got = ROUTE(
        x.npu(), experts.npu(), expert_num=EXPERTS, active_expert_range=range_,
        expert_tokens_num_type=type_, expert_tokens_num_flag=flag,
    )[2]  # fmt: skip
    assert got.tolist() == wanted if flag else not got.any()
    assert got.shape == torch.tensor(wanted).shape


@pytest.mark.parametrize("dtype", [*VALUES, torch.int8], ids=str)
@pytest.mark.parametrize("capacity", [1, 3, 8])
def test_capacities(dtype, capacity):
    x, experts, scale = values(N, H, dtype=dtype), chosen(), values(N)
    got = ROUTE(
        x.npu(), experts.npu(), scale=scale.npu(), expert_num=EXPERTS, expert_capacity=capacity,
        drop_pad_mode=1, expert_tokens_num_flag=True, expert_tokens_num_type=1,
    )  # fmt: skip
    source, positions, counts, _ = routed(x, experts, capacity=capacity)
    assert got[0].shape == (EXPERTS, capacity, H)
    assert torch.equal(got[0].flatten(0, 1).cpu(), rows_of(x, source))
    assert got[1].tolist() == positions
    assert got[2].tolist() == counts
    assert torch.equal(got[3].cpu(), rows_of(scale[:, None], source)[:, 0])


def assert_rounded(got, exact):
    """The nearest int8; near the middle of two integers either of them."""
    assert got.dtype == torch.int8
    off = (got.cpu().double() - exact.clamp(-128, 127)).abs()
    assert bool((off <= 0.5 + 256 * torch.finfo(torch.float32).eps).all())


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("capacity", [0, 2])
def test_static_quantization(dtype, capacity):
    x, experts = values(N, H, dtype=dtype), chosen()
    scale, offset = torch.tensor([11.5]), torch.tensor([-3.25])
    padded = {"expert_capacity": capacity, "drop_pad_mode": 1} if capacity else {}
    got = ROUTE(
        x.npu(), experts.npu(), scale=scale.npu(), offset=offset.npu(), expert_num=EXPERTS,
        quant_mode=0, **padded,
    )[0]  # fmt: skip
    source, *_ = routed(x, experts, capacity=capacity)
    there = torch.tensor(source) >= 0
    exact = rows_of(x, source).double() * 11.5 - 3.25
    assert_rounded(got.reshape(-1, H), exact * there[:, None])


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("smooth", [None, "one", "all"], ids=str)
@pytest.mark.parametrize("capacity", [0, 2])
@pytest.mark.parametrize("range_", [(0, EXPERTS), (2, 5)])
def test_dynamic_quantization(dtype, smooth, capacity, range_):
    if capacity and range_ != (0, EXPERTS):
        return
    x, experts = values(N, H, dtype=dtype), chosen()
    x[4] = 0
    start, end = range_
    factors = (
        None if smooth is None else values(1 if smooth == "one" else end - start, H).abs() + 0.1
    )
    padded = {"expert_capacity": capacity, "drop_pad_mode": 1} if capacity else {}
    got = ROUTE(
        x.npu(), experts.npu(), scale=None if factors is None else factors.npu(), expert_num=EXPERTS,
        quant_mode=1, active_expert_range=range_, **padded,
    )  # fmt: skip
    source, *_ = routed(x, experts, start, end, capacity=capacity)
    exact = rows_of(x, source).double()
    flat = experts.flatten().tolist()
    if factors is not None:
        groups = [0 if smooth == "one" or i < 0 else flat[i] - start for i in source]
        exact = exact * factors[groups].double()
    by = exact.abs().amax(-1) / 127
    off = (got[3].cpu().double() - by).abs()
    assert bool((off <= 4 * torch.finfo(torch.float32).eps * by).all())
    assert_rounded(got[0].reshape(-1, H), exact / by.where(by > 0, 1)[:, None])


def test_a_layer_by_its_parts():
    """Rows, products of groups and sums give what the experts give one by one."""
    x, experts = values(N, 8), chosen()
    weight = values(EXPERTS, 8, 5)
    rows, positions, counts, _ = ROUTE(
        x.npu(),
        experts.npu(),
        expert_num=EXPERTS,
        expert_tokens_num_flag=True,
        expert_tokens_num_type=1,
    )
    (result,) = OPS.npu_grouped_matmul(
        [rows], [weight.npu()], group_list=counts, group_list_type=1, group_type=0, split_item=3
    )
    got = OPS.npu_moe_token_unpermute(result, positions, torch.ones(N, K).npu())
    exact = torch.stack(
        [sum(x[i].double() @ weight[e].double() for e in experts[i]) for i in range(N)]
    )
    size = (x.abs().max() * weight.abs().max() * 8 * K).double()
    assert bool(((got.cpu() - exact).abs() <= 64 * torch.finfo(torch.float32).eps * size).all())


def test_opcheck_views_and_meta():
    x, experts = values(N, H).npu(), chosen().npu()
    given = {"expert_num": EXPERTS, "expert_tokens_num_flag": True}
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(ROUTE.default, (x, experts), given, test_utils=checks)
    padded = {**given, "drop_pad_mode": 1, "expert_capacity": 2, "quant_mode": 1}
    torch.library.opcheck(ROUTE.default, (x, experts), padded, test_utils=checks)
    spread = [torch.stack((t, t), -1)[..., 0] for t in (x, experts)]
    for a, b in zip(ROUTE(x, experts, **given), ROUTE(*spread, **given), strict=True):
        assert torch.equal(a.cpu(), b.cpu())
    none = ROUTE(x[:0], experts[:0], **given)
    assert [tuple(t.shape) for t in none] == [(0, H), (0,), (EXPERTS,), (0,)]
    assert not none[2].any()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"expert_num": 2}, RuntimeError, "expertIdx: index .* is out of range: up to 1"),
        ({"expert_num": 0}, RuntimeError, "expert_num is 0"),
        ({"active_expert_range": [3, 2]}, RuntimeError, "active_expert_range is .3, 2."),
        ({"active_expert_range": [0, 7]}, RuntimeError, "active_expert_range is .0, 7."),
        ({"active_expert_range": [0, 4], "drop_pad_mode": 1, "expert_capacity": 2}, RuntimeError, "with dropPadMode 1 of all"),
        ({"drop_pad_mode": 1}, RuntimeError, "expert_capacity -1 with drop_pad_mode 1"),
        ({"drop_pad_mode": 2}, RuntimeError, "dropPadMode is 2"),
        ({"drop_pad_mode": 1, "expert_capacity": 2, "row_idx_type": 1}, RuntimeError, "rowIdxType is 1"),
        ({"row_idx_type": 2}, RuntimeError, "rowIdxType is 2"),
        ({"expert_tokens_num_type": 3}, RuntimeError, "expertTokensNumType is 3"),
        ({"active_num": -2}, RuntimeError, "activeNum is -2"),
        ({"quant_mode": 2}, NotImplementedError, "quant_mode is 2"),
        ({"quant_mode": 0}, RuntimeError, "scale and offset are needed"),
        ({"offset": torch.ones(1)}, RuntimeError, "offset is not taken"),
        ({"scale": torch.ones(2)}, RuntimeError, "scale is float32.2. with quantMode -1"),
        ({"scale": torch.ones(2, H), "quant_mode": 1}, RuntimeError, "scale is float32.2, 10. with quantMode 1"),
        ({"x_dtype": torch.float16}, NotImplementedError, "x_dtype is"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(given, error, says):
    moved = {k: v.npu() if isinstance(v, torch.Tensor) else v for k, v in given.items()}

    def run():
        ROUTE(values(N, H).npu(), chosen().npu(), **{"expert_num": EXPERTS, **moved})
        torch.npu.synchronize()

    with pytest.raises(error, match=says):
        run()


def test_tensors_that_do_not_fit():
    x, experts = values(N, H), chosen()
    for given, says in (
        ((x, experts.npu()), "x is a tensor of Float.* on cpu"),
        ((x.npu(), experts), "expert_idx is a tensor of Int.* on cpu"),
        ((x.npu(), experts.npu().long()), "expert_idx is a tensor of Long"),
        ((x.npu(), experts[1:].npu()), "x is of size .9, 10. and expert_idx of size .8, 3."),
    ):
        with pytest.raises(RuntimeError, match=says):
            ROUTE(*given, expert_num=EXPERTS)
