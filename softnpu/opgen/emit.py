"""C++ from operator tables: a header for each operator, a file of entry points for each table."""

from softnpu.opgen.model import Argument, Operator, Table


def _parameters(operator: Operator) -> str:
    own = [f"{argument.c_type} {argument.name}" for argument in operator.arguments]
    return ", ".join([*own, "uint64_t* workspaceSize", "aclOpExecutor** executor"])


_LAUNCH = "void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream"


def header(operator: Operator) -> str:
    """The C header that declares both phases."""
    name = operator.name
    return (
        "#pragma once\n"
        '#include "aclnn/acl_meta.h"\n\n'
        '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
        f"ACL_FUNC_VISIBILITY aclnnStatus {name}GetWorkspaceSize({_parameters(operator)});\n"
        f"ACL_FUNC_VISIBILITY aclnnStatus {name}({_LAUNCH});\n\n"
        "#ifdef __cplusplus\n}\n#endif\n"
    )


def _bind(argument: Argument) -> str:
    """What the plan sees under the argument's name: a reference where null is an error."""
    name = argument.name
    if not argument.is_object or argument.optional:
        return f"  [[maybe_unused]] auto& {name} = {name}_;\n"
    return (
        f'  SOFTNPU_RETURN_IF_ERROR(not_null({name}_, "{name}"));\n'
        f"  [[maybe_unused]] auto& {name} = *{name}_;\n"
    )


def _plan(operator: Operator) -> str:
    """What checks for null and plans, within namespace softnpu; plan_operator.h says why it is a lambda."""
    own = [f"{argument.c_type} {argument.name}_" for argument in operator.arguments]
    plan = operator.plan.removesuffix(")")
    plan += "plan)" if plan.endswith("(") else ", plan)"
    return (
        f"constexpr auto plan_{operator.name} = []({', '.join([*own, 'Plan* plan'])}) -> Status {{\n"
        f"{''.join(map(_bind, operator.arguments))}"
        f"  return {plan};\n}};\n"
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


def entries(table: Table) -> str:
    """The file with the entry points of all operators of ``table``."""
    includes = [f"aclnnop/{operator.header}" for operator in table.operators]
    includes += ["nnopbase/plan_operator.h", *table.includes]
    return (
        "// Written by softnpu/opgen.\n\n"
        + "".join(f'#include "{include}"\n' for include in includes)
        + "\nnamespace softnpu {\nnamespace {\n\n"
        + "\n".join(map(_plan, table.operators))
        + "\n}  // namespace\n}  // namespace softnpu\n\n"
        + "\n".join(map(_entry, table.operators))
    )
