"""Entries of ``official``: their errors name file and line, and each becomes registrations of all its forms."""

import re
from pathlib import Path

import pytest

from codegen import parse
from codegen.emit import aclnn
from codegen.entries import KEYS
from codegen.model import Route, Variant

YAML = Path(__file__).resolve().parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"
HEAD = "backend: NPU\ncpp_namespace: at_npu::native\nofficial:\n"
ADD = "  - func: add.out\n    exec: aclnnAdd\n"


@pytest.fixture(scope="module")
def functions():
    return parse.native_functions()


@pytest.fixture
def resolve(tmp_path, functions):
    def resolve_text(text):
        path = tmp_path / "f.yaml"
        path.write_text(HEAD + text)
        settings = parse.read_settings(path, functions)
        return parse.aclnn_operators(settings, functions)

    return resolve_text


def text_of(operators):
    (text,) = aclnn.aclnn(operators, 1).values()
    return text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("  add.out: aclnnAdd\n", 4, "'official' takes a list of entries"),
        ("  - add.out\n", 4, "an entry of 'official' is '- func: add.out'"),
        (ADD + "    shape: self\n", 6, f"unknown key 'shape' of an entry: there are {', '.join(KEYS)}"),
        (ADD + "    exec: aclnnAdds\n", 6, "key 'exec' is defined twice in this entry"),
        ("  - func: add.out\n", 4, "the key 'exec' of an entry is missing"),
        ("  - exec: aclnnAdd\n", 4, "the key 'func' of an entry is missing"),
        (ADD + ADD, 6, "'add.out' has an entry already, in line 4"),
        ("  - func: add.out\n    exec: Add\n", 5, "'exec' takes an aclnn function: aclnnAdd, or"),
        ("  - func: add.out\n    exec: [aclnnAdd]\n", 5, "'exec' takes an aclnn function"),
        ("  - func: add.out\n    exec: aclnnAdd(a+b)\n", 5, "'a+b' is no argument: write a name"),
        (ADD + "    exec_scalar: aclnnAdds\n", 6, "'exec_scalar' takes {other: aclnnAdds"),
        (ADD + "    exec_scalar:\n      other: Adds\n", 7, "'exec_scalar' takes an aclnn function"),
        (ADD + "    exec_scalar:\n      alpha: aclnnAdds\n", 4, "'exec_scalar' of 'add.out' names 'alpha': its tensors are self, other"),
        (ADD + "    dtypes: float32\n", 6, "'dtypes' takes a list"),
        (ADD + "    dtypes: [float]\n", 6, "unknown data type 'float': there are floating, integral"),
        (ADD + "    dtypes:\n      alpha: [float32]\n", 4, "'dtypes' of 'add.out' names 'alpha'"),
        (ADD + "    same_dtype: self\n", 6, "'same_dtype' takes a list of arguments"),
        (ADD + "    same_dtype: [self, alpha]\n", 4, "'same_dtype' of 'add.out' names 'alpha'"),
        (ADD + "    rule: {size: self}\n", 6, "'rule' takes the name of a rule"),
        (ADD + "    rule: unary\n    structured_inherit: sub.out\n", 6, "both say what the outputs are"),
        (ADD + "    structured_inherit: relu\n", 4, "'relu' is no structured operator of torch"),
        ("  - func: add\n    exec: aclnnAdd\n", 4, "torch has no operator 'aten::add' "),
        ("  - func: add.Tensor\n    exec: aclnnAdd\n", 4, "'add.Tensor' follows from 'add.out'"),
        ("  - func: linear\n    exec: aclnnLinear\n", 4, "'linear' has no CPU kernel to go on to"),
        ("  - func: relu\n    exec: aclnnRelu\n", 4, "'relu' is not structured in torch: 'rule' or"),
        ("  - func: zero_\n    exec: aclnnInplaceZero\n    rule: unary\n", 4, "writes self in place and takes no 'rule'"),
        ("  - func: mm.out\n    exec: aclnnMm(self, mat1, out)\n", 5, "'mm.out' has no argument 'mat1': there are self, mat2, out"),
        (ADD + "    keeps_format: yes\n", 6, "'keeps_format' takes true or false"),
        ("  - func: zero_\n    exec: aclnnInplaceZero\n    keeps_format: true\n", 4, "'keeps_format' of 'zero_': no rule makes its first output"),
        (ADD + "    when: fits\n", 6, "'when' takes a function of arguments"),
        (ADD + "    when: fits(sizes)\n", 5, "'add.out' has no argument 'sizes'"),
        ("  - func: zero_\n    exec: aclnnInplaceZero(self, out)\n", 5, "'zero_' has no argument 'out'"),
        ("  - func: gelu.out\n    exec: aclnnGeluV2(self, gelu_mode(mode), out)\n", 5, "no argument 'mode'"),
        ("  - func: cumsum.out\n    exec: aclnnCumsum\n", 5, "'dtype' of 'cumsum.out' is ScalarType?, which aclnn does not know"),
        ("  - func: max.dim_max\n    exec: aclnnMaxDim(self, dim, keepdim, values)\n", 5, "there are self, dim, keepdim, out0, out1, max, max_values"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(resolve, text, line, says):
    with pytest.raises(parse.ParseError, match=rf"f\.yaml:{line}: .*{re.escape(says)}"):
        resolve(text)


@pytest.mark.parametrize("key", ["supported", "boxed"])
def test_an_operator_has_one_route(tmp_path, functions, key):
    path = tmp_path / "f.yaml"
    path.write_text(f"{HEAD}{ADD}{key}:\n  - add_.Tensor\n")
    settings = parse.read_settings(path, functions)
    with pytest.raises(
        parse.ParseError, match=r"f\.yaml:4: 'add_\.Tensor', which 'add\.out' registers, has a list"
    ):
        parse.aclnn_operators(settings, functions)


def test_a_structured_operator_stands_for_its_forms(resolve):
    (add,) = resolve(ADD)
    assert {m.operator: m.variant for m in add.members} == {
        "add.Tensor": Variant.FUNCTIONAL,
        "add_.Tensor": Variant.INPLACE,
        "add.out": Variant.OUT,
    }
    assert (add.rule, add.rule_header) == ("at::meta::structured_add_Tensor", "ATen/ops/add_meta.h")
    assert add.routes[0].arguments == ("self", "other", "alpha", "results[0]")
    text = text_of((add,))
    for name, variant in (
        ("add.Tensor", "functional"),
        ("add_.Tensor", "inplace"),
        ("add.out", "out"),
    ):
        assert f'm.impl("{name}", &op_add_out::{variant});' in text
    assert "op0.try_launch(check.device(), self, other, alpha, results[0]);" in text
    assert 'return Host<"add_.Tensor", ' in text


def test_a_number_has_its_own_function(resolve):
    (add,) = resolve(
        ADD + "    exec_scalar:\n      other: aclnnAdds\n      self: aclnnRsubs(other, self, out)\n"
    )
    assert [(r.function, r.number) for r in add.routes] == [
        ("aclnnAdd", None), ("aclnnAdds", "other"), ("aclnnRsubs", "self"),
    ]  # fmt: skip
    assert add.routes[1].arguments == ("self", "number(other)", "alpha", "results[0]")
    assert add.routes[2].arguments == ("other", "number(self)", "results[0]")
    text = text_of((add,))
    assert (
        "is_number(other) && takes_outputs(check, results) && check.takes(self, kAllDtypes)" in text
    )


def test_attributes_and_what_they_need(resolve):
    (total,) = resolve(
        "  - func: sum.IntList_out\n    exec: aclnnReduceSum(self, dim, true, 1, null, dtype_of(out), out)\n"
    )
    assert total.routes[0].arguments == (
        "self", "dim", "true", "int64_t{1}", "nullptr", "attributes::dtype_of(results[0])", "results[0]",
    )  # fmt: skip
    assert total.routes[0].needs == ("kIntArray",)
    assert 'op0("aclnnReduceSum", AclObject::kIntArray);' in text_of((total,))
    (norm,) = resolve(
        "  - func: native_layer_norm_backward\n    exec: aclnnLayerNormBackward\n    rule: layer_norm_backward\n"
    )
    assert norm.routes[0].needs == ("kBoolArray", "kIntArray")


def test_data_types(resolve):
    (add,) = resolve(
        ADD + "    dtypes:\n      self: [floating, bool]\n    same_dtype: [self, other]\n"
    )
    text = text_of((add,))
    listed = ", ".join(
        f"at::ScalarType::{t}" for t in ("Half", "BFloat16", "Float", "Double", "Bool")
    )
    assert f"check.takes(self, dtypes({{{listed}}}))" in text
    assert "check.takes(other, kAllDtypes)" in text
    assert "are_of_one_type(self, other)" in text


def test_what_is_like_its_arguments_needs_no_rule(resolve):
    (add,) = resolve(ADD)
    call = "makes_same_layout<true, ResultType::kOfNumbers>(results, self, other, alpha)"
    assert f"if (!{call}) {{" in text_of((add,))
    (equal,) = resolve("  - func: eq.Tensor_out\n    exec: aclnnEqTensor\n")
    call = "makes_same_layout<true, ResultType::kTruth>(results, self, other)"
    assert f"if (!{call}) {{" in text_of((equal,))
    (largest,) = resolve("  - func: amax.out\n    exec: aclnnAmax\n")
    assert "makes_same_layout" not in text_of((largest,))


def test_lists_of_tensors(resolve):
    (add,) = resolve(
        "  - func: _foreach_add.List\n    exec: aclnnForeachAddListV2\n    dtypes: [float32]\n"
    )
    assert {m.operator for m in add.members} == {"_foreach_add.List", "_foreach_add_.List"}
    text = text_of((add,))
    assert "are_lists(results, self, other, alpha)" in text
    assert "op0.try_launch(check.device(), self, other, alpha, results.list());" in text
    assert "if (run(results, self, other, alpha)) return results.take();" in text
    assert "ListOutputs results(self);" in text
    (norm,) = resolve(
        "  - func: _foreach_norm.Scalar\n    exec: aclnnForeachNorm(self, ord, out)\n    rule: one_number\n"
    )
    assert "results.make_numbers(self);" in text_of((norm,))
    (zero,) = resolve("  - func: _foreach_zero_\n    exec: aclnnForeachZeroInplace(self)\n")
    assert [m.operator for m in zero.members] == ["_foreach_zero_"]


def test_what_the_outputs_are(resolve):
    (rsub,) = resolve(
        "  - func: rsub.Tensor\n    exec: aclnnRsub\n    structured_inherit: sub.out\n"
    )
    assert rsub.rule == "at::meta::structured_sub_Tensor"
    (relu,) = resolve("  - func: relu\n    exec: aclnnRelu\n    rule: unary\n")
    text = text_of((relu,))
    assert '#include "aten/aclnn/rules.h"' in text
    assert "OutRule<rules::unary, 1> rule(results);" in text


def test_in_place_alone(resolve):
    (zero,) = resolve("  - func: zero_\n    exec: aclnnInplaceZero\n")
    assert [m.operator for m in zero.members] == ["zero_"]
    text = text_of((zero,))
    assert "OutRule" not in text
    assert "op0.try_launch(check.device(), self);" in text
    assert "if (run(self)) return self;" in text


def test_several_outputs(resolve):
    (largest,) = resolve("  - func: max.dim_max\n    exec: aclnnMaxDim\n")
    text = text_of((largest,))
    assert "Outputs<2> results(Variant::kOut, max, max_values);" in text
    assert "return std::tie(max, max_values);" in text
    text = "  - func: max.dim_max\n    exec: aclnnMaxDim(out1, max_values, out0, max)\n"
    assert resolve(text)[0].routes[0].arguments == tuple(f"results[{i}]" for i in (1, 1, 0, 0))


def test_what_pytorch_composes_stays_its_composition(resolve):
    (absolute,) = resolve("  - func: abs.out\n    exec: aclnnAbs\n    rule: unary\n")
    text = text_of((absolute,))
    assert "return at::compositeexplicitautograd::abs_(self);" in text
    assert "at::cpu::abs_outf" in text


def test_a_composition_that_asks_for_the_device_sees_cpu_tensors(tmp_path, functions):
    path = tmp_path / "f.yaml"
    entry = "  - func: convolution\n    exec: aclnnConvolution\n    rule: convolution\n"
    path.write_text(f"{HEAD}{entry}boxed_composite:\n  - convolution\n")
    found = parse.aclnn_operators(parse.read_settings(path, functions), functions)
    assert "(&at::compositeexplicitautograd::convolution)>::call(input, weight" in text_of(found)


def test_a_condition_joins_the_others(resolve):
    (add,) = resolve(ADD + "    when: fits(self, other)\n")
    assert add.when == "conditions::fits(self, other)"
    assert "&& conditions::fits(self, other)) {" in text_of((add,))


def test_generated_wrappers_leave_entries_out(functions):
    settings = parse.read_settings(YAML, functions)
    by_aclnn = parse.aclnn_operators(settings, functions)
    names = [m.operator for o in by_aclnn for m in o.members]
    assert len(set(names)) == len(names)
    routes = {o.name: o.route for o in parse.operators(settings, functions, by_aclnn)}
    assert all(routes[name] is Route.ACLNN for name in names)
    assert routes["add.Tensor"] is Route.ACLNN
    files = aclnn.aclnn(by_aclnn, 4)
    registered = [n for text in files.values() for n in re.findall(r'm\.impl\("([^"]+)"', text)]
    assert sorted(registered) == sorted(names)
    assert files == aclnn.aclnn(by_aclnn, 4)
