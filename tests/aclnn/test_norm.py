"""Normalizations and their gradients against torch in float64."""

import pytest
import torch
import torch.nn.functional as F

from tests.aclnn.cases import FILLED, FLOATING, dtype_name, normal, sample, seeded
from tests.aclnn.compare import INVALID, NULL, assert_near
from tests.aclnn.library import AclnnError, Library
from torch_npu.accuracy.dtypes import compute_epsilon, epsilon

EPS = 1e-5
ALL = [True, True, True]


def _statistics(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _near(got: torch.Tensor, want: torch.Tensor, length: float = 1) -> None:
    """A few roundings of the compute type for each result, and of its terms if it is a sum of ``length``.

    An error that is larger by a factor counts as a number of terms, the factor's square.
    """
    size = want.detach().abs().max().item() if want.numel() else 0
    assert_near(
        got,
        want.detach(),
        2 * epsilon(got.dtype),
        64 * compute_epsilon(got.dtype) * (1 + size) * length**0.5,
    )


def _random(shape: tuple[int, ...], dtype: torch.dtype, g: torch.Generator) -> torch.Tensor:
    return normal(shape, dtype, g)


def _leaf(x: torch.Tensor) -> torch.Tensor:
    return x.detach().double().clone(memory_format=torch.contiguous_format).requires_grad_()


def _outputs(x: torch.Tensor) -> list[torch.Tensor]:
    """Contiguous, and with gaps."""
    return [torch.empty(x.shape, dtype=x.dtype), torch.empty((*x.shape, 2), dtype=x.dtype)[..., 1]]


@pytest.mark.parametrize("layout", [name for name in FILLED if name != "scalar"])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("affine", [True, False], ids=["affine", "plain"])
def test_layer_norm(library: Library, dtype: torch.dtype, layout: str, affine: bool) -> None:
    g = seeded("layer norm", dtype, layout)
    x = sample(layout, dtype, g)
    for dims in {1, min(2, x.dim()), x.dim()}:
        shape = tuple(x.shape[x.dim() - dims :])
        weight = _random(shape, dtype, g) if affine else None
        bias = _random(shape, dtype, g) if affine else None
        a, w, b = _leaf(x), _leaf(weight) if affine else None, _leaf(bias) if affine else None
        want, mean, rstd = torch.native_layer_norm(a, shape, w, b, EPS)
        means = [torch.empty(mean.shape, dtype=_statistics(dtype)) for _ in range(2)]
        # A row of nearly equal values is divided by a tiny number, and so are its roundings.
        scale = 1 + rstd.max().item()
        for out in _outputs(x):
            library.call("aclnnLayerNorm", x, shape, weight, bias, EPS, out, *means)
            _near(out, want, scale**2)
        _near(means[0], mean)
        _near(means[1], rstd, scale**2)
        grad = _random(tuple(x.shape), dtype, g)
        want.backward(grad.double())
        outs = [torch.empty(x.shape, dtype=dtype)]
        outs += [torch.empty(shape, dtype=_statistics(dtype)) if affine else None for _ in range(2)]
        mask = [True, affine, affine]
        library.call("aclnnLayerNormBackward", grad, x, shape, *means, weight, bias, mask, *outs)
        _near(outs[0], a.grad, 4 * scale**4)
        if affine:
            rows = x.numel() // w.numel() * scale**2
            _near(outs[1], w.grad, rows)
            _near(outs[2], b.grad, rows)


@pytest.mark.parametrize("layout", [name for name in FILLED if name != "scalar"])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_rms_norm(library: Library, dtype: torch.dtype, layout: str) -> None:
    g = seeded("rms norm", dtype, layout)
    x = sample(layout, dtype, g)
    weight = _random(tuple(x.shape[-1:]), dtype, g)
    a, w = _leaf(x), _leaf(weight)
    rstd = (a.square().mean(-1, keepdim=True) + EPS).rsqrt()
    want = a * rstd * w
    inverse = torch.empty(rstd.shape, dtype=_statistics(dtype))
    for out in _outputs(x):
        library.call("aclnnRmsNorm", x, weight, EPS, out, inverse)
        _near(out, want)
    _near(inverse, rstd)
    grad = _random(tuple(x.shape), dtype, g)
    want.backward(grad.double())
    dx, dw = torch.empty(x.shape, dtype=dtype), torch.empty(weight.shape, dtype=_statistics(dtype))
    library.call("aclnnRmsNormGrad", grad, x, inverse, weight, dx, dw)
    _near(dx, a.grad, 4)
    _near(dw, w.grad, x.numel() // weight.numel())


@pytest.mark.parametrize("layout", [name for name in FILLED if name != "scalar"])
@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_deep_norm_and_add_layer_norm_gradients(
    library: Library, dtype: torch.dtype, layout: str
) -> None:
    """Layer norms of alpha * x + y, where alpha is 1 for aclnnAddLayerNormGrad."""
    g = seeded("deep norm", dtype, layout)
    x, y, grad, more = (sample(layout, dtype, g) for _ in range(4))
    shape = tuple(x.shape[-1:])
    weight, bias = _random(shape, dtype, g), _random(shape, dtype, g)
    for alpha in (1.0, 0.5):
        a, b, w, c = (_leaf(t) for t in (x, y, weight, bias))
        want, mean, rstd = torch.native_layer_norm(alpha * a + b, shape, w, c, EPS)
        # A row of nearly equal values is divided by a tiny number, and so are its roundings.
        scale = (1 + rstd.max().item()) ** 2
        means = [torch.empty(mean.shape, dtype=_statistics(dtype)) for _ in range(2)]
        for out in _outputs(x):
            library.call("aclnnDeepNorm", x, y, bias, weight, alpha, EPS, *means, out)
            _near(out, want, scale)
        want.backward(grad.double())
        dx, dy = torch.empty(x.shape, dtype=dtype), torch.empty(x.shape, dtype=dtype)
        dw, dc = (torch.empty(shape, dtype=_statistics(dtype)) for _ in range(2))
        rows = x.numel() // w.numel() * scale
        library.call("aclnnDeepNormGrad", grad, x, y, weight, *means, alpha, dx, dy, dc, dw)
        for got, exact, length in (
            (dx, a, 4 * scale**2),
            (dy, b, 4 * scale**2),
            (dw, w, rows),
            (dc, c, rows),
        ):
            _near(got, exact.grad, length)
        if alpha != 1:
            continue
        for besides in (None, more):
            library.call(
                "aclnnAddLayerNormGrad", grad, x, y, *means[::-1], weight, besides, dx, dw, dc
            )
            _near(dx, a.grad if besides is None else a.grad + more.double(), 4 * scale**2)
            _near(dw, w.grad, rows)
            _near(dc, c.grad, rows)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_fused_additions(library: Library, dtype: torch.dtype) -> None:
    g = seeded("add norm", dtype)
    x, y = _random((3, 5, 1100), dtype, g), _random((3, 5, 1100), dtype, g)
    weight, bias, shift = (_random((1100,), dtype, g) for _ in range(3))
    total = x.double() + y.double()
    rstd = (total.square().mean(-1, keepdim=True) + EPS).rsqrt()
    out, again, inverse, added = (
        torch.empty_like(x),
        torch.empty_like(x),
        torch.empty(rstd.shape, dtype=_statistics(dtype)),
        torch.empty_like(x),
    )
    library.call("aclnnAddRmsNorm", x, y, weight, EPS, out, inverse, added)
    _near(out, total * rstd * weight.double())
    _near(inverse, rstd)
    _near(added, total)
    widened = torch.empty(x.shape, dtype=_statistics(dtype))
    library.call("aclnnAddRmsNormCast", x, y, weight, EPS, widened, again, inverse, added)
    _near(widened, total * rstd * weight.double())
    assert torch.equal(again, out)
    for moved in (None, shift):
        sums = total if moved is None else total + moved.double()
        want, mean, rstd = torch.native_layer_norm(
            sums, (1100,), weight.double(), bias.double(), EPS
        )
        means = [torch.empty(mean.shape, dtype=_statistics(dtype)) for _ in range(2)]
        arguments = (x, y, weight, bias, moved, EPS)
        library.call("aclnnAddLayerNorm", *arguments, True, out, *means, added)
        _near(out, want)
        _near(means[0], mean)
        _near(means[1], rstd)
        _near(added, sums)
        kept = added.clone().fill_(7)
        library.call("aclnnAddLayerNorm", *arguments, False, out, *means, kept)
        _near(out, want)
        assert (kept == 7).all()


SHAPES = {
    "rows": (17, 6),
    "image": (3, 6, 5, 7),
    "large": (2, 6, 40, 41),
    "volume": (2, 6, 2, 3, 4),
}


def _images(shape: str, dtype: torch.dtype, g: torch.Generator, last: bool) -> torch.Tensor:
    x = _random(SHAPES[shape], dtype, g)
    if not last or x.dim() < 4:
        return x
    return x.movedim(1, -1).contiguous().movedim(-1, 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("affine", [True, False], ids=["affine", "plain"])
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_batch_norm(
    library: Library, shape: str, dtype: torch.dtype, last: bool, affine: bool, training: bool
) -> None:
    g = seeded("batch norm", shape, dtype, training)
    x = _images(shape, dtype, g, last)
    kind = _statistics(dtype)
    weight, bias = (_random((6,), kind, g), _random((6,), kind, g)) if affine else (None, None)
    running = [_random((6,), kind, g), _random((6,), kind, g).abs() + 0.5]
    a, w, b = _leaf(x), _leaf(weight) if affine else None, _leaf(bias) if affine else None
    mean, var = (r.double().clone() for r in running)
    want = F.batch_norm(a, mean, var, w, b, training, 0.3, EPS)
    out = torch.empty_like(x)
    saved = [torch.empty(6, dtype=kind) for _ in range(2)]
    library.call("aclnnBatchNorm", x, weight, bias, *running, training, 0.3, EPS, out, *saved)
    _near(out, want)
    _near(running[0], mean)
    _near(running[1], var)
    if training:
        dims = [d for d in range(x.dim()) if d != 1]
        spread, center = torch.var_mean(x.double(), dims, correction=0)
        _near(saved[0], center)
        _near(saved[1], (spread + EPS).rsqrt())
    grad = _images(shape, dtype, g, not last)
    want.backward(grad.double())
    dx = torch.empty(x.shape, dtype=dtype)
    dw, db = torch.empty(6, dtype=kind), torch.empty(6, dtype=kind)
    mask = [True, affine, affine]
    arguments = (grad, x, weight, *running, *saved, training, EPS)
    library.call(
        "aclnnBatchNormBackward", *arguments, mask, dx, *((dw, db) if affine else (None, None))
    )
    _near(dx, a.grad, 4)
    if affine:
        _near(dw, w.grad, x.numel() // 6)
        _near(db, b.grad, x.numel() // 6)


def test_batch_norm_in_parts(library: Library) -> None:
    g = seeded("parts")
    x = _images("image", torch.float32, g, False)
    weight, bias = _random((6,), torch.float32, g), _random((6,), torch.float32, g)
    mean, inverse = torch.empty(6), torch.empty(6)
    library.call("aclnnBatchNormStats", x, EPS, mean, inverse)
    spread, center = torch.var_mean(x.double(), (0, 2, 3), correction=0)
    _near(mean, center)
    _near(inverse, (spread + EPS).rsqrt())
    out = torch.empty_like(x)
    library.call("aclnnBatchNormElemt", x, weight, bias, mean, inverse, EPS, out)
    _near(out, F.batch_norm(x.double(), None, None, weight.double(), bias.double(), True, 0, EPS))


def test_batch_norm_of_several_processes(library: Library) -> None:
    """The data of several processes is reduced, gathered and spread as if it were in one."""
    g = seeded("processes")
    shards = [_images("image", torch.float32, g, False), _random((2, 6, 5, 7), torch.float32, g)]
    grads = [_random(tuple(x.shape), torch.float32, g) for x in shards]
    weight = _random((6,), torch.float32, g)
    a, w = _leaf(torch.cat(shards)), _leaf(weight)
    old = [_random((6,), torch.float32, g), _random((6,), torch.float32, g).abs()]
    running = [r.double().clone() for r in old]
    want = F.batch_norm(a, *running, w, None, True, 0.3, EPS)
    want.backward(torch.cat(grads).double())
    counts = torch.tensor([x.numel() // 6 for x in shards], dtype=torch.int32)
    means, inverses, sums, squares = (torch.empty(2, 6) for _ in range(4))
    for i, x in enumerate(shards):
        library.call("aclnnBatchNormStats", x, EPS, means[i], inverses[i])
        library.call("aclnnBatchNormReduce", x, sums[i], squares[i])
    mean, inverse = torch.empty(6), torch.empty(6)
    spread, center = torch.var_mean(a.detach(), (0, 2, 3), correction=0)
    for name, parts, numbers in (
        ("aclnnBatchNormGatherStatsWithCounts", (shards[0], means, inverses), counts.float()),
        ("aclnnSyncBatchNormGatherStats", (sums, squares, counts), None),
    ):
        new = [r.clone() for r in old]
        rest = () if numbers is None else (numbers,)
        library.call(name, *parts, *new, 0.3, EPS, *rest, mean, inverse)
        _near(mean, center, 4)
        _near(inverse, (spread + EPS).rsqrt(), 4)
        _near(new[0], running[0], 4)
        _near(new[1], running[1], 4)
    totals = torch.zeros(2, 6)
    dweight = torch.zeros(6)
    for x, grad in zip(shards, grads, strict=True):
        own, dw, db = torch.empty(2, 6), torch.empty(6), torch.empty(6)
        flags = (True, True, True)
        library.call(
            "aclnnBatchNormReduceBackward",
            grad,
            x,
            mean,
            inverse,
            weight,
            *flags,
            own[0],
            own[1],
            dw,
            db,
        )
        assert torch.equal(db, own[0])
        totals += own
        dweight += dw
    _near(dweight, w.grad, a.numel() // 6)
    for x, grad, part in zip(shards, grads, a.grad.split([len(x) for x in shards]), strict=True):
        dx = torch.empty_like(x)
        library.call(
            "aclnnBatchNormElemtBackward", grad, x, mean, inverse, weight, *totals, counts, dx
        )
        _near(dx, part, 16)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("affine", [True, False], ids=["affine", "plain"])
def test_group_norm(
    library: Library, shape: str, dtype: torch.dtype, last: bool, groups: int, affine: bool
) -> None:
    g = seeded("group norm", shape, dtype, groups)
    x = _images(shape, dtype, g, last)
    n, c, places = x.shape[0], 6, x.numel() // (6 * x.shape[0])
    weight, bias = (_random((6,), dtype, g), _random((6,), dtype, g)) if affine else (None, None)
    a, w, b = _leaf(x), _leaf(weight) if affine else None, _leaf(bias) if affine else None
    want, mean, rstd = torch.native_group_norm(a, w, b, n, c, places, groups, EPS)
    out = torch.empty_like(x)
    means = [torch.empty(mean.shape, dtype=_statistics(dtype)) for _ in range(2)]
    library.call("aclnnGroupNorm", x, weight, bias, n, c, places, groups, EPS, out, *means)
    # A group with one value has the deviation 0: it is divided by eps alone.
    scale = rstd.max().item()
    assert_near(
        out, want.detach(), 2 * epsilon(dtype), 64 * compute_epsilon(dtype) * (1 + scale) * 8
    )
    _near(means[0], mean)
    _near(means[1], rstd)
    grad = _images(shape, dtype, g, not last)
    want.backward(grad.double())
    dx = torch.empty(x.shape, dtype=dtype)
    dw, db = torch.empty(6, dtype=dtype), torch.empty(6, dtype=dtype)
    arguments = (grad, x, *means, weight, n, c, places, groups)
    mask = [True, affine, affine]
    library.call(
        "aclnnGroupNormBackward", *arguments, mask, dx, *((dw, db) if affine else (None, None))
    )
    _near(dx, a.grad, 4 * (1 + scale) ** 2)
    if affine:
        _near(dw, w.grad, x.numel() * (1 + scale))
        _near(db, b.grad, x.numel())


def test_empty_tensors(library: Library) -> None:
    x, one = torch.empty(0, 3), torch.ones(3)
    library.call("aclnnLayerNorm", x, [3], one, one, EPS, x, torch.empty(0), torch.empty(0))
    dw, db = torch.full((3,), 7.0), torch.full((3,), 7.0)
    none = torch.empty(0)
    library.call("aclnnLayerNormBackward", x, x, [3], none, none, one, one, ALL, x, dw, db)
    assert (dw == 0).all()
    assert (db == 0).all()


def test_bad_input(library: Library) -> None:
    x, one, many = torch.ones(2, 3), torch.ones(3), torch.empty(2, 3)
    two = torch.empty(2)
    for message, name, arguments in (
        ("the last dimensions", "aclnnLayerNorm", (x, [2], None, None, EPS, many, two, two)),
        ("3 elements are needed", "aclnnLayerNorm", (x, [3], two, None, EPS, many, two, two)),
        ("of floating-point", "aclnnLayerNorm", (x.long(), [3], None, None, EPS, many, two, two)),
        ("the last dimensions", "aclnnRmsNorm", (x, two, EPS, many, two)),
        (
            "groups of equal size",
            "aclnnGroupNorm",
            (x, None, None, 2, 3, 1, 2, EPS, many, two, two),
        ),
        ("dimension of channels", "aclnnBatchNormStats", (one, EPS, one, one)),
        (
            "outputMask has 1",
            "aclnnLayerNormBackward",
            (x, x, [3], two, two, one, one, [True], many, one, one),
        ),
    ):
        with pytest.raises(AclnnError, match=message) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID
    with pytest.raises(AclnnError, match="which evaluation needs, is null") as error:
        library.call("aclnnBatchNorm", x, None, None, None, None, False, 0.1, EPS, many, one, one)
    assert error.value.code == NULL
