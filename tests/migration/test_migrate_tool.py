"""The command that lists a program's uses of CUDA: what it says is what transfer_to_npu does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fresh import output

from torch_npu.tools.migrate import Status, scan_source
from torch_npu.tools.migrate.__main__ import main

HERE = Path(__file__).parent


def found(source):
    return [(f.line, f.what, f.status.value, f.on_npu) for f in scan_source(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch\ntorch.cuda.synchronize()", [(2, "torch.cuda.synchronize", "mapped", "torch.npu.synchronize")]),
        ("import torch as t\nt.cuda.empty_cache", [(2, "torch.cuda.empty_cache", "mapped", "torch.npu.empty_cache")]),
        ("import torch.cuda as c\nc.seed()", [(2, "torch.cuda.seed", "mapped", "torch.npu.seed")]),
        ("from torch import cuda\ncuda.list_gpu_processes()", [(2, "torch.cuda.list_gpu_processes", "absent", "")]),
        ("x.cuda()", [(1, ".cuda", "mapped", "torch.Tensor.npu")]),
        ("f('cuda:1')", [(1, "'cuda:1'", "mapped", "npu:1")]),
        ("f(f'cuda:{i}')", [(1, "'cuda:'", "mapped", "npu:")]),
        ("import torch.distributed as d\nd.init_process_group('nccl')", [(2, "'nccl'", "mapped", "hccl")]),
        ("torch.cuda.synchronize()", [(1, ".cuda", "mapped", "torch.Tensor.npu")]),  # an unknown torch
        ("'cuda'\n# cuda\ns = 'barracuda and cuda'", []),
        ("import torch\ntorch.backends.cudnn.benchmark = True",
         [(2, "torch.backends.cudnn.benchmark", "same", "a flag of CUDA's libraries: no effect on npu")]),
        ("import torch\ntorch.backends.cuda.matmul.allow_tf32 = True",
         [(2, "torch.backends.cuda.matmul.allow_tf32", "mapped", "torch.npu.matmul.allow_hf32")]),
        ("from torch.profiler import ProfilerActivity as A\nA.CUDA",
         [(2, "torch.profiler.ProfilerActivity.CUDA", "mapped", "torch.profiler.ProfilerActivity.PrivateUse1")]),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'",
         [(2, "'CUDA_VISIBLE_DEVICES'", "absent", "set ASCEND_RT_VISIBLE_DEVICES")]),
        ("import pycuda.driver", [(1, "pycuda", "absent", "a package for CUDA GPUs")]),
        ("import torch\ntorch.cuda.Stream.nothing",
         [(2, "torch.cuda.Stream.nothing", "absent", "torch.npu.Stream has no 'nothing'")]),
    ],
)  # fmt: skip
def test_a_use_is_found(source, expected):
    assert found(source) == expected


def test_comparisons_are_to_be_checked():
    (finding,) = scan_source("if x.device.type == 'cuda': pass")
    assert finding.status is Status.CHECK


def test_it_says_of_every_name_what_transfer_does():
    result = output(
        """
import inspect, torch
from torch_npu.contrib._transfer.counterparts import all_counterparts, resolve
from torch_npu.tools.migrate import scan_source
names = sorted({found.name for found in all_counterparts()})
said = {name: scan_source(f"import torch\\n{name}") for name in names}
originals = {name: resolve(name) for name in names}
from torch_npu.contrib import transfer_to_npu
for name in names:
    (finding,) = said[name]
    now = resolve(name)
    if name == "torch.cuda.is_available":
        assert finding.status.value == "mapped" and now() is True
    elif name == "torch.cuda.get_device_properties":  # but for Inductor
        assert finding.status.value == "mapped" and now() == resolve(finding.on_npu)()
    elif name == "torch.cuda.get_device_capability":  # a pair, where npu has None
        assert finding.status.value == "mapped"
        assert now() == (resolve(finding.on_npu)() or (0, 0))
    elif finding.status.value == "mapped":
        assert now is resolve(finding.on_npu), name
    elif finding.status.value == "same":
        assert now is originals[name], name
    else:
        try: now()
        except RuntimeError as error: assert "no counterpart" in str(error), name
        else: raise SystemExit(f"{name} is said to be absent, but works")
