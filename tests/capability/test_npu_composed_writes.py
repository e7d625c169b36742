"""Composed operators of npu that write their arguments, draw numbers, cast, or choose: against PyTorch's own."""

import pytest
import torch

import torch_npu
from tests.capability.served_cases import gathered, joined, values
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
TESTED = {
    "_dropout_with_byte_mask", "_npu_dropout", "_npu_dtype_cast", "_npu_dtype_cast_backward", "_npu_format_cast",
    "_npu_index_add_", "copy_memory_", "npu_apply_adam", "npu_apply_adam_w", "npu_attention_update", "npu_batch_nms",
    "npu_dropout_backward", "npu_dropout_do_mask", "npu_dropout_with_add_softmax", "npu_dtype_cast",
    "npu_dtype_cast_", "npu_dtype_cast_backward", "npu_gather_pa_kv_cache", "npu_nms_v4", "npu_nms_with_mask",
    "npu_quant_scatter_", "npu_sim_exponential_", "npu_view_copy", "one_", "scatter_update_",
}  # fmt: skip


def near(got, expected, steps=8):
    eps = torch.finfo(got.dtype).eps
    bound = steps * eps * expected.abs().max().clamp(min=1)
    accuracy.assert_close(got, expected, Tolerance(steps * eps, bound))


def test_writes():
    x, y = torch.zeros(3, 4, device="npu"), values(3, 4).float()
    version = x._version
    assert OPS.copy_memory_(x, y.npu()) is x
    assert torch.equal(x.cpu(), y)
    assert x._version > version
    OPS.npu_view_copy(x.T, y.npu().T.contiguous() + 1, False)
    assert torch.equal(x.cpu(), y + 1)
    OPS.npu_dtype_cast_(x, torch.arange(12, device="npu").reshape(3, 4))
    assert torch.equal(x.cpu(), torch.arange(12.0).reshape(3, 4))
    assert torch.equal(OPS.one_(x).cpu(), torch.ones(3, 4))
    index, source = torch.tensor([[2, 0]]), values(1, 2, 4).float()
    x = y.npu()
    OPS._npu_index_add_(x, index.npu(), source.npu(), alpha=2)
    near(x, y.double().index_add(0, index.flatten(), source[0].double(), alpha=2))
    x = torch.zeros(2, 5, 3, device="npu")
    OPS.scatter_update_(x, torch.tensor([1, 3], device="npu"), torch.ones(2, 2, 3, device="npu"), 1)
    assert x[:, :, 0].tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    x = torch.zeros(2, 5, 3, device="npu", dtype=torch.int8)
    updates = torch.full((2, 1, 3), 3.0, device="npu")
    OPS.npu_quant_scatter_(
        x, torch.tensor([0, 4], device="npu"), updates, torch.full((3,), 0.5, device="npu")
    )
    assert x[:, :, 2].tolist() == [[6, 0, 0, 0, 0], [0, 0, 0, 0, 6]]
    with pytest.raises(RuntimeError, match="copy_memory_: src is a tensor of Int"):
        OPS.copy_memory_(y.npu(), torch.ones(3, 4, dtype=torch.int32, device="npu"))


@pytest.mark.parametrize("out", ["npu_broadcast", "npu_reshape", "npu_slice", "npu_indexing", "npu_stride_copy",
                                 "npu_sort_v2"])  # fmt: skip
def test_results_in_the_callers_tensor(out):
    x = values(2, 6).float().npu()
    args = {
        "npu_broadcast": ([3, 2, 6],), "npu_reshape": ([3, 4],), "npu_slice": ([0, 1], [2, 3]),
        "npu_indexing": ([0, 1], [2, 5], [1, 2]), "npu_stride_copy": ([2, 2], [3, 1], 1), "npu_sort_v2": (-1, True),
    }[out]  # fmt: skip
    given = torch.empty(0, device="npu")
    op = getattr(OPS, out)
    assert op(x, *args, out=given) is given
    assert torch.equal(given, op(x, *args))
    with pytest.raises(RuntimeError, match="Expected out to have dtype"):
        op(x, *args, out=torch.empty(0, device="npu", dtype=torch.int32))


