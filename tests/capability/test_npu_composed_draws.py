"""Random calls of composed operators of npu: sizes, numbers and layouts drawn anew in each run, by the commit."""

import random

import pytest
import torch
from dev.files import commit_count

from tests.capability import composed_cases as plain
from tests.capability import more_cases, product_cases, recurrent_cases, region_cases, sparse_cases
from tests.capability import served_cases as served
from tests.capability.test_npu_composed import cast, check, listed, operator

DRAWS = 12


def tensor(rng, *size, low=-2.0, high=2.0):
    generator = torch.Generator().manual_seed(rng.randrange(1 << 30))
    return low + (high - low) * torch.rand(size, generator=generator, dtype=torch.float64)


def sizes(rng, least, most):
    return [rng.randint(1, 9) for _ in range(rng.randint(least, most))]


def ints(rng, count, below):
    return torch.tensor([rng.randrange(below) for _ in range(count)])


def transpose(rng):
    x = tensor(rng, *sizes(rng, 1, 4))
    perm = rng.sample(range(x.dim()), x.dim())
    first = rng.random() < 0.5
    shape = [-1] if first else list(x.shape)
    return plain.transposed, (x, perm, shape, first), {}


def pad(rng):
    x = tensor(rng, *sizes(rng, 1, 4))
    return plain.padded, (x, [rng.randint(0, 3) for _ in range(2 * rng.randint(0, x.dim()))]), {}


def indexing(rng):
    x = tensor(rng, *sizes(rng, 1, 4))
    begin = [rng.randint(0, n - 1) for n in x.shape]
    end = [rng.randint(b, n) for b, n in zip(begin, x.shape, strict=True)]
    masks = [rng.randrange(1 << x.dim()) for _ in range(2)]
    return (
        plain.indexed,
        (
            x,
            begin,
            end,
            [rng.randint(1, 3) for _ in begin],
            *masks,
            0,
            0,
            rng.randrange(1 << x.dim()),
        ),
        {},
    )


def index_add(rng):
    rows, columns, index = rng.randint(1, 9), sizes(rng, 0, 2), sizes(rng, 1, 2)
    count = torch.Size(index).numel()
    numbers = ints(rng, count, rows).reshape(index)
    return (
        plain.added,
        (tensor(rng, rows, *columns), numbers, tensor(rng, *index, *columns)),
        {"alpha": 3},
    )


def stride_add(rng):
    a, b, rest = rng.randint(1, 40), rng.randint(1, 40), sizes(rng, 0, 3)
    args = (
        tensor(rng, 2, a, *rest),
        tensor(rng, 2, b, *rest),
        rng.randint(0, a),
        rng.randint(0, b),
        rng.randint(1, 3),
    )
    return plain.stride_added, args, {}


def iou(rng):
    n, m = rng.randint(1, 30), rng.randint(1, 30)
    corner = [tensor(rng, k, 2, low=0, high=6) for k in (n, m)]
    boxes = [torch.cat((c, c + tensor(rng, *c.shape, low=0.5, high=4)), 1) for c in corner]
    return plain.crossed, tuple(boxes), {"mode": rng.randint(0, 1)}


def diou(rng):
    n = rng.randint(1, 30)
    pair = [tensor(rng, 4, n, low=0.5, high=4) for _ in range(2)]
    return plain.measure("diou"), tuple(pair), {"trans": True, "mode": rng.randint(0, 1)}


def group_norm(rng):
    groups, per = rng.randint(1, 4), rng.randint(1, 4)
    channels, rest = groups * per, [rng.randint(2, 6) for _ in range(rng.randint(1, 3))]
    args = (
        tensor(rng, rng.randint(1, 3), channels, *rest),
        tensor(rng, channels),
        tensor(rng, channels),
        groups,
    )
    return product_cases.group_norm_silu, args, {}


def batched(rng):
    b, m, k, n = (rng.randint(1, 9) for _ in range(4))
    parts = rng.choice([f for f in range(1, b + 1) if b % f == 0])
    return (
        product_cases.batched,
        (tensor(rng, m, b, k), tensor(rng, b, k, n)),
        {"perm_x1": [1, 0, 2], "batch_split_factor": parts},
    )


