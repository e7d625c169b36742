"""Calls of operators that are composed of ATen's, each with a definition in plain PyTorch.

``CASES`` has, by the operator's name and a word: the definition, which takes the arguments on the CPU in float64, the
arguments, and how many of the first ones have gradients.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Case:
    """One call: floating tensors among the arguments are cast to the type that is tested."""

    definition: Any
    args: tuple
    kwargs: dict = field(default_factory=dict)
    gradients: int = 0
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float16, torch.float64)
    opcheck: bool = True


def values(*size, low=-2.0, high=2.0):
    generator = torch.Generator().manual_seed(sum(size) + len(size))
    return low + (high - low) * torch.rand(size, generator=generator, dtype=torch.float64)


def vjp(function, count):
    """The gradients of ``function`` for its first ``count`` arguments, as a function of the result's gradient."""

    def gradients(grad, *args, **kwargs):
        leaves = [a.detach().requires_grad_() for a in args[:count]]
        result = function(*leaves, *args[count:], **kwargs)
        return torch.autograd.grad(result, leaves, grad.reshape(result.shape), allow_unused=True)

    return gradients


# ---- copies of views ----


def transposed(x, perm, shape, first):
    return x.permute(perm).reshape(shape) if first else x.reshape(shape).permute(perm)


def transposed_back(grad, perm, shape, first):
    return vjp(lambda x: transposed(x, perm, FORWARD_SHAPE[not first], not first), 1)(
        grad, torch.zeros(shape, dtype=grad.dtype)
    )[0]


FORWARD_SHAPE = {True: (3, 8), False: (4, 6)}


def indexed(x, begin, end, strides, *masks):
    begin_mask, end_mask, ellipsis, new_axis, shrink = (*masks, 0, 0, 0, 0, 0)[:5]
    entries = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis & bit:
            entries.append(Ellipsis)
        elif new_axis & bit:
            entries.append(None)
        elif shrink & bit:
            entries.append(b)
        else:
            entries.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return x[tuple(entries)].clone()


def padded(x, paddings):
    pairs = [paddings[i : i + 2] for i in range(0, len(paddings), 2)]
    pairs += [[0, 0]] * (x.dim() - len(pairs))
    return F.pad(x, [n for pair in reversed(pairs) for n in pair])


X = values(2, 3, 4)
VIEWS = {
    "npu_confusion_transpose-first": Case(transposed, (X, [1, 0, 2], (3, 8), True), gradients=1),
    "npu_confusion_transpose": Case(transposed, (X, [1, -2], (4, 6), False), gradients=1),
    "npu_confusion_transpose_backward": Case(
        transposed_back, (values(3, 8), [1, 0, 2], [2, 3, 4], False)
    ),
    "npu_confusion_transpose_backward-reshaped": Case(
        transposed_back, (values(6, 4), [1, 0], [2, 3, 4], True)
    ),
    "npu_broadcast": Case(lambda x, size: x.expand(size).clone(), (values(3, 1), [2, 3, 4])),
    "npu_reshape": Case(lambda x, shape: x.reshape(shape), (X, [4, -1])),
    "npu_slice": Case(lambda x, o, s: x[0:2, 1:3, 2:4], (X, [0, 1, 2], [2, 2, 2])),
    "npu_indexing": Case(indexed, (X, [0, 1], [2, 3], [1, 1])),
    "npu_indexing-masks": Case(
        indexed, (values(4, 5, 6), [1, 0, -1, 1], [4, 0, 0, 9], [2, 1, 1, 3], 1, 8, 2, 4, 0)
    ),
    "npu_indexing-shrink": Case(indexed, (X, [1, 0, -2], [0, 2, 0], [1, 1, 1], 0, 0, 0, 0, 5)),
    "npu_stride_copy": Case(
        lambda x, shape, stride, offset: x.as_strided(shape, stride, offset), (X, [3, 2], [1, 5], 2)
    ),
    "npu_pad": Case(padded, (X, [1, 2, 0, 3])),
    "npu_pad-all": Case(padded, (values(1, 4), [1, 1, 1, 1])),
}

# ---- reads and writes by index ----

INDEX = torch.tensor([[2, 0], [1, 2]])


def scattered(grad, dim, index, sizes, keepdim):
    grad, index = (grad, index) if keepdim else (grad.unsqueeze(dim), index.unsqueeze(dim))
    return torch.zeros(sizes, dtype=grad.dtype).scatter(dim, index.long(), grad)


def added(x, index, source, alpha=1):
    rows = source.reshape(index.numel(), *x.shape[1:])
    return x.index_add(0, index.flatten(), rows, alpha=alpha)


