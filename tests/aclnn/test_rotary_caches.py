"""Rotation by positions, and keys and values of latent attention in caches, against their formulas in float64."""

import pytest
import torch

from tests.aclnn.cases import dtype_name, off_zero, seeded
from tests.aclnn.compare import assert_within, refused
from tests.aclnn.library import AclnnError, Library

VALUES = (torch.float32, torch.float16, torch.bfloat16)
MODES = ("Norm", "PA", "PA_BNSD", "PA_NZ", "PA_BLK_BNSD", "PA_BLK_NZ")
BATCH, TOKENS, PAGE, PAGES = 2, 6, 4, 5


def _strided(x: torch.Tensor) -> torch.Tensor:
    """The same values with gaps between them."""
    return x.repeat_interleave(2, -1)[..., ::2]


def _rotated(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, by_halves: bool
) -> torch.Tensor:
    """Heads [T, heads, channels] of which the first ones are rotated by angles [T, n]."""
    n = cos.shape[-1]
    turned, rest = x[..., : 2 * n], x[..., 2 * n :]
    a, b = turned.chunk(2, -1) if by_halves else (turned[..., ::2], turned[..., 1::2])
    c, s = cos[:, None], sin[:, None]
    first, second = a * c - b * s, b * c + a * s
    both = (first, second)
    result = torch.cat(both, -1) if by_halves else torch.stack(both, -1).flatten(-2)
    return torch.cat((result, rest), -1)


@pytest.mark.parametrize("tokens", [0, 1, 5, 300])
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("by_halves", [True, False])
@pytest.mark.parametrize("section", [None, (3, 4, 1)], ids=str)
def test_rotation_by_positions(
    library: Library, section: tuple | None, by_halves: bool, dtype: torch.dtype, tokens: int
) -> None:
    g = seeded("positions", tokens, dtype)
    head, half, rows = 20, 8, 33
    query, key = off_zero((tokens, 3 * head), dtype, g), off_zero((tokens, head), dtype, g)
    table = off_zero((rows, 2 * half), dtype, g)
    kinds = (tokens,) if section is None else (3, tokens)
    positions = torch.randint(0, rows, kinds, generator=g)
    angles = table.double()[positions]
    if section is not None:
        owner = torch.repeat_interleave(torch.arange(3), torch.tensor(section)).repeat(2)
        angles = angles.permute(1, 2, 0).gather(2, owner.expand(tokens, -1)[..., None])[..., 0]
    cos, sin = angles.chunk(2, -1)
    outs = [torch.full_like(t, 7) for t in (query, key)]
    arguments = (_strided(query), key, table, section, head, by_halves)
    library.call("aclnnRopeWithSinCosCache", positions.to(torch.int32), *arguments, *outs)
    for out, given in zip(outs, (query, key), strict=True):
        exact = _rotated(given.double().unflatten(1, (-1, head)), cos, sin, by_halves).flatten(1)
        assert_within(out, exact, 16)


def test_rotation_refuses(library: Library) -> None:
    x, table = torch.randn(2, 8), torch.randn(3, 8)
    out = torch.full_like(x, 7)
    name = "aclnnRopeWithSinCosCache"
    positions = torch.tensor([0, 1])

    def refuse(message: str, *given: object) -> None:
        refused(library, name, *given, out, out.clone(), message=message)

    refuse("cosSinCache is", positions, x, x, torch.randn(3, 10), None, 8, True)
    refuse("query is", positions, x, x, table, None, 3 * 8, True)
    refuse("mropeSection has 2 numbers", positions.expand(2, 2), x, x, table, (3, 2), 8, True)
    for wrong in (-1, 3):
        with pytest.raises(AclnnError, match=f"positions: {wrong} is out of range"):
            library.call(name, torch.tensor([0, wrong]), x, x, table, None, 8, True, out, out)
    assert bool((out == 7).all())


