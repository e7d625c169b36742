"""npu_grouped_matmul against products of the groups on the CPU in double precision."""

import pytest
import torch
from torch.nn import functional

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
GROUPED = OPS.npu_grouped_matmul
VALUES = [torch.float32, torch.float16, torch.bfloat16]
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
ACTIVATIONS = {
    1: functional.relu,
    2: lambda v: functional.gelu(v, approximate="tanh"),
    4: lambda v: v * torch.sigmoid(1.702 * v),
    5: functional.silu,
}


def values(*size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(size) + sum(size))
    return torch.randn(size, generator=generator).to(dtype)


def int8(*size):
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randint(-128, 128, size, generator=generator).to(torch.int8)


def on_npu(tensors):
    return None if tensors is None else [t.npu() for t in tensors]


def ends(*numbers):
    return torch.tensor(numbers).npu()


def check(got, reference, size, terms):
    """``size``: the reference with absolute values in place of all terms, which bounds each sum."""
    assert got.shape == reference.shape
    if not got.numel():
        return
    eps = torch.finfo(torch.float32).eps
    accuracy.assert_close(
        got,
        reference,
        Tolerance(torch.finfo(got.dtype).eps, 2 * terms * eps * size.max().clamp(min=1)),
    )


def product(a, b):
    """The product and its size."""
    return a.double() @ b.double(), a.double().abs() @ b.double().abs()


def parts(numbers, total):
    bounds = [0, *numbers]
    return [slice(bounds[i], bounds[i + 1]) for i in range(len(numbers))], slice(bounds[-1], total)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("layout", ["stack", "turned", "list"])
@pytest.mark.parametrize("as_", ["ends", "sizes", "pairs"])
@pytest.mark.parametrize("bias", [None, torch.float32, "same"], ids=str)
def test_rows(dtype, layout, as_, bias):
    m, k, n, numbers = 23, 17, 9, (4, 4, 20, 21)
    x, w = values(m, k, dtype=dtype), values(4, k, n, dtype=dtype)
    b = None if bias is None else values(4, n, dtype=dtype if bias == "same" else bias)
    sizes = torch.tensor(numbers).diff(prepend=torch.tensor([0]))
    given = {
        "ends": torch.tensor(numbers),
        "sizes": sizes,
        "pairs": torch.stack((torch.tensor([0, 1, 2, 3]), sizes), 1),
    }[as_]
    if layout == "list":
        weights = [w[i].npu() for i in range(4)]
        biases = None if b is None else [b[i].npu() for i in range(4)]
    else:
        weights = [w.mT.contiguous().npu().mT if layout == "turned" else w.npu()]
        biases = None if b is None else [b.npu()]
    (got,) = torch_npu.npu_grouped_matmul(
        [x.npu()], weights, bias=biases, group_list=given.npu(), split_item=3, group_type=0,
        group_list_type=["ends", "sizes", "pairs"].index(as_),
    )  # fmt: skip
    assert got.dtype == dtype
    rows, rest = parts(numbers, m)
    for i, part in enumerate(rows):
        exact, size = product(x[part], w[i])
        if b is not None:
            exact, size = exact + b[i].double(), size + b[i].double().abs()
        check(got[part].cpu(), exact, size, k + 1) if size.numel() else None
    assert not got[rest].any()


def test_pairs_name_their_groups():
    x, w = values(7, 5), values(3, 5, 4)
    pairs = torch.tensor([[2, 3], [0, 4], [1, 0]]).npu()
    (got,) = GROUPED(
        [x.npu()], [w.npu()], group_list=pairs, split_item=2, group_type=0, group_list_type=2
    )
    wanted = torch.cat((x[:3].double() @ w[2].double(), x[3:].double() @ w[0].double()))
    check(got.cpu(), wanted, wanted.abs() + 9, 5)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("split", range(4))
def test_a_matrix_for_each_group(dtype, split):
    xs = [values(m, k, dtype=dtype) for m, k in ((5, 7), (1, 7), (0, 7))]
    ws = [values(7, 6, dtype=dtype) + i for i in range(3)]
    bs = [values(6, dtype=dtype) * (i + 1) for i in range(3)]
    got = GROUPED(on_npu(xs), on_npu(ws), bias=on_npu(bs), split_item=split, group_type=-1)
    assert len(got) == (3 if split < 2 else 1)
    wanted = [product(x, w) for x, w in zip(xs, ws, strict=True)]
    wanted = [(e + b.double(), s + b.double().abs()) for (e, s), b in zip(wanted, bs, strict=True)]
    if split > 1:
        wanted = [tuple(torch.cat(t) for t in zip(*wanted, strict=True))]
    for a, (exact, size) in zip(got, wanted, strict=True):
        if size.numel():
            check(a.cpu(), exact, size, 8)


