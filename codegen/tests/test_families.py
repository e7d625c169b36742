"""The index and its families: what is read, in which order, and errors that name file, line and entry."""

import json
import re
from pathlib import Path

import pytest

from codegen import files, functions, parse

YAML = Path(__file__).resolve().parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"
HEAD = "backend: NPU\ncpp_namespace: at_npu::native\n"
ADD = "  - func: add.out\n    exec: aclnnAdd\n"
SIN = "  - func: sin.out\n    exec: aclnnSin\n"
GATE = "  - func: npu_gate(Tensor self) -> Tensor\n    exec: aclnnGate\n    out: like(self)\n    doc: A gate.\n"


@pytest.fixture
def written(tmp_path):
    """Writes an index and families; its argument is {family: text}."""

    def write(families, listed=None):
        folder = tmp_path / files.FOLDER
        folder.mkdir()
        for name, text in families.items():
            (folder / f"{name}.yaml").write_text(text)
        names = families if listed is None else listed
        index = tmp_path / "f.yaml"
        index.write_text(f"{HEAD}families:\n" + "".join(f"  - {name}\n" for name in names))
        return index

    return write


def test_families_are_read_in_the_order_of_the_index(written):
    index = written(
        {"b": f"official:\n{SIN}", "a": f"custom:\n{GATE}\nofficial:\n{ADD}"}, ["b", "a"]
    )
    found = parse.read(index, parse.native_functions())
    assert [operator.name for operator in found.aclnn] == ["sin.out", "add.out"]
    assert [(o.name, o.family) for o in found.custom] == [("npu_gate", "a")]
    assert found.settings.backend == "NPU"


@pytest.mark.parametrize(
    ("families", "listed", "says"),
    [
        ({"a": f"official:\n{ADD}"}, ["a", "b"], "f.yaml:5: there is no file native_functions/b.yaml"),
        ({"a": "", "b": ""}, ["a"], "f.yaml:4: 'families' leaves out native_functions/b.yaml"),
        ({"a": ""}, ["a", "a"], "f.yaml:5: 'a' is defined twice under 'families'"),
        ({"a": "supported:\n  - view\n"}, None, "a.yaml:1: unknown key 'supported': there are official, custom"),
        ({"a": "- func\n"}, None, "a.yaml:1: expected keys such as official, custom at the top"),
        ({"a": "official: [\n"}, None, "a.yaml:2: "),
        ({"a": f"official:\n{ADD}", "b": f"official:\n{SIN}{ADD}"}, None, "b.yaml:4: 'add.out' has an entry already, in line 2 of a.yaml"),
        ({"a": f"official:\n{ADD}    shape: self\n"}, None, "a.yaml:4: 'add.out': unknown key 'shape' of an entry"),
        ({"a": f"official:\n{ADD}    dtypes: [float]\n"}, None, "a.yaml:4: 'add.out': unknown data type 'float'"),
        ({"a": f"custom:\n{GATE}    shape: self\n"}, None, "a.yaml:6: 'npu_gate': unknown key 'shape' of an entry"),
        ({"a": "", "b": f"official:\n{SIN}  - func: addd.out\n    exec: aclnnAdd\n"}, None, "b.yaml:4: torch has no operator 'aten::addd.out'"),
        ({"a": "", "b": f"custom:\n{GATE.replace('like(self)', 'like(x)')}"}, None, "b.yaml:2: 'out' of 'npu_gate' names 'x'"),
        ({"a": "", "b": f"custom:\n{GATE.replace('Tensor self', 'Tensr self')}"}, None, "b.yaml:2: 'npu_gate' has no schema"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_entry(written, families, listed, says):
    families = {name: text or "custom: []\n" for name, text in families.items()}
    with pytest.raises(parse.ParseError, match=re.escape(says)):
        parse.read(written(families, listed), parse.native_functions())


def test_families_are_a_list(tmp_path):
    (tmp_path / "f.yaml").write_text(HEAD + "families: norms\n")
    with pytest.raises(parse.ParseError, match=r"f\.yaml:3: 'families' takes a list of names"):
        parse.read(tmp_path / "f.yaml", parse.native_functions())


def test_the_checkouts_families_have_entries_and_the_index_has_none():
    found = files.read_files(YAML)
    folder = YAML.parent / files.FOLDER
    entries = [*found.official, *found.custom]
    assert {entry.file for entry in entries} == {str(file) for file in folder.glob("*.yaml")}
    assert not {"official", "custom"} & found.index.keys()


def test_functions_of_entries(written, capsys):
    scalar = '    exec_scalar: {other: "aclnnAdds(self, other, alpha, out)"}\n'
    index = written({"a": f"custom:\n{GATE}\nofficial:\n{ADD}{scalar}"})
    assert functions.main(["--yaml", str(index)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "add.out": ["aclnnAdd", "aclnnAdds"],
        "npu_gate": ["aclnnGate"],
    }
    index.write_text("supported: [")
    assert functions.main(["--yaml", str(index)]) == 1
    assert "f.yaml:1: " in capsys.readouterr().err