def add_rms_norm_quant(rng):
    n = rng.randint(1, 40)
    rows = sizes(rng, 1, 3)
    args = (
        tensor(rng, *rows, n),
        tensor(rng, *rows, n),
        tensor(rng, n),
        tensor(rng, n, low=0.02, high=0.05),
        None,
    )
    return served.add_rms_norm_quant, args, {"beta": tensor(rng, n)}


def swiglu_quant(rng):
    rows, half, groups = rng.randint(4, 20), rng.randint(1, 20), rng.randint(1, 4)
    ends = sorted(rng.randint(0, rows) for _ in range(groups))
    kwargs = {
        "smooth_scales": tensor(rng, groups, half, low=1, high=3),
        "group_index": torch.tensor(ends),
    }
    return (
        served.swiglu_quant,
        (tensor(rng, rows, 2 * half),),
        kwargs | {"quant_mode": 1, "activate_left": rng.random() < 0.5},
    )


def block_quant(rng):
    kwargs = {"row_block_size": rng.randint(1, 4), "col_block_size": rng.randint(1, 40)}
    return served.block_quant, (tensor(rng, *sizes(rng, 1, 2), rng.randint(1, 90)),), kwargs


def top_k_top_p(rng):
    rows, words = rng.randint(1, 6), rng.randint(2, 200)
    k = torch.tensor([rng.randint(1, words) for _ in range(rows)])
    return served.top_k_top_p, (tensor(rng, rows, words, low=-6, high=6), None, k), {}


def mrope(rng):
    tokens, half, heads = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 4)
    head = 2 * half + rng.randint(0, 4)
    args = (
        ints(rng, tokens, 9),
        tensor(rng, tokens, heads * head),
        tensor(rng, tokens, head),
        tensor(rng, 9, 2 * half),
        head,
    )
    return served.mrope, args, {"rotary_mode": rng.choice(["half", "interleave"])}


def mx(rng):
    x = tensor(rng, *sizes(rng, 0, 2), rng.randint(1, 100) * 2)
    return (
        more_cases.mx,
        (x,),
        {"axis": rng.randrange(x.dim()), "dst_type": rng.choice([23, 24, 296])},
    )


def lstm_data(rng):
    steps, batch, inputs, hidden = (rng.randint(1, 5) for _ in range(4))
    counts = torch.tensor(sorted((rng.randint(0, batch) for _ in range(steps)), reverse=True))
    args = (
        tensor(rng, steps, batch, inputs),
        counts,
        tensor(rng, inputs + hidden, 4 * hidden, low=-0.5, high=0.5),
        tensor(rng, 4 * hidden),
        torch.zeros(1),
        tensor(rng, 1, batch, hidden),
        tensor(rng, 1, batch, hidden),
        *recurrent_cases.PLAIN,
        True,
        rng.random() < 0.5,
    )
    return recurrent_cases.lstm_data, args, {}


def rotated_overlaps(rng):
    batch, corners = rng.randint(1, 3), rng.random() < 0.5
    sets = []
    for _ in range(2):
        n = rng.randint(1, 9)
        parts = ((2, 0, 6), (2, 0.5, 5), (1, -180, 180))
        boxes = torch.cat([tensor(rng, batch, n, k, low=a, high=b) for k, a, b in parts], -1)
        sets.append(region_cases.by_corners(boxes) if corners else boxes)
    return region_cases.rotated_overlaps, (*sets, corners), {}


def ps_roi_pooling(rng):
    images, group, channels, rois = (rng.randint(1, 3) for _ in range(4))
    x = tensor(rng, images, channels * group * group, rng.randint(1, 9), rng.randint(1, 9))
    corner = tensor(rng, 2, 2, rois, low=0, high=9).round()
    sides = tensor(rng, 2, 2, rois, low=0, high=6).round()
    image = ints(rng, 2 * rois, images + 1).double().reshape(2, 1, rois)
    # Scales that are powers of two, so that no rounding decides which pixels a bin has.
    scale = rng.choice([0.25, 0.5, 1.0])
    if group == 3:
        group, x = 2, x[:, : channels * 4]
    rois = torch.cat((image, corner, corner + sides), 1)
    return region_cases.ps_roi_pooling, (x, rois, scale, group, channels), {}