def test_more_dimensions():
    xs = [values(2, 3, 4, 7), values(5, 1, 2, 7).transpose(0, 1)]
    ws = [values(7, 6), values(7, 3)]
    for a, x, w in zip(GROUPED(on_npu(xs), on_npu(ws), group_type=-1), xs, ws, strict=True):
        exact, size = product(x, w)
        check(a.cpu(), exact, size, 8)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("split", [0, 3])
def test_depth(dtype, split):
    """As the gradient of weights asks for it: a transposed left matrix."""
    tokens, grads = values(20, 6, dtype=dtype), values(20, 5, dtype=dtype)
    numbers = (3, 3, 20)
    got = GROUPED(
        [tokens.npu().mT], [grads.npu()], group_list=ends(*numbers), split_item=split, group_type=2
    )
    assert len(got) == (1 if split else 3)
    stacked = got[0] if split else torch.stack(got)
    assert stacked.shape == (3, 6, 5)
    assert not stacked[1].any()
    rows, _ = parts(numbers, 20)
    for i, part in enumerate(rows):
        exact, size = product(tokens[part].mT, grads[part])
        check(stacked[i].cpu(), exact, size, 20)


@pytest.mark.parametrize("split", [0, 2])
def test_groups_as_a_list(split):
    x, ws = values(9, 6), [values(6, 4), values(6, 4) * 2]
    got = GROUPED.List([x.npu()], on_npu(ws), group_list=[2, 9], split_item=split)
    exact = torch.cat((product(x[:2], ws[0])[0], product(x[2:], ws[1])[0]))
    assert [len(t) for t in got] == ([9] if split else [2, 7])
    check(torch.cat(got).cpu(), exact, exact.abs() + 9, 6)
    same = GROUPED([x.npu()], on_npu(ws), group_list=ends(2, 9), split_item=split, group_type=0)
    for a, b in zip(got, same, strict=True):
        assert torch.equal(a.cpu(), b.cpu())
    apart = GROUPED.List([x[:2].npu(), x[2:].npu()], on_npu(ws))
    check(torch.cat(apart).cpu(), exact, exact.abs() + 9, 6)


@pytest.mark.parametrize("result", [*VALUES, torch.int8], ids=str)
@pytest.mark.parametrize("bias", [None, torch.int32, torch.float32], ids=str)
@pytest.mark.parametrize("scaled", ["float", "packed"])
@pytest.mark.parametrize("rows", [False, True])
def test_int8(result, bias, scaled, rows):
    m, k, n, numbers = 12, 40, 7, (5, 12)
    x, w = int8(m, k), int8(2, k, n)
    scale = values(2, n).abs() / 1000
    b = None
    if bias is not None:
        b = values(2, n) * 20 if bias == torch.float32 else (values(2, n) * 9999).int()
    row = values(m).abs() if rows else None
    packed = torch.stack([OPS.npu_trans_quant_param(s.npu()) for s in scale])
    (got,) = GROUPED(
        [x.npu()], [w.npu()], scale=[packed if scaled == "packed" else scale.npu()],
        bias=None if b is None else [b.npu()], per_token_scale=on_npu(None if row is None else [row]),
        group_list=ends(*numbers), split_item=3, group_type=0, output_dtype=torch_npu.int8 if result == torch.int8 else result,
    )  # fmt: skip
    assert got.dtype == result
    exact = torch.zeros(m, n, dtype=torch.float64)
    for i, part in enumerate(parts(numbers, m)[0]):
        sums = x[part].double() @ w[i].double()
        if bias == torch.int32:
            sums = sums + b[i].double()
        exact[part] = sums * scale[i].double() * (row[part].double()[:, None] if rows else 1)
        if bias == torch.float32:
            exact[part] += b[i].double()
    if result == torch.int8:
        off = (got.cpu().double() - exact.clamp(-128, 127)).abs()
        assert bool((off <= 0.5 + 256 * torch.finfo(torch.float32).eps).all())
    else:
        check(got.cpu(), exact, exact.abs() + 200, 4)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("groups", [1, 5])
