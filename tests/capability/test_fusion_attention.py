"""torch_npu.npu_fusion_attention and its gradient against whole scores in float64."""

import random

import pytest
import torch

import torch_npu
from tests.capability.fusion_attention_reference import (
    CAUSAL_PATTERN,
    LAYOUTS,
    Case,
    Inputs,
    unpacked,
)
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import largest_finite

MANY = ((70, 150), (3, 9), (130, 130))
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32


def tolerance(reference, dtype, terms):
    """A fraction of a rounding in float32 for each term, and two of the type."""
    size = max(0.1, largest_finite(reference))
    return size * (2 * torch.finfo(dtype).eps + terms / 4 * torch.finfo(F32).eps)


def check_near(name, got, reference, dtype, terms):
    assert got.dtype == dtype
    allowed = Tolerance(absolute=tolerance(reference, dtype, terms))
    accuracy.assert_close(got, reference, allowed, equal_nan=False, message=name)


def called(inputs, leaves):
    return torch_npu.npu_fusion_attention(
        leaves["query"],
        leaves["key"],
        leaves["value"],
        pse=leaves.get("pse"),
        sink=leaves.get("sink"),
        **inputs.arguments(),
    )


def check(case):
    inputs = Inputs(case)
    leaves = {n: t.detach().npu().requires_grad_() for n, t in inputs.leaves().items()}
    if not case.dense:
        # A copy to the device is dense.
        for name in ("query", "key", "value"):
            widened = torch.nn.functional.pad(leaves[name].detach(), (2, 1), value=7)[..., 2:-1]
            leaves[name] = widened.requires_grad_()
            assert not widened.is_contiguous()
    out, largest, total, unused, seed, offset, numels = called(inputs, leaves)
    kept = None
    scores = case.heads * sum(q * k for q, k in case.lengths)
    assert numels == scores
    assert unused.numel() == 0
    if case.keep < 1:
        mask = torch_npu._npu_dropout_gen_mask(out, [scores], 1 - case.keep, seed, offset)
        kept = unpacked(mask, scores)
    results, gradients = inputs.reference(kept)
    tokens = results["out"].shape[0]
    assert not case.rest or not out[tokens:].any()
    check_near("out", out[:tokens], results["out"], case.dtype, case.channels + case.longest[1])
    visible = results["sum"] > 0
    for name, got in (("max", largest), ("sum", total)):
        assert torch.equal(got, got[..., :1].expand_as(got))
        rows = got[..., 0][:tokens].cpu() if case.layout == "TND" else got[..., 0].cpu()
        assert got.shape[-1] == 8
        assert rows.shape == visible.shape
        check_near(
            name, rows[visible], results[name][visible], F32, case.channels + case.longest[1] + 64
        )
    out.backward(inputs.tensors["dy"].npu())
    # The backward pass reads the rounded result: its error is in every channel.
    rounded = torch.finfo(case.dtype).eps / torch.finfo(F32).eps * case.channels**0.5
    summed = (
        8 * sum(q for q, _ in case.lengths) * (case.heads // case.key_heads)
        + case.channels
        + rounded
    )
    for name, reference in gradients.items():
        # A sum over all scores that read the element.
        terms = (
            summed
            if name in ("query", "key", "value")
            else 8 * scores**0.5 + (1 + scores**0.5 / 8) * rounded
        )
        check_near(name, leaves[name].grad, reference, leaves[name].dtype, terms)


CASES = {
    "plain": Case(),
    "one-query": Case(lengths=((1, 40),)),
    "wide-values": Case(channels=40, value_channels=16),
    "mask": Case(mask="heads", dtype=F16),
    "mask-shared": Case(mask="shared", layout="BSH", dtype=BF16),
    "band": Case(mask="batch", before=20, after=5),
    "all": Case(mask="batch", mode=1, before=3, after=3),
    "left-up": Case(mask="pattern", mode=2, layout="SBH"),
    "right-down": Case(mask="pattern", mode=3, layout="BSND", dtype=BF16),
    "right-down-fewer-keys": Case(mask="pattern", mode=3, lengths=((150, 70),)),
    "band-from-last": Case(mask="pattern", mode=4, before=30, after=10),
    "prefix": Case(mask="batch", mode=5, prefix=(90, 149)),
    "prefix-compressed": Case(mask="pattern", mode=6, prefix=(80, 149), layout="BSND"),
    "pse": Case(pse="BNSS"),
    "pse-row": Case(pse="BN1S", layout="BSH"),
    "pse-batch": Case(pse="1NSS", layout="BSND", dtype=F16),
    "pse-compressed": Case(
        pse="compressed", mask="pattern", mode=2, lengths=((1100, 1100),) * 2, heads=2, key_heads=1
    ),
    "sink": Case(sink=True, layout="BSND"),
    "sink-and-mask": Case(sink=True, mask="heads", dtype=BF16),
    "dropout": Case(keep=0.75),
    "dropout-causal": Case(keep=0.5, mask="pattern", mode=3, layout="BSND", dtype=F16),
    "TND": Case(layout="TND", lengths=MANY),
    "TND-rows": Case(layout="TND", lengths=MANY, softmax_layout="TND", dtype=F16),
    "TND-mask": Case(layout="TND", lengths=MANY, mask="shared"),
    "TND-causal": Case(layout="TND", lengths=MANY, mask="pattern", mode=3, dtype=BF16),
    "TND-empty": Case(layout="TND", lengths=((5, 7), (0, 0), (3, 0), (4, 9))),
    "TND-absent": Case(layout="TND", lengths=((5, 7), (4, 9)), absent=2, rest=3),
    "TND-last-band": Case(layout="TND", lengths=MANY, mask="pattern", mode=7, before=200, after=-2),
    "TND-first-band": Case(layout="TND", lengths=MANY, mask="pattern", mode=8, before=200, after=1),
    "TND-prefix": Case(
        layout="TND", lengths=MANY, mask="pattern", mode=6, prefix=(90, 8, 0), absent=1
    ),
    "TND-dropout": Case(layout="TND", lengths=MANY, keep=0.75),
    "TND-sink": Case(layout="TND", lengths=MANY, sink=True),
    "TND-sink-rows": Case(layout="TND", lengths=MANY, sink=True, softmax_layout="TND"),
    "TND-pse-compressed": Case(
        layout="TND", pse="compressed", mask="pattern", mode=3, lengths=((1060, 1060), (60, 60))
    ),
    "lower-case-and-options": Case(
        options={
            "input_layout": "bnsd",
            "inner_precise": 2,
            "sync": True,
            "gen_mask_parallel": False,
        }
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    check(CASES[name])


def drawn(number: int) -> Case:
    """A random call that is taken."""
    r = random.Random(number)
    layout = r.choice(LAYOUTS)
    packed = layout == "TND"
    batch = r.randint(1, 3)
    sizes = [(r.randint(1, 150), r.randint(1, 150)) for _ in range(batch if packed else 1)]
    lengths = tuple(sizes if packed else sizes * batch)
    key_heads = r.randint(1, 3)
    channels = r.choice((1, 8, 24, 33, 64))
    mode = r.choice((0, 1, 2, 3, 4, 6, 7, 8) if packed else range(7))
    masks = ("shared",) if packed else ("shared", "batch", "heads")
    mask = r.choice(("", *masks)) if mode < 2 else r.choice(("", "pattern"))
    if mode == 5 and mask:
        mask = "batch"
    pse = r.choice(("", "", "BNSS", "BN1S", "1NSS")) if mode < 7 else ""
    return Case(
        layout=layout,
        lengths=lengths,
        heads=key_heads * r.randint(1, 3),
        key_heads=key_heads,
        channels=channels,
        value_channels=r.randint(1, channels),
        dtype=r.choice((F16, BF16, F32)),
        mode=mode,
        mask=mask,
        before=r.choice((2**31 - 1, r.randint(0, 150))),
        after=r.choice((2**31 - 1, r.randint(0, 150))),
        prefix=tuple(r.randint(0, k) for _, k in lengths) if mode in (5, 6) and mask else (),
        pse=pse,
        sink=r.random() < 0.2,
        keep=r.choice((1.0, 1.0, 0.9, 0.3)),
        dense=r.random() < 0.5,
        softmax_layout=r.choice(("", "TND")) if packed else "",
        rest=r.randint(0, 2) if packed else 0,
        seed=number,
    )


@pytest.mark.parametrize("first", range(0, 48, 12))
def test_random_calls(first):
    for number in range(first, first + 12):
        case = drawn(number)
        try:
            check(case)
        except Exception as error:
            raise AssertionError(f"{case}: {error}") from error


def small(**changes):
    """A call of npu_fusion_attention, of two heads and 5 queries for 7 keys, with changes."""
    q = torch.randn(1, 2, 5, 8, device="npu")
    k, v = torch.randn(2, 1, 2, 7, 8, device="npu")
    given = {"query": q, "key": k, "value": v, "head_num": 2, "input_layout": "BNSD"} | changes
    return torch_npu.npu_fusion_attention(**given)


def test_dropout_follows_the_generator_and_a_given_seed():
    q, k, v = (torch.randn(2, 4, 64, 16, device="npu") for _ in range(3))

    def run(**options):
        return torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", keep_prob=0.8, **options)

    torch.npu.manual_seed(5)
    first, second = run(), run()
    torch.npu.manual_seed(5)
    again = run()
    assert torch.equal(first[0], again[0])
    assert first[4:] == again[4:]
    assert not torch.equal(first[0], second[0])
    given = run(seed=first[4], offset=first[5])
    assert torch.equal(first[0], given[0])
    assert given[4:] == first[4:]
    assert not torch.equal(first[0], run(seed=first[4] + 1, offset=first[5])[0])
    mask = torch_npu._npu_dropout_gen_mask(q, [2, 4, 64, 64], 1 - 0.8, first[4], first[5])
    assert mask.dtype == torch.uint8
    assert mask.numel() * 8 == first[6] == 2 * 4 * 64 * 64
    share = unpacked(mask, first[6]).double().mean().item()
    assert abs(share - 0.8) < 5 * (0.8 * 0.2 / first[6]) ** 0.5
    by_mask = run(dropout_mask=mask, seed=first[4], offset=first[5])
    assert torch.equal(first[0], by_mask[0])
    # A mask of the caller's own counts, not the seed.
    assert torch.equal(run(dropout_mask=torch.zeros_like(mask))[0].cpu(), torch.zeros(2, 4, 64, 16))


def test_gradient_regenerates_the_mask_of_its_forward_pass():
    torch.npu.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 40, 16, device="npu", requires_grad=True) for _ in range(3))
    out, most, total, _, seed, offset, numels = torch_npu.npu_fusion_attention(
        q, k, v, 2, "BNSD", keep_prob=0.6
    )
    torch.npu.manual_seed(123)
    dy = torch.randn_like(out)
    grads = torch.autograd.grad(out, (q, k, v), dy)
    given = torch_npu.npu_fusion_attention_grad(
        q.detach(), k.detach(), v.detach(), dy, 2, "BNSD", softmax_max=most, softmax_sum=total, attention_in=out.detach(),
        keep_prob=0.6, seed=seed, offset=offset, numels=numels,
    )  # fmt: skip
    for got, reference in zip(given, grads, strict=False):
        assert torch.equal(got, reference)
    assert given[3] is None
    assert given[4].shape == (0,)
    other = torch_npu.npu_fusion_attention_grad(
        q.detach(), k.detach(), v.detach(), dy, 2, "BNSD", softmax_max=most, softmax_sum=total, attention_in=out.detach(),
        keep_prob=0.6, seed=seed + 1, offset=offset, numels=numels,
    )  # fmt: skip
    assert not torch.equal(other[2], given[2])


def test_masked_rows_are_zero():
    mask = torch.zeros(5, 7, dtype=torch.bool, device="npu")
    mask[2] = True
    out = small(atten_mask=mask)[0]
    assert not out[:, :, 2].any()
    assert out[:, :, 1].all()


def test_long_sequences_need_no_score_matrix():
    """Scores of 2 heads and 8192 positions have 512 MiB in float32."""
    q, k, v = (torch.randn(1, 8192, 2, 16, device="npu", requires_grad=True) for _ in range(3))
    pattern = CAUSAL_PATTERN.npu()
    torch.npu.synchronize()
    torch.npu.reset_peak_memory_stats()
    before = torch.npu.memory_allocated()
    out = torch_npu.npu_fusion_attention(
        q, k, v, 2, "BSND", atten_mask=pattern, sparse_mode=3, pre_tockens=64, next_tockens=0
    )[0]
    out.sum().backward()
    torch.npu.synchronize()
    assert torch.npu.max_memory_allocated() - before < 32 * 2**20


def test_empty_tensors():
    for sizes in ((0, 2, 5, 8), (1, 2, 0, 8)):
        q, k, v = (torch.randn(sizes, device="npu", requires_grad=True) for _ in range(3))
        out, most, *_ = torch_npu.npu_fusion_attention(q, k, v, 2, "BNSD")
        assert out.shape == sizes
        assert most.shape == (*sizes[:3], 8)
        out.sum().backward()
        assert q.grad.shape == k.grad.shape == sizes
    no_keys = torch.randn(1, 2, 0, 8, device="npu")
    assert not small(key=no_keys, value=no_keys)[0].any()


TND = {
    "query": torch.zeros(5, 2, 8),
    "key": torch.zeros(7, 2, 8),
    "value": torch.zeros(7, 2, 8),
    "input_layout": "TND",
}
BAD = {
    "layout": ({"input_layout": "BDSN"}, ValueError, "input_layout is 'BDSN': BSH, SBH"),
    "dims": ({"input_layout": "BSH"}, RuntimeError, "query is of size .*BSH has 3 dimensions"),
    "heads": ({"head_num": 0}, RuntimeError, "head_num is 0"),
    "other-heads": ({"head_num": 4}, RuntimeError, "head_num is 4 for a query .*with 2 heads"),
    "key": ({"key": torch.zeros(1, 2, 7, 9)}, RuntimeError, "key is of size"),
    "batch": ({"key": torch.zeros(2, 2, 7, 8)}, RuntimeError, "key is of size .*batch"),
    "value": ({"value": torch.zeros(1, 2, 6, 8)}, RuntimeError, "value is of size"),
    "value-channels": ({"value": torch.zeros(1, 2, 7, 9)}, RuntimeError, "value has 9 channels"),
    "key-heads": (
        {"key": torch.zeros(1, 3, 7, 8), "value": torch.zeros(1, 3, 7, 8)},
        RuntimeError,
        "head_num is 2 where key has 3 heads",
    ),
    "float64": ({"query": torch.zeros(1, 2, 5, 8, dtype=torch.double)}, RuntimeError, "query is a tensor of Double"),
    "types": ({"key": torch.zeros(1, 2, 7, 8, dtype=F16)}, RuntimeError, "key is a tensor of Half"),
    "cpu": ({"key": "cpu"}, RuntimeError, "key is .*on cpu"),
    "keep": ({"keep_prob": 0.0}, RuntimeError, "keep_prob is 0: it is above 0"),
    "keep-more": ({"keep_prob": 1.5}, RuntimeError, "keep_prob is 1.5"),
    "mode": ({"sparse_mode": 7}, RuntimeError, "sparse_mode is 7: 0 to 6"),
    "mode-TND": (
        {**TND, "sparse_mode": 5, "actual_seq_qlen": [5], "actual_seq_kvlen": [7]},
        RuntimeError,
        "sparse_mode is 5: 0 to 4 and 6 to 8",
    ),
    "precise": ({"inner_precise": 9}, RuntimeError, "inner_precise is 9"),
    "softmax-layout": ({"softmax_layout": "TND"}, RuntimeError, "softmax_layout is 'TND'"),
    "padding": ({"padding_mask": torch.zeros(1)}, RuntimeError, "padding_mask is given"),
    "mask-type": ({"atten_mask": torch.zeros(5, 7)}, RuntimeError, "atten_mask is a tensor of Float"),
    "mask-size": ({"atten_mask": torch.zeros(5, 8, dtype=torch.bool)}, RuntimeError, r"atten_mask is of size \[5, 8\]"),
    "pattern": (
        {"atten_mask": torch.zeros(5, 7, dtype=torch.bool), "sparse_mode": 2},
        RuntimeError,
        r"atten_mask .*compressed: \[2048, 2048\]",
    ),
    "prefix": (
        {"atten_mask": torch.zeros(1, 1, 5, 7, dtype=torch.bool), "sparse_mode": 5},
        RuntimeError,
        r"prefix is \[\] .*1 numbers",
    ),
    "pse": ({"pse": torch.zeros(1, 2, 5, 8)}, RuntimeError, r"pse is of size \[1, 2, 5, 8\]"),
    "pse-type": ({"pse": torch.zeros(1, 2, 5, 7, dtype=F16)}, RuntimeError, "pse is a tensor of Half"),
    "sink": ({"sink": torch.zeros(3)}, RuntimeError, r"sink is of size \[3\]"),
    "dropout-mask": (
        {"dropout_mask": torch.zeros(4, dtype=torch.uint8), "keep_prob": 0.5},
        RuntimeError,
        "dropout_mask is .*9 bytes",
    ),
    "ends-of-a-batch": ({"actual_seq_qlen": [5], "actual_seq_kvlen": [7]}, RuntimeError, "only input_layout TND"),
    "ends-missing": (TND, RuntimeError, "actual_seq_qlen has 0 ends"),
    "ends-fall": (
        {**TND, "actual_seq_qlen": [3, 2], "actual_seq_kvlen": [3, 7]},
        RuntimeError,
        r"actual_seq_qlen is \[3, 2\]",
    ),
    "ends-too-far": (
        {**TND, "actual_seq_qlen": [5], "actual_seq_kvlen": [8]},
        RuntimeError,
        r"actual_seq_kvlen is \[8\].*up to 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    changes, error, message = BAD[name]
    changes = {k: v.npu() if isinstance(v, torch.Tensor) else v for k, v in changes.items()}
    if changes.get("key") == "cpu":
        changes["key"] = torch.zeros(1, 2, 7, 8)
    with pytest.raises(error, match=message):
        small(**changes)


def test_bad_input_of_the_gradient():
    q = torch.randn(1, 2, 5, 8, device="npu")
    rows = torch.ones(1, 2, 5, 8, device="npu")
    given = {"softmax_max": rows, "softmax_sum": rows, "attention_in": q}
    for change, message in (
        ({"softmax_max": None}, "softmax_max is not given"),
        ({"softmax_sum": rows[:, :1]}, "softmax_sum is a tensor of Float, size"),
        ({"attention_in": q.half()}, "attention_in is a tensor of Half"),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch_npu.npu_fusion_attention_grad(q, q, q, q, 2, "BNSD", **(given | change))
    with pytest.raises(RuntimeError, match="dy is a tensor of Float, size"):
        torch_npu.npu_fusion_attention_grad(q, q, q, q[:, :1], 2, "BNSD", **given)


CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def test_opcheck():
    ops = torch.ops.npu
    q, k, v = (torch.randn(1, 2, n, 8, device="npu", requires_grad=True) for n in (5, 7, 7))
    pse = torch.randn(1, 2, 5, 7, device="npu", requires_grad=True)
    options = {"pse": pse, "sink": torch.randn(2, device="npu", requires_grad=True)}
    torch.library.opcheck(
        ops.npu_fusion_attention.default, (q, k, v, 2, "BNSD"), options, test_utils=CHECKS
    )
    out, most, total, *_ = ops.npu_fusion_attention(q, k, v, 2, "BNSD", **options)
    rows = {"softmax_max": most, "softmax_sum": total, "attention_in": out}
    given = (q, k, v, torch.randn_like(out), 2, "BNSD")
    for more in (options, {}):
        wanted = {n: t.detach() for n, t in (more | rows).items()}
        torch.library.opcheck(
            ops.npu_fusion_attention_grad.default, [t.detach() if isinstance(t, torch.Tensor) else t for t in given],
            wanted, test_utils=CHECKS,
        )  # fmt: skip
    torch.library.opcheck(
        ops._npu_dropout_gen_mask.Tensor, (out.detach(), [3, 50], 0.5, 1, 0), test_utils=CHECKS
    )


def test_bad_input_of_the_dropout_mask():
    x = torch.ones(1, device="npu")
    with pytest.raises(RuntimeError, match=r"p is 1\.5"):
        torch_npu._npu_dropout_gen_mask(x, [4], 1.5, 0, 0)
    with pytest.raises(RuntimeError, match=r"size is \[-1\]"):
        torch_npu._npu_dropout_gen_mask(x, [-1], 0.5, 0, 0)
    with pytest.raises(RuntimeError, match=r"input is .*on cpu"):
        torch_npu._npu_dropout_gen_mask(x.cpu(), [4], 0.5, 0, 0)


def test_meta_and_compile():
    q = torch.empty(2, 5, 12, device="meta")
    out, most, *_, seed, offset, _ = torch_npu.npu_fusion_attention(
        q, q, q, 3, "BSH", seed=4, keep_prob=0.5
    )
    assert (out.shape, most.shape, seed, offset) == ((2, 5, 12), (2, 3, 5, 8), 4, 0)
    with pytest.raises(NotImplementedError, match=r"keep_prob is 0\.5 and seed 0"):
        torch_npu.npu_fusion_attention(q, q, q, 3, "BSH", keep_prob=0.5)

    def program(x):
        return torch_npu.npu_fusion_attention(x, x, x, 2, "BNSD", scale=0.3)[0].sin()

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=True)
    for length in (5, 9):
        x = torch.randn(1, 2, length, 8, device="npu", requires_grad=True)
        y = x.detach().clone().requires_grad_()
        compiled(x).sum().backward()
        program(y).sum().backward()
        assert torch.equal(x.grad, y.grad)
