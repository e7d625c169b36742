"""Types that onnxruntime's CANN provider and OpenCV's cannops call."""

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import IMAGE, H, TypeCase, normal


def _shapes() -> list[TypeCase]:
    x = normal(2, 3, 4)
    return [
        TypeCase(
            "BroadcastToD", (normal(3, 1),), lambda x: x.expand(2, 3, 4), {"shape": [2, 3, 4]}
        ),
        TypeCase(
            "Crop",
            (normal(2, 3, 5, 6), normal(2, 3, 2, 4)),
            lambda x, size: x[:, :, 1:3, 2:6].contiguous(),
            {"axis": 2, "offsets": [1, 2]},
        ),
        TypeCase("FillD", (torch.tensor([3.0]),), lambda v: v.expand(2, 3), {"dims": [2, 3]}),
        TypeCase("TensorMove", (x,), lambda x: x, computes=False),
        TypeCase("Assign", (x, normal(2, 3, 4, seed=5)), lambda x, value: value, computes=False),
        TypeCase("Flatten", (x,), lambda x: x.flatten(1), {"axis": 1}),
        TypeCase("Reshape", (x, H(4, 6)), lambda x: x.reshape(4, 6)),
        TypeCase(
            "SliceD",
            (x,),
            lambda x: x[:, 1:3, 2:4].contiguous(),
            {"offsets": [0, 1, 2], "size": [2, 2, 2]},
        ),
        TypeCase("TileD", (x,), lambda x: x.tile(1, 2, 3), {"multiples": [1, 2, 3]}),
        TypeCase("TransposeD", (x,), lambda x: x.permute(2, 0, 1), {"perm": [2, 0, 1]}),
    ]


def _values() -> list[TypeCase]:
    x, y = normal(2, 3, 4), normal(3, 4, seed=1)
    axes = {"axes": [1], "keep_dims": True}
    return [
        TypeCase("AddN", (x, x * 2, x * 3), lambda *a: a[0] + a[1] + a[2], {"N": 3}),
        TypeCase("AddV2", (x, y), torch.add),
        TypeCase("Adds", (x,), lambda x: x + 1.5, {"value": 1.5}),
        TypeCase("Div", (x, y), torch.div),
        TypeCase("Muls", (x,), lambda x: x * 1.5, {"value": 1.5}),
        TypeCase("ReduceMaxD", (x,), lambda x: x.amax(1, True), axes),
        TypeCase("ReduceMinD", (x,), lambda x: x.amin(1, True), axes),
        TypeCase("ReduceSumD", (x,), lambda x: x.sum(1, True), axes),
    ]


def _networks() -> list[TypeCase]:
    a, b, c = normal(4, 5), normal(5, 6), normal(4, 6)
    factors = torch.tensor([2.0]), torch.tensor([0.5])
    rows = [normal(IMAGE.shape[1], seed=i) for i in range(3)]
    pool = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}

    def normalized(x: torch.Tensor, *p: torch.Tensor) -> list[torch.Tensor]:
        y = F.batch_norm(x, p[2], p[3].abs(), p[0], p[1], eps=1e-4)
        return [y, p[2], p[3], p[2], p[3]]

    return [
        TypeCase(
            "BatchNorm",
            (IMAGE, *rows, rows[0].abs()),
            normalized,
            {"data_format": "NCHW", "is_training": False},
            computes=False,  # what inference leaves in the statistics is not specified
        ),
        TypeCase(
            "GEMM",
            (a, b, c, *factors),
            lambda a, b, c, p, q: p * (a @ b) + q * c,
            computes=False,  # the factors are in host memory: tests/graph/test_operator_types.py
        ),
        TypeCase("MaxPoolV3", (IMAGE,), lambda x: F.max_pool2d(x, 2), pool),
    ]


CASES: list[TypeCase] = [*_shapes(), *_values(), *_networks()]