def sparse_flash(rng):
    batch, queries, heads, size = (rng.randint(1, 4) for _ in range(4))
    keys, width = rng.randint(queries, 9), rng.randint(1, 9)
    blocks = -(-keys // size)
    index = torch.stack(
        [torch.tensor(rng.sample(range(blocks), blocks)) for _ in range(batch * queries)]
    )
    index = index.int().reshape(batch, queries, 1, blocks)
    args = (
        tensor(rng, batch, queries, heads, width),
        tensor(rng, batch, keys, 1, width),
        tensor(rng, batch, keys, 1, width),
        index,
        0.5,
    )
    kwargs = {"sparse_block_size": size, "sparse_mode": rng.choice([0, 3])}
    return sparse_cases.flash, args, kwargs | {"return_softmax_lse": True}


def chunk_rule(rng):
    lengths = [rng.randint(0, 4) for _ in range(rng.randint(1, 3))] + [1]
    tokens, groups, heads = sum(lengths), rng.randint(1, 3), rng.randint(1, 3)
    keys, width = rng.randint(1, 6), rng.randint(1, 6)
    args = (
        tensor(rng, tokens, heads, keys, low=-1, high=1),
        tensor(rng, tokens, heads, keys, low=-0.5, high=0.5),
        tensor(rng, tokens, heads * groups, width),
    )
    kwargs = {
        "beta": tensor(rng, tokens, heads * groups, low=0, high=1),
        "g": tensor(rng, tokens, heads * groups, low=-1, high=0),
        "actual_seq_lengths": torch.tensor(lengths),
    }
    return sparse_cases.chunk_rule, args, kwargs


KINDS = {
    "npu_confusion_transpose": transpose, "npu_pad": pad, "npu_indexing": indexing, "_npu_index_add": index_add,
    "npu_stride_add": stride_add, "npu_iou": iou, "npu_diou": diou, "npu_group_norm_silu": group_norm,
    "npu_transpose_batchmatmul": batched, "npu_add_rms_norm_quant": add_rms_norm_quant,
    "npu_swiglu_quant": swiglu_quant, "npu_dynamic_block_quant": block_quant, "npu_top_k_top_p": top_k_top_p,
    "npu_mrope": mrope, "npu_dynamic_mx_quant": mx, "npu_lstm_data": lstm_data,
    "npu_rotated_overlaps": rotated_overlaps, "npu_ps_roi_pooling": ps_roi_pooling,
    "npu_sparse_flash_attention": sparse_flash, "npu_chunk_gated_delta_rule": chunk_rule,
}  # fmt: skip


def spread(x):
    """The same elements, not next to each other."""
    return torch.stack((x, x), -1)[..., 0] if x.dim() else x


@pytest.mark.parametrize("name", KINDS)
def test_draws(name):
    for i in range(DRAWS):
        seed = f"{name} {commit_count()} {i}"
        rng = random.Random(seed)
        definition, args, kwargs = KINDS[name](rng)
        layout = rng.choice([lambda t: t, spread])

        def given(t, layout=layout):
            return cast(torch.float32)(layout(t)).npu()

        one = lambda v, change: change(v) if isinstance(v, torch.Tensor) else v  # noqa: E731
        widened = lambda t: cast(torch.float64)(cast(torch.float32)(t))  # noqa: E731
        expected = listed(
            definition(
                *(one(a, widened) for a in args), **{k: one(v, widened) for k, v in kwargs.items()}
            )
        )
        got = listed(
            operator(name)(
                *(one(a, given) for a in args), **{k: one(v, given) for k, v in kwargs.items()}
            )
        )
        length = max(t.numel() for t in args if isinstance(t, torch.Tensor))
        for a, b in zip(got, expected, strict=True):
            assert a.shape == b.shape, seed
            check(a, b, length)
