"""torch-npu overflow: the operator, module and line of an overflow, and nothing where there is none."""

import subprocess
import sys

import pytest

SCRIPT = """
import torch
class Scale(torch.nn.Module):
    def forward(self, x):
        return x * {factor}  # here
model = torch.nn.Sequential(torch.nn.Linear(4, 4), Scale(), torch.nn.ReLU()).npu()
with torch.no_grad():
    model[0].weight.fill_(1)
    model[0].bias.fill_(0)
x = torch.full((2, 4), 1e18, device="npu", requires_grad=True)
y = model(x)
y.add(1).sum().mul({scale}).backward()
"""


def overflow(tmp_path, *arguments, **values):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(**{"factor": "1.0", "scale": "1.0"} | values))
    return subprocess.run(
        [sys.executable, "-m", "torch_npu", "overflow", *arguments, str(script)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_overflow_has_its_operator_module_and_line(tmp_path):
    ran = overflow(tmp_path, factor="1e30")
    assert ran.returncode == 1, ran.stderr
    first = ran.stdout.splitlines()[:3]
    assert first[0].startswith("aten.mul")
    assert first[0].endswith("-> float32[2, 4]: infinite or NaN")
    assert first[1] == "  module: 1 (Scale)"
    assert first[2] == f"  at {tmp_path}/script.py:5: return x * 1e30  # here"
    # The second is the gradient of the weights: 1e30 of 1e18.
    assert "2 overflows at 2 places" in ran.stdout


def test_an_overflow_of_the_backward_pass_has_the_line_of_its_forward_pass(tmp_path):
    ran = overflow(tmp_path, factor="1e-30", scale="3e38 * 1e35")
    assert ran.returncode == 1, ran.stderr
    places = [line for line in ran.stdout.splitlines() if "at " in line and "script.py" in line]
    assert "script.py:12" in places[0]


def test_a_script_without_overflow_has_none(tmp_path):
    ran = overflow(tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "no overflow\n"), ran.stderr


@pytest.mark.parametrize("name", ["no_such.py"])
def test_a_missing_script_is_refused(name):
    ran = subprocess.run(
        [sys.executable, "-m", "torch_npu", "overflow", name], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ran.returncode == 2
    assert f"there is no file {name}" in ran.stderr
