"""PyTorch's features above its operators work on npu tensors as on others; docs/features.md lists them."""

import copy
import warnings

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from torch_npu import accuracy


def test_data_dependent_control_flow():
    x = torch.full((3,), 5.0, device="npu", requires_grad=True)
    y, steps = x, 0
    while y.norm() < 100:
        y = y * 2 if y.sum() > 20 else y + 1
        steps += 1
    y.sum().backward()
    assert steps == 6
    assert x.grad.tolist() == [16.0] * 3


def test_hooks():
    layer = torch.nn.Linear(2, 2).npu()
    seen = []
    layer.register_forward_hook(lambda m, inputs, output: seen.append(("forward", output.device)))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(("backward", go[0].device)))
    layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append(("grad", p.grad.device)))
    layer(torch.ones(1, 2, device="npu", requires_grad=True)).sum().backward()
    npu = torch.device("npu:0")
    assert seen[0] == ("forward", npu)
    assert sorted(seen[1:], key=str) == [("backward", npu), ("grad", npu)]


def test_anomaly_detection_names_the_operator():
    x = torch.zeros(1, device="npu", requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.detect_anomaly():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"):
            (x.sqrt() * 0).sum().backward()


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_activation_checkpoints_draw_the_same_numbers(use_reentrant):
    dropout = torch.nn.Dropout(0.5)
    x = torch.ones(1000, device="npu", requires_grad=True)
    y = checkpoint(lambda t: dropout(t) * t, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert torch.equal(x.grad, 2 * y)


def test_saved_tensors_on_the_cpu():
    x = torch.arange(3.0, device="npu").requires_grad_()
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [0, 2, 4]


def test_function_transforms():
    x = torch.randn(4, 3, device="npu")
    torch.testing.assert_close(torch.func.vmap(torch.dot)(x, x), (x * x).sum(1))
    accuracy.assert_close(torch.func.grad(lambda t: t.pow(3).sum())(x), 3 * x * x, equal_nan=False)
    accuracy.assert_close(
        torch.func.jacrev(torch.sin)(x[0]), torch.diag(x[0].cos()), equal_nan=False
    )
    hessian = torch.func.hessian(lambda t: t.pow(3).sum())(x[0])
    accuracy.assert_close(hessian, torch.diag(6 * x[0]), equal_nan=False)


def test_lazy_modules():
    model = torch.nn.Sequential(torch.nn.LazyConv2d(4, 3), torch.nn.LazyBatchNorm2d()).npu()
    assert model(torch.ones(2, 3, 8, 8, device="npu")).shape == (2, 4, 6, 6)
    assert {p.device.type for p in model.parameters()} == {"npu"}


def test_modules_keep_their_parameters():
    layer = torch.nn.Linear(2, 2)
    weight = layer.weight
    layer.to("npu")
    assert layer.weight is weight
    assert weight.is_npu
    optimizer = torch.optim.SGD([weight], lr=1.0)
    layer(torch.ones(1, 2, device="npu")).sum().backward()
    before = weight.detach().clone()
    optimizer.step()
    assert torch.equal(weight.detach(), before - 1)


def test_type_promotion():
    single, double = torch.ones(2, device="npu"), torch.ones(2, dtype=torch.double, device="npu")
    assert (single + double).dtype == torch.double
    assert (single + torch.tensor(1, dtype=torch.double, device="npu")).dtype == torch.float
    assert (single.int() + 1.5).dtype == torch.float
    assert (single + 1j).dtype == torch.complex64
    assert torch.result_type(single.bool(), single.char()) == torch.int8


def test_views_follow_their_base():
    base = torch.zeros(4, 6, device="npu")
    view = base.t()[1::2].unflatten(1, (2, 2))
    view.add_(1)
    assert base.sum() == 12
    assert view._is_view()
    assert view._base is base
    version = base._version
    view.zero_()
    assert base._version == version + 1
    x = torch.ones(3, device="npu", requires_grad=True)
    y = x * 2
    y[1:].mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [2, 6, 6]


def test_custom_operators():
    @torch.library.custom_op("npu_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("npu has its own")

    @twice.register_kernel("npu")
    def _(x: torch.Tensor) -> torch.Tensor:
        return x + x

    twice.register_autograd(lambda ctx, grad: grad * 2)
    twice.register_fake(torch.empty_like)
    x = torch.ones(3, device="npu", requires_grad=True)
    twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    compiled = torch.compile(lambda t: twice(t) + 1, backend="aot_eager", fullgraph=True)
    assert compiled(x.detach()).tolist() == [3, 3, 3]


def test_tensor_subclasses_and_modes():
    class Counting(torch.utils._python_dispatch.TorchDispatchMode):
        seen = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen += 1
            return func(*args, **(kwargs or {}))

    with Counting() as mode:
        torch.ones(3, device="npu") * 2
    assert mode.seen == 2


def test_deterministic_algorithms_fill_new_memory():
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3, device="npu").isnan().all()
        assert torch.empty_strided((2,), (1,), device="npu").isnan().all()
        largest = torch.iinfo(torch.long).max
        assert torch.empty(2, dtype=torch.long, device="npu").tolist() == [largest] * 2
        assert torch.ones(2, device="npu").resize_(4)[2:].isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_default_devices():
    with torch.device("npu"):
        assert torch.nn.Linear(2, 2).weight.is_npu
    torch.set_default_device("npu")
    try:
        assert torch.arange(3).is_npu
    finally:
        torch.set_default_device(None)
    assert torch.accelerator.current_accelerator() == torch.device("npu")


def test_numpy_goes_through_the_cpu():
    x = torch.from_numpy(np.arange(3.0)).npu()
    assert x.dtype == torch.double
    assert np.array_equal(x.cpu().numpy(), np.arange(3.0))
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) to copy"):
        x.numpy()


def test_checkpoints_go_to_the_cpu_and_back(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2).npu()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3, device="npu")).sum().backward()
    optimizer.step()
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "c.pt"
    )
    for device in ("cpu", "npu"):
        state = torch.load(tmp_path / "c.pt", map_location=device, weights_only=True)
        other = torch.nn.Linear(3, 2, device=device)
        other.load_state_dict(state["model"])
        again = torch.optim.Adam(other.parameters())
        again.load_state_dict(state["optimizer"])
        assert torch.equal(other.weight.cpu(), model.weight.cpu())
        moments = (again.state[other.weight]["exp_avg"], optimizer.state[model.weight]["exp_avg"])
        assert torch.equal(moments[0].cpu(), moments[1].cpu())


