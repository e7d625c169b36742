"""Layers cache packed copies of frequently used weights: every kind of write to a weight is detected."""

import copy
import io
import threading
from functools import partial

import fresh
import pytest
import torch
from torch import Tensor, nn

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.utils import packed_weights_bytes

CHANNELS = 64
LARGE = 256
USES = 10  # a layer's weights are packed by then

LAYERS = {
    "convolution": (
        lambda: nn.Conv2d(CHANNELS, CHANNELS, 3),
        (2, CHANNELS, 12, 12),
        nn.functional.conv2d,
    ),
    "large convolution": (
        lambda: nn.Conv2d(LARGE, LARGE, 3, padding=1),
        (2, LARGE, 14, 14),
        partial(nn.functional.conv2d, padding=1),
    ),
    "linear": (lambda: nn.Linear(CHANNELS, 2 * CHANNELS), (80, CHANNELS), nn.functional.linear),
}


def packed_bytes() -> int:
    """The size of all packed copies on the current device."""
    torch.npu.synchronize()
    return packed_weights_bytes()


@pytest.fixture(autouse=True)
def _by_rule(fixed_rule: None):
    """Which implementation serves, and what it packs, does not depend on its time."""


@pytest.fixture(params=["convolution", "linear"])
def layer(request: pytest.FixtureRequest) -> nn.Module:
    """A layer whose weights are packed."""
    torch.manual_seed(0)
    make, _, _ = LAYERS[request.param]
    created = make().npu()
    created.kind = request.param
    torch.npu.empty_cache()  # after memory was exhausted, more is cached again once half of it is free
    before = packed_bytes()
    assert_right(created)
    if packed_bytes() == before:
        pytest.skip(
            "nothing is packed: this CPU's kernels take weights as they lie, or another process got this memory"
        )
    return created


def assert_right(layer: nn.Module) -> None:
    """Its results match the CPU's with the current weights, before and after packing."""
    torch.manual_seed(1)
    _, shape, function = LAYERS[layer.kind]
    sample = torch.randn(shape)
    weight, bias = (p.detach().cpu() for p in (layer.weight, layer.bias))
    expected = function(sample.double(), weight.double(), bias.double())
    terms = weight[0].numel()
    bound = terms * 2**-24 * function(sample.abs(), weight.abs(), bias.abs()).max().item()
    on_device = sample.npu()
    with torch.no_grad():
        results = [layer(on_device).cpu() for _ in range(USES)]
    accuracy.assert_close(results[0], expected, Tolerance(absolute=bound))
    for result in results[1:]:
        accuracy.assert_close(result, results[0], Tolerance())


def _other(layer: nn.Module) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(layer.weight.shape)


def _load(layer: nn.Module) -> None:
    file = io.BytesIO()
    torch.save({"weight": _other(layer), "bias": torch.zeros_like(layer.bias)}, file)
    file.seek(0)
    layer.load_state_dict(torch.load(file))


def _step(optimizer: type[torch.optim.Optimizer], **options: object):
    def write(layer: nn.Module) -> None:
        layer.weight.grad = _other(layer).npu()
        layer.bias.grad = torch.ones_like(layer.bias)
        optimizer(layer.parameters(), lr=0.1, **options).step()
        layer.weight.grad = layer.bias.grad = None

    return write


def _in_place(layer: nn.Module) -> None:
    with torch.no_grad():
        layer.weight.mul_(2)


def _host_kernel(layer: nn.Module) -> None:
    with torch.no_grad():
        layer.weight.cauchy_()  # on the AI CPU


def _slice(layer: nn.Module) -> None:
    with torch.no_grad():
        layer.weight[-1, -1].zero_()


def _out(layer: nn.Module) -> None:
    torch.neg(_other(layer).npu(), out=layer.weight.data)


def _other_stream(layer: nn.Module) -> None:
    stream = torch.npu.Stream()
    with torch.npu.stream(stream), torch.no_grad():
        layer.weight.add_(1)
    torch.npu.current_stream().wait_stream(stream)


def _other_thread(layer: nn.Module) -> None:
    thread = threading.Thread(target=_in_place, args=(layer,))
    thread.start()
    thread.join()


WRITES = {
    "data, copied to": lambda layer: layer.weight.data.copy_(_other(layer)),
    "data, another tensor": lambda layer: setattr(layer.weight, "data", _other(layer).npu()),
    "data, in place": lambda layer: layer.weight.data.mul_(3),
    "in place": _in_place,
    "some elements": _slice,
    "out=": _out,
    "a kernel on the host": _host_kernel,
    "state_dict": _load,
    "SGD": _step(torch.optim.SGD, foreach=False),
    "AdamW, lists": _step(torch.optim.AdamW, foreach=True),
    "AdamW, fused": _step(torch.optim.AdamW, fused=True),
    "another stream": _other_stream,
    "another thread": _other_thread,
    "initialisation": lambda layer: nn.init.kaiming_normal_(layer.weight),
}


@pytest.mark.parametrize("way", WRITES)
def test_a_write_invalidates_the_packed_copy(layer, way):
    before = layer.weight.detach().cpu()
    WRITES[way](layer)
    assert not torch.equal(before, layer.weight.detach().cpu())
    assert_right(layer)


