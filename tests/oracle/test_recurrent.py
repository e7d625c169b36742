"""The official torch_npu wheel's recurrent layers, which it calls by type name. Run by `./dev oracle`."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

import torch_npu  # noqa: F401  # the wheel under test

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


@pytest.fixture(scope="module", autouse=True)
def aclnn_route():
    """Operators are called by aclnn if there is an aclnn function."""
    torch.npu.set_compile_mode(jit_compile=False)


def close(got: Tensor | None, expected: Tensor | None) -> None:
    """Equal up to the rounding of a chain of a few dozen products in float32."""
    assert (got is None) == (expected is None)
    if got is not None:
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-4)


def states_of(layer: nn.RNNBase) -> Tensor:
    """An initial state of the layer."""
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    return torch.randn(count, BATCH, layer.hidden_size)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("batch_first", [False, True], ids=["steps first", "batch first"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("layers", [1, 2])
def test_gru(bias, batch_first, bidirectional, layers):
    torch.manual_seed(0)
    gru = nn.GRU(
        INPUTS, HIDDEN, layers, bias=bias, batch_first=batch_first, bidirectional=bidirectional
    )
    on_npu = copy.deepcopy(gru).npu()
    sizes = (BATCH, STEPS, INPUTS) if batch_first else (STEPS, BATCH, INPUTS)
    x = torch.randn(sizes, requires_grad=True)
    h = states_of(gru).requires_grad_()
    x_npu, h_npu = (t.detach().npu().requires_grad_() for t in (x, h))
    y, last = gru(x, h)
    y_npu, last_npu = on_npu(x_npu, h_npu)
    close(y_npu, y)
    close(last_npu, last)
    dy, dlast = torch.randn_like(y), torch.randn_like(last)
    ((y * dy).sum() + (last * dlast).sum()).backward()
    ((y_npu * dy.npu()).sum() + (last_npu * dlast.npu()).sum()).backward()
    close(x_npu.grad, x.grad)
    close(h_npu.grad, h.grad)
    for a, b in zip(on_npu.parameters(), gru.parameters(), strict=True):
        close(a.grad, b.grad)


def test_gru_in_half_precision():
    torch.manual_seed(0)
    gru = nn.GRU(INPUTS, HIDDEN)
    x = torch.randn(STEPS, BATCH, INPUTS)
    got = copy.deepcopy(gru).half().npu()(x.half().npu())[0]
    torch.testing.assert_close(got.float().cpu(), gru(x)[0], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 3, 1]], ids=["one length", "several lengths"])
def test_packed_sequences_through_an_lstm(lengths):
    """The wheel passes packed data padded, with a mask of the sequences."""
    torch.manual_seed(0)
    lstm = nn.LSTM(INPUTS, HIDDEN)
    on_npu = copy.deepcopy(lstm).npu()
    x = torch.randn(STEPS, BATCH, INPUTS, requires_grad=True)
    expected, (h, c) = lstm(rnn.pack_padded_sequence(x, lengths))
    expected = rnn.pad_packed_sequence(expected, total_length=STEPS)[0]
    x_npu = x.detach().npu().requires_grad_()
    sizes = rnn.pack_padded_sequence(x, lengths).batch_sizes
    packed = rnn.PackedSequence(x_npu.reshape(-1, INPUTS), sizes)
    y, (h_npu, c_npu) = on_npu(packed)
    y_npu = y.data.view(STEPS, BATCH, HIDDEN)
    close(y_npu, expected)
    close(h_npu, h)
    close(c_npu, c)
    weight = torch.randn_like(expected)
    (expected * weight).sum().backward()
    (y_npu * weight.npu()).sum().backward()
    close(x_npu.grad, x.grad)
    for a, b in zip(on_npu.parameters(), lstm.parameters(), strict=True):
        close(a.grad, b.grad)
