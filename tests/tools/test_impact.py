"""Which tests `./dev quick` selects for a changed path."""

from dev.impact import (
    RULES,
    family_functions,
    functions_of_entries,
    impact,
    operators_of,
    registered,
    split,
)
from dev.paths import ROOT
from dev.planted import FAULTS

YAML = """
official:
  - func: add.out
    exec: aclnnAdd(self, other, alpha, out)
  - func: where.self
    exec: aclnnSWhere
  - func: hardswish
    exec: aclnnHardswish
    exec_scalar: {other: aclnnAdds}
"""


def test_operators_by_function(tmp_path):
    index = tmp_path / "functions.yaml"
    index.write_text(YAML)
    entries = functions_of_entries(index)
    assert operators_of({"aclnnAdd"}, entries) == {"add"}
    assert operators_of({"aclnnAdds", "aclnnSWhere"}, entries) == {"where", "hardswish"}
    assert "aclnnMm" in functions_of_entries()["mm.out"]


def test_a_kernel_selects_its_family():
    found = impact(["softnpu/ops/blas/matmul/direct.cpp"])
    assert "aclnnMm" in family_functions("matmul")
    assert found.functions
    assert {"mm", "addmm"} <= found.operators
    assert {"tests/aclnn/test_matmul.py", "tests/capability/test_matmul.py"} <= found.tests


def test_the_runtime_selects_its_tests():
    found = impact(["softnpu/runtime/stream/stream.cpp"])
    assert found.functions
    assert "tests/capability/test_streams.py" in found.tests


def test_the_plug_in_selects_the_tests_of_that_name():
    assert (
        "tests/capability/test_attention.py" in impact(["torch_npu/csrc/aten/attention.cpp"]).tests
    )


def test_a_python_module_selects_the_tests_that_name_it():
    assert "tests/capability/test_explain.py" in impact(["torch_npu/utils/explanation.py"]).tests
    assert "tests/capability/test_memory.py" in impact(["torch_npu/npu/memory.py"]).tests


def test_the_plug_in_selects_the_operators_that_it_registers():
    text = 'm.impl("arange.start_out", &f);\n  m.impl("aten::view", &g);\n'
    assert registered(text) == {"arange", "view"}


def test_a_test_selects_itself_and_codegen_its_tests():
    assert impact(["tests/capability/test_norms.py"]).tests == {"tests/capability/test_norms.py"}
    _, alone = split(impact(["codegen/parse.py"]).tests)
    assert alone == ["codegen/tests"]


def test_rules_name_tests_that_exist():
    assert all((ROOT / test).exists() for _, tests in RULES for test in tests)


def test_planted_faults_can_be_planted():
    for fault in FAULTS:
        assert (ROOT / fault.path).read_text().count(fault.right) == 1
        assert fault.right != fault.wrong
