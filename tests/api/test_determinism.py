"""The level of determinism, its scope in both passes, and the alerts of operators."""

import warnings

import pytest
import torch
import torch.nn.functional as F

from torch_npu.npu.deterministic import _get_deterministic_level


@pytest.fixture(autouse=True)
def without_determinism():
    yield
    torch.use_deterministic_algorithms(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.npu.set_deterministic_level(0)


@pytest.mark.api("torch.npu.set_deterministic_level")
def test_the_level_and_torchs_setting_agree():
    assert _get_deterministic_level() == 0
    with pytest.warns(UserWarning, match="has been configured to 'True'"):
        torch.npu.set_deterministic_level(1)
    assert torch.are_deterministic_algorithms_enabled()
    assert _get_deterministic_level() == 1
    with pytest.warns(UserWarning, match="results are those of level 1 here"):
        torch.npu.set_deterministic_level(2)
    assert _get_deterministic_level() == 2
    with pytest.warns(UserWarning, match="has been configured to 'False'"):
        torch.npu.set_deterministic_level(0)
    assert not torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    assert _get_deterministic_level() == 1


@pytest.mark.parametrize(("level", "error"), [(4, ValueError), (-1, ValueError), ("1", TypeError)])
def test_levels_that_do_not_exist_are_refused(level, error):
    with pytest.raises(error, match="level must be"):
        torch.npu.set_deterministic_level(level)
    assert not torch.are_deterministic_algorithms_enabled()


class Spy(torch.autograd.Function):
    seen: list[tuple[str, bool]] = []  # noqa: RUF012

    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        Spy.seen.append((name, torch.are_deterministic_algorithms_enabled()))
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        Spy.seen.append((ctx.name, torch.are_deterministic_algorithms_enabled()))
        return gradient * 2, None


@pytest.mark.api(
    "torch.npu.enable_deterministic_with_backward",
    "torch.npu.disable_deterministic_with_backward",
    "torch.npu.deterministic.enable_deterministic_with_backward",
    "torch.npu.deterministic.disable_deterministic_with_backward",
)
@pytest.mark.parametrize("module", [torch.npu, torch.npu.deterministic])
def test_a_scope_is_deterministic_in_both_passes(module):
    Spy.seen = []
    x = torch.ones(2, device="npu", requires_grad=True)
    y = Spy.apply(x, "before")
    y = module.enable_deterministic_with_backward(y)
    y = Spy.apply(y, "inside")
    y = module.disable_deterministic_with_backward(y)
    y = Spy.apply(y, "after")
    assert y.tolist() == [8.0, 8.0]
    assert Spy.seen == [("before", False), ("inside", True), ("after", False)]
    Spy.seen = []
    y.sum().backward()
    assert Spy.seen == [("after", False), ("inside", True), ("before", False)]
    assert x.grad.tolist() == [8.0, 8.0]


def gradient_of(call, *size):
    def run():
        x = torch.rand(size, device="npu", requires_grad=True)
        y = call(x)
        y.backward(torch.ones_like(y))

    return run


def resized(mode, dims):
    return gradient_of(lambda x: F.interpolate(x, size=[6] * dims, mode=mode), 1, 2, *[4] * dims)


def upsampled(function, dims):
    """F.interpolate has another, deterministic implementation for these."""
    return gradient_of(lambda x: function(x, [6] * dims, False), 1, 2, *[4] * dims)


def padded(mode, dims):
    return gradient_of(lambda x: F.pad(x, [1, 1] * dims, mode=mode), 1, 2, *[4] * dims)


def sampled(dims):
    grid = [1, *[3] * dims, dims]
    return gradient_of(
        lambda x: F.grid_sample(x, torch.rand(grid, device="npu"), align_corners=False),
        1, 2, *[4] * dims,
    )  # fmt: skip


def nll_loss2d():
    scores = torch.rand(1, 3, 2, 2, device="npu")
    F.nll_loss(scores, torch.zeros(1, 2, 2, dtype=torch.long, device="npu"))


def ctc_loss():
    x = torch.rand(4, 1, 3, device="npu", requires_grad=True)
    F.ctc_loss(
        x, torch.tensor([[1, 2]], device="npu"), torch.tensor([4]), torch.tensor([2])
    ).backward()


def embedding_bag():
    layer = torch.nn.EmbeddingBag(4, 3, mode="max").npu()
    layer(
        torch.tensor([0, 1, 2], device="npu"), torch.tensor([0, 2], device="npu")
    ).sum().backward()


def put(accumulate):
    values = torch.zeros(4, device="npu")
    values.put_(
        torch.tensor([0, 1], device="npu"), torch.ones(2, device="npu"), accumulate=accumulate
    )


def unpooled(dims):
    x = torch.rand(1, 1, *[3] * dims, device="npu")
    unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[dims - 1]
    unpool(x, torch.zeros(x.shape, dtype=torch.long, device="npu"), 2)


ALERTS = {
    "avg_pool3d_backward_npu": gradient_of(lambda x: F.avg_pool3d(x, 2), 1, 2, 4, 4, 4),
    "adaptive_avg_pool2d_backward_npu": gradient_of(
        lambda x: F.adaptive_avg_pool2d(x, 3), 1, 2, 4, 4
    ),
    "adaptive_avg_pool3d_backward_npu": gradient_of(
        lambda x: F.adaptive_avg_pool3d(x, 3), 1, 2, 4, 4, 4
    ),
    "adaptive_max_pool2d_backward_npu": gradient_of(
        lambda x: F.adaptive_max_pool2d(x, 3), 1, 2, 4, 4
    ),
    "max_pool3d_with_indices_backward_npu": gradient_of(
        lambda x: F.max_pool3d(x, 2), 1, 2, 4, 4, 4
    ),
    "fractional_max_pool2d_backward_npu": gradient_of(
        lambda x: F.fractional_max_pool2d(x, 2, output_size=2), 1, 2, 4, 4
    ),
    "fractional_max_pool3d_backward_npu": gradient_of(
        lambda x: F.fractional_max_pool3d(x, 2, output_size=2), 1, 2, 4, 4, 4
    ),
    "upsample_linear1d_backward_out_npu": resized("linear", 1),
    "upsample_bilinear2d_backward_out_npu": upsampled(torch._C._nn.upsample_bilinear2d, 2),
    "upsample_bicubic2d_backward_out_npu": resized("bicubic", 2),
    "upsample_trilinear3d_backward_out_npu": upsampled(torch._C._nn.upsample_trilinear3d, 3),
    "reflection_pad1d_backward_out_npu": padded("reflect", 1),
    "reflection_pad3d_backward_out_npu": padded("reflect", 3),
    "replication_pad1d_backward_npu": padded("replicate", 1),
    "replication_pad3d_backward_npu": padded("replicate", 3),
    "grid_sampler_2d_backward_npu": sampled(2),
    "grid_sampler_3d_backward_npu": sampled(3),
    "nll_loss2d_forward_out_npu_template": nll_loss2d,
    "ctc_loss_backward_gpu": ctc_loss,
    "embedding_bag_backward_npu_max": embedding_bag,
    "_bincount_npu": lambda: torch.bincount(
        torch.tensor([1], device="npu"), torch.ones(1, device="npu")
    ),
    "kthvalue NPU": lambda: torch.kthvalue(torch.rand(5, device="npu"), 2),
    "median NPU with indices output": lambda: torch.median(torch.rand(5, device="npu"), 0),
    "put_": lambda: put(accumulate=True),
    "put_ without": lambda: put(accumulate=False),
    "max_unpooling2d_forward_out": lambda: unpooled(2),
    "max_unpooling3d_forward_out": lambda: unpooled(3),
}


@pytest.mark.parametrize("name", ALERTS)
def test_nondeterministic_operators_raise_or_warn(name):
    text = name.removesuffix(" without") + " does not have a deterministic implementation"
    run = ALERTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match=text):
        run()
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match=text):
        run()


