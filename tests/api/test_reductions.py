"""torch_npu.multiprocessing.reductions: what travels between processes."""

import multiprocessing.reduction
import pickle

import pytest
import torch

from torch_npu.multiprocessing import reductions

MODULE = "torch_npu.multiprocessing.reductions"


@pytest.mark.api(f"{MODULE}.rebuild_npu_tensor")
def test_a_tensor_is_rebuilt_on_the_same_memory():
    base = torch.arange(12.0, device="npu").view(3, 4)
    for tensor in (base[1:].t(), torch.nn.Parameter(base[0])):
        bytes_sent = multiprocessing.reduction.ForkingPickler.dumps(tensor)
        again = pickle.loads(bytes_sent)
        assert type(again) is type(tensor)
        assert (again.stride(), again.requires_grad) == (tensor.stride(), tensor.requires_grad)
        assert torch.equal(again, tensor)
        assert again.data_ptr() == tensor.data_ptr()


@pytest.mark.api(f"{MODULE}.rebuild_npu_event")
def test_an_event_travels_by_its_handle(monkeypatch):
    opened = []
    monkeypatch.setattr(torch.npu.Event, "ipc_handle", lambda self: b"handle", raising=False)
    monkeypatch.setattr(
        torch.npu.Event,
        "from_ipc_handle",
        classmethod(lambda cls, device, handle: opened.append((device, handle)) or "event"),
        raising=False,
    )
    event = torch.npu.Event(interprocess=True)
    event.record()
    sent = multiprocessing.reduction.ForkingPickler.dumps(event)
    assert pickle.loads(sent) == "event"
    assert opened == [(torch.device("npu", 0), b"handle")]
    assert reductions.rebuild_npu_event(1, b"x") == "event"
