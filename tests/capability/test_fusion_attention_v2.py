"""npu_fusion_attention_v2: as the first version, with a bias behind or before the scale."""

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
V2 = OPS.npu_fusion_attention_v2
N, S, D, SCALE = 4, 6, 8, 0.3


def values(*size):
    generator = torch.Generator().manual_seed(len(size) + sum(size))
    return torch.randn(size, generator=generator)


def operands(layout="BNSD"):
    sizes = {
        "BNSD": [(2, n, S, D) for n in (N, 2, 2)],
        "BSND": [(2, S, n, D) for n in (N, 2, 2)],
        "BSH": [(2, S, n * D) for n in (N, 2, 2)],
        "SBH": [(S, 2, n * D) for n in (N, 2, 2)],
        "TND": [(2 * S, n, D) for n in (N, 2, 2)],
    }[layout]
    return [values(*size) + i for i, size in enumerate(sizes)], values(2, N, S, S)


def reference(q, k, v, bias, pse_type, hidden=None, sink=None):
    k, v = (t.repeat_interleave(N // 2, 1) for t in (k, v))
    scores = SCALE * q @ k.mT + (bias * SCALE if pse_type == 1 else bias)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -torch.inf)
    if sink is not None:
        scores = torch.cat((scores, sink[:, None, None].expand(*scores.shape[:3], 1)), -1)
    return scores.softmax(-1)[..., :S] @ v


@pytest.mark.parametrize("pse_type", [0, 1])
@pytest.mark.parametrize("has_sink", [False, True])
@pytest.mark.parametrize("mode", [None, 2])
def test_values_and_gradients(pse_type, has_sink, mode):
    tensors, bias = operands()
    given = [*tensors, bias, *([values(N)] if has_sink else [])]
    near = [t.npu().requires_grad_() for t in given]
    widened = [t.double().requires_grad_() for t in given]
    causal = torch.ones(S, S, dtype=torch.bool).triu(1)
    pattern = torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    got = V2(
        *near[:3], N, "BNSD", pse=near[3], scale=SCALE, pse_type=pse_type, sink=near[4] if has_sink else None,
        atten_mask=None if mode is None else pattern, sparse_mode=mode or 0,
    )[0]  # fmt: skip
    exact = reference(
        *widened[:4], pse_type, causal if mode else None, widened[4] if has_sink else None
    )
    grad = values(*got.shape)
    got.backward(grad.npu())
    exact.backward(grad.double())
    eps = torch.finfo(torch.float32).eps
    for a, b in ((got, exact), *((x.grad, y.grad) for x, y in zip(near, widened, strict=True))):
        size = b.detach().abs().max().clamp(min=1)
        accuracy.assert_close(a.detach(), b.detach(), Tolerance(eps, 64 * S * eps * size))


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH", "TND"])
@pytest.mark.parametrize("keep_prob", [1.0, 0.7])
def test_the_default_is_the_first_version(layout, keep_prob):
    tensors, bias = operands(layout)
    ends = (
        {"actual_seq_qlen": [S, 2 * S], "actual_seq_kvlen": [S, 2 * S]} if layout == "TND" else {}
    )
    results = []
    for op in (OPS.npu_fusion_attention, V2):
        near = [t.npu().requires_grad_() for t in (*tensors, bias)]
        out = op(
            *near[:3], N, layout, pse=near[3], scale=SCALE, keep_prob=keep_prob, seed=5, **ends
        )
        out[0].square().sum().backward()
        results.append([*out[:3], *(t.grad for t in near), *map(torch.tensor, out[4:])])
    for a, b in zip(*results, strict=True):
        assert torch.equal(a.cpu(), b.cpu())
    plain = OPS.npu_fusion_attention(*(t.npu() for t in tensors), N, layout, scale=SCALE, **ends)
    assert not torch.equal(plain[0].cpu(), results[1][0].cpu())


def test_concatenated_sequences_with_a_bias_behind_the_scale():
    tensors, bias = operands("TND")
    ends = [S, 2 * S]
    near = [t.npu().requires_grad_() for t in (*tensors, bias)]
    got = V2(
        *near[:3], N, "TND", pse=near[3], scale=SCALE, pse_type=0, actual_seq_qlen=ends, actual_seq_kvlen=ends
    )[0]  # fmt: skip
    widened = [t.double().requires_grad_() for t in (*tensors, bias)]
    batched = [t.unflatten(0, (2, S)).transpose(1, 2) for t in widened[:3]]
    exact = reference(*batched, widened[3], 0).transpose(1, 2).flatten(0, 1)
    got.square().sum().backward()
    exact.square().sum().backward()
    eps = torch.finfo(torch.float32).eps
    for a, b in ((got, exact), *((x.grad, y.grad) for x, y in zip(near, widened, strict=True))):
        size = b.detach().abs().max().clamp(min=1)
        accuracy.assert_close(a.detach(), b.detach(), Tolerance(eps, 64 * S * eps * size))


def test_opcheck():
    tensors, bias = operands()
    given = [t.npu() for t in tensors]
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(
        V2.default, (*given, N, "BNSD"), {"pse": bias.npu(), "pse_type": 0}, test_utils=checks
    )


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda: {"pse_type": 2}, NotImplementedError, "pse_type is 2: 0 and 1"),
        (lambda: {"query_rope": values(2, N, S, 2).npu()}, NotImplementedError, "query_rope or key_rope is given"),
        (lambda: {"q_start_idx": [1]}, NotImplementedError, "q_start_idx or kv_start_idx is given"),
        (lambda: {"keep_prob": 0.0}, RuntimeError, "npu_fusion_attention_v2: keep_prob is 0"),
        (lambda: {"sparse_mode": 9}, RuntimeError, "npu_fusion_attention_v2: sparse_mode is 9"),
        (lambda: {"pse": values(2, N, S, 3).npu()}, RuntimeError, "npu_fusion_attention_v2: pse is of size"),
        (lambda: {"atten_mask": torch.ones(3, S).bool().npu()}, RuntimeError, "atten_mask is of size"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(change, error, says):
    with pytest.raises(error, match=says):
        V2(*(t.npu() for t in operands()[0]), N, "BNSD", **change())