def test_deep_copies_and_functional_calls():
    model = torch.nn.Linear(3, 2).npu()
    clone = copy.deepcopy(model)
    clone.weight.data.zero_()
    assert model.weight.abs().sum() > 0
    x = torch.ones(1, 3, device="npu")
    out = torch.func.functional_call(model, {"weight": clone.weight, "bias": model.bias}, (x,))
    assert torch.equal(out[0], model.bias)


def test_npu_amp():
    model = torch.nn.Linear(4, 4).npu()
    scaler = torch.npu.amp.GradScaler(init_scale=4.0)
    with torch.npu.amp.autocast(dtype=torch.bfloat16):
        y = model(torch.ones(2, 4, device="npu"))
    assert y.dtype == torch.bfloat16
    scaler.scale(y.float().sum()).backward()
    assert model.bias.grad.tolist() == [8.0] * 4
    before = model.bias.detach().clone()
    scaler.step(torch.optim.SGD(model.parameters(), lr=1.0))
    scaler.update()
    assert torch.equal(model.bias.detach(), before - 2.0)

    class Square(torch.autograd.Function):
        @staticmethod
        @torch.npu.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.npu.amp.custom_bwd
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = torch.ones(2, dtype=torch.half, device="npu", requires_grad=True)
    with torch.npu.amp.autocast():
        y = Square.apply(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
