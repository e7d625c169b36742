"""Reductions and scans."""

import torch

from tests.aclnn.type_cases.case import BX, H, N, TypeCase, X


def _reductions() -> list[TypeCase]:
    cases = []
    named = {
        "ReduceSum": torch.sum,
        "ReduceMean": torch.mean,
        "ReduceMax": torch.amax,
        "ReduceMin": torch.amin,
        "ReduceLogSumExp": torch.logsumexp,
        "ReduceProd": torch.prod,
    }
    for name, f in named.items():
        for dim, keep in ((1, False), (-1, True)):
            cases.append(
                TypeCase(
                    name,
                    (X, H(dim)),
                    lambda x, f=f, dim=dim, keep=keep: f(x, dim=dim, keepdim=keep),
                    {"keep_dims": keep},
                )
            )
    cases += [
        TypeCase("ReduceSum", (X, H(0, 2)), lambda x: x.sum((0, 2))),
        TypeCase("ReduceSum", (X, H()), torch.sum),
        TypeCase("ReduceAll", (BX, H(1)), lambda x: x.all(1)),
        TypeCase("ReduceAny", (BX, H(1)), lambda x: x.any(1, keepdim=True), {"keep_dims": True}),
        TypeCase("ReduceMeanD", (X,), lambda x: x.mean((0, 1)), {"axes": [0, 1]}),
        TypeCase("LpNormReduceV2", (X,), lambda x: x.norm(2, 1), {"p": 2.0, "axes": [1]}),
        TypeCase("ArgMaxV2", (X, N(1, torch.int64)), lambda x: x.argmax(1)),
        TypeCase("ArgMin", (X, N(2, torch.int64)), lambda x: x.argmin(2)),
        TypeCase("ArgMaxWithValue", (X,), lambda x: x.max(1)[::-1], {"dimension": 1}),
        TypeCase("ArgMinWithValue", (X,), lambda x: x.min(2)[::-1], {"dimension": 2}),
        TypeCase("Cummax", (X,), lambda x: torch.cummax(x, 1), {"dim": 1}),
        TypeCase("Cummin", (X,), lambda x: torch.cummin(x, 1), {"axis": 1}),
        TypeCase("Cumsum", (X, N(1, torch.int64)), lambda x: x.cumsum(1)),
        TypeCase("Cumprod", (X, N(1, torch.int64)), lambda x: x.cumprod(1)),
        TypeCase("ReduceStdWithMean", (X, X), lambda x, m: x.std(1), {"dim": [1]}),
        TypeCase("ReduceStdV2Update", (X, X), lambda x, m: x.var(1), {"dim": [1]}),
    ]
    return cases


CASES: list[TypeCase] = [*_reductions()]
