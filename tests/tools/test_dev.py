"""The command line of the checkout: layers and messages."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from dev.lint import layer_violations, read_layers
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
