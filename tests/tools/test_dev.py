"""The command line of the checkout: layers and messages."""

from pathlib import Path

import pytest
from dev.gen import table
from dev.run import DevError
from dev.style import layer_violations, raw_bytes, read_layers, version_conditions
from dev.words import retired_words


def test_layers_are_read():
    assert read_layers("# a comment\na/b -> c d  # why\n\n") == {"a/b": ["c", "d"]}


def test_malformed_layers_name_the_line():
    with pytest.raises(DevError, match="LAYERS:2: expected"):
        read_layers("a -> b\nc d\n")


def test_an_include_against_the_layers_is_found(tmp_path):
    file = tmp_path / "low" / "x.cpp"
    file.parent.mkdir()
    file.write_text('#include <vector>\n#include "high/y.h"\n#include "low/z.h"\n')
    found = layer_violations({"low": ["low"], "high": ["low"]}, [file], tmp_path)
    assert found == ["low/x.cpp:2: low may not include high/y.h"]


def test_headers_of_a_folder_itself_and_without_a_folder(tmp_path):
    file = tmp_path / "ops" / "family" / "x.cpp"
    file.parent.mkdir(parents=True)
    (file.parent / "beside.h").touch()
    file.write_text(
        '#include "ops/dtype.h"\n#include "ops/other/y.h"\n#include "beside.h"\n#include "elsewhere.h"\n'
    )
    found = layer_violations({"ops/family": ["ops/*"]}, [file], tmp_path)
    assert found == [
        "ops/family/x.cpp:2: ops/family may not include ops/other/y.h",
        "ops/family/x.cpp:4: elsewhere.h is in another folder: name it",
    ]


def test_retired_words_in_identifiers_and_file_names_are_found(tmp_path):
    file = tmp_path / "worker_seats.cpp"
    file.write_text(
        'int free_seats();  // a seat in a comment\nauto s = "seat";\nclass WriteClock;\n'
    )
    found = retired_words([file], tmp_path)
    assert [line.split(" uses ")[0] for line in found] == [
        "worker_seats.cpp:1: worker_seats",
        "worker_seats.cpp:1: free_seats",
        "worker_seats.cpp:3: WriteClock",
    ]
    assert found[0].endswith("a retired word: slots (docs/glossary.md)")


def test_bytes_without_a_layout_are_found(tmp_path):
    file = tmp_path / "torch_npu/csrc/core/a.cpp"
    file.parent.mkdir(parents=True)
    file.write_text(
        "sizes.data();\nstorage->data();\nbytes_of(*storage, kPlain);\nx.const_data_ptr();\n"
    )
    assert [line.split(": ")[0] for line in raw_bytes([file], tmp_path)] == [
        "torch_npu/csrc/core/a.cpp:2",
        "torch_npu/csrc/core/a.cpp:4",
    ]
    (tmp_path / "softnpu").mkdir()
    other = tmp_path / "softnpu/a.cpp"
    other.write_text(file.read_text())
    assert raw_bytes([other], tmp_path) == []


def test_conditions_on_torchs_version_are_only_in_compat(tmp_path):
    text = "#if TORCH_VERSION_MINOR < 13\n"
    files = [tmp_path / "torch_npu/csrc/compat/a.h", tmp_path / "torch_npu/csrc/core/b.h"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (found,) = version_conditions(files, tmp_path)
    assert found.startswith("torch_npu/csrc/core/b.h:1: ")


def test_the_table_of_generated_files_is_aligned():
    rows = [
        {"what": "schemas", "operators": 24, "files": "a.cpp"},
        {"what": "wrappers", "operators": 1035, "files": "b_*.cpp"},
    ]
    assert table(rows, Path("build/generated")).splitlines() == [
        "what      number  files in build/generated",
        "schemas       24  a.cpp",
        "wrappers   1,035  b_*.cpp",
    ]
