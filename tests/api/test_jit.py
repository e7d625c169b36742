"""TorchScript on npu, and torch_npu.jit."""

import copy
import io

import pytest
import torch
from torch import Tensor, nn

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

# The traced model has a branch.
pytestmark = pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")


class Gated(nn.Module):
    """Branches, a loop, a submodule, a buffer and a method that is exported."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.gelu = nn.GELU()
        self.register_buffer("scale", torch.full((4,), 2.0))

    def forward(self, x: Tensor, times: int = 2) -> Tensor:
        for _ in range(times):
            x = self.gelu(self.linear(x)) * self.scale
        if bool(x.sum() > 1e6):
            x = x - 1e6
        return x

    @torch.jit.export
    def double(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Gated().npu()


@pytest.fixture
def x():
    return torch.randn(3, 4, generator=torch.Generator().manual_seed(1)).npu()


def _same(found, expected):
    accuracy.assert_close(found, expected, Tolerance(1e-6, 1e-6), equal_nan=False)


def test_a_scripted_model_computes_and_trains_as_the_model(model, x):
    scripted = torch.jit.script(copy.deepcopy(model))
    for _ in range(3):  # the second and third call run the optimized plan
        _same(scripted(x), model(x))
    _same(scripted(x, 5), model(x, 5))
    assert torch.equal(scripted.double(x), model.double(x))
    for module in (scripted, model):
        module(x).square().sum().backward()
    _same(scripted.linear.weight.grad, model.linear.weight.grad)


def test_a_traced_model_computes_as_the_model(model, x):
    traced = torch.jit.trace(model, x)
    for rows in (3, 5):
        other = torch.randn(rows, 4, device="npu")
        _same(traced(other), model(other))
    assert next(traced.parameters()).device.type == "npu"


def test_a_frozen_model_has_its_weights_as_constants(model, x):
    frozen = torch.jit.freeze(torch.jit.script(model.eval()))
    assert not list(frozen.parameters())
    for _ in range(3):
        _same(frozen(x), model(x))
    optimized = torch.jit.optimize_for_inference(torch.jit.script(model.eval()))
    _same(optimized(x), model(x))


@pytest.mark.parametrize(
    "make", [torch.jit.script, lambda m: torch.jit.freeze(torch.jit.script(m.eval()))]
)
@pytest.mark.parametrize("location", [None, "npu", "npu:0", "cpu", torch.device("npu")])
def test_a_saved_model_is_loaded_where_map_location_says(model, x, make, location):
    expected = model(x)
    buffer = io.BytesIO()
    torch.jit.save(make(model), buffer)
    loaded = torch.jit.load(io.BytesIO(buffer.getvalue()), map_location=location)
    target = torch.device("npu" if location is None else location)
    _same(loaded(x.to(target)).npu(), expected)
    assert all(p.device.type == target.type for p in loaded.parameters())


def test_a_model_saved_on_the_cpu_is_loaded_on_npu(model, x, tmp_path):
    path = tmp_path / "model.pt"
    torch.jit.script(copy.deepcopy(model).cpu()).save(str(path))
    loaded = torch.jit.load(path, map_location="npu")
    assert {p.device.type for p in loaded.parameters()} == {"npu"}
    assert loaded.scale.device.type == "npu"
    _same(loaded(x), model(x))
    _same(torch.jit.load(path).npu()(x), model(x))


def test_devices_and_types_are_told_apart_in_scripts():
    @torch.jit.script
    def created(x: Tensor, device: torch.device):
        y = torch.zeros(2, device="npu") + torch.ones(2, device=device)
        return y, x.device == y.device, y.to("cpu"), y.half()

    y, same, on_cpu, half = created(torch.ones(1, device="npu"), torch.device("npu"))
    assert (y.device.type, same, on_cpu.device.type, half.dtype) == (
        "npu",
        True,
        "cpu",
        torch.float16,
    )


def test_npu_operators_are_scripted():
    @torch.jit.script
    def norm(x: Tensor, g: Tensor):
        return torch.ops.npu.npu_rms_norm(x, g, 1e-5)[0]

    x, g = torch.randn(3, 8, device="npu"), torch.ones(8, device="npu")
    _same(norm(x, g), torch.nn.functional.rms_norm(x, (8,), g, 1e-5))


FUSION = "torch_npu.jit.fusion_pass.fast_gelu.fast_gelu_pass"
MAKERS = [
    torch.jit.script,
    lambda m: torch.jit.trace(m, torch.ones(2, 4).npu()),
    lambda m: torch.jit.freeze(torch.jit.script(m.eval())),
]


@pytest.mark.api("torch_npu.jit.optimize", "torch_npu.jit.register_fusion_pattern.optimize", FUSION)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "rewrite", [torch_npu.jit.optimize, torch_npu.jit.fusion_pass.fast_gelu.fast_gelu_pass]
)
@pytest.mark.parametrize("ran", [False, True])
def test_gelu_becomes_fast_gelu(model, x, make, rewrite, ran):
    created, other = make(model), make(model)
    for _ in range(3 if ran else 0):
        created(x)
    rewrite(created)
    assert "npu::fast_gelu" in str(created.graph)
    assert "aten::gelu" not in str(created.graph)

    def step(x):
        return torch.ops.npu.fast_gelu(model.linear(x)) * model.scale

    _same(created(x), step(step(x)))
    _same(other(x), model(x))  # of the same class
    buffer = io.BytesIO()
    torch.jit.save(created, buffer)
    _same(torch.jit.load(io.BytesIO(buffer.getvalue()))(x), step(step(x)))


@pytest.mark.parametrize("make", [torch.jit.script, lambda f: torch.jit.trace(f, torch.ones(2))])
@pytest.mark.parametrize("ran", [False, True])
def test_gelu_becomes_fast_gelu_in_a_function(make, ran):
    def squared_gelu(x: Tensor):
        return torch.nn.functional.gelu(x**2)

    x = torch.linspace(0, 2, 8, device="npu")
    created = make(squared_gelu)
    for _ in range(3 if ran else 0):
        created(x)
    torch_npu.jit.optimize(created)
    assert "npu::fast_gelu" in str(created.graph)
    expected = torch.ops.npu.fast_gelu(x**2)
    for _ in range(3):
        _same(created(x), expected)
    buffer = io.BytesIO()
    torch.jit.save(created, buffer)
    _same(torch.jit.load(io.BytesIO(buffer.getvalue()))(x), expected)


def test_gelu_becomes_fast_gelu_in_a_traced_module_without_parameters():
    class Gelu(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.gelu(x)

    x = torch.linspace(0, 2, 8, device="npu")
    created = torch.jit.trace(Gelu(), x)
    torch_npu.jit.optimize(created)
    _same(created(x), torch.ops.npu.fast_gelu(x))


def test_an_optimized_model_keeps_its_parameters_and_methods(model, x):
    created = torch.jit.script(model)
    parameters = list(created.parameters())
    torch_npu.jit.optimize(created)
    assert [p.data_ptr() for p in created.parameters()] == [p.data_ptr() for p in parameters]
    created(x).sum().backward()
    assert model.linear.weight.grad.abs().sum() > 0
    with torch.no_grad():
        model.scale.fill_(3.0)
    assert torch.equal(created.double(x), x * 3)
    assert created.eval().training is False
    assert set(created.state_dict()) == set(model.state_dict())


def test_what_is_not_scripted_is_refused(model):
    with pytest.raises(TypeError, match=r"expected a module or function of torch\.jit, not Gated"):
        torch_npu.jit.optimize(model)