@pytest.fixture
def large_layer() -> nn.Module:
    """A convolution whose filter each call transforms: nothing is packed for later."""
    torch.manual_seed(0)
    created = nn.Conv2d(LARGE, LARGE, 3, padding=1).npu()
    created.kind = "large convolution"
    before = packed_bytes()
    assert_right(created)
    assert packed_bytes() == before
    return created


@pytest.mark.parametrize("way", WRITES)
def test_a_large_filter_is_read_anew(large_layer, way):
    before = large_layer.weight.detach().cpu()
    WRITES[way](large_layer)
    assert not torch.equal(before, large_layer.weight.detach().cpu())
    assert_right(large_layer)


def test_a_large_filter_may_be_a_view(large_layer):
    both = torch.stack((large_layer.weight.detach(), 2 * large_layer.weight.detach()))
    large_layer.weight = nn.Parameter(both[1])
    assert_right(large_layer)
    both.mul_(3)
    assert_right(large_layer)


def test_a_large_filter_on_two_streams(large_layer):
    """Each launch has a workspace of its own stream."""
    samples = [torch.randn(2, LARGE, 14, 14).npu() for _ in range(2)]
    with torch.no_grad():
        expected = [large_layer(sample) for sample in samples]
        streams = [torch.npu.Stream() for _ in samples]
        for stream in streams:
            stream.wait_stream(torch.npu.current_stream())
        results = []
        for _ in range(USES):
            for sample, stream, result in zip(samples, streams, expected, strict=True):
                with torch.npu.stream(stream):
                    results.append((large_layer(sample), result))
        torch.npu.synchronize()
        assert all(torch.equal(again, result) for again, result in results)


def test_copies_only_where_packing_takes_long():
    """Many positions share one packing: a copy would save little time for its memory."""
    program = """
import torch
from torch import nn
from torch_npu.utils import packed_weights_bytes
torch.set_grad_enabled(False)
# A transposed convolution makes four times as many positions as it reads.
for kind, size in ((nn.Conv2d, 14), (nn.Conv2d, 56), (nn.ConvTranspose2d, 12), (nn.ConvTranspose2d, 32)):
    layer = kind(64, 64, 3, stride=2, padding=1).npu()
    sample = torch.randn(2, 64, size, size).npu()
    torch.npu.synchronize()
    before = packed_weights_bytes()
    first = layer(sample)
    for _ in range(10):
        torch.testing.assert_close(layer(sample), first, rtol=0, atol=0)
    torch.npu.synchronize()
    kept = packed_weights_bytes() - before
    # A copy may have channels of padding.
    print("a copy" if kept >= layer.weight.nbytes else kept)
"""
    assert fresh.output(program).splitlines() == ["a copy", "0", "a copy", "0"]


@pytest.mark.parametrize("kind", ["convolution", "linear"])
def test_writes_to_inference_tensors_are_detected(kind):
    with torch.inference_mode():
        layer = LAYERS[kind][0]().npu()
        layer.kind = kind
        assert_right(layer)
        layer.weight.mul_(2)
        assert_right(layer)


def test_packed_copies_are_freed_with_their_weights(layer):
    torch.npu.empty_cache()
    before = packed_bytes()
    other = copy.deepcopy(layer)
    assert_right(other)
    both = packed_bytes()
    if both == before:
        pytest.skip("nothing more is packed: another process got this memory")
    assert both - before >= other.weight.nbytes
    del other
    assert packed_bytes() == before


@pytest.mark.parametrize("kind", LAYERS)
def test_training_caches_no_packed_weights(kind):
    """Weights that every step writes are packed per step and not cached."""
    torch.manual_seed(0)
    make, shape, _ = LAYERS[kind]
    layer = make().npu()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    before = packed_bytes()
    for _ in range(USES):
        layer(torch.randn(shape).npu()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert packed_bytes() == before


def test_all_batch_sizes_share_one_packed_copy():
    with torch.no_grad():
        layer = nn.Linear(CHANNELS, 2 * CHANNELS).npu()
        samples = [torch.randn(lines, CHANNELS).npu() for lines in (5, 8, 31, 64, 200, 512)]
        before = packed_bytes()
        for sample in samples * USES:
            layer(sample)
        kept = packed_bytes() - before
    # On a CPU with only AVX2 panels have 24 columns; the last one is padded.
    panels = -(-layer.out_features // 24) * 24 * CHANNELS * layer.weight.element_size()
    assert kept in (0, layer.weight.nbytes, panels)


TRIMMED = """
import torch
from torch import nn
from torch_npu.utils import packed_weights_bytes

def packed():
    layer = nn.Linear(64, 128).npu()
    x = torch.randn(80, 64).npu()
    with torch.no_grad():
        for _ in range(10):
            layer(x)
    torch.npu.synchronize()
    return packed_weights_bytes()

packed()  # and given back
if fills:
    try:
        torch.empty(torch.npu.mem_get_info()[1], dtype=torch.uint8, device="npu")
    except torch.OutOfMemoryError:
        pass
print(packed())
"""


def test_packing_is_independent_of_an_earlier_out_of_memory():
    packs = [fresh.output(f"fills = {fills}\n" + TRIMMED) for fills in (False, True)]
    assert packs[0] == packs[1]
