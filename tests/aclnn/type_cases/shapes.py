"""Operators that move elements, and indexing."""

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import BX, IX, H, N, TypeCase, X, Y, normal, whole


def _shapes() -> list[TypeCase]:
    pairs = H(0, 0, 1, 0, 2, 1)
    return [
        TypeCase(
            "AsStrided", (X, H(3, 4), H(5, 1), H(1)), lambda x: x.as_strided((3, 4), (5, 1), 1)
        ),
        TypeCase("BroadcastTo", (Y, H(2, 3, 5)), lambda x: x.expand(2, 3, 5)),
        TypeCase("ConcatD", (X, X), lambda a, b: torch.cat((a, b), 1), {"concat_dim": 1}),
        TypeCase("Pack", (X, X), lambda a, b: torch.stack((a, b), -1), {"axis": -1}),
        TypeCase("Eye", (), lambda: torch.eye(3, 4), {"num_rows": 3, "num_columns": 4}),
        TypeCase("Fill", (H(2, 3), N(1.5)), lambda: torch.full((2, 3), 1.5)),
        TypeCase("LinSpace", (N(0), N(1), H(5)), lambda: torch.linspace(0, 1, 5)),
        TypeCase("Range", (N(0), N(5), N(2)), lambda: torch.arange(0, 5, 2, dtype=torch.float32)),
        TypeCase(
            "MirrorPad",
            (X, H(0, 0, 0, 0, 2, 1)),
            lambda x: F.pad(x, (2, 1), mode="reflect"),
        ),
        TypeCase("Pad", (X, pairs), lambda x: F.pad(x, (2, 1, 1, 0, 0, 0))),
        TypeCase("PadV3", (X, pairs, N(3)), lambda x: F.pad(x, (2, 1, 1, 0, 0, 0), value=3)),
        TypeCase(
            "OneHot",
            (IX, N(9, torch.int32), N(1), N(0)),
            lambda x: F.one_hot(x.long(), 9).float(),
        ),
        TypeCase("ReverseV2", (X, H(1)), lambda x: x.flip(1)),
        TypeCase("Roll", (X,), lambda x: x.roll(2, 1), {"shifts": [2], "dims": [1]}),
        TypeCase("Slice", (X, H(0, 1, 2), H(2, 2, -1)), lambda x: x[:, 1:3, 2:]),
        TypeCase("Sort", (X,), lambda x: x.sort(1), {"axis": 1}),
        TypeCase("StridedSlice", (X, H(0, 0), H(2, 3), H(1, 2)), lambda x: x[0:2, 0:3:2]),
        TypeCase("Tile", (Y, H(2, 1, 3)), lambda x: x.repeat(2, 1, 3)),
        TypeCase("TopKV2", (X, H(2)), lambda x: x.topk(2)),
        TypeCase("Transpose", (X, H(2, 0, 1)), lambda x: x.permute(2, 0, 1)),
        TypeCase(
            "ViewCopy",
            (normal(4, 5), H(2, 5), H(5, 1), H(5), normal(2, 5, seed=9), H(2, 5), H(5, 1), H(0)),
            lambda to, source: torch.cat((to[:1], source, to[3:])),
            computes=False,
        ),
    ]


def _indexing() -> list[TypeCase]:
    rows = whole(3, 4)
    return [
        TypeCase(
            "EmbeddingDenseGrad",
            (normal(4, 6), rows),
            lambda g, i: torch.zeros(5, 6).index_add(0, i, g),
            {"num_weights": 5},
        ),
        TypeCase("GatherElements", (X, whole(3, 2, 2, 5)), lambda x, i: x.gather(1, i), {"dim": 1}),
        TypeCase("GatherV2", (X, rows, H(1)), lambda x, i: x.index_select(1, i)),
        TypeCase("GatherV2D", (X, rows), lambda x, i: x.index_select(1, i), {"axis": 1}),
        TypeCase("Index", (X, H(0, 1), H(0), rows), lambda x, i: x[:, i]),
        TypeCase(
            "Index", (X, H(1, 0, 1), H(0), whole(2, 4), whole(5, 3, 4)), lambda x, i, j: x[i, :, j]
        ),
        TypeCase(
            "IndexPutV2", (X, normal(2, 4, 5), H(0, 1), H(0), rows), lambda x, *_: x, computes=False
        ),
        TypeCase(
            "InplaceIndexAdd",
            (X, rows, normal(2, 4, 5)),
            lambda x, i, u: x.index_add(1, i, u),
            {"axis": 1},
        ),
        TypeCase("MaskedSelect", (X, BX), lambda x, m: x.masked_select(m), computes=False),
        TypeCase("NonZero", (BX,), torch.nonzero, computes=False),
        TypeCase(
            "ScatterElements",
            (X, whole(3, 2, 1, 5), normal(2, 1, 5)),
            lambda x, i, u: x.scatter(1, i, u),
            {"axis": 1},
        ),
    ]


CASES: list[TypeCase] = [*_shapes(), *_indexing()]
