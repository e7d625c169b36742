"""What stands above the kernels of npu's operators: derivatives, version counters, functionalization."""

from collections.abc import Sequence

from codegen.emit.aclnn import identifier
from codegen.emit.custom import HEAD, definition, has_tensor, passed, registrations
from codegen.model import CustomArgument, CustomOperator, Formula, Gradients, Kind, Variant


def _result(operator: CustomOperator, index: int) -> str:
    return "result" if operator.count == 1 else f"std::get<{index}>(result)"


def _named(stem: str, index: int, read: Sequence[str]) -> list[str]:
    """``grad``, which is the first, or ``grad1``, as the formulas write it."""
    names = [f"{stem}{index}", *([stem] if index == 0 else [])]
    return [name for name in names if name in read]


def _kept(operator: CustomOperator, gradients: Gradients) -> list[CustomArgument]:
    by_name = {a.name: a for a in operator.arguments}
    return [by_name[name] for name in gradients.kept]


_PROPERTIES = {
    "sizes": ("std::vector<c10::SymInt>", "{}.sym_sizes().vec()"),
    "size0": ("c10::SymInt", "{}.sym_size(0)"),
    "size1": ("c10::SymInt", "{}.sym_size(1)"),
    "dtype": ("at::ScalarType", "{}.scalar_type()"),
    "not": ("bool", "!{}"),
}


def _given(gradients: Gradients) -> list[str]:
    """The arguments that get gradients, in the order of the node's edges."""
    return [name for formula in gradients.formulas for name in formula.gives]


def _formula(formula: Formula, first: int, namespace: str) -> list[str]:
    """Computes the gradients from the edge ``first`` on, if one of them is asked for."""
    edges = range(first, first + len(formula.gives))
    asked = " || ".join(f"task_should_compute_output({i})" for i in edges)
    taken = ", ".join(f"gradients[{i}]" for i in edges)
    call = f"{namespace}::custom_ops::{formula.function}({', '.join(formula.arguments)})"
    wanted = ", ".join(f"task_should_compute_output({i})" for i in edges)
    mask = [f"  const std::array<bool, {len(edges)}> asked = {{{wanted}}};"]
    return [
        f"if ({asked}) {{",
        *(mask if "asked" in formula.arguments else []),
        f"  {taken if len(edges) == 1 else f'std::tie({taken})'} = {call};",
        "}",
    ]


def _restored(argument: CustomArgument) -> str:
    name = argument.name
    if argument.kind is Kind.TENSOR:
        return f"const at::Tensor {name} = {name}_.unpack();"
    if argument.kind is Kind.OPTIONAL_TENSOR:
        return f"const std::optional<at::Tensor> {name} = optional_of({name}_.unpack());"
    return f"const auto& {name} = {name}_;"


def _backward(operator: CustomOperator, gradients: Gradients, namespace: str) -> list[str]:
    read = [name for formula in gradients.formulas for name in formula.arguments]
    several = len(gradients.used_grads) > 1
    absent = " && ".join(f"!grads[{k}].defined()" for k in range(len(gradients.used_grads)))
    lines = [
        "const std::lock_guard<std::mutex> lock(mutex_);",
        f"variable_list gradients({len(_given(gradients))});",
        f"if ({absent}) return gradients;",
    ]
    for k, i in enumerate(gradients.used_grads):
        source = f"or_zeros(grads[{k}], input_metadata({k}))" if several else f"grads[{k}]"
        lines += [
            f"const at::Tensor{'' if several else '&'} {name} = {source};"
            for name in _named("grad", i, read)
        ]
    lines += [_restored(a) for a in _kept(operator, gradients)]
    lines += [f"const auto& {p.name} = {p.name}_;" for p in gradients.properties]
    lines += [
        f"const int64_t {name} = result{i}_;"
        if i in operator.numbers
        else f"const at::Tensor {name} = result{i}_.unpack(getptr());"
        for i in gradients.kept_results
        for name in _named("result", i, read)
    ]
    first = 0
    for formula in gradients.formulas:
        lines += _formula(formula, first, namespace)
        first += len(formula.gives)
    return [*lines, "return gradients;"]


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def _node(operator: CustomOperator, gradients: Gradients, namespace: str) -> str:
    """The node of the autograd graph: what the forward pass keeps, and the backward pass."""
    kept = _kept(operator, gradients)
    saved = [f"{a.name}_" for a in kept if has_tensor(a)]
    saved += [f"result{i}_" for i in gradients.kept_results if i not in operator.numbers]
    members = [f"SavedVariable {name};" for name in saved]
    members += [f"int64_t result{i}_ = 0;" for i in gradients.kept_results if i in operator.numbers]
    members += [f"{_PROPERTIES[p.what][0]} {p.name}_{{}};" for p in gradients.properties]
    members += [f"Saved<{a.type}> {a.name}_{{}};" for a in kept if not has_tensor(a)]
    title = "".join(part.capitalize() for part in identifier(operator.name).split("_")[1:])
    released = ["const std::lock_guard<std::mutex> lock(mutex_);"]
    released += [f"{name}.reset_data();" for name in saved]
    return (
        "struct Gradient final : torch::autograd::TraceableFunction {\n"
        f'  std::string name() const override {{ return "{title}Backward0"; }}\n\n'
        f"  void release_variables() override {{\n{_indented(released)}  }}\n\n"
        "  variable_list apply(variable_list&& grads) override {\n"
        f"{_indented(_backward(operator, gradients, namespace))}  }}\n\n"
        f"{''.join(f'  {member}' + chr(10) for member in members)}}};\n\n"
    )