def test_casts():
    x = values(3, 4).float().npu().requires_grad_()
    for y in (
        OPS.npu_dtype_cast(x, 5),
        OPS._npu_dtype_cast(x, torch.float16),
        torch_npu.npu_dtype_cast(x, 257),
    ):
        assert y.dtype == torch.float16
        assert torch.equal(y.cpu(), x.detach().half().cpu())
        y.sum().backward()
    assert torch.equal(x.grad.cpu(), torch.full((3, 4), 3.0))
    assert OPS._npu_dtype_cast_backward(x.detach(), torch.float64).dtype == torch.float64
    assert OPS.npu_dtype_cast_backward(x.detach(), torch.bfloat16).dtype == torch.bfloat16
    with pytest.raises(NotImplementedError, match="input_dtype is 7 for a tensor of Float"):
        OPS.npu_dtype_cast(x.detach(), 5, 7)


def test_formats(monkeypatch):
    monkeypatch.setattr(torch.npu.config, "allow_internal_format", True)
    x = values(1, 16, 4, 4).float().npu().requires_grad_()
    y = OPS._npu_format_cast(x, 3)
    assert torch_npu.get_npu_format(y) == 3
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), torch.ones(1, 16, 4, 4))


@pytest.mark.parametrize("kind", ["bits", "bytes", "softmax"])
def test_dropout_keeps_what_its_mask_says(kind):
    x, other = values(64, 50).float().npu().requires_grad_(), values(64, 50).float().npu()
    if kind == "bits":
        y, mask = OPS._npu_dropout(x, 0.25)
        bits = (mask.cpu()[:, None] >> torch.arange(8)) & 1
        kept, scaled = bits.flatten()[: x.numel()].reshape(x.shape).bool(), x.detach()
        again, same = OPS.npu_dropout_do_mask(x.detach(), mask, 0.25)
        assert torch.equal(again, y)
        assert torch.equal(same, mask)
        assert torch.equal(OPS.npu_dropout_backward(x.detach(), mask, 0.25), y)
    elif kind == "bytes":
        y, mask = OPS._dropout_with_byte_mask(x, 0.25)
        kept, scaled = mask.cpu().bool(), x.detach()
    else:
        mask, scaled, y = OPS.npu_dropout_with_add_softmax(x, other, 0.5, 0.25, -1)
        near(scaled, (other.cpu().double() + 0.5 * x.detach().cpu().double()).softmax(-1))
        kept = mask.cpu().bool()
    near(y, torch.where(kept, scaled.detach().cpu().double() / 0.75, 0))
    # 3,200 draws: five standard deviations.
    assert abs(kept.double().mean() - 0.75) < 5 * (0.25 * 0.75 / x.numel()) ** 0.5
    if kind != "softmax":
        y.sum().backward()
        near(x.grad, kept.double() / 0.75)
    with pytest.raises(RuntimeError, match="p is 2"):
        OPS._npu_dropout(x, 2) if kind == "bits" else OPS._dropout_with_byte_mask(x, 2)


