"""Selection of the bound CANN; a CANN that cannot be bound never breaks `import torch`."""

import re
from pathlib import Path

import fresh
import pytest
import torch

from torch_npu import _load

ASK = "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"


def ask(**env):
    return fresh.output(ASK, **env)


def test_the_embedded_one_is_the_default():
    assert ask(TORCH_NPU_CANN="softnpu") == "True"
    assert _load.bound_library().endswith("/lib/cann/libascendcl.so")


def test_a_wrong_choice_is_named():
    assert ask(TORCH_NPU_CANN="best") == (
        "False TORCH_NPU_CANN=best is not understood: it takes auto, softnpu or system"
    )


def test_system_without_a_cann():
    assert "no folder of LD_LIBRARY_PATH holds libascendcl.so" in ask(TORCH_NPU_CANN="system")


def test_a_cann_that_does_not_load(tmp_path):
    (tmp_path / "libascendcl.so").write_text("no library")
    message = ask(LD_LIBRARY_PATH=str(tmp_path))
    assert message.startswith(f"False libascendcl.so of {tmp_path} does not load")
    assert ask(LD_LIBRARY_PATH=str(tmp_path), TORCH_NPU_CANN="softnpu") == "True"


def test_the_forced_choice_ignores_the_library_path(tmp_path):
    libraries = Path(_load.bound_library()).parent
    names = [
        path.name
        for folder in (libraries, libraries.parent)
        for path in folder.iterdir()
        if ".so" in path.name
    ]
    assert {"libnnopbase.so", "libopapi.so", "libdnnl.so.3", "libsoftnpu_workers.so"} <= set(names)
    for name in names:
        (tmp_path / name).write_text("no library")
    program = (
        "import torch; x = torch.ones(64, 64, device='npu'); print((x @ x)[0, 0].item());"
        f"print({str(tmp_path)!r} in open('/proc/self/maps').read())"
    )
    message = fresh.output(program, LD_LIBRARY_PATH=str(tmp_path), TORCH_NPU_CANN="softnpu")
    assert message.splitlines() == ["64.0", "False"]


def test_another_torch_is_named(monkeypatch):
    there = torch.__version__.split("+")[0]
    monkeypatch.setattr(torch, "__version__", "2.10.0")
    with pytest.raises(_load.LoadError, match=rf"pip install torch=={re.escape(there)}"):
        _load.check_torch()
