"""How much two correct results may differ if an operator's definition cancels: formulas of the sample."""

import math
from functools import partial
from types import SimpleNamespace

import torch
from torch.utils._pytree import tree_flatten

from torch_npu.accuracy.dtypes import WIDENED, largest_finite


def cdist_error(sample) -> float:
    """The largest error of a Euclidean distance computed as sqrt(|x|^2 + |y|^2 - 2 x.y), as in cdist.

    The error of the sum of ``k`` products is at most ``(k + 4) * eps`` times the sum of the terms' magnitudes, and
    the root of a sum with error ``e`` has an error of at most ``sqrt(e)``.
    """
    x, y = sample.input.detach().cpu().double(), sample.args[0].detach().cpu().double()
    if not x.numel() or not y.numel():
        return 0.0
    squares = (x * x).sum(-1).max() + (y * y).sum(-1).max()
    eps = torch.finfo(sample.input.dtype).eps
    return float(2 * (x.size(-1) + 4) * eps * squares) ** 0.5


def linear_cross_entropy_error(sample) -> float:
    """Four roundings of the largest logit: a loss is the difference of two numbers of that magnitude."""
    x, weight = sample.input.detach().cpu().double(), sample.args[0].detach().cpu().double()
    if not x.numel() or not weight.numel():
        return 0.0
    logits = x.abs() @ weight.abs().mT
    return float(4 * torch.finfo(sample.input.dtype).eps * logits.max())


def log_softmax_error(sample) -> float:
    """Two roundings of the values' range and of the logarithm of their number: a result is a difference of the two."""
    x = sample.input.detach().cpu()
    dtype = sample.kwargs.get("dtype") or x.dtype
    if (
        not x.numel()
        or not dtype.is_floating_point
        or not (x.is_floating_point() or dtype == torch.float64)
    ):
        return 0.0
    values = x.double().nan_to_num(0, 0, 0) if not x.is_complex() else x.real.double()
    spread = float(values.max() - values.min())
    return 2 * torch.finfo(dtype).eps * (spread + math.log(x.numel()))


def product_error(sample) -> float:
    """The largest error of a sum of ``n`` products of two entries, in any order and the narrowest type of the sample."""
    x = sample.input.detach().cpu()
    given = tree_flatten((sample.input, sample.args, sample.kwargs))[0]
    types = {t.dtype for t in given if isinstance(t, torch.Tensor)}
    roundings = [torch.finfo(t).eps for t in types if t.is_floating_point or t.is_complex]
    if not x.numel() or not roundings:
        return 0.0
    return float((x.size(-1) + 4) * max(roundings) * x.abs().double().max() ** 2)


def normalize_error(sample) -> float:
    """Four roundings of a direction divided by the smallest norm: a derivative is a difference of two of these."""
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    inverse = torch.nn.functional.normalize(x.double(), *sample.args, **sample.kwargs) / x.double()
    return 4 * torch.finfo(x.dtype).eps * float(inverse.abs().nan_to_num(0, 0, 0).max())


def group_norm_error(sample) -> float:
    """The largest error of a mean of ``n`` numbers added in float32, before it is converted to the output's type."""
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    return (x[0].numel() + 4) * torch.finfo(torch.float32).eps * float(x.abs().max())


def householder_error(sample) -> float:
    """The roundings of ``k`` products of length ``n``: the reflectors' norms bound every intermediate number.

    The derivative also applies their inverses, ``I - s v v^H`` with ``s = tau / (tau |v|^2 - 1)``, and ends with two products with the reflectors.
    """
    v, tau = (t.detach().cpu() for t in (sample.input, sample.args[0]))
    if not v.numel() or not tau.numel():
        return 0.0
    v = v.tril(-1)[..., : tau.size(-1)].abs().double()
    squares = 1 + v.square().sum(-2)
    norms = 1 + tau.abs().double() * squares
    if sample.input.requires_grad:
        inverse = (tau / (tau * squares - 1)).abs().double()
        norms = norms * (1 + inverse * squares)
    roundings = tau.size(-1) * (v.size(-2) + 4) * torch.finfo(tau.dtype).eps
    ends = squares.max() if sample.input.requires_grad else 1
    return float(roundings * norms.prod(-1).max() * ends)


def norm_slopes_error(sample) -> float:
    """Four roundings of each slope of a norm: its derivative along ones is the sum of the slopes, which may cancel."""
    if not sample.input.requires_grad or not sample.input.numel():
        return 0.0
    x = sample.input.detach().cpu().double().requires_grad_()
    kwargs = {name: value for name, value in sample.kwargs.items() if name != "dtype"}
    (slopes,) = torch.autograd.grad(
        torch.linalg.vector_norm(x, *sample.args, **kwargs).sum(), x, allow_unused=True
    )
    total = 0.0 if slopes is None else float(slopes.nan_to_num(0, 0, 0).abs().sum())
    return 4 * torch.finfo(sample.input.dtype).eps * total