def test_exponential_draws():
    x = torch.empty(20_000, device="npu")
    OPS.npu_sim_exponential_(x, 2.0)
    assert x.min() >= 0
    assert abs(x.mean().item() - 0.5) < 5 * 0.5 / x.numel() ** 0.5
    assert OPS.npu_sim_exponential_(x, float("inf")).abs().max() == 0
    with pytest.raises(RuntimeError, match="expects lambd > 0"):
        OPS.npu_sim_exponential_(x, -1.0)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam_w(amsgrad):
    var, m, v, grad, most = (values(3, 5) + i for i in range(5))
    v, most, lr, decay, b1, b2 = v.abs(), most.abs(), 0.1, 0.2, 0.9, 0.99
    device = [t.float().npu() for t in (var, m, v)]
    torch_npu.npu_apply_adam_w(b1, b2, lr, decay, b1, b2, 1e-8, grad.float().npu(), most.float().npu(), amsgrad,
                               False, out=device)  # fmt: skip
    m, v = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * grad**2
    root = (torch.maximum(most, v) if amsgrad else v) / (1 - b2 * b2)
    var = var * (1 - lr * decay) - lr * m / (1 - b1 * b1) / (root.sqrt() + 1e-8)
    for got, expected in zip(device, (var, m, v), strict=True):
        near(got, expected, 64)
    with pytest.raises(RuntimeError, match="out has 1 tensors: var, m and v are taken"):
        torch_npu.npu_apply_adam_w(
            b1, b2, lr, decay, b1, b2, 1e-8, device[0], None, False, False, out=device[:1]
        )


def test_adam():
    var, m, v, grad = (values(3, 5) + i for i in range(4))
    v, lr, b1, b2 = v.abs(), 0.1, 0.9, 0.99
    device = [t.float().npu() for t in (var, m, v)]
    torch_npu.npu_apply_adam(b1, b2, lr, b1, b2, 1e-8, grad.float().npu(), False, False, out=device)
    m, v = b1 * m + (1 - b1) * grad, b2 * v + (1 - b2) * grad**2
    var = var - lr * (1 - b2) ** 0.5 / (1 - b1) * m / (v.sqrt() + 1e-8)
    for got, expected in zip(device, (var, m, v), strict=True):
        near(got, expected, 64)


@pytest.mark.parametrize("kind", [0, 1])
def test_attention_of_parts(kind):
    lse, parts = [values(5) * (i + 1) for i in range(3)], [values(5, 8) + i for i in range(3)]
    got = torch_npu.npu_attention_update(
        [t.float().npu() for t in lse], [t.float().npu() for t in parts], kind
    )
    for a, b in zip(got, joined(lse, parts, kind), strict=True):
        near(a, b) if b.numel() else None
        assert a.shape == b.shape
    with pytest.raises(RuntimeError, match="1 tensors in lse, 0 in local_out"):
        torch_npu.npu_attention_update([lse[0].float().npu()], [], 0)


def test_rows_of_pages():
    caches = values(6, 3, 2, 4), values(6, 3, 2, 5)
    table, lens = torch.tensor([[5, 0, 9], [2, 1, -1]]), torch.tensor([7, 4])
    key, value = torch.zeros(11, 2, 4).double(), torch.zeros(11, 2, 5).double()
    device = [t.npu() for t in (key, value)]
    OPS.npu_gather_pa_kv_cache(*(t.npu() for t in (*caches, table, lens)), *device)
    for got, expected in zip(device, gathered(*caches, table, lens, key, value), strict=True):
        assert torch.equal(got.cpu(), expected)


def suppressed(boxes, order, threshold):
    kept = []
    for i in order:
        low, high = (
            torch.maximum(boxes[i, :2], boxes[kept, :2]),
            torch.minimum(boxes[i, 2:], boxes[kept, 2:]),
        )
        inter = (high - low).clamp(0).prod(1)
        area = lambda b: (b[..., 2:] - b[..., :2]).prod(-1)  # noqa: E731
        if not kept or (inter / (area(boxes[i]) + area(boxes[kept]) - inter)).max() <= threshold:
            kept.append(i)
    return kept


def some_boxes(n):
    corner = values(n, 2, low=0, high=6)
    return torch.cat((corner, corner + values(n, 2, low=1, high=4)), 1).float()


