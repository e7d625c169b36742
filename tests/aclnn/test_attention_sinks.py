"""Versions of fused attention with sinks, with either layout of the rows' numbers, and with bands of outer sequences."""

import math

import pytest
import torch
from torch import Tensor

from tests.aclnn.cases import seeded
from tests.aclnn.compare import INVALID
from tests.aclnn.library import AclnnError, Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import epsilon

HEADS, CHANNELS, MANY = 2, 16, 2**31 - 1
PATTERN = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
LENGTHS = ((70, 130), (3, 9))
SCALE = 1 / math.sqrt(CHANNELS)


def _reference(
    q: Tensor, k: Tensor, v: Tensor, dy: Tensor, sink: Tensor | None, seen: Tensor
) -> dict[str, Tensor]:
    """One sequence, [heads, length, channels], in float64: results and gradients."""
    q, k, v = (x.double().requires_grad_() for x in (q, k, v))
    scores = (q @ k.mT * SCALE).masked_fill(~seen, -math.inf)
    logits = scores
    if sink is not None:
        sink = sink.double().requires_grad_()
        logits = torch.cat((scores, sink[:, None, None].expand(-1, scores.shape[1], 1)), -1)
    out = logits.softmax(-1)[..., : scores.shape[-1]] @ v
    out.backward(dy.double())
    most = logits.detach().amax(-1)
    found = {
        "out": out.detach(),
        "max": most,
        "sum": (logits.detach() - most[..., None]).exp().sum(-1),
    }
    found |= {"dq": q.grad, "dk": k.grad, "dv": v.grad}
    return found if sink is None else found | {"dsink": sink.grad}


def _check(got: Tensor, expected: Tensor) -> None:
    """140 terms of a few units, each with some roundings."""
    size = max(1.0, expected.abs().max().item())
    tolerance = Tolerance(absolute=1024 * epsilon(torch.float32) * size)
    accuracy.assert_close(got, expected, tolerance, check_dtype=False, equal_nan=False)


def test_sinks_of_a_batch(library: Library):
    numbers = seeded("sinks", torch.float32)
    q, dy = (torch.randn(1, HEADS, 70, CHANNELS, generator=numbers) for _ in range(2))
    k, v = (torch.randn(1, HEADS, 130, CHANNELS, generator=numbers) for _ in range(2))
    sink = torch.randn(HEADS, generator=numbers)
    expected = _reference(q[0], k[0], v[0], dy[0], sink, torch.ones(70, 130, dtype=torch.bool))
    out, most, total = (
        torch.full_like(q, 7),
        torch.zeros(1, HEADS, 70, 8),
        torch.zeros(1, HEADS, 70, 8),
    )
    numbers_of = (SCALE, 1.0, MANY, MANY, HEADS, "BNSD", 0, 0, 1)
    none = (None,) * 4
    library.call(
        "aclnnFlashAttentionScoreV3",
        *(q, k, v, *none, sink, None, None, None, *numbers_of, most, total, torch.zeros(0), out),
    )
    grads = {
        n: torch.full_like(t, 7) for n, t in (("dq", q), ("dk", k), ("dv", v), ("dsink", sink))
    }
    library.call(
        "aclnnFlashAttentionScoreGradV3",
        *(q, k, v, dy, *none, most, total, None, out, sink, None, None, None, *numbers_of),
        *(grads["dq"], grads["dk"], grads["dv"], None, grads["dsink"]),
    )
    _check(out[0], expected["out"])
    _check(most[0, ..., 0], expected["max"])
    _check(total[0, ..., 0], expected["sum"])
    for name, got in grads.items():
        _check(got if name == "dsink" else got[0], expected[name])


def _seen(mode: int, i: int, before: int, after: int) -> Tensor:
    queries, keys = LENGTHS[i]
    own, key = torch.arange(queries)[:, None], torch.arange(keys)[None]
    last = own + keys - queries
    if mode == 0:
        return torch.ones(queries, keys, dtype=torch.bool)
    if (mode == 7 and i == len(LENGTHS) - 1) or (mode == 8 and i == 0):
        return (key >= last - before) & (key <= last + after)
    return key <= (last if mode == 7 else own)


