"""The command line of the checkout: layers and messages."""

from pathlib import Path

import pytest
from dev.gen import table
from dev.lint import layer_violations, read_layers, version_conditions
from dev.run import DevError


def test_layers_are_read():
    assert read_layers("# a comment\na/b -> c d  # why\n\n") == {"a/b": ["c", "d"]}


def test_malformed_layers_name_the_line():
    with pytest.raises(DevError, match="LAYERS:2: expected"):
        read_layers("a -> b\nc d\n")


def test_an_arrow_the_wrong_way_is_found(tmp_path):
    file = tmp_path / "low" / "x.cpp"
    file.parent.mkdir()
    file.write_text('#include <vector>\n#include "high/y.h"\n#include "low/z.h"\n')
    found = layer_violations({"low": ["low"], "high": ["low"]}, [file], tmp_path)
    assert found == ["low/x.cpp:2: low may not include high/y.h"]


def test_conditions_on_torchs_version_stand_in_compat(tmp_path):
    text = "#if TORCH_VERSION_MINOR < 13\n"
    files = [tmp_path / "torch_npu/csrc/compat/a.h", tmp_path / "torch_npu/csrc/core/b.h"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (found,) = version_conditions(files, tmp_path)
    assert found.startswith("torch_npu/csrc/core/b.h:1: ")


def test_what_was_generated_is_an_aligned_table():
    rows = [
        {"what": "schemas", "operators": 24, "files": "a.cpp"},
        {"what": "wrappers", "operators": 1035, "files": "b_*.cpp"},
    ]
    assert table(rows, Path("build/generated")).splitlines() == [
        "what      number  files in build/generated",
        "schemas       24  a.cpp",
        "wrappers   1,035  b_*.cpp",
    ]
