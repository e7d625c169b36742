"""Entries of ``custom``: their errors name file and line, and each becomes an operator with all its parts."""

import re
from collections import Counter
from pathlib import Path

import pytest

from codegen import parse
from codegen.__main__ import custom_files
from codegen.custom_entries import KEYS
from codegen.emit import python
from codegen.model import Variant

YAML = Path(__file__).resolve().parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"
HEAD = "backend: NPU\ncpp_namespace: at_npu::native\ncustom:\n"


def entry(schema, *keys, doc="doc: x"):
    return "".join(f"    {line}\n" for line in (f"func: {schema}", *keys, doc)).replace(
        "    ", "  - ", 1
    )


GATE = "npu_gate(Tensor self, int dim=-1) -> Tensor"
EXEC, OUT = "exec: aclnnGate", "out: halved(self, dim)"
GATED = entry(GATE, EXEC, OUT)
BACKWARD = entry(
    "npu_gate_backward(Tensor grad, Tensor self) -> Tensor", "exec: aclnnG", "out: like(self)"
)
TWO = "npu_two(Tensor self, int dim=-1) -> (Tensor, Tensor)"


def derived(formula, schema=GATE, out=OUT):
    return entry(schema, EXEC, out, "autograd:", f"  {formula}") + BACKWARD


