"""Official operators without an entry: their schemas, and kernels that raise NotImplementedError."""

from collections.abc import Sequence

from codegen.emit.custom import HEAD
from codegen.model import OfficialOperator

NAMESPACES = ("npu", "atb")


def _local(operator: OfficialOperator) -> str:
    return operator.schema.removeprefix(f"{operator.namespace}::")


def _library(namespace: str, operators: Sequence[OfficialOperator]) -> str:
    here = [o for o in operators if o.namespace == namespace]
    by_hand = "".join(f'  m.def(R"({_local(o)})");\n' for o in here if not o.is_refused)
    rows = "".join(
        f'    {{R"({_local(o)})",\n     "{o.instead}"}},\n' for o in here if o.is_refused
    )
    table = (
        f"constexpr Unimplemented k{namespace.capitalize()}[] = {{\n{rows}}};\n\n" if rows else ""
    )
    call = f"  define_unimplemented(m, k{namespace.capitalize()});\n" if rows else ""
    body = by_hand + call
    return f"{table}TORCH_LIBRARY_FRAGMENT({namespace}, m) {{\n{body}}}\n\n" if body else ""


def unimplemented(operators: Sequence[OfficialOperator]) -> dict[str, str]:
    """``CustomUnimplemented.cpp``; of operators by hand it defines the schemas alone."""
    libraries = "".join(_library(namespace, operators) for namespace in NAMESPACES)
    return {
        "CustomUnimplemented.cpp": (
            f"{HEAD.replace('npu_native_functions.yaml', 'schemas/*.tsv')}\n"
            '#include <torch/library.h>\n\n#include "aten/custom/unimplemented.h"\n\n'
            f"namespace torch_npu::custom {{\nnamespace {{\n\n{libraries}"
            "}  // namespace\n}  // namespace torch_npu::custom\n"
        )
    }
