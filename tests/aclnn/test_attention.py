"""Attention in blocks against whole scores in float64, with autograd for the gradients."""

import math
from dataclasses import dataclass, replace

import pytest
import torch

from tests.aclnn.cases import dtype_name, seeded
from tests.aclnn.compare import INVALID, NULL
from tests.aclnn.library import AclnnError, Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import epsilon

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
LAYOUTS = ("BSH", "SBH", "BSND", "BNSD")
MANY = 2**31 - 1
PATTERN = torch.ones(2048, 2048, dtype=torch.bool).triu(1)


@dataclass(frozen=True)
class Case:
    """The parameters that affect scores. Blocks are of 64 queries and 128 keys."""

    batch: int = 2
    heads: int = 4
    key_heads: int = 2
    queries: int = 70
    keys: int = 150
    channels: int = 40
    value_channels: int = 40
    sparse: int = 0
    before: int = MANY
    after: int = MANY
    masked: bool = False
    bias: bool = False
    bias_type: int = 1
    prefix: tuple[int, ...] = ()
    keep: float = 1.0


CASES = {
    "plain": Case(),
    "one-block": Case(queries=5, keys=7, channels=8, value_channels=8),
    "masked": Case(masked=True),
    "all-masked-mode": Case(masked=True, sparse=1, before=3, after=3),
    "mask-and-band": Case(masked=True, before=20, after=5),
    "causal-left-up": Case(sparse=2, queries=150, keys=150),
    "causal-right-down": Case(sparse=3),
    "causal-fewer-keys": Case(sparse=3, queries=150, keys=70),
    "band": Case(sparse=4, before=30, after=10),
    "prefix": Case(sparse=5, queries=150, keys=150, prefix=(20, 140)),
    "prefix-compressed": Case(sparse=6, queries=100, prefix=(0, 149)),
    "bias": Case(bias=True),
    "bias-unscaled": Case(bias=True, bias_type=0),
    "one-head": Case(heads=1, key_heads=1),
    "other-value-channels": Case(value_channels=24),
    "dropout": Case(keep=0.75),
    "dropout-causal": Case(keep=0.5, sparse=2),
}


def _seen(case: Case, mask: torch.Tensor | None) -> torch.Tensor:
    """[batch, 1, queries, keys]: true if a query sees a key."""
    i, j = torch.arange(case.queries)[:, None], torch.arange(case.keys)[None]
    shift = case.keys - case.queries
    seen = torch.ones(case.batch, 1, case.queries, case.keys, dtype=torch.bool)
    if case.sparse == 0 and mask is not None:
        seen &= (j >= i - case.before) & (j <= i + case.after)
    elif case.sparse == 2:
        seen &= j <= i
    elif case.sparse in (3, 5, 6):
        seen &= j <= i + shift
    elif case.sparse == 4:
        seen &= (j >= i + shift - case.before) & (j <= i + shift + case.after)
    for b, prefix in enumerate(case.prefix):
        seen[b] |= j < prefix
    return seen & ~mask if mask is not None else seen


class Inputs:
    """Tensors as [batch, heads, length, channels], and the reference for them."""

    def __init__(self, case: Case, dtype: torch.dtype):
        self.case = case
        numbers = seeded(case, dtype)

        def draw(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=numbers, dtype=torch.float64).to(dtype)

        self.q = draw(case.batch, case.heads, case.queries, case.channels)
        self.k = draw(case.batch, case.key_heads, case.keys, case.channels)
        self.v = draw(case.batch, case.key_heads, case.keys, case.value_channels)
        self.dy = draw(case.batch, case.heads, case.queries, case.value_channels)
        shape = (case.batch, case.heads, case.queries, case.keys)
        self.bias = draw(*shape) if case.bias else None
        self.mask = (
            torch.rand(case.batch, 1, *shape[2:], generator=numbers) < 0.3 if case.masked else None
        )
        kept = torch.rand(math.prod(shape), generator=numbers) < case.keep
        padding = torch.zeros(-len(kept) % 128, dtype=torch.bool)
        bits = torch.cat([kept, padding]).reshape(-1, 8).to(torch.int64) << torch.arange(8)
        self.drop_mask = bits.sum(1).to(torch.uint8) if case.keep < 1 else None
        self.kept = kept.reshape(shape).double() / case.keep
        self.scale = 1 / math.sqrt(case.channels)

    @property
    def given_mask(self) -> torch.Tensor | None:
        """Modes that define the mask themselves take a pattern with its own size."""
        return PATTERN if self.case.sparse > 1 else self.mask

    def reference(self) -> dict[str, torch.Tensor]:
        case = self.case
        q, k, v = (x.double().requires_grad_() for x in (self.q, self.k, self.v))
        bias = None if self.bias is None else self.bias.double().requires_grad_()
        group = case.heads // case.key_heads
        scores = q @ k.repeat_interleave(group, 1).transpose(-1, -2) * self.scale
        if bias is not None:
            scores = scores + bias * (self.scale if case.bias_type == 1 else 1)
        seen = _seen(case, self.mask)
        scores = scores.masked_fill(~seen, -math.inf)
        some = seen.any(-1, keepdim=True)
        weights = torch.where(some, scores, 0.0).softmax(-1)
        weights = torch.where(seen, weights, 0.0)
        out = (weights * self.kept) @ v.repeat_interleave(group, 1)
        out.backward(self.dy.double())
        results = {"out": out.detach(), "dq": q.grad, "dk": k.grad, "dv": v.grad}
        most = torch.where(some, scores, 0.0).amax(-1)
        results["max"], results["some"] = most.detach(), some.expand_as(scores)[..., 0]
        results["sum"] = torch.where(seen, (scores - most[..., None]).exp(), 0.0).sum(-1).detach()
        if bias is not None:
            results["dbias"] = bias.grad
        return results


