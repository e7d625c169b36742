"""What stands above the kernels of npu's operators: derivatives, version counters, functionalization."""

from collections.abc import Sequence

from codegen.emit.aclnn import identifier
from codegen.emit.custom import HEAD, definition, has_tensor, passed, registrations
from codegen.model import CustomArgument, CustomOperator, Form, Formula, Gradients, Kind

_REDISPATCH = "at_npu::redispatch"
_KEYS = "keys & c10::after_autograd_keyset"
_BELOW = "at::AutoDispatchBelowADInplaceOrView guard;"


def _count(operator: CustomOperator) -> int:
    return len(operator.outputs)


def _results(operator: CustomOperator) -> str:
    """The forward pass's results as a list of variables."""
    if _count(operator) == 1:
        return "{result}"
    return "{" + ", ".join(f"std::get<{i}>(result)" for i in range(_count(operator))) + "}"


def _forward(operator: CustomOperator, gradients: Gradients) -> list[str]:
    by_name = {a.name: a for a in operator.arguments}
    tensors = [by_name[name] for name in gradients.kept if has_tensor(by_name[name])]
    values = [by_name[name] for name in gradients.kept if not has_tensor(by_name[name])]
    saved = [
        f"tensor_of({a.name})" if a.kind is Kind.OPTIONAL_TENSOR else a.name for a in tensors
    ] + [f"results[{i}]" for i in gradients.kept_results]
    fixed = [f"results[{i}]" for i in range(_count(operator)) if i not in gradients.used_grads]
    call = f"{_REDISPATCH}::{operator.function}({_KEYS}, {passed(operator.arguments)})"
    return [
        _BELOW,
        f"auto result = {call};",
        f"variable_list results{_results(operator)};",
        f"ctx->save_for_backward({{{', '.join(saved)}}});",
        *(f'keep(ctx, "{a.name}", {a.name});' for a in values),
        *([f"ctx->mark_non_differentiable({{{', '.join(fixed)}}});"] if fixed else []),
        *(["ctx->set_materialize_grads(false);"] if len(gradients.used_grads) == 1 else []),
        "return results;",
    ]


def _restored(argument: CustomArgument, index: int) -> str:
    if argument.kind is Kind.TENSOR:
        return f"const at::Tensor& {argument.name} = saved[{index}];"
    return f"const std::optional<at::Tensor> {argument.name} = optional_of(saved[{index}]);"


def _formula(index: int, formula: Formula, namespace: str) -> str:
    call = f"{namespace}::custom_ops::{formula.function}({', '.join(formula.arguments)})"
    return f"auto gradient{index} = {call};"


def _named(stem: str, index: int, arguments: Sequence[str]) -> list[str]:
    """``grad``, which is the first, or ``grad1``, as the formulas write it."""
    names = [f"{stem}{index}", *([stem] if index == 0 else [])]
    return [name for name in names if name in arguments]


def _backward(operator: CustomOperator, gradients: Gradients, namespace: str) -> list[str]:
    by_name = {a.name: a for a in operator.arguments}
    tensors = [by_name[name] for name in gradients.kept if has_tensor(by_name[name])]
    values = [by_name[name] for name in gradients.kept if not has_tensor(by_name[name])]
    read = [name for formula in gradients.formulas for name in formula.arguments]
    lines = []
    if len(gradients.used_grads) == 1:
        none = f"variable_list({len(operator.arguments) + 1})"
        lines.append(f"if (!grads[{gradients.used_grads[0]}].defined()) return {none};")
    for i in gradients.used_grads:
        lines += [f"const at::Tensor& {n} = grads[{i}];" for n in _named("grad", i, read)]
    lines.append("const variable_list saved = ctx->get_saved_variables();")
    lines += [_restored(a, i) for i, a in enumerate(tensors)]
    for at, i in enumerate(gradients.kept_results, len(tensors)):
        lines += [f"const at::Tensor& {n} = saved[{at}];" for n in _named("result", i, read)]
    lines += [f'const auto {a.name} = kept<{a.type}>(ctx, "{a.name}");' for a in values]
    lines += [_formula(i, f, namespace) for i, f in enumerate(gradients.formulas)]
    source = {}
    for i, formula in enumerate(gradients.formulas):
        single = len(formula.gives) == 1
        for k, name in enumerate(formula.gives):
            source[name] = f"gradient{i}" if single else f"std::get<{k}>(gradient{i})"
    given = ["at::Tensor()", *(source.get(a.name, "at::Tensor()") for a in operator.arguments)]
    return [*lines, f"return {{{', '.join(given)}}};"]


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def _differentiable(operator: CustomOperator, gradients: Gradients, namespace: str) -> str:
    parameters = ", ".join(f"[[maybe_unused]] {a.type} {a.name}" for a in operator.arguments)
    given = [name for formula in gradients.formulas for name in formula.gives]
    applied = f"Gradient::apply(keys, {passed(operator.arguments)})"
    count = _count(operator)
    taken = ", ".join(f"results[{i}]" for i in range(count))
    wrapper = definition(
        operator,
        "differentiable",
        [
            f"if (!needs_gradient({', '.join(given)})) {{",
            f"  {_BELOW}",
            f"  return {_REDISPATCH}::{operator.function}({_KEYS}, {passed(operator.arguments)});",
            "}",
            f"variable_list results = {applied};",
            f"return {taken};" if count == 1 else f"return {{{taken}}};",
        ],
        "c10::DispatchKeySet keys",
    )
    name = identifier(operator.name)
    return (
        f"namespace {name} {{\n\nstruct Gradient : torch::autograd::Function<Gradient> {{\n"
        f"  static variable_list forward(AutogradContext* ctx, c10::DispatchKeySet keys, {parameters}) {{\n"
        f"{_indented(_forward(operator, gradients))}  }}\n\n"
        "  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {\n"
        f"{_indented(_backward(operator, gradients, namespace))}  }}\n}};\n\n"
        f"{wrapper}}}  // namespace {name}\n\n"
    )


def _functionalized(operator: CustomOperator, functional: CustomOperator, namespace: str) -> str:
    """Computes new tensors and writes them behind the functional ones."""
    written = [a.name for a in operator.arguments if a.is_written]
    inputs = [a for a in operator.arguments if not (operator.form is Form.OUT and a.is_written)]
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
    writing = [o for o in operators if o.form is not Form.FUNCTIONAL]
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
            "using torch::autograd::AutogradContext;\nusing torch::autograd::variable_list;\n\n"
            f"{''.join(_differentiable(o, gradients, namespace) for o, gradients in derived)}"
            f"{''.join(_functionalized(o, functional, namespace) for o, functional in replaced)}"
            f"void derivatives(torch::Library& m) {{\n{listed}}}\n\n"
            "TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { derivatives(m); }\n"
            "TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { derivatives(m); }\n\n"
            f"{registrations('ADInplaceOrView', bumped)}{registrations('Functionalize', behind)}"
            "}  // namespace\n}  // namespace torch_npu::custom\n"
        )
    }
