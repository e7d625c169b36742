"""Convolutions keep packed copies of weights that they meet again: every way to write a weight is noticed."""

import copy
import io
import threading

import pytest
import torch
from torch import Tensor, nn

from torch_npu.utils import packed_weights_bytes

CHANNELS = 64


def packed_bytes() -> int:
    """What the packed copies of all weights take on the current device."""
    torch.npu.synchronize()
    return packed_weights_bytes()


@pytest.fixture
def layer() -> nn.Conv2d:
    """A convolution whose weights are packed by now."""
    torch.manual_seed(0)
    made = nn.Conv2d(CHANNELS, CHANNELS, 3).npu()
    before = packed_bytes()
    for _ in range(3):
        assert_right(made)
    if packed_bytes() == before:
        pytest.skip("this CPU's convolutions take the weights as they lie")
    return made


def assert_right(layer: nn.Conv2d) -> None:
    """Its result is the CPU's with the weights that it has now."""
    torch.manual_seed(1)
    image = torch.randn(2, CHANNELS, 12, 12)
    weight, bias = (p.detach().cpu() for p in (layer.weight, layer.bias))
    expected = nn.functional.conv2d(image.double(), weight.double(), bias.double())
    with torch.no_grad():
        found = layer(image.npu()).cpu()
    # Sums of 576 products of numbers of about 1 and 1/24.
    bound = 576 * 2**-24 * nn.functional.conv2d(image.abs(), weight.abs(), bias.abs()).max().item()
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=bound)


def _other() -> Tensor:
    torch.manual_seed(2)
    return torch.randn(CHANNELS, CHANNELS, 3, 3)


def _load(layer: nn.Conv2d) -> None:
    file = io.BytesIO()
    torch.save({"weight": _other(), "bias": torch.zeros(CHANNELS)}, file)
    file.seek(0)
    layer.load_state_dict(torch.load(file))


def _step(optimizer: type[torch.optim.Optimizer], **options: object):
    def write(layer: nn.Conv2d) -> None:
        layer.weight.grad = _other().npu()
        layer.bias.grad = torch.ones(CHANNELS).npu()
        optimizer(layer.parameters(), lr=0.1, **options).step()
        layer.weight.grad = layer.bias.grad = None

    return write


def _in_place(layer: nn.Conv2d) -> None:
    with torch.no_grad():
        layer.weight.mul_(2)


def _host_kernel(layer: nn.Conv2d) -> None:
    with torch.no_grad():
        layer.weight.cauchy_()  # the AI CPU's


def _slice(layer: nn.Conv2d) -> None:
    with torch.no_grad():
        layer.weight[-1, -1, -1].zero_()


def _out(layer: nn.Conv2d) -> None:
    torch.neg(_other().npu(), out=layer.weight.data)


def _other_stream(layer: nn.Conv2d) -> None:
    stream = torch.npu.Stream()
    with torch.npu.stream(stream), torch.no_grad():
        layer.weight.add_(1)
    torch.npu.current_stream().wait_stream(stream)


def _other_thread(layer: nn.Conv2d) -> None:
    thread = threading.Thread(target=_in_place, args=(layer,))
    thread.start()
    thread.join()


WRITES = {
    "data, copied to": lambda layer: layer.weight.data.copy_(_other()),
    "data, another tensor": lambda layer: setattr(layer.weight, "data", _other().npu()),
    "data, in place": lambda layer: layer.weight.data.mul_(3),
    "in place": _in_place,
    "one row": _slice,
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
def test_a_write_is_noticed(layer, way):
    before = layer.weight.detach().cpu()
    WRITES[way](layer)
    assert not torch.equal(before, layer.weight.detach().cpu())
    for _ in range(3):
        assert_right(layer)


def test_inference_tensors_are_followed():
    with torch.inference_mode():
        layer = nn.Conv2d(CHANNELS, CHANNELS, 3).npu()
        for _ in range(3):
            assert_right(layer)
        layer.weight.mul_(2)
        for _ in range(3):
            assert_right(layer)


def test_copies_go_with_their_weights(layer):
    other = copy.deepcopy(layer)
    for _ in range(2):
        assert_right(other)
    both = packed_bytes()
    size = other.weight.nbytes
    del other
    assert packed_bytes() <= both - size


def test_training_keeps_none():
    """Weights that every step writes are packed in the step and not kept."""
    torch.manual_seed(0)
    layer = nn.Conv2d(CHANNELS, CHANNELS, 3).npu()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    before = packed_bytes()
    for _ in range(3):
        layer(torch.randn(2, CHANNELS, 12, 12).npu()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert packed_bytes() == before
