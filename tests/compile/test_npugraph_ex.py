"""torch.compile(backend="npugraph_ex"): results as eager's, shared parameters, sizes, fallbacks, options."""

import copy
import sys
import warnings
from pathlib import Path

import pytest
import torch
from compiled import check_near
from torch import nn
from torch._dynamo.utils import counters
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from networks import NETWORKS

from torch_npu._core import warnings as package_warnings

STRICT = {"fallback": False}


@pytest.fixture(autouse=True)
def fresh_warnings():
    """Each test sees the first warning of its text."""
    package_warnings._shown.clear()


def strict(function, **options):
    """Compiled by the graph engine only."""
    return torch.compile(function, backend="npugraph_ex", fullgraph=True, options=STRICT, **options)


def check(function, *inputs, terms=1, **options):
    """Checks the compiled function against eager on the CPU; returns it compiled."""
    on_npu = copy.deepcopy(function).npu() if isinstance(function, nn.Module) else function
    compiled = strict(on_npu, **options)
    with torch.no_grad():
        ours = compiled(*(x.npu() for x in inputs))
        check_near([x.cpu() for x in tree_leaves(ours)], tree_leaves(function(*inputs)), terms)
    return compiled


class Block(nn.Module):
    """A convolution, a batch norm with statistics of its own, an activation."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        for own in (self.norm.running_mean, self.norm.weight.data, self.norm.bias.data):
            own.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        """``x`` [N, 3, H, W]."""
        return F.relu(self.norm(self.convolution(x)))


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "lstm"])
def test_a_network_is_one_graph_of_the_engine(name):
    network = NETWORKS[name]().to("npu")
    network.model.eval()
    counters.clear()
    with torch.no_grad():
        ours = strict(network.model)(*network.inputs)
        theirs = network.model(*network.inputs)
    assert not counters["graph_break"]
    tensors = [x for x in tree_leaves(theirs) if isinstance(x, torch.Tensor)]
    check_near([x for x in tree_leaves(ours) if isinstance(x, torch.Tensor)], tensors, terms=1024)


def pointwise(x, y):
    return F.gelu(x) * torch.sigmoid(y) + (x - y).square(), torch.where(x > y, x, 2 * y)


def moved(x, y):
    z = torch.cat((x.transpose(0, 1), y.t().expand(-1, x.shape[0])), 1)
    return z[1:, ::2], z.unsqueeze(0).repeat(2, 1, 1), F.pad(z, (1, -1), value=3.0)


def reduced(x, y):
    centered = x - x.mean(-1, keepdim=True)
    return centered.softmax(-1), x.sum(), x.amax(0), (x * y).var(-1), x.argmax(-1)


def ordered(x, y):
    chosen = x.topk(3, 1), x.sort(0, descending=True), x.max(1), y.min(0, keepdim=True), x.cummax(0)
    return *(list(one) for one in chosen), x.argsort(1)


def scattered(x, y):
    index = torch.arange(6, device=x.device).view(1, 6).expand(6, 6).contiguous()
    once = x.scatter(1, index, y), x.scatter(1, index, 2.5), y.scatter_add(0, index, x)
    return *once, x.scatter_reduce(1, index, y, "amax"), x.index_add(0, index[0], y, alpha=0.5)


@pytest.mark.parametrize("function", [pointwise, moved, reduced, ordered, scattered])
def test_a_function(function):
    x = torch.randn(6, 8)
    check(function, x, torch.randn(1, 8) if function is moved else torch.randn(6, 8), terms=64)


@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last])
def test_a_convolution_takes_its_batch_norm(format):
    model = Block().eval().to(memory_format=format)
    x = torch.randn(2, 3, 9, 9).to(memory_format=format)
    check(model, x, terms=27)


def test_the_mean_of_an_image_in_channels_last():
    network = nn.Sequential(Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    x = torch.randn(2, 3, 9, 8).to(memory_format=torch.channels_last)
    check(network.eval().to(memory_format=torch.channels_last), x, terms=27 * 8)


class Images(nn.Module):
    """Operators between convolutions: sums with other ranks, gates, pooling, joins, views and results in the middle."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), nn.Conv2d(8, 8, 3, 2, 1, groups=8)
        self.third = nn.Conv2d(16, 8, 1)
        self.shift = nn.Parameter(torch.randn(8, 6, 8))

    def forward(self, x):
        """``x`` [1, 3, 6, 8]."""
        y = self.first(x) + self.shift
        z = F.interpolate(self.second(y * y.mean((2, 3), keepdim=True).sigmoid()), scale_factor=2.0)
        joined = self.third(torch.cat((F.max_pool2d(y, 3, 1, 1), z), 1))
        return joined.flatten(1), z.relu(), self.second(joined).amax(1), F.avg_pool2d(joined, 2) + 1


@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last])
def test_what_lies_between_convolutions(format):
    check(Images().eval(), torch.randn(1, 3, 6, 8).to(memory_format=format), terms=27 * 72 * 16)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_with_a_mask_of_truths(is_causal):
    q, k, v = (torch.randn(2, 4, 6, 8) for _ in range(3))
    mask = torch.rand(2, 1, 6, 6) > 0.3
    mask[..., 0] = True

    def attend(q, k, v, mask):
        if is_causal:
            mask = mask & torch.ones(6, 6, dtype=torch.bool, device=q.device).tril()
        return F.scaled_dot_product_attention(q, k, v, mask)

    check(attend, q, k, v, mask, terms=64)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_transposed_convolutions(dims):
    make = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dims - 1]
    network = nn.Sequential(
        make(4, 6, 3, 2, 1, 1, groups=2), nn.ReLU(), make(6, 2, 2, dilation=2, bias=False)
    )
    check(network, torch.randn(2, 4, *(5, 4, 3)[:dims]), terms=6 * 27)


