"""Scripts written for CUDA run on npu by the import alone, with the losses of the CPU."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# Script -> the unit roundoff of what it computes in, and how often a rounding is amplified: by each step's operators.
SCRIPTS = {
    "amp_training.py": 2.0**-10,
    "captured_graph.py": 2.0**-23,
    "checkpoints.py": 2.0**-23,
    "custom_function.py": 2.0**-23,
    "data_parallel.py": 2.0**-23,
    "digits_training.py": 2.0**-23,
    "gan_training.py": 2.0**-23,
    "resnet_training.py": 2.0**-23,
    "scripted_inference.py": 2.0**-23,
    "streams_timing.py": 2.0**-23,
    "text_classifier.py": 2.0**-23,
    "transformer_lm.py": 2.0**-23,
}


def tolerance(roundoff: float, step: int) -> float:
    """Relative, of the step-th printed loss: each step adds some 32 roundings of sums to those before it."""
    return 32 * roundoff * (step + 1)


def losses(output: str) -> list[float]:
    return [float(number) for number in re.findall(r"loss: (\S+)", output)]


def cuda_checkpoint(path: Path) -> None:
    """A checkpoint as a machine with a GPU writes it: the storages are tagged cuda:0."""
    import torch

    original = torch.serialization.location_tag
    torch.serialization.location_tag = lambda storage: "cuda:0"
    try:
        torch.save({"weight": torch.arange(6.0).reshape(2, 3)}, path)
    finally:
        torch.serialization.location_tag = original


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("migration")
    cuda_checkpoint(folder / "cuda.pt")
    commands = [str(HERE / name) for name in SCRIPTS]
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            str(HERE / "runner.py"),
            str(folder / "results.json"),
            *commands,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SOFTNPU_DEVICE_COUNT": "2", "RESUME": str(folder / "cuda.pt")},
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((folder / "results.json").read_text())
    return {kind: {Path(k).name: v for k, v in results[kind].items()} for kind in results}


@pytest.mark.parametrize("script", SCRIPTS)
def test_losses_are_those_of_the_cpu(script, outputs):
    (cpu_code, cpu), (npu_code, npu) = outputs["cpu"][script], outputs["npu"][script]
    assert cpu_code == 0, cpu
    assert npu_code == 0, npu
    expected, got = losses(cpu), losses(npu)
    assert 4 <= len(expected) <= len(got)
    for step, (right, value) in enumerate(zip(expected, got, strict=False)):
        assert abs(value - right) <= tolerance(SCRIPTS[script], step) * abs(right), (
            step,
            value,
            right,
        )


def test_by_the_environment_variable(tmp_path):
    env = {**os.environ, "TORCH_TRANSFER_TO_NPU": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "streams_timing.py")],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    assert len(losses(done.stdout)) == 4
    assert "Ascend" in done.stdout


def test_without_the_import_there_is_no_cuda():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "streams_timing.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TORCH_TRANSFER_TO_NPU": "0"},
    )
    assert done.returncode != 0


def test_another_value_of_the_variable_is_an_error():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import torch_npu"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TORCH_TRANSFER_TO_NPU": "yes", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    assert done.returncode != 0
    assert "TORCH_TRANSFER_TO_NPU=yes is not understood: it takes 0 or 1" in done.stderr