def _differentiable(operator: CustomOperator, gradients: Gradients, namespace: str) -> str:
    given = ", ".join(_given(gradients))
    stored = [
        f"node->{a.name}_ = SavedVariable({a.name}, false);"
        if has_tensor(a)
        else f"node->{a.name}_ = keep({a.name});"
        for a in _kept(operator, gradients)
    ]
    stored += [
        f"node->{p.name}_ = {_PROPERTIES[p.what][1].format(p.of)};" for p in gradients.properties
    ]
    histories = [
        f"torch::autograd::set_history({_result(operator, i)}, node);" for i in gradients.used_grads
    ]
    histories += [
        f"node->result{i}_ = {_result(operator, i)};"
        if i in operator.numbers
        else f"node->result{i}_ = SavedVariable({_result(operator, i)}, true);"
        for i in gradients.kept_results
    ]
    wrapper = definition(
        operator,
        "differentiable",
        [
            f'check_no_tangent("{operator.name}", {given});',
            "compat::NodePtr<Gradient> node;",
            f"if (torch::autograd::compute_requires_grad({given})) {{",
            "  node = compat::make_node<Gradient>();",
            f"  node->set_next_edges(torch::autograd::collect_next_edges({given}));",
            *(f"  {line}" for line in stored),
            "}",
            "auto result = [&] {",
            "  at::AutoDispatchBelowADInplaceOrView guard;",
            f"  return at_npu::redispatch::{operator.function}(keys & c10::after_autograd_keyset, "
            f"{passed(operator.arguments)});",
            "}();",
            "if (node != nullptr) {",
            *(f"  {line}" for line in histories),
            "}",
            "return result;",
        ],
        "c10::DispatchKeySet keys",
    )
    name = identifier(operator.name)
    node = _node(operator, gradients, namespace)
    return f"namespace {name} {{\n\n{node}{wrapper}}}  // namespace {name}\n\n"


def _functionalized(operator: CustomOperator, functional: CustomOperator, namespace: str) -> str:
    """Computes new tensors and writes them behind the functional ones."""
    written = [a.name for a in operator.arguments if a.is_written]
    inputs = [
        a for a in operator.arguments if not (operator.variant is Variant.OUT and a.is_written)
    ]
    values = ", ".join(f"{a.name}_value" if has_tensor(a) else a.name for a in inputs)
    own = f"{namespace}::custom_ops"
    returned = written[0] if len(written) == 1 else f"{{{', '.join(written)}}}"
    result = (
        [f"write_behind({written[0]}, result);"]
        if len(written) == 1
        else [f"write_behind({name}, std::get<{i}>(result));" for i, name in enumerate(written)]
    )
    name = identifier(operator.name)
    body = definition(
        operator,
        "functionalized",
        [
            f"if (!is_functional({', '.join(written)})) {{",
            "  at::AutoDispatchSkipFunctionalize guard;",
            f"  {own}::{operator.function}({passed(operator.arguments)});",
            f"  return {returned};",
            "}",
            *(f"const auto {a.name}_value = value_of({a.name});" for a in inputs if has_tensor(a)),
            "auto result = [&] {",
            "  at::AutoDispatchSkipFunctionalize guard;",
            f"  return {own}::{functional.function}({values});",
            "}();",
            *result,
            f"return {returned};",
        ],
    )
    return f"namespace {name} {{\n\n{body}}}  // namespace {name}\n\n"


def autograd(operators: Sequence[CustomOperator], namespace: str) -> dict[str, str]:
    """``CustomAutograd.cpp``: the keys AutogradPrivateUse1, AutogradMeta, ADInplaceOrView and Functionalize."""
    by_name = {o.name: o for o in operators}
    derived = [(o, o.gradients) for o in operators if o.gradients is not None]
    writing = [o for o in operators if o.variant is not Variant.FUNCTIONAL]
    replaced = [(o, by_name[o.functional]) for o in writing if o.functional is not None]
    lines = [
        f'm.impl("{o.name}", &{identifier(o.name)}::differentiable);'
        if o.gradients is not None
        else f'm.impl("{o.name}", torch::autograd::autogradNotImplementedFallback());'
        for o in operators
    ]
    bumped = [
        f'm.impl("{o.name}", torch::autograd::autogradNotImplementedInplaceOrViewFallback());'
        for o in writing
    ]
    behind = [f'm.impl("{o.name}", &{identifier(o.name)}::functionalized);' for o, _ in replaced]
    listed = "".join(f"  {line}\n" for line in lines)
    return {
        "CustomAutograd.cpp": (
            f"{HEAD}\n#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>\n"
            '#include <torch/library.h>\n\n#include "CustomFunctions.h"\n#include "CustomRedispatch.h"\n'
            '#include "aten/custom/autograd.h"\n#include "aten/custom/functionalize.h"\n\n'
            "namespace torch_npu::custom {\nnamespace {\n\n"
            "using torch::autograd::SavedVariable;\nusing torch::autograd::variable_list;\n\n"
            f"{''.join(_differentiable(o, gradients, namespace) for o, gradients in derived)}"
            f"{''.join(_functionalized(o, functional, namespace) for o, functional in replaced)}"
            f"void derivatives(torch::Library& m) {{\n{listed}}}\n\n"
            "TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { derivatives(m); }\n"
            "TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { derivatives(m); }\n\n"
            f"{registrations('ADInplaceOrView', bumped)}{registrations('Functionalize', behind)}"
            "}  // namespace\n}  // namespace torch_npu::custom\n"
        )
    }