def test_deterministic_operators_do_not_alert():
    torch.use_deterministic_algorithms(True)
    x = torch.rand(5, device="npu")
    torch.median(x)
    torch.bincount(torch.tensor([1], device="npu"))
    image = torch.rand(1, 2, 4, 4, device="npu", requires_grad=True)
    F.pad(image, (3, 4, 5, 6), mode="replicate").sum().backward()
    expected = image.detach().cpu().requires_grad_()
    F.pad(expected, (3, 4, 5, 6), mode="replicate").sum().backward()
    assert torch.equal(image.grad.cpu(), expected.grad)
    x.index_add(0, torch.tensor([0, 0], device="npu"), torch.ones(2, device="npu"))
    layer = torch.nn.EmbeddingBag(4, 3, mode="mean").npu()
    layer(torch.tensor([0, 1], device="npu"), torch.tensor([0], device="npu")).sum().backward()


def test_alerted_operators_give_the_same_results_as_on_the_cpu():
    x = torch.rand(6, 7)
    values, indices = torch.median(x.npu(), 1)
    assert torch.equal(values.cpu(), torch.median(x, 1).values)
    assert torch.equal(indices.cpu(), torch.median(x, 1).indices)
    out = torch.empty(6, device="npu")
    torch.kthvalue(x.npu(), 2, 1, out=(out, torch.empty(6, dtype=torch.long, device="npu")))
    assert torch.equal(out.cpu(), torch.kthvalue(x, 2, 1).values)
