"""torch_npu.optim: each optimizer against its algorithm in float64, and what combining must not change."""

import copy
import io
import math

import pytest
import torch

import torch_npu
from torch_npu import accuracy, optim
from torch_npu.accuracy import Tolerance

MODULE = "torch_npu.optim"
TORCH = {
    "NpuFusedSGD": torch.optim.SGD,
    "NpuFusedAdam": torch.optim.Adam,
    "NpuFusedAdamW": torch.optim.AdamW,
    "NpuFusedAdadelta": torch.optim.Adadelta,
    "NpuFusedRMSprop": torch.optim.RMSprop,
}
FILES = {
    "NpuFusedSGD": "npu_fused_sgd",
    "NpuFusedAdam": "npu_fused_adam",
    "NpuFusedAdamW": "npu_fused_adamw",
    "NpuFusedAdadelta": "npu_fused_adadelta",
    "NpuFusedRMSprop": "npu_fused_rmsprop",
}
SHAPES = ((4, 3, 2, 2), (7,), (5, 6), (1,), ())


def parameters(dtype=torch.float32, shapes=SHAPES, seed=0):
    """Parameters on npu, and the same values in float64 on the CPU."""
    torch.manual_seed(seed)
    values = [torch.randn(shape).to(dtype) for shape in shapes]
    on_npu = [torch.nn.Parameter(value.npu()) for value in values]
    return on_npu, [torch.nn.Parameter(value.double()) for value in values]


def gradients(params, reference, step):
    """The same new gradients, rounded to the parameters' dtype."""
    torch.manual_seed(100 + step)
    for p, r in zip(params, reference, strict=True):
        value = torch.randn(p.shape).to(p.dtype)
        p.grad, r.grad = value.to(p.device), value.to(r.device, r.dtype)


def train(optimizer, reference_step, params, reference, steps=5):
    for step in range(steps):
        gradients(params, reference, step)
        optimizer.step()
        reference_step()


def assert_equal(params, reference, dtype=torch.float32):
    # Five steps, of a few roundings each: in half precision also of the states.
    roundings = 64 * torch.finfo(dtype).eps
    for p, r in zip(params, reference, strict=True):
        accuracy.assert_close(p, r, Tolerance(roundings, roundings), equal_nan=False)


def api(*names):
    return pytest.mark.api(*names)


