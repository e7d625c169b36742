"""The example of docs/graph.md runs and prints what its comment says."""

import re
from pathlib import Path

import torch

import torch_npu  # noqa: F401


def test_the_example_prints_what_it_says(capsys):
    text = (Path(__file__).parents[2] / "docs" / "graph.md").read_text()
    text = text.split("## Compiled models")[0]  # tests/graph/test_document.py runs that part
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, "docs/graph.md", "exec"), {"torch": torch})
    (message,) = re.findall(r"print\(.*\)  # (.*)", example)
    assert capsys.readouterr().out.strip() == message
