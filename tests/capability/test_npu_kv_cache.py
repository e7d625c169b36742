"""Caches of keys and values in pages: written, read by single queries, rotated in place."""

import pytest
import torch

import torch_npu
from tests.capability.test_npu_infer_attention import SCALE, attention, check, values

ATB = torch.ops.atb
TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int8]


def written(rows, cache, slots):
    flat = cache.flatten(0, 1).clone()
    for row, slot in zip(rows, slots.tolist(), strict=True):
        if slot >= 0:
            flat[slot] = row
    return flat.unflatten(0, cache.shape[:2])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("is_view", [False, True])
def test_rows_into_pages(dtype, index, is_view):
    key, value = values(5, 2, 8, dtype=dtype), values(5, 2, 6, dtype=dtype)
    caches = [values(4, 3, 2, n).to(dtype) for n in (8, 6)]
    slots = torch.tensor([7, 0, -1, 11, 4], dtype=index)
    device = [c.npu() for c in caches]
    if is_view:
        device = [torch.stack((c, c), 1)[:, 0] for c in device]
        assert not device[0].is_contiguous()
    torch_npu._npu_reshape_and_cache(key.npu(), value.npu(), *device, slots.npu())
    for got, rows, cache in zip(device, (key, value), caches, strict=True):
        assert torch.equal(got.cpu(), written(rows, cache, slots))
    alone = caches[0].npu()
    torch_npu._npu_reshape_and_cache_siso(key.npu(), alone, slots.npu())
    assert torch.equal(alone.cpu(), written(key, caches[0], slots))
    device = [c.npu() for c in caches]
    torch_npu.npu_scatter_pa_kv_cache(
        key.npu(), value.npu(), *device, slots.npu(), cache_mode="Norm"
    )
    for got, rows, cache in zip(device, (key, value), caches, strict=True):
        assert torch.equal(got.cpu(), written(rows, cache, slots))