def _arrange(x: torch.Tensor, layout: str) -> torch.Tensor:
    match layout:
        case "BNSD":
            return x.contiguous()
        case "BSND":
            return x.transpose(1, 2).contiguous()
        case "BSH":
            return x.transpose(1, 2).flatten(2).contiguous()
    return x.permute(2, 0, 1, 3).flatten(2).contiguous()


def _check(got: torch.Tensor, expected: torch.Tensor, terms: int) -> None:
    """The error is a few float32 roundings per term and one rounding of the dtype (and of its inputs)."""
    size = max(1.0, expected.abs().max().item())
    tolerance = size * (8 * epsilon(got.dtype) + terms * epsilon(torch.float32))
    accuracy.assert_close(got, expected, Tolerance(absolute=tolerance), equal_nan=False)


def _forward(
    library: Library, inputs: Inputs, layout: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    case = inputs.case
    q, k, v = (_arrange(x, layout) for x in (inputs.q, inputs.k, inputs.v))
    out = _arrange(torch.full_like(inputs.dy, 7), layout)
    most, total = (torch.full((case.batch, case.heads, case.queries, 8), 7.0) for _ in range(2))
    attributes = (
        inputs.scale,
        case.keep,
        case.before,
        case.after,
        case.heads,
        layout,
        0,
        case.sparse,
    )
    masks = (inputs.bias, inputs.drop_mask, None, inputs.given_mask)
    ends = (most, total, torch.zeros(0), out)
    prefix = list(case.prefix) or None
    if case.bias_type == 0:
        library.call(
            "aclnnFlashAttentionScoreV2",
            q,
            k,
            v,
            *masks,
            prefix,
            None,
            None,
            *attributes,
            case.bias_type,
            *ends,
        )
    else:
        library.call("aclnnFlashAttentionScore", q, k, v, *masks, prefix, *attributes, *ends)
    return out, most, total


def _backward(library: Library, inputs: Inputs, layout: str, forward) -> dict[str, torch.Tensor]:
    case = inputs.case
    out, most, total = forward
    q, k, v, dy = (_arrange(x, layout) for x in (inputs.q, inputs.k, inputs.v, inputs.dy))
    grads = [torch.full_like(x, 7) for x in (q, k, v)]
    dbias = None if inputs.bias is None else torch.full_like(inputs.bias, 7)
    attributes = (
        inputs.scale,
        case.keep,
        case.before,
        case.after,
        case.heads,
        layout,
        0,
        case.sparse,
    )
    masks = (inputs.bias, inputs.drop_mask, None, inputs.given_mask)
    prefix = list(case.prefix) or None
    known = (most, total, None, out)
    if case.bias_type == 0:
        library.call(
            "aclnnFlashAttentionScoreGradV2",
            *(
                q,
                k,
                v,
                dy,
                *masks,
                *known,
                prefix,
                None,
                None,
                *attributes,
                case.bias_type,
                *grads,
                dbias,
            ),
        )
    else:
        library.call(
            "aclnnFlashAttentionScoreGrad",
            q,
            k,
            v,
            dy,
            *masks,
            *known,
            prefix,
            *attributes,
            *grads,
            dbias,
        )
    return dict(zip(("dq", "dk", "dv", "dbias"), (*grads, dbias), strict=True))


def _rows() -> list:
    rows = [(name, layout, torch.float32) for name in CASES for layout in ("BNSD",)]
    rows += [("causal-right-down", layout, dtype) for layout in LAYOUTS for dtype in DTYPES]
    rows += [(name, "BSH", dtype) for name in ("masked", "dropout", "bias") for dtype in DTYPES[1:]]
    return [
        pytest.param(*row, id=f"{row[0]}-{row[1]}-{dtype_name(row[2])}")
        for row in dict.fromkeys(rows)
    ]


@pytest.mark.parametrize(("name", "layout", "dtype"), _rows())
def test_attention(library: Library, name: str, layout: str, dtype: torch.dtype):
    case = CASES[name]
    inputs = Inputs(case, dtype)
    expected = inputs.reference()
    forward = _forward(library, inputs, layout)
    out, most, total = forward
    terms = case.channels + case.keys
    _check(out, _arrange(expected["out"], layout), terms)
    some = expected["some"]
    for got, key in ((most, "max"), (total, "sum")):
        assert (got == got[..., :1]).all()
        _check(got[..., 0][some].float(), expected[key][some], terms)
    assert (total[..., 0][~some] == 0).all()
    grads = _backward(library, inputs, layout, forward)
    # The backward pass uses the rounded result: its error affects every channel.
    rounded = torch.finfo(dtype).eps / torch.finfo(torch.float32).eps * math.sqrt(case.channels)
    for key in ("dq", "dk", "dv"):
        _check(grads[key], _arrange(expected[key], layout), 8 * case.queries + terms + rounded)
    if inputs.bias is not None:
        _check(grads["dbias"], expected["dbias"], terms + rounded)


@pytest.mark.parametrize("sparse", [0, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
def test_packed_sequences(library: Library, dtype: torch.dtype, sparse: int):
    lengths = ((70, 150), (0, 0), (3, 9), (130, 130))
    parts = [
        Inputs(Case(batch=1, queries=q, keys=k, sparse=sparse), dtype) for q, k in lengths if q
    ]
    packed = {
        n: torch.cat([getattr(p, n)[0].transpose(0, 1) for p in parts]).contiguous()
        for n in ("q", "k", "v", "dy")
    }
    ends = [
        [sum(pair[i] for pair in lengths[: n + 1]) for n in range(len(lengths))] for i in (0, 1)
    ]
    out = torch.full_like(packed["dy"], 7)
    most, total = torch.zeros(203, 4, 8), torch.zeros(203, 4, 8)
    q, k, v = packed["q"], packed["k"], packed["v"]
    attributes = (parts[0].scale, 1.0, MANY, MANY, 4, "TND", 0, sparse)
    none = (None, None, None, PATTERN if sparse else None)
    library.call(
        "aclnnFlashAttentionVarLenScore",
        q,
        k,
        v,
        *none,
        None,
        *ends,
        *attributes,
        most,
        total,
        torch.zeros(0),
        out,
    )
    grads = [torch.full_like(x, 7) for x in (q, k, v)]
    library.call(
        "aclnnFlashAttentionUnpaddingScoreGrad",
        *(
            q,
            k,
            v,
            packed["dy"],
            *none,
            most,
            total,
            None,
            out,
            None,
            *ends,
            *attributes,
            *grads,
            None,
        ),
    )
    expected = [part.reference() for part in parts]
    rounded = torch.finfo(dtype).eps / torch.finfo(torch.float32).eps * math.sqrt(40)
    for got, key in ((out, "out"), (grads[0], "dq"), (grads[1], "dk"), (grads[2], "dv")):
        _check(got, torch.cat([one[key][0].transpose(0, 1) for one in expected]), 8 * 130 + rounded)


def test_without_a_mask_every_key_is_used(library: Library):
    inputs = Inputs(Case(sparse=2, before=1, after=1), torch.float32)
    out = torch.full_like(inputs.dy, 7)
    library.call(
        "aclnnFlashAttentionScore",
        *(inputs.q, inputs.k, inputs.v, None, None, None, None, None),
        *(inputs.scale, 1.0, 1, 1, 4, "BNSD", 0, 2, None, None, None, out),
    )
    _check(out, _plain(inputs), 190)


def _plain(inputs: Inputs) -> torch.Tensor:
    k, v = (x.double().repeat_interleave(2, 1) for x in (inputs.k, inputs.v))
    return (inputs.q.double() @ k.transpose(-1, -2) * inputs.scale).softmax(-1) @ v


def test_the_number_of_threads_does_not_matter(library: Library):
    """A single sequence is small and runs on one thread."""
    inputs = Inputs(Case(batch=24, queries=64, keys=64, sparse=3), torch.float32)
    stacked = _forward(library, inputs, "BNSD")
    for b in (0, 23):
        inputs_of_one = Inputs(replace(inputs.case, batch=1), torch.float32)
        for name in ("q", "k", "v", "dy"):
            setattr(inputs_of_one, name, getattr(inputs, name)[b : b + 1])
        alone = _forward(library, inputs_of_one, "BNSD")
        assert torch.equal(stacked[0][b : b + 1], alone[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("layout", ["BNSD", "BSH", "BNSD_BSND"])
def test_prompt(library: Library, layout: str, dtype: torch.dtype):
    case = Case(sparse=3)
    inputs = Inputs(case, dtype)
    q, k, v = (_arrange(x, layout[:4]) for x in (inputs.q, inputs.k, inputs.v))
    out = torch.full_like(_arrange(inputs.dy, layout[-4:].strip("_")), 7)
    library.call(
        "aclnnPromptFlashAttentionV3",
        *(
            q,
            k,
            v,
            None,
            PATTERN,
            None,
            None,
            *[None] * 5,
            4,
            inputs.scale,
            MANY,
            MANY,
            layout,
            2,
            3,
            1,
            out,
        ),
    )
    _check(out, _arrange(inputs.reference()["out"], layout[-4:].strip("_")), 190)


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
def test_incremental(library: Library, dtype: torch.dtype):
    inputs = Inputs(Case(queries=1), dtype)
    lengths = (40, 129)
    out = torch.full_like(inputs.dy, 7)
    library.call(
        "aclnnIncreFlashAttentionV4",
        *(inputs.q, [inputs.k], [inputs.v], None, None, list(lengths), *[None] * 9),
        *(4, inputs.scale, "BNSD", 2, 0, 1, out),
    )
    inputs.mask = (torch.arange(150)[None] >= torch.tensor(lengths)[:, None]).reshape(2, 1, 1, 150)
    _check(out, inputs.reference()["out"], 190)


@pytest.mark.parametrize("version", ["V2", "V3"])
def test_fused_inference(library: Library, version: str):
    inputs = Inputs(Case(masked=True), torch.float16)
    out, log_sum = torch.full_like(inputs.dy, 7), torch.zeros(2, 4, 70, 1)
    rope = [None] * 3 if version == "V3" else []
    library.call(
        f"aclnnFusedInferAttentionScore{version}",
        *(inputs.q, [inputs.k], [inputs.v], None, inputs.mask, *[None] * 19, *rope),
        *(4, inputs.scale, MANY, MANY, "BNSD", 2, 0, 1, 0, 0, True, 0, 0, out, log_sum),
    )
    expected = inputs.reference()
    _check(out, expected["out"], 190)
    _check(log_sum[..., 0], expected["max"] + expected["sum"].log(), 190)


def test_what_is_refused(library: Library):
    inputs = Inputs(Case(queries=5, keys=7), torch.float32)
    base = {
        "q": inputs.q,
        "k": inputs.k,
        "mask": None,
        "drop": None,
        "keep": 1.0,
        "heads": 4,
        "layout": "BNSD",
        "sparse": 0,
        "out": inputs.dy,
    }
    for change, message in (
        ({"layout": "BDSN"}, "is not BSH"),
        ({"layout": "BSH"}, "not of the layout BSH"),
        ({"heads": 8}, "headNum is 8"),
        ({"sparse": 7}, "sparse mode 7"),
        ({"sparse": 5, "mask": PATTERN}, "prefix, which this sparse mode needs"),
        ({"keep": 0.0}, "keepProb is 0"),
        ({"keep": 0.5}, "dropMask"),
        ({"mask": torch.zeros(5, 8, dtype=torch.bool)}, "attenMask is bool"),
        ({"mask": torch.zeros(5, 7)}, "bool, uint8 and int8"),
        ({"k": inputs.k[:, :, :, :8]}, "do not fit"),
        ({"q": inputs.q.double()}, "float32, float16 and bfloat16"),
        ({"out": inputs.dy[:, :, :4]}, "attentionOut is"),
    ):
        a = base | change
        with pytest.raises(AclnnError, match=message) as error:
            library.call(
                "aclnnFlashAttentionScore",
                *(
                    a["q"],
                    a["k"],
                    inputs.v,
                    None,
                    a["drop"],
                    None,
                    a["mask"],
                    None,
                    1.0,
                    a["keep"],
                    0,
                    0,
                ),
                *(a["heads"], a["layout"], 0, a["sparse"], None, None, None, a["out"]),
            )
        assert error.value.code in (NULL, INVALID)