def test_suppression_of_scored_boxes():
    boxes, scores = some_boxes(40), values(40, low=0, high=1).float()
    order = [i for i in scores.argsort(descending=True, stable=True).tolist() if scores[i] > 0.2]
    expected = suppressed(boxes, order, 0.3)
    for most in (5, 60):
        indices, count = torch_npu.npu_nms_v4(
            boxes.npu(),
            scores.npu(),
            most,
            torch.tensor(0.3, device="npu"),
            torch.tensor(0.2, device="npu"),
        )
        assert count.item() == len(expected[:most])
        assert indices[: count.item()].tolist() == expected[:most]
        assert indices[count.item() :].abs().sum() == 0
    with pytest.raises(
        RuntimeError, match=r"npu_nms_v4: boxes of size \[40, 4\], scores of size \[3\]"
    ):
        torch_npu.npu_nms_v4(boxes.npu(), scores[:3].npu(), 5, scores[0].npu(), scores[0].npu())


def test_suppression_with_a_mask():
    boxes = some_boxes(30)
    rows = torch.cat((boxes, torch.linspace(1, 0, 30)[:, None], torch.zeros(30, 3)), 1)
    kept, indices, mask = torch_npu.npu_nms_with_mask(rows.npu(), 0.4)
    assert torch.equal(kept.cpu(), rows[:, :5])
    assert indices.tolist() == list(range(30))
    assert mask.nonzero().flatten().tolist() == sorted(suppressed(boxes, range(30), 0.4))


@pytest.mark.parametrize("shared", [True, False])
def test_suppression_by_class(shared):
    classes = 1 if shared else 3
    boxes = torch.stack([some_boxes(12 + i)[:12] for i in range(2 * classes)]).reshape(
        2, classes, 12, 4
    )
    boxes = boxes.transpose(1, 2).contiguous()
    scores = values(2, 12, 3, low=0, high=1).float()
    got = torch_npu.npu_batch_nms(boxes.npu(), scores.npu(), 0.3, 0.4, 4, 6)
    for b in range(2):
        found = []
        for c in range(3):
            own, value = boxes[b, :, 0 if shared else c], scores[b, :, c]
            order = [
                i for i in value.argsort(descending=True, stable=True).tolist() if value[i] > 0.3
            ]
            found += [(value[i].item(), c, own[i]) for i in suppressed(own, order, 0.4)[:4]]
        found = sorted(found, key=lambda f: -f[0])[:6]
        assert got[3][b].item() == len(found)
        assert got[1][b, : len(found)].tolist() == [f[0] for f in found]
        assert got[2][b, : len(found)].tolist() == [f[1] for f in found]
        assert torch.equal(got[0][b, : len(found)].cpu(), torch.stack([f[2] for f in found]))


@pytest.mark.parametrize("count", [3, 0])
def test_random_choices_are_elements_that_are_true(count):
    x = torch.rand(20, 5, generator=torch.Generator().manual_seed(1)) > 0.5
    indices, mask = torch_npu.npu_random_choice_with_mask(x.npu(), count, 7, 1)
    assert mask.all()
    assert len(indices) == (count or int(x.sum()))
    rows = indices.cpu().long()
    assert x[rows[:, 0], rows[:, 1]].all()
    assert len({tuple(r) for r in rows.tolist()}) == len(rows)
    again, _ = torch_npu.npu_random_choice_with_mask(x.npu(), count, 7, 1)
    assert torch.equal(again, indices)


