"""Quantization to int8 and products of int8 matrices in namespace npu, against their definitions in float64."""

import random

import pytest
import torch

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
VALUES = [torch.float16, torch.bfloat16, torch.float32]
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def values(*size, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(size))
    return torch.randn(size, generator=generator).to(dtype)


def int8(*size):
    generator = torch.Generator().manual_seed(len(size))
    return torch.randint(-128, 128, size, generator=generator, dtype=torch.int8)


def check_integers(got, exact, least, most):
    """Rounded to nearest; where ``exact`` lies within float32's rounding of a tie either neighbour is right."""
    got = got.cpu().double()
    exact = exact.clamp(least, most)
    slack = 8 * torch.finfo(torch.float32).eps * exact.abs().clamp(min=1)
    assert ((got - exact).abs() <= 0.5 + slack).all()
    assert torch.equal(got, got.round())


def check_near(got, reference, terms):
    eps = torch.finfo(torch.float32).eps
    size = reference.abs().max().clamp(min=1)
    accuracy.assert_close(
        got, reference, Tolerance(torch.finfo(got.dtype).eps, 8 * terms * eps * size)
    )


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("div_mode", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_quantize(dtype, div_mode, axis):
    if not div_mode and axis != -2:
        axis = -1
    x = values(3, 4, 5, dtype=dtype) * 20
    along = axis % 3
    scales = (values(x.shape[along]).abs() + 0.5).to(dtype)
    zeros = torch.arange(x.shape[along]).to(torch.int32 if div_mode else dtype)
    shape = [-1 if i == along else 1 for i in range(3)]
    s, z = scales.double().reshape(shape), zeros.double().reshape(shape)
    exact = (x.double() / s if div_mode else x.double() * s) + z
    got = torch_npu.npu_quantize(x.npu(), scales.npu(), zeros.npu(), torch.qint8, axis, div_mode)
    assert got.dtype == torch.int8
    check_integers(got, exact, -128, 127)


@pytest.mark.parametrize(
    ("number", "dtype", "least", "most"),
    [
        (torch.quint8, torch.uint8, 0, 255),
        (torch.qint32, torch.int32, -(2**31), 2**31 - 128),
        (torch_npu.int8, torch.int8, -128, 127),
        (torch.int8, torch.int8, -128, 127),
    ],
)
def test_quantize_to(number, dtype, least, most):
    x = values(4, 6) * 400
    got = OPS.npu_quantize(x.npu(), torch.tensor([2.0]).npu(), None, number, 7)
    assert got.dtype == dtype
    check_integers(got, x.double() / 2, least, most)
    ties = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, float("nan")]).npu()
    got = OPS.npu_quantize(ties, torch.ones(1).npu(), None, number)
    wanted = torch.tensor([0, 2, 2, 0, -2, 0]).clamp(least, most)
    assert torch.equal(got.cpu().long(), wanted)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
def test_anti_quant(dtype):
    x, scale, offset = int8(3, 5), values(5), values(5)
    got = OPS.npu_anti_quant(x.npu(), scale.npu(), offset=offset.npu(), dst_dtype=dtype)
    assert got.dtype == dtype
    check_near(got, (x.double() + offset.double()) * scale.double(), 1)
    half = OPS.npu_anti_quant(x.npu(), scale[:1].npu(), src_dtype=torch.int8)
    assert half.dtype == torch.float16
    check_near(half, x.double() * scale[0].double(), 1)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("with_factors", [False, True])
def test_dynamic_quant(dtype, with_factors):
    x = values(3, 4, 16, dtype=dtype)
    x[0, 0] = 0
    smooth = values(16, dtype=dtype) if with_factors else None
    y, scale = OPS.npu_dynamic_quant(
        x.npu(), smooth_scales=None if smooth is None else smooth.npu()
    )
    widened = x.double() if smooth is None else x.double() * smooth.double()
    expected = widened.abs().amax(-1) / 127
    assert (y.dtype, scale.dtype, scale.shape) == (torch.int8, torch.float32, (3, 4))
    check_near(scale, expected, 1)
    check_integers(y, widened / expected.where(expected > 0, 1).unsqueeze(-1), -128, 127)


def test_dynamic_quant_of_groups():
    x, smooth = values(6, 8), values(2, 8)
    ends = torch.tensor([2, 6], dtype=torch.int32)
    y, scale = OPS.npu_dynamic_quant(x.npu(), smooth_scales=smooth.npu(), group_index=ends.npu())
    widened = x.double() * smooth.double().repeat_interleave(torch.tensor([2, 4]), 0)
    expected = widened.abs().amax(-1) / 127
    check_near(scale, expected, 1)
    check_integers(y, widened / expected.unsqueeze(-1), -128, 127)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
