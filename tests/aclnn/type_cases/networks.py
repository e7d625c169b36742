"""Products, convolutions, pooling and interpolation."""

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import IMAGE, VOLUME, H, TypeCase, normal, within


def _products() -> list[TypeCase]:
    a, b, c = normal(4, 5), normal(5, 6), normal(6)
    p, q = normal(2, 1, 4, 5), normal(3, 5, 6)
    return [
        TypeCase("MatMul", (a, b), torch.mm),
        TypeCase("MatMulV2", (a, b, c), lambda x, y, z: x @ y + z),
        TypeCase(
            "MatMulV2", (a.t().contiguous(), b), lambda x, y: x.t() @ y, {"transpose_x1": True}
        ),
        TypeCase("BatchMatMul", (p, q), torch.matmul),
        TypeCase(
            "BatchMatMulV2",
            (p, q.mT.contiguous()),
            lambda x, y: x @ y.mT,
            {"adj_x2": True},
        ),
        TypeCase("Dot", (c, c), torch.dot),
    ]


CONV = {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1]}
CONV3 = {
    "strides": [1, 1, 1, 1, 1],
    "pads": [1, 1, 1, 1, 1, 1],
    "dilations": [1, 1, 1, 1, 1],
    "data_format": "NCDHW",
}


def _images() -> list[TypeCase]:
    w, w3 = normal(6, 4, 3, 3), normal(6, 4, 3, 3, 3)
    y = F.conv2d(IMAGE, w, stride=2, padding=1)
    y3 = F.conv3d(VOLUME, w3, padding=1)
    grad = torch.nn.grad
    pool = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}
    max_pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "pads": [1, 0, 0, 1]}
    grid = within(2, 3, 4, 2) * 2 - 1
    centers = {"half_pixel_centers": True}

    def pooled_back(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return torch.func.vjp(lambda v: F.avg_pool2d(v, 2), x)[1](g)[0]

    return [
        TypeCase(
            "Conv2D", (IMAGE, w, normal(6)), lambda *a: F.conv2d(*a, stride=2, padding=1), CONV
        ),
        TypeCase("Conv3D", (VOLUME, w3), lambda *a: F.conv3d(*a, padding=1), CONV3),
        TypeCase(
            "Conv2DBackpropInput",
            (H(2, 4, 8, 9), w, y),
            lambda f, g: grad.conv2d_input((2, 4, 8, 9), f, g, 2, 1),
            CONV,
        ),
        TypeCase(
            "Conv2DBackpropFilter",
            (IMAGE, H(6, 4, 3, 3), y),
            lambda x, g: grad.conv2d_weight(x, (6, 4, 3, 3), g, 2, 1),
            CONV,
        ),
        TypeCase(
            "Conv2DTranspose",
            (H(2, 4, 7, 9), y, w),
            lambda x, f: F.conv_transpose2d(x, f, stride=2, padding=1),
            CONV,
        ),
        TypeCase(
            "Conv3DBackpropInput",
            (H(2, 4, 5, 6, 7), w3, y3),
            lambda f, g: grad.conv3d_input((2, 4, 5, 6, 7), f, g, 1, 1),
            CONV3,
        ),
        TypeCase(
            "Conv3DBackpropFilter",
            (VOLUME, H(6, 4, 3, 3, 3), y3),
            lambda x, g: grad.conv3d_weight(x, (6, 4, 3, 3, 3), g, 1, 1),
            CONV3,
        ),
        TypeCase(
            "Conv3DTranspose",
            (H(2, 4, 5, 6, 7), y3, w3),
            lambda x, f: F.conv_transpose3d(x, f, padding=1),
            CONV3,
        ),
        TypeCase("AvgPoolV2", (IMAGE,), lambda x: F.avg_pool2d(x, 2), pool),
        TypeCase(
            "AvgPoolV2Grad",
            (H(2, 4, 8, 9), normal(2, 4, 4, 4)),
            lambda g: pooled_back(IMAGE, g),
            pool,
        ),
        TypeCase(
            "AdaptiveAvgPool2d",
            (IMAGE,),
            lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
            {"output_size": [3, 2]},
        ),
        TypeCase(
            "AdaptiveAvgPool2dGrad",
            (normal(2, 4, 3, 2),),
            lambda g: torch.func.vjp(lambda v: F.adaptive_avg_pool2d(v, (3, 2)), IMAGE)[1](g)[0],
            {"orig_input_shape": [2, 4, 8, 9]},
        ),
        TypeCase(
            "MaxPoolWithArgmaxV1",
            (IMAGE,),
            lambda x: (F.max_pool2d(x, 2), torch.zeros(2, 4, 4, 2, dtype=torch.uint16)),
            max_pool | {"pads": [1, 0, 0, 1]},
            computes=False,
        ),
        TypeCase(
            "softnpuMaxPool",
            (IMAGE,),
            lambda x: F.max_pool2d(x, 3, 2, 1),
            {"ksize": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1]},
        ),
        TypeCase(
            "softnpuAttention",
            (*(normal(2, 3, n, 8, seed=n) for n in (5, 7)), normal(2, 3, 7, 8), normal(2, 3, 5, 7)),
            lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias, scale=0.5),
            {"scale": 0.5},
        ),
        TypeCase(
            "softnpuRmsNorm",
            (normal(3, 5, 16), normal(16)),
            lambda x, g: F.rms_norm(x, (16,), g, 1e-3),
            {"epsilon": 1e-3},
        ),
        TypeCase(
            "softnpuRotary",
            (normal(2, 3, 5, 8), normal(5, 8), normal(2, 1, 5, 8)),
            lambda x, c, s: x * c + torch.cat((-x[..., 4:], x[..., :4]), -1) * s,
        ),
        TypeCase(
            "softnpuSwiGlu",
            (normal(3, 8, 5),),
            lambda x: F.silu(x[:, :4]) * x[:, 4:],
            {"dim": 1},
        ),
        TypeCase(
            "MaxPoolGradWithArgmaxV1",
            (IMAGE, normal(2, 4, 4, 4), torch.zeros(2, 4, 4, 2, dtype=torch.uint16)),
            lambda x, *_: x,
            max_pool,
            computes=False,
        ),
        TypeCase(
            "GridSampler2D",
            (IMAGE, grid),
            lambda x, g: F.grid_sample(x, g, align_corners=False),
        ),
        TypeCase(
            "GridSampler2DGrad",
            (normal(2, 4, 3, 4), IMAGE, grid),
            lambda g, x, p: torch.func.vjp(
                lambda a, b: F.grid_sample(a, b, align_corners=False), x, p
            )[1](g),
        ),
        TypeCase(
            "ResizeBilinearV2",
            (IMAGE, H(4, 5)),
            lambda x: F.interpolate(x, (4, 5), mode="bilinear"),
            centers,
        ),
        TypeCase(
            "ResizeBilinearV2Grad",
            (normal(2, 4, 4, 5), IMAGE),
            lambda g, x: torch.func.vjp(lambda v: F.interpolate(v, (4, 5), mode="bilinear"), x)[1](
                g
            )[0],
            centers,
        ),
        TypeCase("ResizeNearestNeighborV2", (IMAGE, H(4, 5)), lambda x: F.interpolate(x, (4, 5))),
        TypeCase(
            "ResizeNearestNeighborV2Grad",
            (normal(2, 4, 4, 5), H(8, 9)),
            lambda g: torch.func.vjp(lambda v: F.interpolate(v, (4, 5)), IMAGE)[1](g)[0],
        ),
    ]


CASES: list[TypeCase] = [*_products(), *_images()]
