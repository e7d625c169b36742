"""Calls of operators of scaled values: microscaling of groups and levels, products that are added, convolutions."""

import torch
import torch.nn.functional as F

from tests.capability.composed_cases import Case, values
from tests.capability.more_cases import mx


def grouped_mx(x, ends, dst_type=23, **_):
    y, scales = [], torch.zeros(x.shape[0] // 64 + len(ends), x.shape[1], 2, dtype=torch.uint8)
    begin = 0
    for group, end in enumerate(ends.tolist()):
        if end > begin:
            part, own = mx(x[begin:end], 0, dst_type)
            y.append(part)
            first = begin // 64 + group
            scales[first : first + len(own)] = own
        begin = end
    rest = mx(torch.zeros(x.shape[0] - begin, x.shape[1], dtype=x.dtype), -1, dst_type)[0]
    return torch.cat([t.view(torch.uint8) for t in (*y, rest)]).view(y[0].dtype), scales


def rounded(y, dtype):
    return y.to(dtype).double()


def two_levels(x):
    """A float16 tensor's, whose second level reads float16."""
    count = x.shape[-1]
    parts = [x[..., k : k + 512].abs().amax(-1) / 6 for k in range(0, count, 512)]
    first = torch.stack(parts, -1).float()
    spread = torch.where(first > 0, first, 1).repeat_interleave(512, -1)[..., :count]
    y, scales = mx(rounded(x.float() / spread, torch.float16), -1)
    return y, first, scales


def powers(bits):
    return 2.0 ** (bits.double() - 127)


def unpacked(codes):
    """Numbers of float4_e2m1, two in a byte."""
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6]).double()
    pairs = torch.stack((codes & 15, codes >> 4), -1).flatten(-2).long()
    return torch.where(pairs >= 8, -1.0, 1.0) * table[pairs & 7]


def two_level_product(x1, x2, s1, s2, p1, p2, bias=None, output_dtype=15):
    def numbers(x, p):
        y = unpacked(x.view(torch.uint8))
        return y * powers(p).flatten(1).repeat_interleave(32, 1)[:, : y.shape[1]]

    a, b = numbers(x1, p1), numbers(x2, p2)
    a = a * s1.repeat_interleave(512, 1)[:, : a.shape[1]]
    b = b * s2.T.repeat_interleave(512, 1)[:, : b.shape[1]]
    return a @ b.T + (0 if bias is None else bias)


def added(y, x1, x2, s2, x1_scale=None, **_):
    product = x1.double() @ x2.double() * s2.reshape(1, -1)
    return y + (product if x1_scale is None else product * x1_scale.reshape(-1, 1))


def groups_added(y, x1, x2, s2, ends, x1_scale=None, group_list_type=0, **_):
    out, begin = y.clone(), 0
    for g, number in enumerate(ends.tolist()):
        end = number if group_list_type == 0 else begin + number
        part = x1[:, begin:end].double() @ x2[begin:end].double() * s2[g].reshape(1, -1)
        out[g] += part if x1_scale is None else part * x1_scale.flatten()[g]
        begin = end
    return out


def conv(x, weight, factors, strides=1, pads=0, dilations=1, groups=1, bias=None):
    y = F.conv2d(x.double(), weight.double(), None, strides, pads, dilations, groups)
    return (y if bias is None else y + bias[:, None, None]) * factors[:, None, None]


def bytes_of(*size):
    return values(*size, low=0, high=256).long().to(torch.uint8)


def int8(*size, low=-100):
    return values(*size, low=low, high=100).round().to(torch.int8)


HALF = {"dtypes": (torch.float16,)}
ONE = {"dtypes": (torch.float32,)}
ROWS = values(150, 6) * torch.logspace(-3, 3, 150).double()[:, None]
ENDS = torch.tensor([70, 70, 140]).int()
FACTOR = values(5, low=0.5).float()
LEVELS = (
    bytes_of(3, 288), bytes_of(5, 288), values(3, 2, low=0.5).float(), values(2, 5, low=0.5).float(),
    values(3, 9, 2, low=124, high=130).long().to(torch.uint8), values(5, 9, 2, low=123, high=130).long().to(torch.uint8),
)  # fmt: skip
SCALED = {
    "npu_grouped_dynamic_mx_quant": Case(grouped_mx, (ROWS, ENDS), {"dst_type": 23}, dtypes=(torch.float32, torch.float16)),
    "npu_grouped_dynamic_mx_quant-e4m3": Case(grouped_mx, (ROWS, ENDS), {"dst_type": 24}, **ONE),
    "npu_grouped_dynamic_mx_quant-float4": Case(grouped_mx, (ROWS, ENDS), {"dst_type": 296}, **ONE),
    "npu_dynamic_dual_level_mx_quant": Case(two_levels, (values(2, 3, 600) * torch.logspace(-2, 2, 600).double(),), **HALF),
    "npu_dynamic_dual_level_mx_quant-zeros": Case(two_levels, (torch.zeros(2, 64).double(),), **HALF),
    "npu_dual_level_quant_matmul": Case(two_level_product, LEVELS, {"bias": FACTOR}, **ONE),
    "npu_add_quant_matmul": Case(
        added, (values(3, 5).float(), int8(3, 40), int8(40, 5), FACTOR), {"x1_scale": values(3, 1, low=0.1).float()}, **ONE
    ),
    "npu_add_quant_matmul-tensors": Case(
        added, (values(3, 5).float(), int8(3, 40), int8(40, 5), torch.tensor([0.25])), {"x1_scale": torch.tensor([0.5])}, **ONE
    ),
    "npu_add_quant_gmm": Case(
        groups_added, (values(3, 4, 5).float(), int8(4, 30), int8(30, 5), values(3, 5, low=0.1).float(), torch.tensor([10, 10, 30])),
        {"x1_scale": values(3, low=0.1).float()}, **ONE,
    ),
    "npu_add_quant_gmm-counts": Case(
        groups_added, (values(2, 4, 5).float(), int8(4, 30), int8(30, 5), values(2, low=0.1).float(), torch.tensor([10, 20])),
        {"group_list_type": 1}, **ONE,
    ),
    "npu_quant_conv2d": Case(
        conv, (int8(2, 4, 7, 6), int8(6, 2, 3, 3), values(6, low=0.001, high=0.01).float()),
        {"strides": [2, 1], "pads": [1, 0], "groups": 2, "bias": torch.arange(6).int()}, **ONE,
    ),
}  # fmt: skip

FAMILIES = {"scaled": SCALED}