print(len(names))
"""
    )
    assert int(result.split()[-1]) > 100


def test_files_that_cannot_be_read_have_a_line_each_and_the_rest_is_scanned(tmp_path, capsys):
    (tmp_path / "good.py").write_text("x.cuda()\n")
    (tmp_path / "bad.py").write_text("def f(:\n")
    (tmp_path / "latin.py").write_bytes(b"s = '\xe9'\n")
    (tmp_path / "declared.py").write_bytes(b"# -*- coding: latin-1 -*-\ns = '\xe9'; x.cuda()\n")
    (tmp_path / "nul.py").write_bytes(b"x\0y\n")
    (tmp_path / "unknown.py").write_bytes(b"# -*- coding: klingon -*-\n")
    (tmp_path / "empty").mkdir()
    arguments = [str(tmp_path), str(tmp_path / "missing.py"), str(tmp_path / "empty")]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out.count(".cuda") == 2
    errors = printed.err.splitlines()
    assert len(errors) == 6
    for name, reason in (
        ("bad.py", "line 1: invalid syntax"),
        ("latin.py", "utf-8"),
        ("nul.py", "null bytes"),
        ("unknown.py", "encoding"),
        ("missing.py", "No such file"),
        ("empty", "without Python files"),
    ):
        assert any(name in line and reason in line for line in errors), (name, errors)


def test_exit_codes_and_json(tmp_path, capsys):
    good, absent = tmp_path / "good.py", tmp_path / "absent.py"
    good.write_text("import torch\ntorch.cuda.synchronize()\n")
    absent.write_text("import torch\ntorch.cuda.list_gpu_processes()\n")
    assert main([str(good)]) == 0
    assert main([str(absent)]) == 1
    capsys.readouterr()
    assert main(["--json", str(good), str(absent), str(tmp_path / "none.py")]) == 2
    parsed = json.loads(capsys.readouterr().out)
    assert parsed["files"][str(absent)] == [
        {
            "line": 2,
            "column": 0,
            "what": "torch.cuda.list_gpu_processes",
            "status": "absent",
            "on_npu": "",
        }
    ]
    assert list(parsed["errors"]) == [str(tmp_path / "none.py")]


def _notebook(path, *cells):
    path.write_text(json.dumps({"cells": [{"cell_type": t, "source": s} for t, s in cells]}))


def test_a_notebook_is_scanned_by_code_cell(tmp_path, capsys):
    _notebook(
        tmp_path / "train.ipynb",
        ("markdown", "torch.cuda"),
        ("code", ["%matplotlib inline\n", "import torch\n", "!pip list\n", "files = !ls\n"]),
        ("code", "%%bash\ntorch.cuda.no python here("),
        ("code", "torch?\nif True:\n    %time x = 1\ntorch.cuda.list_gpu_processes()"),
    )
    assert main([str(tmp_path)]) == 1
    table = capsys.readouterr().out.splitlines()
    assert table[0] == f"{tmp_path / 'train.ipynb'}, cell 3"
    assert table[1].split() == ["4", "absent", "torch.cuda.list_gpu_processes"]
    assert len(table) == 3
    _notebook(tmp_path / "other.ipynb", ("code", "import torch"))
    assert main([str(tmp_path / "other.ipynb")]) == 0
    assert "nothing of CUDA" in capsys.readouterr().out
    for wrong in ("{", "[]", '{"cells": 3}', '{"cells": [{"source": "x"}]}'):
        (tmp_path / "wrong.ipynb").write_text(wrong)
        assert main([str(tmp_path / "wrong.ipynb")]) == 2
        assert "not a Jupyter notebook" in capsys.readouterr().err
    _notebook(tmp_path / "wrong.ipynb", ("code", "def f(:"))
    assert main([str(tmp_path / "wrong.ipynb")]) == 2
    assert "not Python: line 1" in capsys.readouterr().err


def test_the_table_lines_up(tmp_path, capsys):
    script = tmp_path / "s.py"
    script.write_text("import torch\n" * 9 + "torch.cuda.synchronize()\nx.cuda()\n")
    main([str(script)])
    rows = capsys.readouterr().out.splitlines()[1:3]
    assert rows[0].index("torch.npu") == rows[1].index("torch.Tensor.npu")


def test_as_a_command_on_scripts_that_run():
    scripts = sorted(str(path) for path in HERE.glob("*.py") if not path.name.startswith("test_"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "torch_npu.tools.migrate", *scripts],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 absent" in done.stdout
