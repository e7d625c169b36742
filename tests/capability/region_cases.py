"""Calls of operators of boxes with angles, regions and moved samples, each with a definition in plain PyTorch."""

import math

import torch
import torch.nn.functional as F

from tests.capability.composed_cases import Case, values, vjp

WIDENED = (torch.float32, torch.float64)

# ---- boxes with angles ----


def corners_of(box, by_corners):
    x, y, w, h, angle = box.tolist()
    if by_corners:
        x, y, w, h, angle = (x + w) / 2, (y + h) / 2, w - x, h - y, -angle
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    ends = ((-w, -h), (w, -h), (w, h), (-w, h))
    return [(x + (a * cos - b * sin) / 2, y + (a * sin + b * cos) / 2) for a, b in ends], w * h


def clipped(polygon, start, end):
    """What of a polygon is to the left of a line: a step of Sutherland's and Hodgman's algorithm."""

    def side(p):
        across = (end[0] - start[0]) * (p[1] - start[1])
        return across - (end[1] - start[1]) * (p[0] - start[0])

    found = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        a, b = side(p), side(q)
        if a >= 0:
            found.append(p)
        if a * b < 0:
            t = a / (a - b)
            found.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    return found


def shared(a, b, by_corners):
    polygon, area = corners_of(a, by_corners)
    other, other_area = corners_of(b, by_corners)
    for start, end in zip(other, other[1:] + other[:1], strict=True):
        polygon = clipped(polygon, start, end) if polygon else []
    turned = zip(polygon, polygon[1:] + polygon[:1], strict=True)
    return abs(sum(p[0] * q[1] - p[1] * q[0] for p, q in turned)) / 2, area, other_area


