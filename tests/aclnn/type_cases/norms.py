"""Normalizations and softmax."""

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import IMAGE, VOLUME, TypeCase, X, normal, within


def _norms() -> list[TypeCase]:
    w, b = normal(5, seed=2), normal(5, seed=3)
    c, mean, var = normal(4, seed=2), normal(4, seed=4), within(4)
    rows = X.mean(-1, keepdim=True), X.var(-1, unbiased=False, keepdim=True)
    g = normal(2, 3, 5, seed=6)

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (5,), w, b)

    def statistics(image: torch.Tensor) -> tuple[TypeCase, ...]:
        dims = tuple(i for i in range(image.dim()) if i != 1)
        three = "3D" if image.dim() == 5 else ""
        like = image.new_empty(image.shape[1])
        four = (like,) * 4
        return (
            TypeCase(
                f"BN{three}TrainingReduce",
                (image,),
                lambda x: (x.sum(dims), x.square().sum(dims)),
            ),
            TypeCase(
                f"BN{three}TrainingReduceGrad",
                (image, image, c, c, c, mean, var),
                lambda x, *_: x,
                computes=False,
            ),
            TypeCase(
                f"BN{three}TrainingUpdate",
                (image, c, c, c, c, mean, var),
                lambda x, *_: (x, *four),
                computes=False,
            ),
            TypeCase(
                f"BN{three}TrainingUpdateGrad",
                (image, image, mean, var),
                lambda *_: four[:2],
                computes=False,
            ),
        )

    return [
        *statistics(IMAGE),
        *statistics(VOLUME),
        TypeCase(
            "BNInfer",
            (IMAGE, c, c, mean, var),
            lambda x, s, o, m, v: F.batch_norm(x, m, v, s, o),
        ),
        TypeCase(
            "BNInferGrad",
            (IMAGE, c, var),
            lambda g, s, v: g * (s / (v + 1e-5).sqrt())[:, None, None],
        ),
        TypeCase(
            "LayerNorm",
            (X, w, b),
            lambda x, w, b: (
                layer(x, w, b),
                x.mean(-1, keepdim=True),
                x.var(-1, unbiased=False, keepdim=True),
            ),
        ),
        TypeCase(
            "LayerNormV3", (X, w, b), lambda *a: torch.native_layer_norm(a[0], (5,), *a[1:], 1e-5)
        ),
        TypeCase(
            "LayerNormGrad",
            (g, X, rows[1], rows[0], w),
            lambda g, x, v, m, w: torch.func.vjp(layer, x, w, b)[1](g),
        ),
        TypeCase("SoftmaxV2", (X,), lambda x: x.softmax(1), {"axes": [1]}),
        TypeCase("LogSoftmaxV2", (X,), lambda x: x.log_softmax(1), {"axes": [1]}),
        TypeCase(
            "SoftmaxGrad",
            (X.softmax(1), g),
            lambda y, g: y * (g - (y * g).sum(1, keepdim=True)),
            {"axes": [1]},
        ),
        TypeCase(
            "LogSoftmaxGrad",
            (g, X.log_softmax(1)),
            lambda g, y: g - y.exp() * g.sum(1, keepdim=True),
            {"axis": [1]},
        ),
    ]


CASES: list[TypeCase] = [*_norms()]
