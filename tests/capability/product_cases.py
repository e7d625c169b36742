"""Calls of composed convolutions, products, norms, losses and gates, each with a definition in plain PyTorch."""

import torch
import torch.nn.functional as F

from tests.capability.composed_cases import Case, values, vjp

# ---- convolutions and products ----

FILTER = values(4, 3, 2, 3)
NUMBERS = ([2, 1], [1, 0], [1, 2], 1)
CUBE = ([1, 2, 1], [0, 1, 0], [1, 1, 1], 1)
PICTURE, VOLUME, VOLUME_FILTER = values(2, 3, 6, 7), values(1, 2, 3, 5, 4), values(3, 2, 2, 2, 1)
UP = values(3, 4, 2, 3)
UP_NUMBERS = ([1, 0], [1, 0], [2, 1], [1, 2], 1)


def up2d(x, w, b, padding, output_padding, stride, dilation, groups):
    return F.conv_transpose2d(x, w, b, stride, padding, output_padding, groups, dilation)


def up3d(x, w, b, padding, output_padding, stride, dilation, groups):
    return F.conv_transpose3d(x, w, b, stride, padding, output_padding, groups, dilation)


def conv_gradients(function, is_transposed=False):
    def gradients(x, grad, w, *numbers):
        channels = w.shape[1] if is_transposed else w.shape[0]
        bias = torch.zeros(channels, dtype=x.dtype)
        return vjp(function, 3)(grad, x, w, bias, *numbers[:-1])

    return gradients


ALL = [True] * 3
OUT2 = F.conv2d(PICTURE, FILTER, None, *NUMBERS)
OUT3 = F.conv3d(VOLUME, VOLUME_FILTER, None, *CUBE)
OUT_UP = up2d(PICTURE, UP, None, *UP_NUMBERS)
UP3 = (values(2, 3, 2, 2, 1), None, [0, 1, 0], [0, 0, 0], [1, 2, 1], [1, 1, 1], 1)


def dilated(grad, x, w, kernel, stride, padding, dilation, mask):
    return conv_gradients(F.conv2d)(x, grad, w, stride, padding, dilation, 1, mask)


def dilated_up(grad, x, w, kernel, stride, padding, output_padding, dilation, mask):
    return conv_gradients(up2d, True)(
        x, grad, w, padding, output_padding, stride, dilation, 1, mask
    )


def depthwise(grad, x, w, kernel, stride, padding, dilation, mask):
    return conv_gradients(F.conv2d)(x, grad, w, stride, padding, dilation, x.shape[1], mask)[:2]


def batched(x, w, perm_x1=(0, 1, 2), perm_x2=(0, 1, 2), perm_y=(1, 0, 2), batch_split_factor=1):
    product = (x.permute(perm_x1) @ w.permute(perm_x2)).permute(perm_y)
    if batch_split_factor == 1:
        return product
    return product.reshape(product.shape[0], batch_split_factor, -1).transpose(0, 1)


def fused(x1, x2, bias=None, x3=None, fused_op_type=""):
    y = x1 @ x2 + (0 if bias is None else bias)
    then = {
        "": lambda: y, "add": lambda: y + x3, "mul": lambda: y * x3, "relu": lambda: y.relu(),
        "gelu_erf": lambda: F.gelu(y), "gelu_tanh": lambda: F.gelu(y, approximate="tanh"),
    }  # fmt: skip
    return then[fused_op_type]()


def bmm(a, b, sizes=()):
    product = (a if a.dim() > 1 else a[None]) @ (b if b.dim() > 1 else b[:, None])
    return product.sum_to_size(sizes) if sizes else product