@pytest.mark.parametrize("turned", [False, True])
def test_int8_weights(dtype, groups, turned):
    m, k, n, numbers = 9, 20, 6, (4, 9)
    x, w = values(m, k, dtype=dtype), int8(2, k, n)
    scale = (values(2, groups, n).abs() / 50).to(dtype)
    offset = values(2, groups, n).to(dtype)
    shape = (2, n) if groups == 1 else (2, groups, n)
    given = w.mT.contiguous().npu().mT if turned else w.npu()
    (got,) = GROUPED(
        [x.npu()], [given], antiquant_scale=[scale.reshape(shape).npu()],
        antiquant_offset=[offset.reshape(shape).npu()], group_list=ends(*numbers), split_item=3, group_type=0,
    )  # fmt: skip
    spread = [t.double().repeat_interleave(k // groups, 1) for t in (scale, offset)]
    widened = (w.double() + spread[1]) * spread[0]
    for i, part in enumerate(parts(numbers, m)[0]):
        exact, size = product(x[part], widened[i])
        check(got[part].cpu(), exact, size, k + 2)


@pytest.mark.parametrize("number", ACTIVATIONS)
def test_activations(number):
    x, w, scale = int8(6, 16), int8(1, 16, 8), values(1, 8).abs() / 3000
    rows = values(6).abs()
    (got,) = GROUPED(
        [x.npu()], [w.npu()], scale=[scale.npu()], per_token_scale=[rows.npu()], group_list=ends(6),
        split_item=3, group_type=0, act_type=number, output_dtype=torch.float16,
    )  # fmt: skip
    sums = x.double() @ w[0].double() * scale.double() * rows.double()[:, None]
    check(got.cpu(), ACTIVATIONS[number](sums), sums.abs() + 20, 8)


def test_many_small_and_large_groups():
    """Sizes at which products take other algorithms."""
    x, w = values(700, 128), values(8, 128, 96)
    numbers = (1, 3, 3, 40, 41, 300, 699, 700)
    (got,) = GROUPED([x.npu()], [w.npu()], group_list=ends(*numbers), split_item=3, group_type=0)
    for i, part in enumerate(parts(numbers, 700)[0]):
        exact, size = product(x[part], w[i])
        if size.numel():
            check(got[part].cpu(), exact, size, 128)


def test_weights_that_change_between_calls():
    x, w, list_ = values(64, 64).npu(), values(1, 64, 64).npu(), ends(64)
    for factor in (1, 2, -3, 4, 5):
        w.copy_(values(1, 64, 64) * factor)
        (got,) = GROUPED([x], [w], group_list=list_, split_item=3, group_type=0)
        exact, size = product(x.cpu(), w[0].cpu())
        check(got.cpu(), exact, size, 64)


def test_a_group_list_that_changes_between_calls():
    x, w, list_ = values(8, 8).npu(), values(2, 8, 8).npu(), ends(3, 8)
    for first in (3, 0, 8, 5):
        list_.copy_(torch.tensor([first, 8]))
        (got,) = GROUPED([x], [w], group_list=list_, split_item=3, group_type=0)
        exact = torch.cat(
            (product(x[:first].cpu(), w[0].cpu())[0], product(x[first:].cpu(), w[1].cpu())[0])
        )
        check(got.cpu(), exact, exact.abs() + 9, 8)


def test_opcheck_and_meta():
    x, w = values(6, 4).npu(), values(2, 4, 3).npu()
    given = {"group_list": ends(2, 6), "split_item": 3, "group_type": 0}
    torch.library.opcheck(GROUPED.default, ([x], [w]), given, test_utils=CHECKS)
    torch.library.opcheck(
        GROUPED.List, ([x], [w[0], w[1]]), {"group_list": [2, 6]}, test_utils=CHECKS
    )
    depth = {"group_list": ends(2, 6), "split_item": 3, "group_type": 2}
    torch.library.opcheck(GROUPED.default, ([x.mT], [x]), depth, test_utils=CHECKS)
    assert GROUPED([x.to("meta")], [w.to("meta")], group_type=0, split_item=2)[0].shape == (6, 3)
    with pytest.raises(NotImplementedError, match="group_list decide the sizes"):
        GROUPED([x.to("meta")], [w.to("meta")], group_list=ends(2, 6).to("meta"), group_type=0)


def test_tensors_without_elements():
    for m, k, n in ((0, 4, 3), (5, 0, 3), (5, 4, 0)):
        (got,) = GROUPED(
            [values(m, k).npu()],
            [values(2, k, n).npu()],
            group_list=ends(0, m),
            split_item=3,
            group_type=0,
        )
        assert got.shape == (m, n)
        assert not got.any()


def tensors_of(x, w, **others):
    return GROUPED(
        [x], [w], **{"group_list": ends(2, 6), "split_item": 3, "group_type": 0, **others}
    )


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x, w: tensors_of(x, w, group_list=ends(4, 2)), RuntimeError, "groupList: group 1 has 2 as its end after 4"),
        (lambda x, w: tensors_of(x, w, group_list=ends(2, 7)), RuntimeError, "groupList: group 1 has 7"),
        (lambda x, w: tensors_of(x, w, group_list=ends(-1, 6)), RuntimeError, "groupList: group 0 has -1"),
        (lambda x, w: tensors_of(x, w, group_list=ends(4, 3), group_list_type=1), RuntimeError, "group 1 has 3 positions after 4"),
        (lambda x, w: tensors_of(x, w, group_list=ends(2**62, 2**62), group_list_type=1), RuntimeError, "groupList: group 0"),
        (lambda x, w: tensors_of(x, w, group_list=torch.tensor([[2, 6], [0, 0]]).npu(), group_list_type=2), RuntimeError, "names group 2 of 2"),
        (lambda x, w: tensors_of(x, w, group_list=ends(6)), RuntimeError, "groupList has 1 numbers for 2 groups"),
        (lambda x, w: tensors_of(x, w, group_list=None), RuntimeError, "groupList is not given"),
        (lambda x, w: tensors_of(x, w, group_list=ends(2, 6).int()), RuntimeError, "group_list is a tensor of Int"),
        (lambda x, w: tensors_of(x, w, group_type=1), RuntimeError, "group_type is 1: -1, 0 and 2"),
        (lambda x, w: tensors_of(x, w, group_type=None), RuntimeError, "group_type is None"),
        (lambda x, w: tensors_of(x, w, split_item=4), RuntimeError, "split_item is 4"),
        (lambda x, w: tensors_of(x, w, group_list_type=3), RuntimeError, "groupListType is 3"),
        (lambda x, w: tensors_of(x, w, act_type=3), RuntimeError, "actType is 3"),
        (lambda x, w: tensors_of(x[:, :3], w), RuntimeError, "are multiplied"),
        (lambda x, w: tensors_of(x, w[0]), RuntimeError, "groupList has 2 numbers for 1 groups"),
        (lambda x, w: tensors_of(x, w.half()), RuntimeError, "float16, bfloat16 and float32 are taken"),
        (lambda x, w: tensors_of(x.char(), w.char()), RuntimeError, "int8 x takes scale"),
        (lambda x, w: tensors_of(x, w, scale=[w[:, 0]]), RuntimeError, "int8 x takes scale"),
        (lambda x, w: tensors_of(x, w, bias=[w[0, 0]]), RuntimeError, "bias has .* for 2 groups"),
        (lambda x, w: tensors_of(x, w, bias=[w[:, 0, :2]]), RuntimeError, "bias has 2 numbers for group 0"),
        (lambda x, w: tensors_of(x, w, bias=[w[:, 0].int()]), RuntimeError, "bias is of int32"),
        (lambda x, w: tensors_of(x, w, offset=[w[:, 0]]), RuntimeError, "offset is given"),
        (lambda x, w: tensors_of(x, w, x_dtype=torch.float16), NotImplementedError, "x_dtype is"),
        (lambda x, w: tensors_of(x.char(), w.char(), scale=[w[:, 0]], per_token_scale=[x[:3, 0]]), RuntimeError, "perTokenScale has 3 numbers for 6 rows"),
        (lambda x, w: tensors_of(x, w.char(), antiquant_scale=[w[:, :3]]), RuntimeError, "antiquantScale or antiquantOffset has 9 numbers"),
        (lambda x, w: GROUPED([], [w], group_type=-1), (RuntimeError, NotImplementedError), "x has 0 tensors"),
        (lambda x, w: GROUPED([x, x], [w[0]], group_type=-1), RuntimeError, "x has 2 tensors for 1 groups"),
        (lambda x, w: GROUPED([x], [w[0]], group_list=ends(6), group_type=-1, split_item=3), RuntimeError, "groupType -1"),
        (lambda x, w: GROUPED([x], [w], group_list=ends(4, 2), group_type=0), RuntimeError, "group 1 has -2 rows"),
        (lambda x, w: GROUPED([x], [w], group_list=ends(2, 3), group_type=2, split_item=3), RuntimeError, "with group_type 2"),
        (lambda x, w: GROUPED.List([x], [w], group_list=[4, 2]), RuntimeError, "group 1 has -2 rows"),
        (lambda x, w: GROUPED.List([x], [w[0], w[1]], group_list=[2, 9], split_item=3), RuntimeError, "groupList: group 1 has 9"),
        (lambda x, w: GROUPED.List([x], [w], group_list=[2, 6], group_type=0), RuntimeError, "group_type, group_list_type"),
        (lambda x, w: tensors_of(x.cpu(), w), RuntimeError, "x is a tensor of Float.* on cpu"),
        (lambda x, w: tensors_of(x, w.cpu()), RuntimeError, "weight is a tensor of Float.* on cpu"),
        (lambda x, w: tensors_of(x, w, group_list=torch.tensor([2, 6])), RuntimeError, "group_list is a tensor of Long.* on cpu"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, error, says):
    x, w = values(6, 4).npu(), values(2, 4, 3).npu()

    def run():
        call(x, w)
        torch.npu.synchronize()

    with pytest.raises(error, match=says):
        run()