CASES = [
    ("NpuFusedSGD", {"lr": 0.1}),
    ("NpuFusedSGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "dampening": 0.3}),
    ("NpuFusedSGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("NpuFusedAdam", {"lr": 0.01, "weight_decay": 0.1}),
    ("NpuFusedAdam", {"lr": 0.01, "amsgrad": True, "betas": (0.8, 0.7), "eps": 1e-4}),
    ("NpuFusedAdamW", {"lr": 0.01}),
    ("NpuFusedAdamW", {"lr": 0.01, "weight_decay": 0.2, "amsgrad": True}),
    ("NpuFusedAdadelta", {}),
    ("NpuFusedAdadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-4, "weight_decay": 0.1}),
    ("NpuFusedRMSprop", {}),
    ("NpuFusedRMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "eps": 1e-3}),
]


@pytest.mark.parametrize(
    ("name", "options"),
    [pytest.param(n, o, marks=api(f"{MODULE}.{n}", f"{MODULE}.{FILES[n]}.{n}")) for n, o in CASES],
)
def test_it_is_pytorchs_algorithm(name, options):
    params, reference = parameters()
    optimizer = getattr(optim, name)(params, **options)
    expected = TORCH[name](reference, **options)
    train(optimizer, expected.step, params, reference)
    assert_equal(params, reference)


class Reference:
    """Steps of published formulas, in float64, one parameter after another."""

    def __init__(self, params, **options):
        self.params, self.options, self.count = params, options, 0
        self.state = [{} for _ in params]

    @torch.no_grad()
    def step(self):
        self.count += 1
        self.prepare()
        for p, state in zip(self.params, self.state, strict=True):
            p += self.change(p, p.grad, state)

    def prepare(self):
        pass

    def adam_means(self, g, state, b1, b2):
        state["m"] = b1 * state.get("m", 0 * g) + (1 - b1) * g
        state["v"] = b2 * state.get("v", 0 * g) + (1 - b2) * g * g
        return state["m"], state["v"]


class Lamb(Reference):
    """You et al. 2020, Algorithm 2, without debiasing; phi clips at 10."""

    def prepare(self):
        norm = math.sqrt(sum(float((p.grad**2).sum()) for p in self.params))
        self.scale = max(norm, 1.0) if self.options.get("use_global_grad_norm") else 1.0

    def change(self, p, g, state):
        lr, wd = self.options.get("lr", 1e-3), self.options.get("weight_decay", 0)
        m, v = self.adam_means(g / self.scale, state, *self.options.get("betas", (0.9, 0.999)))
        u = m / (v.sqrt() + 1e-6) + wd * p
        phi, length = min(float(p.norm()), 10.0), float(u.norm())
        trust = phi / length if phi and length and not self.options.get("adam") else 1.0
        return -lr * trust * u


class AdamP(Reference):
    """Heo et al. 2021, Algorithm 2, with the official repository's channel-wise and layer-wise test."""

    def change(self, p, g, state):
        b1, b2 = 0.9, 0.999
        lr, wd = self.options["lr"], self.options.get("weight_decay", 0)
        delta, ratio = self.options.get("delta", 0.1), self.options.get("wd_ratio", 0.1)
        m, v = self.adam_means(g, state, b1, b2)
        top = b1 * m + (1 - b1) * g if self.options.get("nesterov") else m
        u = top / ((v / (1 - b2**self.count)).sqrt() + 1e-8)
        kept = 1.0
        if p.dim() > 1:
            for view in (p.flatten(1), p.reshape(1, -1)):
                gv = g.reshape(view.shape)
                cosine = (view * gv).sum(1).abs() / view.norm(dim=1) / gv.norm(dim=1)
                if cosine.max() < delta / math.sqrt(view.shape[1]):
                    unit = view / view.norm(dim=1, keepdim=True)
                    uv = u.reshape(view.shape)
                    u = (uv - unit * (unit * uv).sum(1, keepdim=True)).reshape(p.shape)
                    kept = ratio
                    break
        shrunk = p * (1 - lr * wd * kept)
        return shrunk - lr / (1 - b1**self.count) * u - p


class BertAdam(Reference):
    """Devlin et al. 2018, appendix A.2; gradients clipped together, the rate scheduled by the steps before."""

    def prepare(self):
        norm = math.sqrt(sum(float((p.grad**2).sum()) for p in self.params))
        limit = self.options.get("max_grad_norm", 1.0)
        self.scale = min(1.0, limit / (norm + 1e-6)) if limit > 0 else 1.0
        total, warmup = self.options.get("t_total", -1), self.options.get("warmup", -1)
        x = (self.count - 1) / total
        after = {
            "warmup_linear": lambda: max((x - 1) / (warmup - 1), 0),
            "warmup_cosine": lambda: (1 + math.cos(math.pi * x)) / 2,
            "warmup_constant": lambda: 1,
            "warmup_poly": lambda: math.sqrt(1 - x),
        }[self.options.get("schedule", "warmup_linear")]
        self.lr = self.options["lr"]
        if total != -1:
            self.lr *= x / warmup if x < warmup else after()

    def change(self, p, g, state):
        m, v = self.adam_means(g * self.scale, state, 0.9, 0.999)
        return -self.lr * (m / (v.sqrt() + 1e-6) + self.options.get("weight_decay", 0.01) * p)


class RMSpropTF(Reference):
    """tf.compat.v1.train.RMSPropOptimizer: ms begins with one, epsilon below the root, mom has the rate."""

    def change(self, p, g, state):
        o = {"alpha": 0.9, "eps": 1e-10, "momentum": 0, "weight_decay": 0, **self.options}
        start = p.clone()
        if o.get("decoupled_decay"):
            start = p - o["weight_decay"] * p
        else:
            g = g + o["weight_decay"] * p
        state["ms"] = o["alpha"] * state.get("ms", torch.ones_like(p)) + (1 - o["alpha"]) * g * g
        spread = state["ms"]
        if o.get("centered"):
            state["mg"] = o["alpha"] * state.get("mg", 0 * g) + (1 - o["alpha"]) * g
            spread = spread - state["mg"] ** 2
        u = g / (spread + o["eps"]).sqrt()
        inside, outside = (o["lr"], 1) if o.get("lr_in_momentum", True) else (1, o["lr"])
        if o["momentum"]:
            state["mom"] = o["momentum"] * state.get("mom", 0 * g) + inside * u
            return start - p - outside * state["mom"]
        return start - p - o["lr"] * u


PUBLISHED = [
    ("Lamb", Lamb, {"lr": 0.02}),
    ("Lamb", Lamb, {"lr": 0.02, "weight_decay": 0.1, "use_global_grad_norm": True}),
    ("Lamb", Lamb, {"lr": 0.02, "adam": True, "betas": (0.8, 0.9)}),
    ("AdamP", AdamP, {"lr": 0.02, "weight_decay": 0.1}),
    ("AdamP", AdamP, {"lr": 0.02, "weight_decay": 0.1, "delta": 1.0, "wd_ratio": 0.3}),
    ("AdamP", AdamP, {"lr": 0.02, "delta": 5.0, "nesterov": True, "weight_decay": 0.2}),
    ("BertAdam", BertAdam, {"lr": 0.02}),
    ("BertAdam", BertAdam, {"lr": 0.02, "warmup": 0.4, "t_total": 5, "max_grad_norm": -1}),
    ("BertAdam", BertAdam, {"lr": 0.02, "warmup": 0.2, "t_total": 8, "schedule": "warmup_cosine"}),
    ("BertAdam", BertAdam, {"lr": 0.02, "warmup": 0.2, "t_total": 8, "schedule": "warmup_poly"}),
    ("BertAdam", BertAdam, {"lr": 0.1, "warmup": 0.2, "t_total": 8, "schedule": "warmup_constant"}),
    ("RMSpropTF", RMSpropTF, {"lr": 0.02}),
    ("RMSpropTF", RMSpropTF, {"lr": 0.02, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    (
        "RMSpropTF",
        RMSpropTF,
        {"lr": 0.02, "momentum": 0.9, "decoupled_decay": True, "weight_decay": 0.1}
        | {"lr_in_momentum": False},
    ),
]
MODULES = {"Lamb": "lamb", "AdamP": "adamp", "BertAdam": "bert_adam", "RMSpropTF": "rmsprop_tf"}


def _names(name):
    created = f"NpuFused{name}"
    names = [f"{MODULE}.{created}", f"{MODULE}.npu_fused_{MODULES[name]}.{created}"]
    return [*names, f"{MODULE}.{created}.step"] if name in ("Lamb", "AdamP") else names


@pytest.mark.parametrize(
    ("name", "reference_class", "options"),
    [pytest.param(n, r, o, marks=api(*_names(n))) for n, r, o in PUBLISHED],
)
def test_it_is_the_published_algorithm(name, reference_class, options):
    params, reference = parameters()
    optimizer = getattr(optim, f"NpuFused{name}")(params, **options)
    train(optimizer, reference_class(reference, **options).step, params, reference)
    assert_equal(params, reference)


def test_projection_of_adamp_happens_and_does_not_happen_in_these_cases():
    """The cases above have parameters that are projected per channel, as a whole, and not at all."""
    params, reference = parameters()
    gradients(params, reference, 0)
    kinds = set()
    for delta in (0.1, 1.0, 5.0):
        for p in (p for p in reference if p.dim() > 1):
            for kind, view in (("channel", p.flatten(1)), ("layer", p.reshape(1, -1))):
                g = p.grad.reshape(view.shape)
                cosine = (view * g).sum(1).abs() / view.norm(dim=1) / g.norm(dim=1)
                if cosine.max() < delta / math.sqrt(view.shape[1]):
                    kinds.add(kind)
                    break
            else:
                kinds.add("none")
    assert kinds == {"channel", "layer", "none"}


EVERY = [(n, o) for n, o in dict(CASES).items()] + [(f"NpuFused{n}", {"lr": 0.02}) for n in MODULES]


@pytest.mark.parametrize(("name", "options"), EVERY)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_follows_float32_within_its_rounding(name, options, dtype):
    params, _ = parameters(dtype)
    exact = [torch.nn.Parameter(p.detach().float().npu()) for p in params]
    half, single = (getattr(optim, name)(ps, **options) for ps in (params, exact))
    for step in range(3):
        gradients(params, exact, step)
        for p, e in zip(params, exact, strict=True):
            e.grad = p.grad.float()
        half.step()
        single.step()
    assert all(p.dtype is dtype for p in params)
    assert_equal(params, exact_on_cpu(exact), dtype)


def exact_on_cpu(params):
    return [p.detach().cpu().double() for p in params]


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_a_loaded_state_goes_on_bit_by_bit(name, options):
    params, _ = parameters()
    created = getattr(optim, name)
    first = created(params, **options)
    train(first, lambda: None, params, params, steps=3)
    buffer = io.BytesIO()
    torch.save(first.state_dict(), buffer)
    other = [torch.nn.Parameter(p.detach().clone()) for p in params]
    second = created(other, **options)
    second.load_state_dict(torch.load(io.BytesIO(buffer.getvalue())))
    for step in (3, 4):
        for chosen in (params, other):
            gradients(chosen, chosen, step)
        first.step()
        second.step()
    for p, o in zip(params, other, strict=True):
        assert torch.equal(p, o)
    steps = {int(state["step"]) for state in second.state_dict()["state"].values()}
    assert steps == {5}


@pytest.mark.parametrize("name", [*TORCH])
def test_a_state_of_pytorchs_optimizer_is_taken(name):
    params, reference = parameters()
    options = {"momentum": 0.9} if name == "NpuFusedSGD" else {}
    expected = TORCH[name](reference, lr=0.1, **options)
    for step in range(2):
        gradients(reference, reference, step)
        expected.step()
    for p, r in zip(params, reference, strict=True):
        p.data.copy_(r.detach())
    optimizer = getattr(optim, name)(params, lr=0.1, **options)
    optimizer.load_state_dict(expected.state_dict())
    for step in (2, 3):
        gradients(params, reference, step)
        optimizer.step()
        expected.step()
    assert_equal(params, reference)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_a_sparse_gradient_is_refused(name, options):
    embedding = torch.nn.Embedding(5, 3, sparse=True).npu()
    embedding(torch.tensor([1, 2], device="npu")).sum().backward()
    optimizer = getattr(optim, name)(embedding.parameters(), **options)
    with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
        optimizer.step()


BASE = [f"{MODULE}.NpuFusedOptimizerBase", f"{MODULE}.npu_fused_optim_base.NpuFusedOptimizerBase"]


def base(*methods):
    return pytest.mark.api(*(f"{MODULE}.NpuFusedOptimizerBase.{method}" for method in methods))


@pytest.mark.api(*BASE)
def test_a_subclass_of_the_base_says_how_to_update():
    class Halves(optim.NpuFusedOptimizerBase):
        def _state_names(self, group):
            return {"seen": 0.0}

        def _update(self, group, block, param, grad, state):
            state["seen"].add_(grad)
            param.sub_(grad, alpha=0.5)

    params, reference = parameters()
    optimizer = Halves(params, {})
    gradients(params, reference, 0)
    expected = [r.detach() - 0.5 * r.grad for r in reference]
    optimizer.step()
    assert_equal(params, expected)
    assert_equal([optimizer.state[p]["seen"] for p in params], [r.grad for r in reference])
    bare = optim.NpuFusedOptimizerBase(params, {})
    with pytest.raises(TypeError, match="does not say which states"):
        bare.step()


@base("get_combined_params", "get_combined_grads", "step")
def test_parameters_and_gradients_are_parts_of_one_memory():
    params, reference = parameters()
    half, _ = parameters(torch.float16, seed=1)
    optimizer = optim.NpuFusedSGD([{"params": params}, {"params": half, "lr": 0.5}], lr=0.1)
    assert optimizer.get_combined_params() == [None, None]
    gradients(params, reference, 0)
    gradients(half, half, 1)
    views = [p.detach().view(-1) for p in params]
    optimizer.step()
    for index, group in enumerate((params, half)):
        values, grads = (
            optimizer.get_combined_params()[index],
            optimizer.get_combined_grads()[index],
        )
        assert values.numel() == grads.numel() == sum(p.numel() for p in group)
        assert torch_npu.utils.is_combined_tensor_valid(values, group)
        assert torch_npu.utils.is_combined_tensor_valid(grads, [p.grad for p in group])
        assert torch.equal(values, torch.cat([p.detach().view(-1) for p in group]))
        assert torch.equal(grads, torch.cat([p.grad.view(-1) for p in group]))
    for p, view in zip(params, views, strict=True):  # made before the memory was combined
        assert torch.equal(view, p.detach().view(-1))
        view.fill_(3.0)
        assert (p == 3).all()
    assert (optimizer.get_combined_params()[0] == 3).all()


@base("zero_grad")
def test_zero_grad_clears_and_keeps_the_memory():
    params, reference = parameters()
    optimizer = optim.NpuFusedAdam(params)
    gradients(params, reference, 0)
    optimizer.zero_grad()
    assert all((p.grad == 0).all() for p in params)
    gradients(params, reference, 0)
    optimizer.step()
    addresses = [p.grad.data_ptr() for p in params]
    stray = params[1].grad = torch.ones_like(params[1])
    optimizer.zero_grad()
    assert (stray == 0).all()
    assert (optimizer.get_combined_grads()[0] == 0).all()
    params[0].sum().backward()
    assert (params[0].grad == 1).all()
    assert params[0].grad.data_ptr() == addresses[0]
    with pytest.raises(ValueError, match="set_to_none is not supported"):
        optimizer.zero_grad(set_to_none=True)


@base("clip_grad_norm_fused_")
@pytest.mark.parametrize("norm_type", [2, 1, 3.0, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 1e6])
def test_gradients_are_clipped_as_one_vector(norm_type, max_norm):
    params, reference = parameters()
    half, half_reference = parameters(torch.bfloat16, seed=1)
    gradients(params, reference, 0)
    gradients(half, half_reference, 1)
    optimizer = optim.NpuFusedSGD([*params, *half], lr=1.0)
    total = optimizer.clip_grad_norm_fused_(max_norm, norm_type)
    expected = torch.nn.utils.clip_grad_norm_([*reference, *half_reference], max_norm, norm_type)
    accuracy.assert_close(total.cpu().double(), expected, Tolerance(1e-5), equal_nan=False)
    assert_equal([p.grad for p in params], [r.grad for r in reference])
    assert_equal([p.grad for p in half], [r.grad for r in half_reference], torch.bfloat16)


@base("clip_grad_norm_fused_")
def test_clipping_without_gradients_is_zero():
    params, _ = parameters()
    assert optim.NpuFusedSGD(params, lr=1.0).clip_grad_norm_fused_(1.0) == 0


@base("step")
@pytest.mark.api(f"{MODULE}.NpuFusedSGD.step")
def test_step_returns_the_closures_loss_and_uses_its_gradients():
    params, reference = parameters(shapes=((3,),))

    def closure():
        optimizer.zero_grad()
        loss = (params[0] ** 2).sum()
        loss.backward()
        return loss

    optimizer = optim.NpuFusedSGD(params, lr=0.25)
    before = (reference[0] ** 2).sum()
    for _ in range(2):
        loss = optimizer.step(closure)
    accuracy.assert_close(loss.cpu().double(), before / 4, Tolerance(1e-5), equal_nan=False)
    assert_equal(params, [reference[0] / 4])
    assert optimizer.step() is None


def test_a_scheduler_and_groups_have_their_own_rates():
    params, reference = parameters()
    groups = [{"params": params[:2], "weight_decay": 0.3}, {"params": params[2:], "lr": 0.5}]
    expected_groups = [
        {"params": reference[:2], "weight_decay": 0.3},
        {"params": reference[2:], "lr": 0.5},
    ]
    optimizer = optim.NpuFusedAdamW(groups, lr=0.1)
    expected = torch.optim.AdamW(expected_groups, lr=0.1)
    schedules = [torch.optim.lr_scheduler.StepLR(o, 2, 0.1) for o in (optimizer, expected)]
    for step in range(5):
        gradients(params, reference, step)
        optimizer.step()
        expected.step()
        for schedule in schedules:
            schedule.step()
    assert_equal(params, reference)


def test_what_moves_is_combined_again():
    """A first gradient later, gradients set to None, a group more, a parameter with other memory, a copy."""
    params, reference = parameters()
    late, late_reference = parameters(seed=1)
    optimizer, expected = optim.NpuFusedSGD(params, lr=0.1), torch.optim.SGD(reference, lr=0.1)

    def steps(first, of=params, of_reference=reference, by=None):
        train(by or optimizer, expected.step, of, of_reference, first)

    gradients(params[:2], reference[:2], 0)
    optimizer.step()
    expected.step()
    steps(2)
    optimizer.add_param_group({"params": late, "lr": 0.3})
    expected.add_param_group({"params": late_reference, "lr": 0.3})
    steps(2, [*params, *late], [*reference, *late_reference])
    with torch.no_grad():
        params[0].data = params[0].data.clone()
    steps(1, [*params, *late], [*reference, *late_reference])
    for p in [*params, *late, *reference, *late_reference]:
        p.grad = None
    optimizer.step()
    assert_equal([*params, *late], [*reference, *late_reference])
    copied = copy.deepcopy(optimizer)
    mine = [p for group in copied.param_groups for p in group["params"]]
    steps(2, mine, [*reference, *late_reference], by=copied)
    assert_equal(mine, [*reference, *late_reference])


def test_dense_memory_formats_and_parts_of_storages_are_parameters():
    torch.manual_seed(0)
    values = [torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last), torch.randn(6, 4)]
    whole = values[1].npu()
    params = [
        torch.nn.Parameter(values[0].npu()),
        torch.nn.Parameter(whole[1:3]),
        torch.nn.Parameter(whole.t()[:, 4:]),
    ]
    assert params[0].is_contiguous(memory_format=torch.channels_last)
    reference = [torch.nn.Parameter(p.detach().cpu().double()) for p in params]
    optimizer, expected = optim.NpuFusedAdam(params, lr=0.1), torch.optim.Adam(reference, lr=0.1)
    train(optimizer, expected.step, params, reference, 3)
    assert_equal(params, reference)
    assert torch.equal(whole[1:3], params[1])


def test_training_a_model_is_training_it_with_pytorchs():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.ReLU(), torch.nn.Flatten())
    model.append(torch.nn.Linear(4 * 36, 3))
    on_npu = copy.deepcopy(model).npu()
    model = model.double()
    optimizers = optim.NpuFusedAdamW(on_npu.parameters()), torch.optim.AdamW(model.parameters())
    for step in range(4):
        x = torch.randn(5, 2, 8, 8)
        for net, optimizer, data in zip(
            (on_npu, model), optimizers, (x.npu(), x.double()), strict=True
        ):
            net(data).square().mean().backward()
            optimizer.step()
            if step % 2:
                net.zero_grad()  # sets gradients to None
            else:
                optimizer.zero_grad()
    assert_equal(on_npu.parameters(), model.parameters())


def test_bad_arguments_are_refused():
    params, _ = parameters()
    bad = [
        ("NpuFusedSGD", {"lr": -1.0}, "Invalid learning rate: -1.0"),
        ("NpuFusedSGD", {"lr": 1.0, "momentum": -1}, "Invalid momentum value: -1"),
        ("NpuFusedSGD", {"lr": 1.0, "nesterov": True}, "Nesterov momentum requires"),
        ("NpuFusedSGD", {}, "required optimization parameter lr"),
        ("NpuFusedAdam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("NpuFusedAdamW", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
        ("NpuFusedAdadelta", {"rho": 1.5}, "Invalid rho value: 1.5"),
        ("NpuFusedRMSprop", {"alpha": -0.1}, "Invalid alpha value: -0.1"),
        ("NpuFusedRMSpropTF", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        ("NpuFusedLamb", {"betas": (0.9, 1.1)}, "Invalid beta parameter at index 1: 1.1"),
        ("NpuFusedBertAdam", {"lr": 1.0, "schedule": "none"}, "Invalid schedule parameter: none"),
        ("NpuFusedBertAdam", {"lr": 1.0, "warmup": 1.5}, "Invalid warmup: 1.5"),
    ]
    for name, options, text in bad:
        with pytest.raises(ValueError, match=text.replace("(", r"\(")):
            getattr(optim, name)(params, **options)
    for name in (
        "NpuFusedSGD",
        "NpuFusedAdam",
        "NpuFusedLamb",
        "NpuFusedBertAdam",
        "NpuFusedRMSprop",
    ):
        with pytest.raises(TypeError, match="learning rate must be a number, not str"):
            getattr(optim, name)(params, lr="a")


@pytest.mark.parametrize(
    ("parameter", "error", "text"),
    [
        (lambda: torch.zeros(2), RuntimeError, "must be on one npu, but are on cpu"),
        (lambda: torch.zeros(2, dtype=torch.float64, device="npu"), TypeError, "torch.float64"),
    ],
)
def test_other_devices_and_dtypes_are_refused(parameter, error, text):
    parameter = torch.nn.Parameter(parameter())
    parameter.grad = torch.zeros_like(parameter)
    with pytest.raises(error, match=text):
        optim.NpuFusedAdam([parameter]).step()