def updated(x, indices, updates, axis):
    y = x.clone()
    for b, start in enumerate(indices.tolist()):
        part = y[b].narrow(axis % x.dim() - 1, start, updates.shape[axis])
        part.copy_(updates[b])
    return y


def stride_added(a, b, first, second, blocks):
    parts = []
    for x, offset in ((a, first), (b, second)):
        taken = x[:, offset : offset + 16 * blocks]
        missing = torch.zeros(x.shape[0], 16 * blocks - taken.shape[1], *x.shape[2:], dtype=x.dtype)
        parts.append(torch.cat((taken, missing), 1))
    return parts[0] + parts[1]


def filled_ranges(x, start, end, value, axis=-1):
    out, axis = x.clone(), axis % x.dim()
    for n in range(start.shape[0]):
        for s in range(start.shape[1]):
            part = slice(int(start[n, s]), int(end[n, s]))
            if axis > 0 and axis == x.dim() - 1:
                out[s][..., part] = value[n]
            else:
                out.movedim(axis, 0)[part] = value[n]
    return out


def one_hot(x, axis=-1, depth=1, on_value=1, off_value=0):
    classes = torch.arange(depth).reshape(
        [-1 if i == axis % (x.dim() + 1) else 1 for i in range(x.dim() + 1)]
    )
    return torch.where(x.unsqueeze(axis) == classes, float(on_value), float(off_value)).double()


def repeated(x, repeats, dim=None):
    return x.repeat_interleave(repeats, -1 if dim is None else dim)


START, END = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[2, 1], [9, 4]])
SCATTER = (values(2, 4), 1, INDEX.repeat(1, 2), [2, 3, 4], False)
INDICES = {
    "npu_max": Case(torch.max, (values(3, 4, 2), 1), gradients=1),
    "npu_max-keepdim": Case(torch.max, (values(3, 4), -1, True), gradients=1),
    "npu_min": Case(torch.min, (values(3, 4, 2), 0), gradients=1),
    "npu_max_backward": Case(scattered, SCATTER),
    "npu_min_backward": Case(
        scattered, (values(2, 1, 4), 1, INDEX.repeat(1, 2)[:, None], [2, 3, 4], True)
    ),
    "npu_scatter": Case(
        lambda x, i, u, d: x.scatter(d, i.unsqueeze(d), u.unsqueeze(d)),
        (values(3, 2, 2), INDEX, values(2, 2), 0),
    ),
    "npu_sort_v2": Case(lambda x, *a: x.sort(*a).values, (values(3, 5), -1, True)),
    "npu_gather_backward": Case(
        lambda g, size, d, i, s: torch.zeros(size, dtype=g.dtype).scatter_add(d, i, g),
        (values(2, 2), [3, 2], 0, INDEX, False),
    ),
    "npu_gather_sparse_index": Case(lambda x, i: x[i], (values(3, 5), INDEX), gradients=1),
    "npu_gather_sparse_index_backward": Case(
        lambda g, size, i: added(torch.zeros(size, dtype=g.dtype), i, g),
        (values(2, 2, 5), [3, 5], INDEX),
    ),
    "_npu_index_add": Case(added, (values(3, 4), INDEX, values(2, 2, 4)), {"alpha": 2}),
    "repeat_interleave_backward_int": Case(
        lambda g, x, n, d=None: vjp(repeated, 1)(g, x, n, d)[0], (values(2, 6), values(2, 3), 2, 1)
    ),
    "repeat_interleave_backward_tensor": Case(
        lambda g, x, n, d=None: vjp(repeated, 1)(g, x, n, d)[0],
        (values(2, 6), values(2, 3), torch.tensor([3, 1, 2]), 1),
    ),
    "scatter_update": Case(updated, (values(3, 6, 2), torch.tensor([0, 4, 2]), values(3, 2, 2), 1)),
    "scatter_update-last": Case(
        updated, (values(3, 2, 6), torch.tensor([1, 0]), values(2, 2, 3), -1)
    ),
    "npu_stride_add": Case(stride_added, (values(2, 20, 3), values(2, 7, 3), 4, 2, 2)),
    "npu_masked_fill_range": Case(
        filled_ranges, (values(2, 3, 8), START, END, values(2)), {"axis": 2}
    ),
    "npu_masked_fill_range-first": Case(
        filled_ranges, (values(7, 3), START, END, values(2)), {"axis": 0}
    ),
    "npu_one_hot": Case(one_hot, (torch.tensor([5, 3, 2, 1]),), {"depth": 5}),
    "npu_one_hot-front": Case(one_hot, (INDEX, 0, 3, 2, -1)),
}

