"""The table of environment variables is compared with the sources and with its document."""

import pytest
from dev import environment
from dev.paths import ROOT

Variable = environment.registry().Variable
PYTHON = "from torch_npu._core import environment\nprint(environment.flag('A_FLAG'))\n"
CPP = """#include "base/environment.h"
auto a = environment::text("A_TEXT");
auto b = store(integer("A_NUMBER", get), &out);
"""


def row(name, type="flag", default="0", origin="own", by="python", values="", meaning="x", why=""):
    return Variable(name, type, default, origin, by, values, meaning, why)


ROWS = {
    "A_FLAG": row("A_FLAG"),
    "A_TEXT": row("A_TEXT", "text", "", by="c++"),
    "A_NUMBER": row("A_NUMBER", "integer", "3", by="c++", values="0 to 3"),
    "A_STAR_*": row("A_STAR_*", "ignored", "", "official", "", why="none is needed"),
    "TORCH_A": row("TORCH_A", origin="torch", by=""),
}


def findings(tmp_path, python=PYTHON, cpp=CPP, rows=ROWS):
    files = [tmp_path / "torch_npu" / "a.py", tmp_path / "softnpu" / "a.cpp"]
    for file, text in zip(files, (python, cpp), strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    found, wrong = environment.readers(tmp_path, files)
    return wrong + environment.check_table(rows.values(), found)


def test_the_table_agrees_with_the_sources_and_the_document():
    assert environment.check_environment() == []


def test_a_table_that_agrees_has_no_findings(tmp_path):
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    ("python", "cpp", "found"),
    [
        (PYTHON + "environment.text('NEW')", CPP, "torch_npu/a.py: reads NEW, which has no row in"),
        (PYTHON, CPP + 'text("A_NEW");', "softnpu/a.cpp: reads A_NEW, which has no row in"),
        (PYTHON, CPP + 'std::getenv("NEW")', "softnpu/a.cpp:4: read variables through softnpu/include"),
        (PYTHON, CPP + 'secure_getenv(name)', "softnpu/a.cpp:4: read variables through softnpu/include"),
        (PYTHON, CPP + 'extern char** environ;', "softnpu/a.cpp:4: read variables through softnpu/include"),
        ("", CPP, "A_FLAG has an effect, and nobody reads it"),
        (PYTHON, CPP.replace("A_NUMBER", "A_TEXT"), "A_NUMBER has an effect, and nobody reads it"),
        (PYTHON, CPP + 'flag("A_FLAG")', "A_FLAG is read by python, c++, its row says python"),
        (PYTHON, CPP + 'is_set("TORCH_A")', "TORCH_A is read by c++, its row says"),
        ("import os\nos.environ['A_FLAG']\n" + PYTHON, CPP, "torch_npu/a.py:2: read variables through"),
        ("import os\nos.getenv('A_FLAG')\n" + PYTHON, CPP, "torch_npu/a.py:2: read variables through"),
        (PYTHON + "environment.flag(name)", CPP, "torch_npu/a.py:3: name the variable"),
    ],
)  # fmt: skip
def test_a_reader_without_a_row_and_a_row_without_a_reader_are_found(tmp_path, python, cpp, found):
    (finding,) = findings(tmp_path, python, cpp)
    assert found in finding


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"type": "number"}, "has type number; there are flag"),
        ({"default": "2"}, "does not take its default, 2"),
        ({"default": ""}, "is read by Python as flag and has no default"),
        ({"origin": "mine"}, "has origin mine; there are official"),
        ({"meaning": ""}, "needs a meaning, and no reason"),
        ({"type": "ignored", "read_by": ""}, "has no effect and says no reason"),
    ],
)
def test_a_row_that_contradicts_itself_is_found(tmp_path, changes, found):
    rows = {**ROWS, "A_FLAG": ROWS["A_FLAG"]._replace(**changes)}
    assert any(found in finding for finding in findings(tmp_path, rows=rows))


def test_variables_may_be_set_for_others(tmp_path):
    assert findings(tmp_path, PYTHON + "import os\nos.environ.setdefault('X', '1')") == []


def test_the_driver_of_ascend_c_reads_by_itself(tmp_path):
    file = tmp_path / "torch_npu/ascendc/a.py"
    file.parent.mkdir(parents=True)
    file.write_text("import os\nos.environ.get('CXX', '')")
    assert environment.readers(tmp_path, [file]) == (
        {"CXX": {"python": "torch_npu/ascendc/a.py"}},
        [],
    )


def test_a_document_has_a_row_for_each_variable():
    text = environment.document(ROWS.values())
    assert "| `A_FLAG` | this project | 0, 1 | `0` | x |\n" in text
    assert "| `A_NUMBER` | this project | 0 to 3 | `3` | x |\n" in text
    honoured, ignored = text.split("## Variables without effect")
    assert "| `A_STAR_*` | x | none is needed |\n" in ignored
    assert "A_STAR" not in honoured


def test_a_change_of_the_table_alone_is_found(monkeypatch):
    monkeypatch.setattr(environment, "_HEAD", "# Other variables\n")
    (finding,) = environment.check_environment()
    assert finding == (
        "docs/environment.md: differs from torch_npu/_core/environment.tsv: run ./dev environment"
    )
    assert (ROOT / environment.DOCUMENT).exists()
