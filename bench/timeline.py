"""How the timeline's model of an NPU orders pairs of kernels (softnpu/tests/ascendc/timelines), with other figures, too."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Measured
from rich.console import Console
from rich.table import Table

_PROGRAM = Path(__file__).resolve().parents[1] / "build" / "softnpu" / "tests" / "kernel_timelines"
_VARIABLES = ("SOFTNPU_KERNEL_CHECK", "SOFTNPU_KERNEL_SCHEDULE", "SOFTNPU_KERNEL_FIGURES")
_ADD_BYTES = 12 * (1 << 20)


def _run(*words: str, **variables: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k not in _VARIABLES} | variables
    result = subprocess.run(
        [_PROGRAM, *words], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(f"{_PROGRAM.name} failed with exit code {result.returncode}: {result.stderr}")
    return result.stdout.splitlines()


def launches(trace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The summaries of a trace's launches by the names of their kernels."""
    return {
        event["name"]: event["args"]
        for event in trace["traceEvents"]
        if event["ph"] == "X" and "cycles" in event["args"]
    }


def _launches(figures: str) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        variables = {"SOFTNPU_KERNEL_TIMELINE": str(path)}
        if figures:
            Path(folder, "figures").write_text(figures + "\n", encoding="utf-8")
            variables["SOFTNPU_KERNEL_FIGURES"] = str(Path(folder, "figures"))
        _run(**variables)
        return launches(json.loads(path.read_text(encoding="utf-8")))


def measure() -> list[Measured]:
    """Prints the tables. Returns nothing: these are no times."""
    usual = _launches("")
    table = Table(title="cycles by a model, not measured; pairs that compute the same")
    for column in ("pair", "slower", "faster", "ratio", "bound by", "with other figures", "ratio"):
        table.add_column(
            column, justify="right" if column in {"slower", "faster", "ratio"} else "left"
        )
    for line in _run("--table"):
        name, figures, _ = line.split("\t")
        slower, faster = (usual[f"{name}.{side}"] for side in ("slower", "faster"))
        ratio = slower["cycles"] / faster["cycles"]
        row = [name, f"{slower['cycles']:,.0f}", f"{faster['cycles']:,.0f}", f"{ratio:.2f}"]
        row.append(f"{slower['bound']}, then {faster['bound']}")
        if figures == "-":
            row += ["", ""]
        else:
            other = _launches(figures)
            reversed_ratio = other[f"{name}.slower"]["cycles"] / other[f"{name}.faster"]["cycles"]
            row += [figures.partition("#")[0].strip(), f"{reversed_ratio:.2f}"]
        table.add_row(*row)
    Console(width=160).print(table)
    add = usual["add"]
    expected = _ADD_BYTES / 1200e3
    Console(width=160).print(
        f"add of 2^20 floats on 32 cores: {add['microseconds']:.2f} us; its bytes by 1,200 GB/s: {expected:.2f} us; "
        f"{add['microseconds'] / expected - 1:+.1%}"
    )
    return []
