"""torch.save and torch.load of npu tensors, in the zip format and in the legacy one."""

import io

import pytest
import torch
from torch import Tensor, nn


def _objects():
    base = torch.arange(6.0, device="npu").view(2, 3)
    return {
        "base": base,
        "view": base.t()[1:],
        "half": torch.ones(3, dtype=torch.bfloat16, device="npu"),
        "flags": torch.tensor([True, False], device="npu"),
        "complex": torch.ones(2, dtype=torch.complex64, device="npu") * 2j,
        "empty": torch.empty(0, 3, device="npu"),
        "scalar": torch.tensor(5, device="npu"),
        "parameter": nn.Parameter(torch.ones(2, device="npu")),
        "cpu": torch.ones(2),
        "list": [torch.ones(1, device="npu"), "text"],
    }


def _assert_loaded(loaded, device):
    expected = _objects()
    for name, value in expected.items():
        if isinstance(value, Tensor):
            found = loaded[name]
            assert (found.dtype, found.shape, found.stride()) == (
                value.dtype,
                value.shape,
                value.stride(),
            )
            assert type(found) is type(value)
            assert found.device.type == ("cpu" if name == "cpu" else device)
            assert torch.equal(found.cpu(), value.cpu())
    loaded["base"].fill_(9)
    assert (loaded["view"] == 9).all()


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("location", [None, "npu", "cpu", torch.device("npu:0"), {"npu:0": "cpu"}])
def test_tensors_are_saved_in_both_formats(zipped, weights_only, location, tmp_path):
    path = tmp_path / "tensors.pt"
    torch.save(_objects(), path, _use_new_zipfile_serialization=zipped)
    loaded = torch.load(path, map_location=location, weights_only=weights_only)
    moved = "cpu" if location in ("cpu", {"npu:0": "cpu"}) else "npu"
    if location in ("npu", torch.device("npu:0")):
        loaded["cpu"] = loaded["cpu"].cpu()
    _assert_loaded(loaded, moved)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_module_and_an_optimizer_are_saved_in_both_formats(zipped):
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).npu()
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.randn(4, 3, device="npu")).sum().backward()
    optimizer.step()
    buffer = io.BytesIO()
    torch.save((module, optimizer.state_dict()), buffer, _use_new_zipfile_serialization=zipped)
    again, state = torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)
    for ours, theirs in zip(again.state_dict().values(), module.state_dict().values(), strict=True):
        assert ours.device.type == "npu"
        assert torch.equal(ours, theirs)
    assert torch.equal(state["state"][0]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])


def test_legacy_files_of_the_cpu_are_mapped_to_npu_by_functions():
    buffer = io.BytesIO()
    torch.save([torch.arange(3.0)], buffer, _use_new_zipfile_serialization=False)
    for location in (lambda storage, location: storage.npu(), {"cpu": "npu"}):
        (loaded,) = torch.load(io.BytesIO(buffer.getvalue()), map_location=location)
        assert (loaded.device.type, loaded.tolist()) == ("npu", [0.0, 1.0, 2.0])
