"""The example of docs/profiling.md writes the files that the page names."""

from pathlib import Path

import torch

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "profiling.md").read_text()


def test_the_example_writes_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = TEXT.partition("```python\n")[2].partition("```")[0]
    exec(compile(example, "docs/profiling.md", "exec"), {"torch": torch})
    (output,) = tmp_path.glob("profiles/*_ascend_pt/ASCEND_PROFILER_OUTPUT")
    for name in (
        "kernel_details.csv",
        "operator_details.csv",
        "step_trace_time.csv",
        "trace_view.json",
    ):
        assert name in TEXT
        assert (output / name).stat().st_size > 100
