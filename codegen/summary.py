"""What was generated, as rows of a table: ``./dev gen`` prints them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.model import AclnnOperator, CustomOperator, OfficialOperator, Operator, Route, Variant


@dataclass(frozen=True)
class Row:
    """``operators`` registrations or functions of one kind, in ``files``."""

    what: str
    operators: int
    files: str


def summary(
    by_aclnn: Sequence[AclnnOperator],
    on_cpu: Sequence[Operator],
    boxed: Mapping[str, Sequence[str]],
    custom: Sequence[CustomOperator],
    rest: Sequence[OfficialOperator],
) -> tuple[Row, ...]:
    """A row for each kind of text."""
    forms = sum(len(operator.members) for operator in by_aclnn)
    foreach = sum(o.name.startswith("_foreach") for o in by_aclnn)
    unboxed = sum(operator.route is Route.UNBOXED for operator in on_cpu)
    exec_ = sum(operator.route is not None for operator in custom)
    derived = sum(operator.gradients is not None for operator in custom)
    writing = [operator for operator in custom if operator.variant is not Variant.FUNCTIONAL]
    return (
        Row("aclnn operators, PrivateUse1", forms, "aclnn_*.cpp"),
        Row("  of them foreach", foreach, "aclnn_*.cpp"),
        Row("AI CPU wrappers, PrivateUse1", unboxed, "aicpu_*.cpp"),
        *(
            Row(f"boxed AI CPU route, {key}", len(names), "boxed.cpp")
            for key, names in boxed.items()
        ),
        Row("npu:: schemas", len(custom), "CustomRegisterSchema.cpp"),
        Row("npu:: kernels by exec, PrivateUse1", exec_, "CustomKernels.cpp"),
        Row("npu:: kernels by hand, PrivateUse1", len(custom) - exec_, "custom_kernels.h"),
        Row("npu:: shape functions, Meta", len(custom), "CustomKernels.cpp"),
        Row("npu:: derivatives, AutogradPrivateUse1", derived, "CustomAutograd.cpp"),
        Row("npu:: version counters, ADInplaceOrView", len(writing), "CustomAutograd.cpp"),
        Row(
            "npu:: functionalization",
            sum(o.functional is not None for o in writing),
            "CustomAutograd.cpp",
        ),
        Row("npu:: functions of C++", len(custom), "CustomFunctions.{h,cpp}"),
        Row("npu:: redispatch", len(custom), "CustomRedispatch.{h,cpp}"),
        Row(
            "npu:: and atb:: schemas that raise NotImplementedError",
            sum(o.is_refused for o in rest),
            "CustomUnimplemented.cpp",
        ),
        Row("npu:: names of Python", len({o.base for o in custom}), "custom_ops.{py,pyi}"),
        Row(
            "  of them public",
            len({o.base for o in custom if o.is_exposed}),
            "exposed_api.py",
        ),
    )