@pytest.mark.parametrize("layout", ["", "same_as_input"])
@pytest.mark.parametrize("mode", [0, 7, 8])
@pytest.mark.parametrize("version", ["V4", "V5"])
def test_concatenated_sequences(library: Library, version: str, mode: int, layout: str):
    numbers = seeded((version, mode, layout), torch.float32)
    tokens = [sum(pair[of] for pair in LENGTHS) for of in (0, 1)]
    q, dy = (torch.randn(tokens[0], HEADS, CHANNELS, generator=numbers) for _ in range(2))
    k, v = (torch.randn(tokens[1], HEADS, CHANNELS, generator=numbers) for _ in range(2))
    sink = torch.randn(HEADS, generator=numbers) if version == "V5" else None
    before, after = 200, 1
    # A sequence of no query and no key at the end does not take part.
    ends = [[LENGTHS[0][of], tokens[of], 0] for of in (0, 1)]
    out, most, total = (
        torch.full_like(q, 7),
        torch.zeros(tokens[0], HEADS, 8),
        torch.zeros(tokens[0], HEADS, 8),
    )
    grads = [torch.full_like(t, 7) for t in (q, k, v)]
    mask = (None, None, None, PATTERN if mode else None)
    shared = (SCALE, 1.0, before, after, HEADS, "TND", 0, mode)
    if version == "V4":
        library.call(
            "aclnnFlashAttentionVarLenScoreV4",
            *(q, k, v, *mask, None, *ends, *shared, layout, most, total, torch.zeros(0), out),
        )
        library.call(
            "aclnnFlashAttentionUnpaddingScoreGradV4",
            *(
                q,
                k,
                v,
                dy,
                *mask,
                most,
                total,
                None,
                out,
                None,
                *ends,
                *shared,
                *grads,
                None,
                layout,
            ),
        )
    else:
        dsink = torch.zeros(HEADS)
        library.call(
            "aclnnFlashAttentionVarLenScoreV5",
            *(q, None, k, None, v, *mask, sink, None, *ends, None, None, *shared, 1, layout),
            *(most, total, torch.zeros(0), out),
        )
        library.call(
            "aclnnFlashAttentionUnpaddingScoreGradV5",
            *(
                q,
                None,
                k,
                None,
                v,
                dy,
                *mask,
                most,
                total,
                None,
                out,
                sink,
                None,
                *ends,
                None,
                None,
                *shared,
                1,
                layout,
            ),
            *(grads[0], None, grads[1], None, grads[2], None, dsink),
        )
    start, key_start, sinks = 0, 0, torch.zeros(HEADS, dtype=torch.float64)
    for i, (queries, keys) in enumerate(LENGTHS):
        rows, columns = slice(start, start + queries), slice(key_start, key_start + keys)
        parts = [
            t[s].transpose(0, 1) for t, s in ((q, rows), (k, columns), (v, columns), (dy, rows))
        ]
        expected = _reference(*parts, sink, _seen(mode, i, before, after))
        got = {
            "out": out[rows],
            "dq": grads[0][rows],
            "dk": grads[1][columns],
            "dv": grads[2][columns],
        }
        for name, tensor in got.items():
            _check(tensor.transpose(0, 1), expected[name])
        for name, tensor in (("max", most), ("sum", total)):
            own = tensor[rows]
            own = own.transpose(0, 1) if layout else own.reshape(HEADS, queries, 8)
            assert torch.equal(own, own[..., :1].expand_as(own))
            _check(own[..., 0], expected[name])
        if sink is not None:
            sinks += expected["dsink"]
        start, key_start = start + queries, key_start + keys
    if sink is not None:
        _check(dsink, sinks)


def test_what_is_refused(library: Library):
    q = torch.zeros(5, HEADS, CHANNELS)
    rows = torch.zeros(5, HEADS, 8)
    base = {"rope": None, "sink": torch.zeros(HEADS), "mode": 0, "layout": ""}
    for change, message in (
        ({"sink": torch.zeros(3)}, r"sink is .*\[2\] is taken"),
        ({"sink": torch.zeros(HEADS, dtype=torch.float16)}, "sink is float16"),
        ({"rope": q}, "one of queryRope and keyRope is given alone"),
        ({"layout": "BNS"}, "softmaxOutLayout is 'BNS'"),
        ({"mode": 9}, "sparse mode 9 is not taken: it is 0 to 8"),
    ):
        a = base | change
        with pytest.raises(AclnnError, match=message) as error:
            library.call(
                "aclnnFlashAttentionVarLenScoreV5",
                *(
                    q,
                    a["rope"],
                    q,
                    None,
                    q,
                    None,
                    None,
                    None,
                    None,
                    a["sink"],
                    None,
                    [5],
                    [5],
                    None,
                    None,
                    1.0,
                    1.0,
                ),
                *(
                    0,
                    0,
                    HEADS,
                    "TND",
                    0,
                    a["mode"],
                    1,
                    a["layout"],
                    rows,
                    rows.clone(),
                    torch.zeros(0),
                    q.clone(),
                ),
            )
        assert error.value.code == INVALID
