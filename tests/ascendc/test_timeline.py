"""SOFTNPU_KERNEL_TIMELINE with a kernel that PyTorch calls: the trace, the summary, the results."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "ascend_c" / "silu"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs the example silu with these variables; its output and errors, and the trace."""
    folder = tmp_path_factory.mktemp("timeline")

    def start(**variables: str) -> tuple[str, dict[str, list[dict]]]:
        path = folder / "trace.json"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SOFTNPU_KERNEL_")}
        environment |= {"TORCH_EXTENSIONS_DIR": str(folder), "SOFTNPU_KERNEL_TIMELINE": str(path)}
        done = subprocess.run(
            [sys.executable, "silu.py"],
            cwd=EXAMPLE,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr, json.loads(path.read_text())

    return start


def test_the_summary_names_kernel_and_launch(run):
    text, _ = run()
    assert "8192 elements are right" in text
    assert "========= timeline: kernel silu, 8 blocks on 8 cores: " in text
    assert "us by a model, not a measurement" in text
    lines = (EXAMPLE / "silu.py").read_text().splitlines()
    assert f"silu.py:{lines.index('y = silu(x)') + 1}" in text
    assert "global memory moves 65536 bytes, 65536 are needed at least: 1.00 times" in text


def test_the_trace_has_each_pipe_in_order(run):
    _, trace = run()
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and "block" in e["args"]]
    assert {e["args"]["block"] for e in slices} == set(range(8))
    rows: dict[tuple[int, int], list[dict]] = {}
    for event in slices:
        rows.setdefault((event["pid"], event["tid"]), []).append(event)
    names = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in trace["traceEvents"]
        if e["name"] == "thread_name"
    }
    for row, events in rows.items():
        assert names[row].startswith("pipe ")
        for before, behind in itertools.pairwise(events):
            assert before["ts"] + before["dur"] <= behind["ts"] + 1e-5
    order = [e["name"] for e in sorted(slices, key=lambda e: e["ts"]) if e["args"]["block"] == 3]
    assert order == ["DataCopy", "Muls", "Exp", "Adds", "Div", "DataCopy"]
    lines = (EXAMPLE / "silu.asc").read_text().splitlines()
    div = next(e for e in slices if e["name"] == "Div")
    assert "Div(" in lines[int(div["args"]["line"].removeprefix("silu.asc:")) - 1]


def test_figures_of_a_file_are_used(run, tmp_path):
    figures = tmp_path / "figures"
    figures.write_text("cores 2\n")
    text, _ = run(SOFTNPU_KERNEL_FIGURES=str(figures))
    assert "kernel silu, 8 blocks on 2 cores: " in text


def test_a_bad_figure_is_the_launch_s_error(tmp_path):
    figures = tmp_path / "figures"
    figures.write_text("cores two\n")
    program = "import torch, torch_npu; from torch_npu.ascendc import kernels; x = torch.ones(8, device='npu'); kernels.add(x, x)"
    environment = os.environ | {
        "SOFTNPU_KERNEL_TIMELINE": str(tmp_path / "trace.json"),
        "SOFTNPU_KERNEL_FIGURES": str(figures),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode != 0
    assert "figures:1: cores is 'two': a number above 0 is needed" in done.stderr