PRODUCTS = {
    "npu_conv2d": Case(F.conv2d, (PICTURE, FILTER, values(4), *NUMBERS)),
    "npu_conv2d_backward": Case(
        conv_gradients(F.conv2d), (PICTURE, torch.ones_like(OUT2), FILTER, *NUMBERS, ALL)
    ),
    "npu_conv3d": Case(F.conv3d, (VOLUME, VOLUME_FILTER, None, *CUBE)),
    "npu_conv3d_backward": Case(
        conv_gradients(F.conv3d), (VOLUME, torch.ones_like(OUT3), VOLUME_FILTER, *CUBE, ALL)
    ),
    "npu_convolution": Case(F.conv2d, (PICTURE, FILTER, values(4), *NUMBERS), gradients=3),
    "npu_convolution-3d": Case(F.conv3d, (VOLUME, VOLUME_FILTER, None, *CUBE), gradients=2),
    "npu_convolution_backward": Case(
        conv_gradients(F.conv2d), (PICTURE, torch.ones_like(OUT2), FILTER, *NUMBERS, ALL)
    ),
    "npu_conv_transpose2d": Case(up2d, (PICTURE, UP, values(4), *UP_NUMBERS)),
    "npu_conv_transpose2d_backward": Case(
        conv_gradients(up2d, True), (PICTURE, torch.ones_like(OUT_UP), UP, *UP_NUMBERS, ALL)
    ),
    "npu_conv_transpose3d_backward": Case(
        conv_gradients(up3d, True),
        (VOLUME, torch.ones_like(up3d(VOLUME, *UP3)), UP3[0], *UP3[2:], ALL),
    ),
    "npu_convolution_transpose": Case(up2d, (PICTURE, UP, values(4), *UP_NUMBERS), gradients=3),
    "npu_convolution_transpose_backward": Case(
        conv_gradients(up2d, True), (PICTURE, torch.ones_like(OUT_UP), UP, *UP_NUMBERS, ALL)
    ),
    "slow_conv_dilated2d_backward": Case(
        dilated, (torch.ones_like(OUT2), PICTURE, FILTER, [2, 3], *NUMBERS[:3], ALL)
    ),
    "slow_conv_transpose2d_backward": Case(
        dilated_up,
        (torch.ones_like(OUT_UP), PICTURE, UP, [2, 3], [2, 1], [1, 0], [1, 0], [1, 2], ALL),
    ),
    "_conv_depthwise2d_backward": Case(
        depthwise,
        (
            values(2, 3, 5, 6),
            PICTURE,
            values(3, 1, 2, 2),
            [2, 2],
            [1, 1],
            [0, 0],
            [1, 1],
            [True] * 2,
        ),
    ),
    "npu_linear": Case(F.linear, (values(3, 5), values(4, 5)), gradients=2),
    "npu_linear-bias": Case(F.linear, (values(3, 5), values(4, 5), values(4))),
    "npu_linear_backward": Case(
        lambda g, x, w: (g @ w, g.T @ x), (values(3, 4), values(3, 5), values(4, 5))
    ),
    "npu_bmmV2": Case(bmm, (values(2, 3, 4), values(4, 5), []), gradients=2),
    "npu_bmmV2-summed": Case(bmm, (values(2, 3, 4), values(2, 4, 5), [1, 3, 5]), gradients=0),
    "npu_bmm_v2_mat1_backward": Case(
        lambda g, a, b, size: (g @ b.mT).sum_to_size(size),
        (values(2, 3, 5), values(3, 4), values(2, 4, 5), [3, 4]),
    ),
    "npu_bmm_v2_mat2_backward": Case(
        lambda g, a, b, size: (a.mT @ g).sum_to_size(size),
        (values(2, 3, 5), values(2, 3, 4), values(4, 5), [4, 5]),
    ),
    "npu_transpose_batchmatmul": Case(
        batched, (values(5, 4, 3), values(4, 3, 2)), {"perm_x1": [1, 0, 2]}
    ),
    "npu_transpose_batchmatmul-parts": Case(
        batched, (values(4, 5, 3), values(4, 3, 2)), {"batch_split_factor": 2}
    ),
    **{
        f"npu_fused_matmul-{kind}": Case(
            fused,
            (values(4, 6), values(6, 5)),
            {"fused_op_type": kind, **({"x3": values(4, 5)} if kind in ("add", "mul") else {})},
        )
        for kind in ("", "add", "mul", "relu", "gelu_erf", "gelu_tanh")
    },
}

# ---- norms, losses, gates, signs ----


def group_norm(x, weight, bias, groups, eps=1e-5):
    rows = x.reshape(x.shape[0], groups, -1)
    rstd = (rows.var(2, correction=0) + eps).rsqrt()
    return F.group_norm(x, groups, weight, bias, eps), rows.mean(2), rstd


def group_norm_silu(x, weight, bias, groups, eps=1e-5):
    y, mean, rstd = group_norm(x, weight, bias, groups, eps)
    return F.silu(y), mean, rstd


def group_norm_swish(x, groups, weight, bias, eps=1e-5, swish_scale=1.0):
    y, mean, rstd = group_norm(x, weight, bias, groups, eps)
    return y * torch.sigmoid(swish_scale * y), mean, rstd


def swish_gradients(grad, x, groups, weight, bias, mean, rstd, mask, swish_scale=1.0):
    def function(x, weight, bias):
        return group_norm_swish(x, groups, weight, bias, swish_scale=swish_scale)[0]

    return vjp(function, 3)(grad, x, weight, bias)