def root_error(sample) -> torch.Tensor | float:
    """The error of a norm whose order is not an exact root.

    The root multiplies a sum's roundings by ``1 / order``, and the rounding of ``1 / order`` counts as many times as
    the logarithm of the sum.
    """
    order = sample.args[0] if sample.args else 2
    x = sample.input.detach().cpu()
    if (
        not isinstance(order, int | float)
        or not x.numel()
        or order in (0, 1, 2)
        or math.isinf(order)
    ):
        return 0.0
    dims = sample.args[1] if len(sample.args) > 1 and isinstance(sample.args[1], list) else None
    keeps = bool(dims and len(sample.args) > 2 and sample.args[2])
    widened = x.to(torch.complex128 if x.is_complex() else torch.float64)
    norm = torch.linalg.vector_norm(widened, order, dims or None, keeps)
    eps = torch.finfo(torch.float64 if x.dtype in WIDENED else torch.float32).eps
    terms = x.numel() // max(norm.numel(), 1)
    norm = norm.nan_to_num(0, 0, 0)
    logarithm = norm.log().abs().nan_to_num(0, 0, 0)
    return norm * eps * ((terms + 4) / abs(order) + 2 * logarithm)


def grid_error(sample) -> float:
    """The rounding of a position, as that of half a size; this error, and the derivative along the grid, multiply
    differences of pixels.

    There are as many differences as pixels per cell, in every channel. At a border the pixels are equal, and the
    differences 0.
    """
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    dims = x.dim() - 2
    terms = 2**dims * x.size(1)
    scale = float(x.abs().max()) * max(x.shape[2:]) / 2
    return (terms + 4) * torch.finfo(x.dtype).eps * scale


def grid_gradient_error(sample) -> float:
    """As `grid_error`, for the gradients: a gradient times weights, and times differences of pixels."""
    image = sample.args[0].detach().cpu()
    if not sample.input.numel() or not image.numel():
        return 0.0
    gradient = float(sample.input.detach().cpu().abs().max())
    return gradient * grid_error(SimpleNamespace(input=image)) + grid_error(sample)


def linear_error(sample) -> float:
    """A position has the rounding of a size in each dimension; it multiplies the difference of two neighbours."""
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    eps = torch.finfo(torch.float64 if x.dtype in WIDENED else torch.float32).eps
    return (x.dim() - 2) * max(x.shape[2:]) * eps * 2 * largest_finite(x)


def cubic_error(sample) -> float:
    """The error of a cubic filter's weights in double precision, also in the reference.

    A weight is a polynomial with terms of up to 12 that cancel, each rounded once; four weights per dimension.
    """
    return 2 * 4 * 12 * torch.finfo(torch.float64).eps * largest_finite(sample.input)


def _window_errors(size: int, wanted: int, step: float, *, is_cubic: bool, eps: float) -> list:
    """The errors of the weights of each result along one dimension, and the sum of the weights' magnitudes.

    A position is rounded four times; a filter's slope is at most 2, per width of a step. All weights are divided by
    their sum, which is small if a window is at the border.
    """
    width = max(step, 1.0)
    reach = (2 if is_cubic else 1) * width
    found = []
    for at in range(wanted):
        center = step * (at + 0.5)
        places = range(max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), size))
        distances = [abs((i - center + 0.5) / width) for i in places]
        weights = [_cubic(x) if is_cubic else max(0.0, 1 - x) for x in distances]
        total = abs(sum(weights))
        if total == 0:
            found.append((float("inf"), 1.0))
            continue
        gain = sum(map(abs, weights)) / total
        one = (2 * 4 * eps * (size + reach) / width + 4 * eps) / total
        found.append((len(weights) * one * (1 + gain), gain))
    return found


def _cubic(x: float) -> float:
    """Keys' cubic convolution kernel with -0.5."""
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return ((-0.5 * x + 2.5) * x - 4) * x + 2 if x < 2 else 0.0


def resize_step(size: int, out: int, scale: float | None, *, align: bool) -> float:
    """The distance in the input between two adjacent pixels of the result."""
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return size / out if scale is None or scale <= 0 else 1 / scale