def pairs(boxes, others, function):
    rows = [
        [[function(a, b) for b in batch] for a in own]
        for own, batch in zip(boxes, others, strict=True)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def rotated_overlaps(boxes, others, trans=False):
    return pairs(boxes, others, lambda a, b: shared(a, b, trans)[0])


def rotated_iou(boxes, others, trans=False, mode=0, *rest):
    def iou(a, b):
        inter, own, other = shared(a, b, trans)
        return inter / (own if mode else own + other - inter)

    return pairs(boxes, others, iou)


def rotated(*size, low=0.0):
    centre, sides = values(*size, 2, low=low, high=6), values(*size, 2, low=1, high=5)
    return torch.cat((centre, sides, values(*size, 1, low=-180, high=180)), -1)


def by_corners(boxes):
    return torch.cat((boxes[..., :2], boxes[..., :2] + boxes[..., 2:4], boxes[..., 4:]), -1)


PAIR = (rotated(2, 5), rotated(2, 4, low=1.0))
ENDS = tuple(by_corners(b) for b in PAIR)
ROTATED = {
    "npu_rotated_overlaps": Case(rotated_overlaps, PAIR, dtypes=WIDENED),
    "npu_rotated_overlaps-corners": Case(rotated_overlaps, (*ENDS, True), dtypes=WIDENED),
    "npu_rotated_iou": Case(rotated_iou, PAIR, dtypes=WIDENED),
    "npu_rotated_iou-first": Case(rotated_iou, (*ENDS, True, 1), dtypes=WIDENED),
}

# ---- regions ----


def ps_roi_pooling(x, rois, scale, group, channels):
    n = len(x)
    out = x.new_zeros(rois.shape[0] * rois.shape[2], channels, group, group)
    for r, roi in enumerate(rois.transpose(1, 2).reshape(-1, 5).tolist()):
        image, x1, y1, x2, y2 = int(roi[0]), *(math.floor(v + 0.5) for v in roi[1:])
        if not 0 <= image < n:
            continue
        sides = [max((b + 1 - a) * scale, 0.1) / group for a, b in ((y1, y2), (x1, x2))]
        for i in range(group):
            for j in range(group):
                ends = [
                    (math.floor(k * s + a * scale), math.ceil((k + 1) * s + a * scale))
                    for k, s, a in ((i, sides[0], y1), (j, sides[1], x1))
                ]
                (top, bottom), (left, right) = [(max(a, 0), max(b, 0)) for a, b in ends]
                own = torch.arange(channels) * group * group + i * group + j
                part = x[image, own, top:bottom, left:right]
                if part[0].numel():
                    out[r, :, i, j] = part.mean((1, 2))
    return out


def assigned(
    own, overlaps, flags, most, which, gt_most, gt_which, count, threshold, least, takes_all
):
    result = own.clone()
    is_positive = (most > threshold) & (flags > 0)
    result[is_positive] = which[is_positive].to(own.dtype) + 1
    for i in range(min(count, len(overlaps))):
        if gt_most[i] > least:
            chosen = (
                overlaps[i] == gt_most[i] if takes_all else torch.arange(len(own)) == gt_which[i]
            )
            result[chosen & (flags > 0)] = i + 1
    return result


IMAGES = values(2, 8, 6, 7)
ROIS = torch.tensor([[[0, 1], [1.0, 0], [2.0, 1], [7.0, 9], [6.0, 3]],
                     [[1, 5], [3.0, 0], [3.0, 0], [3.0, 4], [3.0, 4]]]).double()  # fmt: skip
SHARES = values(3, 6, low=0, high=1)
SHARES[1, 2] = SHARES[1, 4] = SHARES[1].max() + 0.125
GRID = (
    torch.zeros(6).double(), SHARES, torch.tensor([1, 1, 0, 1, 1, 0], dtype=torch.uint8), SHARES.amax(0),
    SHARES.argmax(0).int(), SHARES.amax(1), SHARES.argmax(1).int(),
)  # fmt: skip
REGIONS = {
    "npu_ps_roi_pooling": Case(ps_roi_pooling, (IMAGES, ROIS, 0.5, 2, 2), gradients=1),
    "npu_ps_roi_pooling_backward": Case(
        lambda g, rois, s, n, c, size: vjp(lambda x: ps_roi_pooling(x, rois, s, n, c), 1)(g, IMAGES.to(g.dtype))[0],
        (values(4, 2, 2, 2), ROIS, 0.5, 2, 2, [2, 8, 6, 7]),
    ),
    "npu_ps_roi_pooling_backward-plane": Case(
        lambda g, rois, s, n, c, size: vjp(lambda x: ps_roi_pooling(x, rois, s, n, c), 1)(g, IMAGES.to(g.dtype))[0],
        (values(4, 2, 2, 2), ROIS, 0.5, 2, 2, [6, 7]),
    ),
    "npu_grid_assign_positive": Case(assigned, (*GRID, 128, 0.75, 0.125, True), dtypes=WIDENED),
    "npu_grid_assign_positive-one": Case(assigned, (*GRID, 2, 0.5, 0.0, False), dtypes=WIDENED),
}  # fmt: skip

# ---- moved samples ----


def sampled(x, offset, kernel, stride, padding, dilation, groups, modulated):
    n, channels, height, width = x.shape
    (kh, kw), (rows, columns) = kernel, offset.shape[2:]
    moved = offset.reshape(n, 3 if modulated else 2, groups, kh, kw, rows, columns)
    grid_x = (
        torch.arange(columns) * stride[3] - padding[2] + torch.arange(kw)[:, None] * dilation[3]
    )
    grid_y = torch.arange(rows) * stride[2] - padding[0] + torch.arange(kh)[:, None] * dilation[2]
    at_x = moved[:, 0] + grid_x[None, None, None, :, None, :]
    at_y = moved[:, 1] + grid_y[None, None, :, None, :, None]
    # grid_sample's coordinates are of pixels' centres, -1 and 1 the outer ones.
    where = torch.stack((2 * at_x / (width - 1) - 1, 2 * at_y / (height - 1) - 1), -1)
    parts = x.reshape(n * groups, channels // groups, height, width)
    y = F.grid_sample(
        parts, where.reshape(n * groups, -1, 1, 2), "bilinear", "zeros", align_corners=True
    )
    y = y.reshape(n, groups, channels // groups, kh, kw, rows, columns)
    if modulated:
        y = y * moved[:, 2][:, :, None]
    y = y.reshape(n, channels, kh, kw, rows, columns).permute(0, 1, 4, 2, 5, 3)
    return y.reshape(n, channels, rows * kh, columns * kw)


def deformable(
    x,
    weight,
    offset,
    bias,
    kernel,
    stride,
    padding,
    dilation=(1,) * 4,
    groups=1,
    parts=1,
    modulated=True,
):
    samples = sampled(x, offset, kernel, stride, padding, dilation, parts, modulated)
    return F.conv2d(samples, weight, bias, tuple(kernel), groups=groups), samples


def deformable_gradients(x, grad, samples, weight, offset, *numbers):
    bias = torch.zeros(len(weight), dtype=x.dtype)
    function = lambda x, w, o, b: deformable(x, w, o, b, *numbers)[0]  # noqa: E731
    return vjp(function, 4)(grad, x, weight, offset, bias)


NUMBERS = ([2, 3], [1, 1, 2, 1], [1, 0, 1, 1], [1, 1, 1, 2], 2, 2)
MOVED = (values(2, 4, 5, 6), values(6, 2, 2, 3), values(2, 36, 3, 4, low=-1.4, high=1.3))
PLAIN = ([3, 3], [1, 1, 1, 1], [1, 1, 1, 1])
DEFORMED = {
    "npu_deformable_conv2d": Case(
        deformable, (*MOVED, values(6), *NUMBERS), gradients=4, dtypes=WIDENED
    ),
    "npu_deformable_conv2d-plain": Case(
        deformable,
        (values(1, 2, 4, 5), values(3, 2, 3, 3), values(1, 18, 4, 5), None, *PLAIN),
        {"modulated": False},
        dtypes=WIDENED,
    ),
    "npu_deformable_conv2dbk": Case(
        deformable_gradients,
        (MOVED[0], values(2, 6, 3, 4), sampled(MOVED[0], MOVED[2], *NUMBERS[:4], 2, True), *MOVED[1:], *NUMBERS),
        dtypes=WIDENED,
    ),
}  # fmt: skip

FAMILIES = {"rotated": ROTATED, "regions of channels": REGIONS, "deformed": DEFORMED}