@pytest.fixture
def resolve(tmp_path):
    functions = parse.native_functions()

    def resolve_text(text):
        path = tmp_path / "f.yaml"
        path.write_text(HEAD + text)
        return parse.custom_operators(parse.read_settings(path, functions))

    return resolve_text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("  npu_gate: aclnnGate\n", 4, "'custom' takes a list of entries, '- func:' with a schema"),
        ("  - npu_gate\n", 4, "an entry of 'custom' is '- func:' with a schema"),
        (GATED + "    shape: self\n", 8, f"unknown key 'shape' of an entry: there are {', '.join(KEYS)}"),
        (GATED + "    doc: x\n", 8, "key 'doc' is defined twice in this entry"),
        ("  - doc: x\n", 4, "the key 'func' of an entry is missing"),
        ("  - func: npu_x(Tensor self) -> Tensor\n", 4, "the key 'doc' of an entry is missing"),
        (GATED + GATED, 8, "'npu_gate' has an entry already, in line 4"),
        (entry("npu gate", EXEC, OUT), 4, "'func' takes a schema: npu_swiglu"),
        (entry("npu_gate(Tensor self -> Tensor", EXEC), 4, "'npu_gate' has no schema: "),
        (entry("npu_gate(Tensr self) -> Tensor", EXEC), 4, "'npu_gate' has no schema: unrecognized type Tensr"),
        (entry("npu_gate_(Tensor self) -> Tensor", EXEC), 4, "'npu_gate_' has no schema: "),
        (entry("npu_gate(Tensor self, Tensor input) -> Tensor", EXEC), 4, "'npu_gate' has two arguments 'input'"),
        (entry("npu_gate(Tensor(a!) x) -> Tensor", EXEC), 4, "writes arguments and gives new tensors"),
        (entry("npu_gate(Tensor self) -> int", EXEC, "out: like(self)"), 4, "'npu_gate' has to give tensors"),
        (entry("npu_gate(Tensor self) -> ()", EXEC), 4, "'npu_gate' has to give tensors"),
        (entry("npu_gate(Tensor self) -> Tensor[]", EXEC, "out: like(self)"), 4, "'npu_gate' gives a list: write it by hand"),
        (entry("npu_gate(Tensor self) -> (Tensor, float)", EXEC), 4, "'npu_gate' has to give tensors, and then ints"),
        (entry("npu_gate(Tensor self) -> (Tensor, int)", EXEC), 4, "'npu_gate' gives ints: write it by hand"),
        (entry("npu_gate(Storage self) -> Tensor", EXEC, "out: like(self)"), 4, "takes or gives Storage, which has no form"),
        (entry(GATE, OUT), 4, "an entry has one of 'exec', 'op_api: true' and 'composed: true'"),
        (entry(GATE, EXEC, OUT, "op_api: true"), 4, "an entry has one of 'exec', 'op_api: true' and 'composed: true'"),
        (entry(GATE, OUT, "composed: true"), 4, "'npu_gate' is composed and takes no 'out'"),
        (entry(GATE, OUT, "op_api: v2.1"), 6, "'op_api' takes true or false"),
        (GATED + "    exposed: yes please\n", 8, "'exposed' takes true or false"),
        (entry(GATE, "exec: Gate", OUT), 5, "'exec' takes an aclnn function: aclnnAdd, or"),
        (entry(GATE, "exec: aclnnGate(self, axis, out)", OUT), 5, "'npu_gate' has no argument 'axis': there are self, dim, out"),
        (entry(GATE, EXEC), 4, "'npu_gate' has 1 outputs: 'out' says what 0 are"),
        (entry(TWO, EXEC, "out: like(self)"), 4, "'npu_two' has 2 outputs: 'out' says what 1 are"),
        (entry("npu_x_(Tensor(a!) self) -> Tensor(a!)", "exec: aclnnX(self)", "out: like(self)"), 4, "'npu_x_' takes no 'out'"),
        (entry(GATE, EXEC, "out: like"), 6, "'out' takes a function of names: 'like' has no arguments"),
        (entry(GATE, EXEC, "out: [like(self)]"), 6, "'out' takes functions of names: like"),
        (entry(GATE, EXEC, "out: like(other)"), 4, "'out' of 'npu_gate' names 'other': there are self, dim"),
        (entry(GATE, EXEC, OUT, "dtypes: [float]"), 7, "unknown data type 'float'"),
        (entry(GATE, EXEC, OUT, "dtypes: {dim: [float32]}"), 4, "'dtypes' of 'npu_gate' names 'dim': its tensors are self"),
        (entry(GATE, EXEC, OUT, "autograd: x"), 7, "'autograd' takes {self: npu_x_backward"),
        (derived("self: npu_gate_backward"), 8, "'autograd' takes a function of names"),
        (derived("self: npu_missing(grad, self)"), 8, "there is no entry 'npu::npu_missing' under 'custom'"),
        (derived("self: npu_gate_backward(grad)"), 8, "'npu_gate_backward' takes 2 arguments, grad, self: 1 are given"),
        (derived("self, dim: npu_gate_backward(grad, self)"), 8, "'npu_gate_backward' gives 1 tensors for 2 gradients"),
        (derived("dim: npu_gate_backward(grad, self)"), 8, "'autograd' of 'npu_gate' names 'dim': its tensors are self"),
        (derived("self: npu_gate_backward(grad1, self)"), 8, "cannot read 'grad1': there are self, dim, grad, result"),
        (derived("self: npu_gate_backward(grad, result2)", TWO, "out: like(self), like(self)"), 8, "cannot read 'result2': there are self, dim, grad0, grad1, result0, result1"),
        (entry("npu_x_(Tensor(a!) self) -> Tensor(a!)", "exec: aclnnX(self)", "autograd:", "  self: npu_gate_backward(grad, self)") + BACKWARD, 4, "writes a tensor in place and takes no 'autograd'"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(resolve, text, line, says):
    with pytest.raises(parse.ParseError, match=rf"f\.yaml:{line}: .*{re.escape(says)}"):
        resolve(text)


def test_self_is_registered_as_input(resolve):
    (operator,) = resolve(GATED)
    assert operator.schema == "npu_gate(Tensor input, int dim=-1) -> Tensor"
    assert [(a.name, a.python_name, a.default) for a in operator.arguments] == [
        ("self", "input", None),
        ("dim", "dim", "-1"),
    ]


def test_what_formulas_read_is_kept(resolve):
    formula = "self: npu_gate_backward(grad1, result0)"
    operator, _ = resolve(derived(formula, TWO, "out: like(self), like(self)"))
    gradients = operator.gradients
    assert (gradients.kept, gradients.kept_results, gradients.used_grads) == ((), (0,), (1,))


def test_operators_that_write_know_the_one_that_does_not(resolve):
    plain, inplace, out, alone = resolve(
        entry("npu_x(Tensor self) -> Tensor", "exec: aclnnX", "out: like(self)")
        + entry("npu_x_(Tensor(a!) self) -> Tensor(a!)", "exec: aclnnX(self, self)")
        + entry("npu_x.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", EXEC, "out: like(self)")
        + entry("npu_y_(Tensor(a!) self) -> Tensor(a!)", "exec: aclnnX(self, self)")
    )
    assert [o.variant for o in (plain, inplace, out)] == [
        Variant.FUNCTIONAL,
        Variant.INPLACE,
        Variant.OUT,
    ]
    assert [o.functional for o in (plain, inplace, out, alone)] == [None, "npu_x", "npu_x", None]


def test_the_yaml_defines_and_registers_each_operator_once():
    settings = parse.read_settings(YAML, parse.native_functions())
    operators = parse.custom_operators(settings)
    names = sorted(o.name for o in operators)
    files = custom_files(operators, settings.cpp_namespace)
    blocks = {
        key: sorted(re.findall(r'm\.impl\("([^"]+)"', text))
        for key, text in re.findall(
            r"TORCH_LIBRARY_IMPL\(npu, (\w+), m\) \{\n(.*?)\n\}",
            files["CustomKernels.cpp"],
            re.DOTALL,
        )
    }
    assert blocks == {"PrivateUse1": names, "Meta": names}
    assert sorted(re.findall(r'define\(R"\(([\w.]+)\(', files["CustomRegisterSchema.cpp"])) == names
    for function, count in Counter(o.function for o in operators).items():
        assert files["CustomFunctions.h"].count(f" {function}(") == count
        assert files["CustomRedispatch.h"].count(f" {function}(c10::DispatchKeySet") == count


def test_python_names_and_stubs_are_python():
    operators = parse.custom_operators(parse.read_settings(YAML, parse.native_functions()))
    files = python.python(operators)
    for name, text in files.items():
        compile(text, name, "exec")
    public: dict = {}
    exec(files["exposed_api.py"], public)
    assert set(public["public_npu_functions"]) == {o.base for o in operators if o.is_exposed}
