"""Generates C++ from operator tables: a header for each operator, a file of entry points for each table."""

from collections.abc import Iterable

from softnpu.opgen.lines import BACK, numbered
from softnpu.opgen.model import Argument, Function, Operator, Table


def _parameters(operator: Operator) -> str:
    own = [f"{argument.c_type} {argument.name}" for argument in operator.arguments]
    return ", ".join([*own, "uint64_t* workspaceSize", "aclOpExecutor** executor"])


_LAUNCH = "void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream"


def prototypes(operators: Iterable[Operator]) -> str:
    """A C header that declares both phases of each operator."""
    declared = "".join(
        f"ACL_FUNC_VISIBILITY aclnnStatus {o.name}GetWorkspaceSize({_parameters(o)});\n"
        f"ACL_FUNC_VISIBILITY aclnnStatus {o.name}({_LAUNCH});\n"
        for o in operators
    )
    return (
        "#pragma once\n"
        '#include "aclnn/acl_meta.h"\n\n'
        '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
        f"{declared}\n"
        "#ifdef __cplusplus\n}\n#endif\n"
    )


def header(operator: Operator) -> str:
    """The C header that declares both phases."""
    return prototypes([operator])


def _bind(argument: Argument) -> str:
    """Binds the argument's name for the plan, after a check for null if it is a string or a required object."""
    name = argument.name
    check = f'  SOFTNPU_RETURN_IF_ERROR(not_null({name}_, "{name}"));\n'
    if not argument.is_object or argument.optional:
        value = f"  [[maybe_unused]] auto& {name} = {name}_;\n"
        return check + value if argument.type == "string" else value
    return f"{check}  [[maybe_unused]] auto& {name} = *{name}_;\n"


def _plan(operator: Operator, path: str) -> str:
    """The function in namespace softnpu that checks for null and plans."""
    own = [f"{argument.c_type} {argument.name}_" for argument in operator.arguments]
    plan = operator.plan.removesuffix(")")
    plan += "plan)" if plan.endswith("(") else ", plan)"
    return (
        f"Status plan_{operator.name}({', '.join([*own, 'Plan* plan'])}) {{\n"
        f"{''.join(map(_bind, operator.arguments))}"
        f'#line {operator.line} "{path}"\n'
        f"  return {plan};\n{BACK}\n}}\n"
    )


def _entry(operator: Operator) -> str:
    name = operator.name
    own = "".join(f", {argument.name}" for argument in operator.arguments)
    return (
        f"aclnnStatus {name}GetWorkspaceSize({_parameters(operator)}) {{\n"
        f'  return softnpu::plan_operator("{name}", workspaceSize, executor, softnpu::plan_{name}{own});\n}}\n'
        f"aclnnStatus {name}({_LAUNCH}) {{\n"
        f'  return softnpu::launch_operator("{name}", workspace, workspaceSize, executor, stream);\n}}\n'
    )


def entries(table: Table, name: str) -> str:
    """The file ``name`` with the entry points of all operators of ``table``; errors in a plan name the table's line."""
    includes = [f"aclnnop/{operator.header}" for operator in table.operators]
    includes += ["nnopbase/plan_operator.h", *table.includes]
    plans = (_plan(operator, table.path) for operator in table.operators)
    text = (
        "// Written by softnpu/opgen.\n\n"
        + "".join(f'#include "{include}"\n' for include in includes)
        + "\nnamespace softnpu {\nnamespace {\n\n"
        + "\n".join(plans)
        + "\n}  // namespace\n}  // namespace softnpu\n\n"
        + "\n".join(map(_entry, table.operators))
    )
    return numbered(text, name)


def _traits(function: Function) -> str:
    flags = (str(flag).lower() for flag in (function.rounds_constants, function.keeps_numbers))
    return f"    {{{function.cost}, {', '.join(flags)}}},  // {function.name}\n"


def functions(found: Iterable[Function]) -> dict[str, str]:
    """The .inc files for the functions: enumerators, traits, cases of each file."""
    found = list(found)
    files = {
        "map_op.inc": "".join(
            f"k{f.name}," + (f"  // {f.doc}" if f.doc else "") + "\n" for f in found
        ),
        "map_op_traits.inc": "".join(map(_traits, found)),
    }
    for function in found:
        if function.file is not None:
            name = f"{function.file}_cases.inc"
            case = (
                f"case MapOp::k{function.name}: return real_loop<{function.name}>(compute_type);\n"
            )
            files[name] = files.get(name, "") + case
    return files


# The member of a fuzz::Value from which a caller takes an argument that is passed by value.
_MEMBERS = {"float": "real", "double": "real", "string": "string"}


def _value(argument: Argument, index: int) -> str:
    if argument.is_object:
        return f"static_cast<{argument.c_type}>(v[{index}].object)"
    member = _MEMBERS.get(argument.type, "integer")
    return f"static_cast<{argument.c_type}>(v[{index}].{member})"


def _caller(operator: Operator) -> str:
    rows = (
        f'{{"{a.name}", Kind::k{a.type[0].upper()}{a.type[1:]}, {str(a.optional).lower()}, {str(a.written).lower()}}}'
        for a in operator.arguments
    )
    values = "".join(f"{_value(a, i)}, " for i, a in enumerate(operator.arguments))
    return (
        f'    {{"{operator.name}",\n     {{{", ".join(rows)}}},\n'
        "     [](const Value* v, uint64_t* size, aclOpExecutor** executor) {\n"
        f"       return {operator.name}GetWorkspaceSize({values}size, executor);\n"
        f"     }},\n     &{operator.name}}},\n"
    )


def callers(tables: Iterable[Table]) -> str:
    """All operators as data and as functions of one type, for the tests that call them at random."""
    operators = [operator for table in tables for operator in table.operators]
    return (
        "// Written by softnpu/opgen.\n\n"
        + "".join(f'#include "aclnnop/{operator.header}"\n' for operator in operators)
        + '#include "fuzz/operators/callers.h"\n\n'
        + "namespace fuzz {\n\nconst std::vector<Caller>& callers() {\n"
        + "  static const std::vector<Caller> table = {\n"
        + "".join(map(_caller, operators))
        + "  };\n  return table;\n}\n\n}  // namespace fuzz\n"
    )