# A test of the recipes reads this file without a device.
T = torch.ones(2, 3, device="npu") if hasattr(torch_npu, "npu") else None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: OPS.npu_confusion_transpose(T, [0, 0], [6], True), r"perm is \[0, 0\]: each of 2 dimensions is taken once"),
        (lambda: OPS.npu_slice(T, [0, 2], [2, 2]), "offset 2 and size 2 in dimension 1 leave a tensor of size"),
        (lambda: OPS.npu_indexing(T, [0], [2], [-1]), "stride -1: positive ones are taken"),
        (lambda: OPS.npu_pad(T, [-1, 0]), "at most two for a dimension, none negative"),
        (lambda: OPS.scatter_update(T, torch.tensor([0], device="npu"), T, 1), "updates of Float, size .2, 3., indices of size .1."),
        (lambda: OPS.npu_scatter(T, torch.tensor([0], device="npu"), T, 0), "both have the size of a tensor of size .2, 3. without dimension 0"),
        (lambda: OPS.npu_one_hot(torch.tensor([1], device="npu"), -1, 0), "depth is 0: a positive number is taken"),
        (lambda: OPS.npu_giou(T, T), "npu_giou: trans is 0, is_cross 0, mode 0: True, False and 0 are taken"),
        (lambda: OPS.npu_diou(T, T), r"both are \[4, n\]"),
        (lambda: OPS.npu_iou(T, T), r"both are \[n, 4\]"),
        (lambda: OPS.npu_bounding_box_decode(T, T, *[0.0] * 4, *[1.0] * 4, [5], 0.1), r"both are \[n, 4\]"),
        (lambda: OPS.npu_conv2d(T, T, None, [1], [0], [1], 1), "both have 4 dimensions"),
        (lambda: OPS.npu_linear(T, T.T.contiguous()), r"\[N, K\] and \[M, K\] are taken"),
        (lambda: OPS.npu_fused_matmul(T, T.T, fused_op_type="add"), "x3 is None for fused_op_type 'add'"),
        (lambda: OPS.npu_group_norm_silu(T, None, None, 2), r"\[N, C, \*\] is taken, whose C they divide"),
        (lambda: OPS.npu_softmax_cross_entropy_with_logits(T, T[:1]), "one size is taken"),
        (lambda: OPS.npu_gelu_mul(T), "an even last dimension is taken"),
        (lambda: OPS.npu_sign_bits_pack(T[0], 2), "size is 2 for 1 bytes: it divides them"),
        (lambda: OPS.npu_add_rms_norm_quant(T, T, T[0], T[0], None, dst_type=6), "dst_type is 6: None or int8 is taken"),
        (lambda: OPS.npu_add_rms_norm_quant(T, T, T[0, :2], T[0], None), "gamma is of size .2., which the last dimensions"),
        (lambda: OPS.npu_swiglu_quant(T, quant_mode=1), "x is of size .2, 3.: two dimensions or more are taken, an even last one"),
        (lambda: OPS.npu_dequant_swiglu_quant(T[:, :2].int(), quant_mode=1), "weight_scale is None for x of Int"),
        (lambda: OPS.npu_convert_weight_to_int4pack(T.int()), "the last one a multiple of 8"),
        (lambda: OPS.npu_top_k_top_p(T, T[0]), "p is of size .3. for logits of size .2, 3."),
        (lambda: OPS.npu_dynamic_mx_quant(T, dst_type=6), "dst_type is 6: float8_e4m3fn, float8_e5m2 and float4_e2m1"),
        (lambda: OPS.npu_dynamic_mx_quant(T, dst_type=24, block_size=31), "a multiple of 32 up to 1024 is taken"),
        (lambda: OPS.npu_mhc_post(T, None, T, T), r"\[\*, n, D\], \[\*, D\], \[\*, n\]"),
        (lambda: OPS.npu_roi_align(T[None, None], torch.ones(1, 5, device="npu"), 1.0, 2, 2, 0, 0), "sample_num is 0, roi_end_mode 0"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, says):
    with pytest.raises((RuntimeError, NotImplementedError), match=says):
        call()


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.float8_e4m3fn], ids=str)
def test_the_numbers_of_float8_are_those_of_torch_npu(dtype):
    number = getattr(torch_npu, str(dtype).removeprefix("torch."))
    y, scales = OPS.npu_dynamic_mx_quant(
        torch.linspace(-3, 3, 64, device="npu").half(), dst_type=number
    )
    assert (y.dtype, scales.numel()) == (dtype, 2)