def normalized(x, seq_len, kind=0):
    y = torch.empty_like(x)
    for n, steps in enumerate(seq_len.tolist()):
        part = x[n, :, :steps]
        over = {"dim": 1, "keepdim": True} if kind == 0 else {}
        y[n] = (x[n] - part.mean(**over)) / (part.std(**over) + 1e-5)
    return y


def softmax_loss(x, labels):
    return -(labels * x.log_softmax(-1)).sum(-1)


def gelu_mul(x, approximate="none"):
    a, b = x.chunk(2, -1)
    return F.gelu(a, approximate=approximate) * b


def packed(x, size):
    bits = F.pad((x >= 0).int(), (0, -x.numel() % 8)).reshape(-1, 8)
    return (bits << torch.arange(8)).sum(1).to(torch.uint8).reshape(size, -1)


def unpacked(x, size, dtype):
    bits = (x[:, None].int() >> torch.arange(8)) & 1
    return (bits * 2 - 1).reshape(size, -1).to(dtype)


LABELS = values(4, 5).softmax(-1)
_, MEAN, RSTD = group_norm(values(2, 6, 3, 4), values(6), values(6), 3)
LAYER = (values(2, 3, 8), values(2, 3, 8), [8], values(2, 3, 8).mean(-1, keepdim=True))
OTHERS = {
    "npu_group_norm_silu": Case(group_norm_silu, (values(2, 6, 3, 4), values(6), values(6), 3)),
    "npu_group_norm_swish": Case(
        group_norm_swish, (values(2, 6, 3, 4), 3, values(6), values(6)), {"swish_scale": 1.5}
    ),
    "npu_group_norm_swish_grad": Case(
        swish_gradients, (values(2, 6, 3, 4), values(2, 6, 3, 4), 3, values(6), values(6), MEAN, RSTD, ALL, 0.5)
    ),
    "npu_layernorm_grad": Case(
        lambda g, x, size, mean, rstd, w, b: vjp(lambda x, w, b: F.layer_norm(x, size, w, b), 3)(g, x, w, b),
        (*LAYER, (values(2, 3, 8).var(-1, correction=0, keepdim=True) + 1e-5).rsqrt(), values(8), values(8)),
    ),
    "npu_normalize_batch": Case(normalized, (values(3, 2, 8), torch.tensor([8, 3, 5], dtype=torch.int32))),
    "npu_normalize_batch-all": Case(normalized, (values(2, 3, 6), torch.tensor([6, 4]), 1)),
    "npu_renorm_backward": Case(
        lambda g, x, p, d, most: vjp(torch.renorm, 1)(g, x, p, d, most)[0], (values(3, 4), values(3, 4) * 2, 2, 0, 1.5)
    ),
    "npu_softmax_cross_entropy_with_logits": Case(softmax_loss, (values(4, 5), LABELS), gradients=1),
    "npu_softmax_cross_entropy_with_logits_backward": Case(
        lambda g, x, labels: vjp(softmax_loss, 1)(g, x, labels)[0], (values(4), values(4, 5), LABELS * 2)
    ),
    "npu_masked_softmax_with_rel_pos_bias": Case(
        lambda x, mask, bias, scale=1.0: (x * scale + bias + mask).softmax(-1),
        (values(1, 2, 3, 4, 4), values(1, 2, 1, 4, 4), values(1, 1, 3, 4, 4), 0.5),
    ),
    "npu_gelu_mul": Case(gelu_mul, (values(3, 8),)),
    "npu_gelu_mul-tanh": Case(gelu_mul, (values(3, 8),), {"approximate": "tanh"}),
    "npu_sign_bits_pack": Case(packed, (values(33), 5), dtypes=(torch.float32, torch.float16)),
    "npu_sign_bits_unpack": Case(unpacked, (torch.arange(6, dtype=torch.uint8) * 37, 2, torch.float32)),
    "_dropout_with_byte_mask_backward": Case(
        lambda g, mask, p: g * mask / (1 - p), (values(3, 4), (values(3, 4) > 0).to(torch.uint8), 0.25)
    ),
    "npu_dropout_with_add_softmax_backward": Case(
        lambda g, mask, y, alpha, p, dim: tuple(
            factor * y * (h - (h * y).sum(-1, keepdim=True))
            for h in [g * mask / (1 - p)]
            for factor in (alpha, 1)
        ),
        (values(2, 3, 4), (values(2, 3, 4) > 0).to(torch.uint8), values(2, 3, 4).softmax(-1), 0.5, 0.25, -1),
    ),
}  # fmt: skip

FAMILIES = {"products": PRODUCTS, "others": OTHERS}