def test_dynamic_quant_asymmetric(dtype):
    x = values(5, 16, dtype=dtype)
    y, scale, offset = OPS.npu_dynamic_quant_asymmetric(x.npu())
    widened = x.double()
    by = (widened.amax(-1) - widened.amin(-1)) / 255
    shift = 127 - widened.amax(-1) / by
    check_near(scale, by, 1)
    check_near(offset, shift, 256)
    exact = widened / by.unsqueeze(-1) + shift.unsqueeze(-1)
    assert (
        (y.cpu().double() - exact).abs() <= 0.5 + 256 * 8 * torch.finfo(torch.float32).eps
    ).all()


@pytest.mark.parametrize("out", [torch.int8, *VALUES], ids=str)
@pytest.mark.parametrize("variant", ["plain", "packed", "rows", "whole bias", "transposed"])
def test_quant_matmul(variant, out):
    x1, x2, scale = int8(2, 3, 40), int8(40, 5), values(5) / 512
    given = {"output_dtype": out}
    exact = x1.double() @ x2.double()
    if variant == "whole bias":
        given["bias"] = torch.arange(5, dtype=torch.int32)
        exact = exact + given["bias"].double()
    exact = exact * scale.double()
    if variant == "rows":
        given["pertoken_scale"] = values(3).abs()
        given["bias"] = values(5)
        exact = exact * given["pertoken_scale"].double().unsqueeze(-1) + given["bias"].double()
    if variant == "packed":
        offset = values(5)
        exact = exact + offset.double()
        packed = OPS.npu_trans_quant_param(scale.npu(), offset.npu())
        assert packed.dtype == torch.int64
    right = x2.npu() if variant != "transposed" else x2.T.contiguous().npu().T
    factors = packed if variant == "packed" else scale.npu()
    given = {k: v.npu() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
    got = OPS.npu_quant_matmul(x1.npu(), right, factors, **given)
    assert (got.dtype, got.shape) == (out, (2, 3, 5))
    if out == torch.int8:
        check_integers(got, exact, -128, 127)
    else:
        check_near(got, exact, 4)


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@pytest.mark.parametrize("group", [0, 16])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("is_int4", [False, True])
def test_weight_quant_batchmatmul(dtype, group, transposed, is_int4):
    x, weight = values(3, 48, dtype=dtype), int8(48, 16)
    shape = (3, 16) if group else (16,)
    scale, offset = values(*shape, dtype=dtype) / 64, values(*shape, dtype=dtype)
    bias = values(16, dtype=dtype)
    rows = [t.double().repeat_interleave(16, 0) if group else t.double() for t in (scale, offset)]
    exact = x.double() @ ((weight.double() + rows[1]) * rows[0]) + bias.double()
    if is_int4:
        weight = weight % 16 - 8
        exact = x.double() @ ((weight.double() + rows[1]) * rows[0]) + bias.double()
    given = weight.T.contiguous().npu() if transposed else weight.npu()
    if is_int4:
        given = OPS.npu_convert_weight_to_int4pack(given.int())
    given = given.T if transposed else given
    got = OPS.npu_weight_quant_batchmatmul(
        x.npu(), given, scale.npu(), offset.npu(), bias=bias.npu(), antiquant_group_size=group
    )
    assert got.dtype == dtype
    size = (x.double().abs() @ ((weight.double() + rows[1]) * rows[0]).abs()).max()
    eps = torch.finfo(torch.float32).eps
    accuracy.assert_close(got, exact, Tolerance(torch.finfo(dtype).eps, 8 * 48 * eps * size))


@pytest.mark.parametrize("seed", range(40))
def test_products_of_drawn_sizes_in_place(seed):
    """Columns that are contiguous are read in place: sizes beside those of vectors, gaps between columns, batches."""
    draw = random.Random(seed)
    rows, columns = draw.choice([1, 2, 3, 4, 5, 9, 33]), draw.choice([1, 2, 3, 31, 32, 33, 70])
    depth, gap = draw.choice([2, 7, 16, 31, 33, 64, 100, 255, 600]), draw.choice([0, 3])
    batch = draw.choice([(), (2,)])
    left, right = int8(*batch, rows, depth), int8(*batch, columns, depth + gap)[..., :depth]
    scale = values(columns) / 512
    exact = (left.long() @ right.mT.long()).double() * scale.double()
    product = OPS.npu_quant_matmul(
        left.npu(), right.npu().mT, scale.npu(), output_dtype=torch.float32
    )
    check_near(product, exact, 4)

    group = draw.choice([0, 1, 5, 32])
    groups = -(-depth // group) if group else 1
    numbers = [values(groups, columns) / 64, values(groups, columns)]
    if draw.random() < 0.5:
        numbers = [t.T.contiguous().T for t in numbers]
    scale, offset = (t if group else t[0] for t in numbers)
    rest = [t.double().repeat_interleave(group or depth, 0)[:depth] for t in numbers]
    has_offset = draw.random() < 0.5
    x, weight = values(rows, depth), int8(columns, depth)
    matrix = (weight.T.double() + (rest[1] if has_offset else 0)) * rest[0]
    got = OPS.npu_weight_quant_batchmatmul(
        x.npu(), weight.npu().T, scale.npu(), offset.npu() if has_offset else None,
        antiquant_group_size=group,
    )  # fmt: skip
    size = (x.double().abs() @ matrix.abs()).max()
    eps = torch.finfo(torch.float32).eps
    accuracy.assert_close(got, x.double() @ matrix, Tolerance(eps, 8 * depth * eps * size))


def arguments():
    """Every operator with arguments that it takes."""
    x, w = values(3, 8).npu(), int8(8, 5).npu()
    scale = torch.ones(5).npu()
    return {
        "npu_quantize": ((x, torch.ones(8).npu(), torch.zeros(8).npu(), torch.qint8), {}),
        "npu_anti_quant": ((w, scale), {"offset": scale}),
        "npu_dynamic_quant": ((x,), {"smooth_scales": torch.ones(8).npu()}),
        "npu_dynamic_quant_asymmetric": ((x,), {}),
        "npu_trans_quant_param": ((scale,), {"offset": scale}),
        "npu_quant_matmul": ((int8(3, 8).npu(), w, scale), {"bias": scale, "output_dtype": torch.float16}),
        "npu_weight_quant_batchmatmul": ((x, w, scale), {"bias": scale}),
    }  # fmt: skip


@pytest.mark.parametrize("name", arguments())
def test_opcheck_and_other_devices(name):
    given, named = arguments()[name]
    op = getattr(OPS, name).default
    torch.library.opcheck(op, given, named, test_utils=CHECKS)
    for i, value in enumerate(given):
        if isinstance(value, torch.Tensor):
            others = tuple(v.cpu() if k == i else v for k, v in enumerate(given))
            with pytest.raises(RuntimeError, match=f"npu::{name}.* is .*on cpu"):
                op(*others, **named)


@pytest.mark.parametrize("name", arguments())
def test_views_and_empty_tensors(name):
    given, named = arguments()[name]
    op = getattr(OPS, name)
    spread = [torch.stack((v, v), -1)[..., 0] if isinstance(v, torch.Tensor) else v for v in given]
    assert not any(v.is_contiguous() for v in spread if isinstance(v, torch.Tensor))
    whole, view = op(*given, **named), op(*spread, **named)
    for a, b in zip(
        *([t] if isinstance(t, torch.Tensor) else t for t in (whole, view)), strict=True
    ):
        assert torch.equal(a.cpu(), b.cpu())
    if name == "npu_trans_quant_param":
        return
    empty = op(given[0][:0], *given[1:], **named)
    first = empty if isinstance(empty, torch.Tensor) else empty[0]
    assert first.numel() == 0


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: OPS.npu_quantize(x, x[0], None, torch.int64), NotImplementedError, "dtype is Long"),
        (lambda x: OPS.npu_quantize(x, x[0, :3], None, torch.qint8), RuntimeError, "elements are needed"),
        (lambda x: OPS.npu_quantize(x, x[0], None, torch.qint8, 4), RuntimeError, "axis is 4"),
        (lambda x: OPS.npu_quantize(x, x[0], None, 999), RuntimeError, "dtype is 999"),
        (lambda x: OPS.npu_dynamic_quant(x, quant_mode="pertensor"), NotImplementedError, "quant_mode is 'pertensor'"),
        (lambda x: OPS.npu_dynamic_quant(x, smooth_scales=x[0, :3]), RuntimeError, "smoothScales"),
        (lambda x: OPS.npu_dynamic_quant(x.int()), RuntimeError, "input is a tensor of Int"),
        (lambda x: OPS.npu_anti_quant(x, x[0]), RuntimeError, "x is a tensor of Float"),
        (lambda x: OPS.npu_trans_quant_param(x[0], round_mode=1), NotImplementedError, "round_mode is 1"),
        (lambda x: OPS.npu_quant_matmul(x.char(), x.char(), x[0]), RuntimeError, "do not multiply"),
        (lambda x: OPS.npu_quant_matmul(x.char(), x.char().T, x[0], group_sizes=[1]), NotImplementedError, "group_sizes"),
        (lambda x: OPS.npu_weight_quant_batchmatmul(x, x.char(), x[0]), RuntimeError, "do not multiply"),
        (lambda x: OPS.npu_weight_quant_batchmatmul(x, x.int(), x[0]), RuntimeError, "weight of int4 of size"),
        (lambda x: OPS.npu_weight_quant_batchmatmul(x, x.new_ones(8, 4).int()[:, ::2], x[0]), RuntimeError, "no neighbours"),
        (lambda x: OPS.npu_weight_quant_batchmatmul(x, x.char().T, x[0], antiquant_group_size=-1), RuntimeError, "-1 is not"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, error, says):
    with pytest.raises(error, match=says):
        call(values(3, 8).npu())