# ---- boxes ----


def centred(n, seed=0):
    generator = torch.Generator().manual_seed(n + seed)
    return torch.rand(4, n, generator=generator, dtype=torch.float64) * 4 + 1


def corners(n, seed=0):
    x, y, w, h = centred(n, seed)
    return torch.stack((x - w / 2, y - h / 2, x + w / 2, y + h / 2))


def measure(kind):
    def measured(boxes, targets, trans=False, is_cross=False, mode=0, atan_sub_flag=False):
        if is_cross:
            rows = [
                measured(boxes, t[:, None].expand_as(boxes), trans, False, mode) for t in targets.T
            ]
            return torch.cat(rows)
        x1, y1, x2, y2 = (c for c in boxes) if not trans else _ends(boxes)
        a1, b1, a2, b2 = (c for c in targets) if not trans else _ends(targets)
        w, h, gw, gh = x2 - x1, y2 - y1, a2 - a1, b2 - b1
        inter = (torch.minimum(x2, a2) - torch.maximum(x1, a1)).clamp(0)
        inter = inter * (torch.minimum(y2, b2) - torch.maximum(y1, b1)).clamp(0)
        eps = 1e-10
        union = w * h + gw * gh - inter + eps
        iou = inter / (gw * gh + eps if mode else union)
        cw = torch.maximum(x2, a2) - torch.minimum(x1, a1)
        ch = torch.maximum(y2, b2) - torch.minimum(y1, b1)
        if kind == "giou":
            hull = cw * ch + eps
            return (iou - (hull - union) / hull)[:, None]
        distance = ((x1 + x2 - a1 - a2) ** 2 + (y1 + y2 - b1 - b2) ** 2) / 4
        result = iou - distance / (cw**2 + ch**2 + eps)
        angle = torch.atan(gw / gh) - torch.atan(w / h)
        if kind == "ciou":
            v = 4 / math.pi**2 * angle**2
            result = result - v * v / (1 + eps - iou + v)
        return result[None]

    return measured


def _ends(boxes):
    x, y, w, h = boxes
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def crossed(boxes, targets, mode=0):
    low = torch.maximum(boxes[None, :, :2], targets[:, None, :2])
    high = torch.minimum(boxes[None, :, 2:], targets[:, None, 2:])
    inter = (high - low).clamp(0).prod(2)
    area = lambda b: (b[:, 2:] - b[:, :2]).prod(1)  # noqa: E731
    whole = area(targets)[:, None].expand_as(inter)
    return inter / ((whole if mode else whole + area(boxes)[None] - inter) + 0.01)


def encoded(a, g, *numbers):
    means, stds = (
        torch.tensor(numbers[:4], dtype=torch.float64),
        torch.tensor(numbers[4:], dtype=torch.float64),
    )
    size = lambda b: b[:, 2:] - b[:, :2] + 1  # noqa: E731
    shift = ((g[:, 2:] + g[:, :2]) - (a[:, 2:] + a[:, :2])) / 2 / size(a)
    return (torch.cat((shift, (size(g) / size(a)).log()), 1) - means) / stds


def decoded(rois, deltas, *numbers):
    means, stds = (
        torch.tensor(numbers[:4], dtype=torch.float64),
        torch.tensor(numbers[4:8], dtype=torch.float64),
    )
    (height, width), clip = numbers[8], abs(math.log(numbers[9]))
    d = deltas * stds + means
    size = rois[:, 2:] - rois[:, :2] + 1
    centre = (rois[:, 2:] + rois[:, :2]) / 2 + size * d[:, :2]
    half = size * d[:, 2:].clamp(-clip, clip).exp() / 2 - 0.5
    most = torch.tensor([width - 1, height - 1]).double()
    return torch.cat(
        [torch.minimum(end.clamp(0), most) for end in (centre - half, centre + half)], 1
    )


def rotated_encoded(a, g, weight):
    size = lambda b: b[:, 2:4] - b[:, :2]  # noqa: E731
    shift = ((g[:, 2:4] + g[:, :2]) - (a[:, 2:4] + a[:, :2])) / 2 / size(a)
    slope = lambda b: (b[:, 4:] * math.pi / 180).tan()  # noqa: E731
    return torch.cat((shift, (size(g) / size(a)).log(), slope(g) - slope(a)), 1) * weight[:, None]