def _slots(mode: str, index: torch.Tensor) -> list[int]:
    """The slot of each token; negative without one."""
    if mode == "Norm":
        return [i * PAGES * PAGE + n for i, row in enumerate(index.tolist()) for n in row]
    if "BLK" not in mode:
        return index.tolist()
    return [n + i % PAGE if n >= 0 else n for row in index.tolist()
            for n, i in ((row[i // PAGE], i) for i in range(TOKENS))]  # fmt: skip


def _in_slots(cache: torch.Tensor, blocked: bool) -> torch.Tensor:
    """The rows of a cache by their slots."""
    if not blocked:
        return cache.reshape(-1, cache.shape[-1])
    block = 32 // cache.element_size()
    pages = cache.reshape(cache.shape[0], -1, cache.shape[1], block)
    return pages.transpose(1, 2).reshape(-1, cache.shape[-1])


@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("has_v", [False, True])
@pytest.mark.parametrize("quantized", [False, True])
def test_latent_cache(
    library: Library, quantized: bool, has_v: bool, mode: str, dtype: torch.dtype
) -> None:
    g = seeded("latent", mode, dtype, has_v)
    normed, rope, width = 96, 64, 32
    kv = off_zero((BATCH, 1, TOKENS, normed if has_v else normed + rope), dtype, g)
    gamma = off_zero((normed,), dtype, g)
    cos, sin = (off_zero((BATCH, 1, TOKENS, rope), dtype, g) for _ in range(2))
    v = off_zero((BATCH, 1, TOKENS, width), dtype, g) if has_v else None
    keys, values = (normed, width) if has_v else (rope, normed)
    shape = (BATCH, 1, PAGES * PAGE) if mode == "Norm" else (PAGES, PAGE, 1)
    kind = torch.int8 if quantized else dtype
    caches = [torch.zeros((*shape, size), dtype=kind) for size in (keys, values)]
    scales = [
        torch.rand(size, generator=g) * 9 + 1 if quantized else None for size in (keys, values)
    ]
    offsets = [torch.rand(size, generator=g) if quantized else None for size in (keys, values)]
    numbers = torch.randperm(PAGES * PAGE, generator=g)
    if mode == "Norm":
        index = torch.stack([numbers[:TOKENS], numbers[-TOKENS:]])
    elif "BLK" in mode:
        index = torch.tensor([[8, 0], [-1, 16]])
    else:
        index = numbers[: BATCH * TOKENS]
        index[3] = -1
    outs = [torch.full((BATCH, 1, TOKENS, size), 7, dtype=dtype) for size in (keys, values)]
    library.call("aclnnKvRmsNormRopeCacheV2", _strided(kv), gamma, cos, sin, index, *caches, *scales, *offsets, v,
                 1e-5, mode, True, *outs)  # fmt: skip
    x, c, s = kv.double(), cos.double(), sin.double()
    y = x[..., :normed]
    y = y / (y.square().mean(-1, keepdim=True) + 1e-5).sqrt() * gamma.double()
    pairs = y[..., :rope] if has_v else x[..., normed:]
    a, b = pairs[..., ::2], pairs[..., 1::2]
    turned = torch.cat((a, b), -1) * c + torch.cat((-b, a), -1) * s
    exact = [torch.cat((turned, y[..., rope:]), -1), v.double()] if has_v else [turned, y]
    for out, cache, rows, scale, offset in zip(outs, caches, exact, scales, offsets, strict=True):
        assert_within(out, rows, 32)
        found = _in_slots(cache, mode.endswith("NZ"))
        expected = torch.zeros(found.shape, dtype=torch.float64)
        for slot, row in zip(_slots(mode, index), rows.reshape(-1, rows.shape[-1]), strict=True):
            if slot >= 0:
                expected[slot] = row
                if quantized:
                    expected[slot] = (row * scale.double() + offset.double()).clamp(-128, 127)
        if quantized:
            assert bool(((found.double() - expected).abs() <= 0.5 + 1e-4).all())
        else:
            assert_within(found, expected, 32)


def test_latent_cache_refuses(library: Library) -> None:
    kv, gamma, angles = torch.randn(1, 1, 2, 24), torch.ones(16), torch.randn(1, 1, 2, 8)
    keys, values = torch.full((3, 4, 1, 8), 7.0), torch.full((3, 4, 1, 16), 7.0)
    name, none = "aclnnKvRmsNormRopeCache", (None, None, None, None)
    index = torch.tensor([0, 1])

    def call(message: str, **given: object) -> None:
        of = {"kv": kv, "index": index, "keys": keys, "values": values, "mode": "PA"} | given
        with pytest.raises(AclnnError, match=message):
            library.call(name, of["kv"], gamma, angles, angles, of["index"], of["keys"], of["values"], *none, 1e-5,
                         of["mode"], False, None, None)  # fmt: skip

    call("kv is", kv=kv[..., 1:])
    call("kCache is", keys=torch.zeros(3, 4, 1, 9))
    call("kCache", keys=torch.zeros(3, 5, 1, 8))
    call("cacheMode is 'PAGED'", mode="PAGED")
    call("index is", index=torch.tensor([0]))
    call("slot 12 is out of range", index=torch.tensor([0, 12]))
    most = 2**63 - 1
    for number in (2**62, most):
        call(f"slot {number} is out of range", index=torch.tensor([0, number]))
    call(f"slot {most} is out of range", index=torch.tensor([most]), mode="PA_BLK_BNSD")
    call("slot 12 is out of range", index=torch.tensor([11]), mode="PA_BLK_BNSD")
    whole = {"keys": keys.view(1, 1, 12, 8), "values": values.view(1, 1, 12, 16), "mode": "Norm"}
    for number in (-1, 12, most):
        call(f"index: {number} is out of range", index=torch.tensor([[0, number]]), **whole)
    assert bool((keys == 7).all())
    assert bool((values == 7).all())