def test_changed_parameters_are_seen():
    model = Block().eval()
    x = torch.randn(2, 3, 9, 9)
    on_npu = copy.deepcopy(model).npu()
    compiled = strict(on_npu)
    with torch.no_grad():
        for change in (
            lambda m: None,
            lambda m: m.norm.weight.mul_(3),
            lambda m: m.convolution.bias.data.add_(1),
        ):
            change(model)
            change(on_npu)
            check_near(compiled(x.npu()).cpu(), model(x), terms=27)


def test_parameters_are_not_copied():
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).npu()
    x = torch.randn(4, 512, device="npu")
    compiled = strict(model)
    weights = sum(p.nbytes for p in model.parameters())
    with torch.no_grad():
        model(x)
        torch.npu.synchronize()
        free = torch.npu.mem_get_info()[0]
        before = torch.npu.memory_allocated()
        y = compiled(x)
        torch.npu.synchronize()
    assert torch.npu.memory_allocated() - before <= y.nbytes + 4096
    assert free - torch.npu.mem_get_info()[0] < weights // 4


def test_parameters_of_another_module_with_the_same_code():
    def call(x, weight):
        return F.linear(x, weight)

    compiled = strict(call)
    x = torch.randn(3, 8)
    with torch.no_grad():
        for weight in (torch.randn(5, 8), torch.randn(5, 8)):
            check_near(compiled(x.npu(), weight.npu()).cpu(), call(x, weight), terms=8)


def test_sizes_that_change():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16))
    on_npu = copy.deepcopy(model).npu()
    compiled = strict(on_npu, dynamic=True)
    with torch.no_grad():
        counters.clear()
        for rows in (3, 5, 17, 5):
            x = torch.randn(rows, 8)
            check_near(compiled(x.npu()).cpu(), model(x), terms=64)
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_layer(norm_first):
    layer = nn.TransformerEncoderLayer(
        16, 2, 32, batch_first=True, norm_first=norm_first, activation="gelu"
    )
    check(layer.eval(), torch.randn(2, 5, 16), terms=1024)


class Counter(nn.Module):
    """Writes a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sums", torch.zeros(4))
        self.register_buffer("cache", torch.zeros(2, 3, 4))

    def forward(self, x):
        """``x`` [4]."""
        self.sums.add_(x)
        self.cache[1, 1:] = x
        return self.sums * 2, x


def test_changed_buffers_and_a_result_that_is_an_input():
    model, x = Counter(), torch.randn(4)
    on_npu = copy.deepcopy(model).npu()
    compiled = strict(on_npu)
    with torch.no_grad():
        for _ in range(3):
            given = x.npu()
            ours, same = compiled(given)
            assert same is given
            check_near(ours.cpu(), model(x)[0])
            check_near([on_npu.sums.cpu(), on_npu.cache.cpu()], [model.sums, model.cache])


def test_results_have_eagers_strides():
    x = torch.randn(4, 6).npu()
    with torch.no_grad():
        ours = strict(lambda x: (x * 2).t())(x)
    assert ours.stride() == (x * 2).t().stride()
    check_near(ours.cpu(), (x * 2).t().cpu())


def test_an_operator_that_the_engine_lacks_is_said_once():
    def solved(x):
        return torch.special.bessel_j0(x) + 1

    compiled = torch.compile(solved, backend="npugraph_ex", dynamic=False)
    x = torch.rand(3)
    with torch.no_grad():
        with pytest.warns(UserWarning, match=r"by Inductor: .*special_bessel_j0"):
            check_near(compiled(x.npu()).cpu(), solved(x), terms=16)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled(torch.rand(4).npu())
    with pytest.raises(Exception, match=r"fallback=False: special_bessel_j0 .*does not have"):
        strict(lambda x: torch.special.bessel_j0(x))(x.npu())


def test_training_is_inductors():
    model = nn.Linear(4, 2).npu()
    compiled = torch.compile(model, backend="npugraph_ex")
    x = torch.randn(3, 4, device="npu")
    with pytest.warns(UserWarning, match="need gradients"):
        compiled(x).sum().backward()
    check_near(model.weight.grad, x.sum(0).expand(2, 4), terms=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": {"fold": True}}, 'has no option "fold"; it has fold_batch_norms, fallback'),
        ({"options": {"fallback": 1}}, 'the option "fallback" .* is True or False'),
        ({"mode": "max-autotune"}, 'has no modes, but mode is "max-autotune"'),
    ],
)
def test_wrong_options(given, message):
    with pytest.raises(Exception, match=message):
        torch.compile(lambda x: x + 1, backend="npugraph_ex", **given)(torch.ones(2).npu())


def test_a_captured_call_runs_the_operators():
    compiled = strict(lambda x: F.relu(x) * 2)
    x = torch.randn(64, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.no_grad():
        compiled(x)
        with torch.npu.graph(graph):
            y = compiled(x)
        x.fill_(3)
        graph.replay()
    assert y[0].item() == 6


@pytest.mark.parametrize("name", ["npu", "npugraphs"])
def test_official_names(name):
    assert name in torch._dynamo.list_backends()
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).npu()
    compiled = torch.compile(model, backend=name, fullgraph=True)
    x = torch.randn(3, 4, device="npu")
    with torch.no_grad():
        for _ in range(3):
            check_near(compiled(x), model(x), terms=4)


def test_the_example_of_the_document(capsys):
    document = (Path(__file__).parents[2] / "docs" / "compile.md").read_text()
    example = document.split("## The graph engine")[1].split("```python\n")[1].split("```")[0]
    exec(compile(example, "docs/compile.md", "exec"), {})
    assert capsys.readouterr().out == "True\n"