def test_rows_into_blocked_pages():
    key, value = values(5, 2, 8), values(5, 2, 4)
    slots = torch.tensor([7, 0, 5, 11, 4])
    caches = [torch.zeros(4, h // 4, 3, 4).npu() for h in (16, 8)]
    torch_npu.npu_scatter_pa_kv_cache(key.npu(), value.npu(), *caches, slots.npu())
    for got, rows in zip(caches, (key, value), strict=True):
        plain = got.cpu().transpose(1, 2).flatten(2)
        wanted = written(rows.flatten(1), torch.zeros_like(plain), slots)
        assert torch.equal(plain, wanted)


@pytest.mark.parametrize("dtype", TYPES[:3], ids=str)
@pytest.mark.parametrize("on", ["cpu", "npu"])
def test_single_queries_over_pages(dtype, on):
    lengths, page = [9, 4, 1], 4
    query = values(3, 4, 8, dtype=dtype)
    caches = [torch.full((8, page, 2, 8), float("nan"), dtype=dtype) for _ in range(2)]
    table = torch.tensor([[5, 0, 2], [7, 1, 1], [3, 1, 1]], dtype=torch.int32)
    rows = [values(3, 9, 2, 8, dtype=dtype) * (i + 1) for i in range(2)]
    device = [c.npu() for c in caches]
    for i, n in enumerate(lengths):
        slots = torch.tensor([table[i, j // page] * page + j % page for j in range(n)])
        ATB._npu_reshape_and_cache(*(r[i, :n].npu() for r in rows), *device, slots.npu())
    out = torch.empty(3, 4, 8, dtype=dtype, device="npu")
    got = torch_npu._npu_paged_attention(
        query.npu(), *device, 2, 4, SCALE, table.npu(), torch.tensor(lengths, dtype=torch.int32).to(on), out
    )  # fmt: skip
    assert got is None
    for i, n in enumerate(lengths):
        k, v = (r[i, :n].transpose(0, 1) for r in rows)
        check(out[i], attention(query[i][:, None], k, v)[0][:, 0])


@pytest.mark.parametrize("dtype", TYPES[:3], ids=str)
@pytest.mark.parametrize("neox", [False, True])
@pytest.mark.parametrize("channels", [8, 4])
def test_rotation_in_place(dtype, neox, channels):
    positions = torch.tensor([3, 0, 9, 5])
    table = values(10, channels, dtype=dtype)
    query, key = values(4, 3 * 8, dtype=dtype), values(4, 2 * 8, dtype=dtype)
    device = [query.npu(), key.npu()]
    torch_npu._npu_rotary_embedding(positions.npu(), *device, 8, table.npu(), neox)
    cos, sin = table[positions].double()[:, None].chunk(2, -1)
    for got, given in zip(device, (query, key), strict=True):
        rows = given.double().unflatten(1, (-1, 8))
        turned = rows[..., :channels]
        a, b = turned.chunk(2, -1) if neox else (turned[..., ::2], turned[..., 1::2])
        parts = (a * cos - b * sin, b * cos + a * sin)
        result = torch.cat(parts, -1) if neox else torch.stack(parts, -1).flatten(-2)
        check(got, torch.cat((result, rows[..., channels:]), -1).flatten(1))


def cached(**change):
    given = {
        "key": values(3, 2, 4).npu(), "value": values(3, 2, 4).npu(), "key_cache": torch.zeros(2, 3, 2, 4).npu(),
        "value_cache": torch.zeros(2, 3, 2, 4).npu(), "slot_indices": torch.tensor([0, 1, 2]).npu(), **change,
    }  # fmt: skip
    ATB._npu_reshape_and_cache(**given)
    torch.npu.synchronize()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: {"slot_indices": torch.tensor([0, 6, 1]).npu()}, "slot 6 is out of range: up to 5"),
        (lambda: {"slot_indices": torch.tensor([0, 1]).npu()}, "key has rows of 12 elements|for 2 slots"),
        (lambda: {"slot_indices": torch.tensor([0.0, 1, 2]).npu()}, "slot_indices is a tensor of Float"),
        (lambda: {"key_cache": torch.zeros(2, 3, 8).npu()}, "a cache of four dimensions"),
        (lambda: {"key_cache": torch.zeros(2, 3, 2, 5).npu()}, "key has rows of 8 elements for a cache"),
        (lambda: {"value_cache": torch.zeros(3, 3, 2, 4).npu()}, "they have the same pages"),
        (lambda: {"value": values(3, 2, 4).half().npu()}, "value is a tensor of Half"),
        (lambda: {"value": values(3, 2, 4)}, "value is a tensor of Float.* on cpu|on cpu|CPU"),
    ],
)  # fmt: skip
def test_caches_that_do_not_fit(change, says):
    with pytest.raises((RuntimeError, NotImplementedError), match=says):
        cached(**change())


def test_modes_and_compression_are_refused():
    key = values(3, 2, 4).npu()
    caches = [torch.zeros(2, 3, 2, 4).npu() for _ in range(2)]
    slots = torch.tensor([0, 1, 2]).npu()
    with pytest.raises(RuntimeError, match="cacheMode is 'NZ'"):
        torch_npu.npu_scatter_pa_kv_cache(key, key, *caches, slots, cache_mode="NZ")
    with pytest.raises(NotImplementedError, match="compressed rows"):
        torch_npu.npu_scatter_pa_kv_cache(key, key, *caches, slots, seq_lens=slots)


def test_single_queries_that_do_not_fit():
    query, table = values(2, 4, 8).npu(), torch.zeros(2, 1, dtype=torch.int32).npu()
    cache, out = torch.zeros(2, 4, 2, 8).npu(), torch.empty(2, 4, 8).npu()
    lengths = torch.tensor([4, 2])

    def call(q=query, c=cache, heads=2, t=table, n=lengths, o=out):
        ATB._npu_paged_attention(q, c, c, heads, 4, SCALE, t, n, o)
        torch.npu.synchronize()

    call()
    for given, says in (
        ({"t": table + 2}, "page 0 of sequence 0 is 2, out of range"),
        ({"t": table - 1}, "page 0 of sequence 0 is -1"),
        ({"n": lengths + 1}, "sequence 0 has 5 of 4 keys"),
        ({"n": lengths[:1]}, "context_lens has 1 numbers for 2 queries"),
        ({"n": lengths.float()}, "context_lens is a tensor of Float"),
        ({"heads": 4}, "num_kv_heads is 4"),
        ({"q": query[0]}, "query is of size"),
        ({"o": out[:1]}, "the first of out is a tensor"),
    ):
        with pytest.raises(RuntimeError, match=says):
            call(**given)


def test_rotations_that_do_not_fit():
    given = [
        torch.arange(4).npu(),
        values(4, 24).npu(),
        values(4, 16).npu(),
        8,
        values(9, 8).npu(),
        True,
    ]
    for position, value, says in (
        (1, values(4, 23).npu(), "query is of size .4, 23."),
        (2, values(4, 16).half().npu(), "key is a tensor of Half"),
        (4, values(9, 7).npu(), "cos_sin_cache is of size .9, 7."),
        (4, values(9, 16).npu(), "cos_sin_cache is of size .9, 16."),
    ):
        with pytest.raises(RuntimeError, match=says):
            ATB._npu_rotary_embedding(*given[:position], value, *given[position + 1 :])


def test_schemas_versions_and_meta():
    key, cache = values(3, 2, 4).npu(), torch.zeros(2, 3, 2, 4).npu()
    slots = torch.tensor([0, 1, 2]).npu()
    before = cache._version
    ATB._npu_reshape_and_cache_siso(key, cache, slots)
    assert cache._version == before + 1
    with pytest.raises(RuntimeError, match="key requires a gradient, which is not computed"):
        ATB._npu_reshape_and_cache_siso(key.clone().requires_grad_(), cache, slots)
    with torch.no_grad():
        ATB._npu_reshape_and_cache_siso(key.clone().requires_grad_(), cache, slots)
    for op, given in (
        (ATB._npu_reshape_and_cache_siso, (key, cache, slots)),
        (ATB._npu_reshape_and_cache, (key, key, cache, torch.zeros_like(cache), slots)),
        (ATB._npu_rotary_embedding, (slots, key, key.clone(), 4, values(4, 4).npu(), True)),
    ):
        torch.library.opcheck(op.default, given, test_utils=("test_schema", "test_faketensor"))
