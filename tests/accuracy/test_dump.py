"""torch_npu.accuracy.Dump and compare_dumps: where npu and the CPU diverge, from tensors and from statistics."""

import copy
import json
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torch_npu import accuracy


class Scaled(TorchDispatchMode):
    """One operator on npu gives a hundredth more."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if str(func) == "aten.tanh.default" and result.device.type == "npu":
            result.mul_(1.01)
        return result


def dumped(folder: Path, device: str, **settings: object) -> Path:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    x = torch.randn(5, 8)
    model, x = copy.deepcopy(model).to(device), x.to(device)
    with accuracy.Dump(folder / device, **settings) as dump:
        for _ in range(2):
            model(x).square().mean().backward()
            dump.step()
    return folder / device / "step1" / "rank0"


@pytest.mark.parametrize("tensors", [True, False])
def test_equal_programs_do_not_diverge(tmp_path, tensors):
    ours, theirs = (dumped(tmp_path, device, tensors=tensors) for device in ("npu", "cpu"))
    rows = accuracy.compare_dumps(ours, theirs)
    assert len(rows) > 10
    assert [row.problem for row in rows if not row.is_close] == []
    assert {row.name for row in rows} >= {
        "Module.0.Linear.0.forward.output.0",
        "aten.addmm.default.1.forward.output.0",
        "aten.tanh_backward.default.0.backward.output.0",
    }


@pytest.mark.parametrize("tensors", [True, False])
def test_the_first_divergence_is_the_planted_one(tmp_path, tensors):
    with Scaled():
        ours = dumped(tmp_path, "npu", tensors=tensors)
    theirs = dumped(tmp_path, "cpu", tensors=tensors)
    rows = accuracy.compare_dumps(ours, theirs)
    first = next(row for row in rows if not row.is_close)
    assert first.name == "aten.tanh.default.0.forward.output.0"
    assert first.module == "1 (Tanh)"
    assert Path(__file__).name in first.location


def test_parts_of_a_dump(tmp_path):
    step = dumped(tmp_path, "npu", operators=False)
    names = [entry["name"] for entry in json.loads((step / "dump.json").read_text())["entries"]]
    assert names == [
        f"Module.{name}.0.forward.output.0" for name in ("0.Linear", "1.Tanh", "2.Linear", "Sequential")
    ]  # fmt: skip
    assert (tmp_path / "npu" / "step0" / "rank0" / "dump.json").exists()


def test_bad_dumps(tmp_path):
    with pytest.raises(accuracy.DumpError, match=r"dump.json: cannot be read"):
        accuracy.compare_dumps(tmp_path, tmp_path)
    step = dumped(tmp_path, "cpu")
    (tmp_path / "dump.json").write_text((step / "dump.json").read_text()[:50])
    with pytest.raises(accuracy.DumpError, match="is damaged"):
        accuracy.compare_dumps(step, tmp_path)
    (tmp_path / "dump.json").write_text('{"entries": []}')
    with pytest.raises(accuracy.DumpError, match="no result in common"):
        accuracy.compare_dumps(step, tmp_path)