def antialias_error(sample, *, is_cubic: bool) -> torch.Tensor | float:
    """The error of antialiased resizing: for each pixel of the result; for gradients, that of the worst pixel."""
    x = sample.input.detach().cpu()
    if not sample.args:  # OpInfo's own samples, whose scales do not reach a border
        return cubic_error(sample) if is_cubic else 0.0
    is_backward = isinstance(sample.args[1], list | tuple)
    wanted = sample.args[0]
    sizes = sample.args[1][2:] if is_backward else x.shape[2:]
    align, *scales = (*sample.args, None, None)[2 if is_backward else 1 :][:3]
    if not x.numel():
        return 0.0
    eps = torch.finfo(torch.float64 if x.dtype == torch.float64 else torch.float32).eps
    axes = []
    for size, out, scale in zip(sizes, wanted, scales, strict=True):
        step = resize_step(size, out, scale, align=align)
        if size == out:
            axes.append([(0.0, 1.0)] * out)
        else:
            axes.append(_window_errors(size, out, step, is_cubic=is_cubic, eps=eps))
    (rows, row_gains), (columns, column_gains) = (torch.tensor(a).double().unbind(1) for a in axes)
    error = rows[:, None] * column_gains + row_gains[:, None] * columns
    error = 2 * largest_finite(x) * error.nan_to_num(0, 0, 0)
    return float(error.max()) * sum(wanted) if is_backward else error


def double_error(sample) -> float:
    """Four roundings in double precision, which the reference also has: of the largest operand, at least of 1."""
    given = sample.input
    largest = largest_finite(given) if isinstance(given, torch.Tensor) else 1.0
    return 4 * torch.finfo(torch.float64).eps * max(1.0, largest)


def attention_error(sample) -> float:
    """The error of attention's gradients in 16-bit types: their kernels read the rounded result.

    The sum over ``E`` elements of the result times its gradient, which is about 1, is subtracted from each score's
    gradient, and multiplied by ``scale`` and a key or query: roundings of both signs add up as their root.
    """
    q = sample.input
    if not q.requires_grad or q.dtype not in (torch.float16, torch.bfloat16):
        return 0.0
    key, value = sample.args[:2]
    scale = sample.kwargs.get("scale") or q.size(-1) ** -0.5
    rounding = torch.finfo(q.dtype).eps * value.size(-1) ** 0.5 * largest_finite(value)
    return rounding * scale * max(largest_finite(q), largest_finite(key))


def sixth_error(sample) -> float:
    """The CPU's gradient of hardsigmoid uses one sixth as a float32 number, also in float64."""
    if not sample.input.requires_grad:
        return 0.0
    return abs(float(torch.tensor(1 / 6)) - 1 / 6)


# Absolute tolerances of operators whose definition cancels, so that the order of a sum matters. Formulas by name.
CANCELLING = {
    "cdist": cdist_error,
    "cov": product_error,
    "nn.functional.scaled_dot_product_attention": attention_error,
    "_upsample_bicubic2d_aa": partial(antialias_error, is_cubic=True),
    "_upsample_bicubic2d_aa_backward": partial(antialias_error, is_cubic=True),
    "_upsample_bilinear2d_aa": partial(antialias_error, is_cubic=False),
    "_upsample_bilinear2d_aa_backward": partial(antialias_error, is_cubic=False),
    "norm": root_error,
    "linalg_vector_norm": root_error,
    "upsample_linear1d": linear_error,
    "upsample_bilinear2d": linear_error,
    "upsample_trilinear3d": linear_error,
    "upsample_bicubic2d": cubic_error,
    "upsample_bicubic2d_backward": cubic_error,
    "grid_sampler_2d": grid_error,
    "grid_sampler_2d_backward": grid_gradient_error,
    "grid_sampler_3d_backward": grid_gradient_error,
    "grid_sampler_3d": grid_error,
    "nn.functional.grid_sample": grid_error,
    "linalg.householder_product": householder_error,
    "linalg.vector_norm": norm_slopes_error,
    "native_group_norm": group_norm_error,
    "log_softmax": log_softmax_error,
    "_log_softmax": log_softmax_error,
    "nn.functional.normalize": normalize_error,
    "nn.functional.gelu": double_error,
    "nn.functional.hardsigmoid": sixth_error,
    "nn.functional.interpolate": cubic_error,
    "nn.functional.linear_cross_entropy": linear_cross_entropy_error,
    "signal.windows.cosine": double_error,
    "signal.windows.general_cosine": double_error,
    "signal.windows.general_hamming": double_error,
    "signal.windows.hamming": double_error,
    "signal.windows.hann": double_error,
    "signal.windows.blackman": double_error,
    "signal.windows.nuttall": double_error,
}


def error_of(op, sample) -> float:
    """The absolute tolerance of one sample in addition to the default one."""
    return CANCELLING[op.name](sample) if op.name in CANCELLING else 0.0