def rotated_decoded(a, deltas, weight):
    d = deltas / weight[:, None]
    size = a[:, 2:4] - a[:, :2]
    centre, half = (a[:, 2:4] + a[:, :2]) / 2 + d[:, :2] * size, size * d[:, 2:4].exp() / 2
    angle = ((a[:, 4:] * math.pi / 180).tan() + d[:, 4:]).atan() * 180 / math.pi
    return torch.cat((centre - half, centre + half, angle), 1)


def yolo(a, g, stride, _=False):
    middle = lambda b: (b[:, 2:] + b[:, :2]) / 2  # noqa: E731
    cell = ((middle(g) - middle(a)) / stride[:, None] + 0.5).clamp(1e-6, 1 - 1e-6)
    size = ((g[:, 2:] - g[:, :2]) / (a[:, 2:] - a[:, :2])).clamp(1e-6).log()
    return torch.cat((cell, size), 1)


def responsible(boxes, size, stride, anchors):
    cells = torch.zeros(size[0] * size[1], dtype=torch.uint8)
    x, y = ((boxes[:, :2] + boxes[:, 2:]) / 2 / torch.tensor(stride)).floor().long().T
    for cell in (y * size[1] + x).tolist():
        cells[cell] = 1
    return cells.repeat_interleave(anchors)


def angled(n, seed=0):
    x1, y1, x2, y2 = corners(n, seed)
    return torch.stack((x1, y1, x2, y2, torch.linspace(-60, 60, n).double()))[None]


EIGHT = (torch.float32, torch.float64)
PAIR = (centred(6), centred(6, 1))
GIVEN = {"trans": True, "is_cross": False, "mode": 0}
BOXES = {
    "npu_iou": Case(crossed, (corners(4).T, corners(3).T)),
    "npu_iou-first": Case(crossed, (corners(4).T, corners(3).T), {"mode": 1}),
    "npu_ptiou": Case(crossed, (corners(4).T, corners(3).T)),
    "npu_giou": Case(measure("giou"), PAIR, GIVEN, 2),
    "npu_giou_backward": Case(vjp(measure("giou"), 2), (values(6, 1), *PAIR), GIVEN),
    "npu_diou": Case(measure("diou"), PAIR, GIVEN, 2),
    "npu_diou-corners": Case(measure("diou"), (corners(6), corners(6, 1)), {"mode": 1}, 2),
    "npu_diou-crossed": Case(
        measure("diou"), (centred(6), centred(3)), {"trans": True, "is_cross": True}, 2
    ),
    "npu_diou_backward": Case(vjp(measure("diou"), 2), (values(1, 6), *PAIR), GIVEN),
    "npu_ciou": Case(measure("ciou"), PAIR, GIVEN, 2),
    "npu_ciou-crossed": Case(measure("ciou"), (corners(5), corners(4)), {"is_cross": True}, 2),
    "_npu_ciou": Case(
        lambda b, t, **k: (
            measure("ciou")(b, t, **k),
            (torch.atan(t[2] / t[3]) - torch.atan(b[2] / b[3]))[None],
        ),
        PAIR,
        GIVEN,
    ),
    "npu_ciou_backward": Case(
        lambda g, b, t, _, **k: vjp(measure("ciou"), 2)(g, b, t, **k),
        (values(1, 6), *PAIR, None),
        GIVEN,
    ),
    "npu_bounding_box_encode": Case(
        encoded,
        (corners(5).T, corners(5, 1).T, 0.1, 0.2, 0.0, 0.0, 0.1, 0.1, 0.2, 0.2),
        dtypes=EIGHT,
    ),
    "npu_bounding_box_decode": Case(
        decoded,
        (corners(5).T, values(5, 4), 0.1, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 2.0, [7, 9], 0.1),
        dtypes=EIGHT,
    ),
    "npu_rotated_box_encode": Case(
        rotated_encoded, (angled(5), angled(5, 1), torch.arange(1.0, 6.0).double()), dtypes=EIGHT
    ),
    "npu_rotated_box_decode": Case(
        rotated_decoded, (angled(5), values(1, 5, 5), torch.arange(1.0, 6.0).double()), dtypes=EIGHT
    ),
    "npu_yolo_boxes_encode": Case(
        yolo,
        (corners(4).T, corners(4, 1).T, torch.tensor([2, 4, 8, 2], dtype=torch.int32)),
        dtypes=EIGHT,
    ),
    "npu_anchor_response_flags": Case(responsible, (corners(4).T, [8, 9], [1, 1], 3)),
}

FAMILIES = {"views": VIEWS, "indices": INDICES, "boxes": BOXES}
