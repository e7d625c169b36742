"""What the entries of ``official`` mean together with torch's schemas: one ``AclnnOperator`` each."""

from collections.abc import Callable, Iterator

from torchgen.api import cpp, meta
from torchgen.api.types import CppSignatureGroup
from torchgen.context import native_function_manager
from torchgen.gen import ParsedYaml
from torchgen.model import (
    DispatchKey,
    ListType,
    NativeFunction,
    NativeFunctionsGroup,
    SchemaKind,
)

from codegen.calls import CallWriter, EntryError, errors_in
from codegen.model import (
    AclnnOperator,
    AclnnRoute,
    Argument,
    Attribute,
    Entry,
    Kernel,
    Member,
    Variant,
)

_FORMS = {
    SchemaKind.functional: Variant.FUNCTIONAL,
    SchemaKind.inplace: Variant.INPLACE,
    SchemaKind.out: Variant.OUT,
}

# Operators over an iterator whose results are truth values.
_TRUTHS = {"eq", "ge", "gt", "le", "lt", "ne", "isneginf", "isposinf", "signbit"}
# Those whose result has the arguments' type if it is an integer one, or truth values, too.
_OF_NUMBERS = {
    "abs", "add", "bitwise_left_shift", "bitwise_right_shift", "clamp", "clamp_max", "clamp_min", "floor_divide",
    "fmod", "gcd", "mul", "neg", "relu", "remainder", "rsub", "sub",
}  # fmt: skip
_OF_ALL = {"bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "maximum", "minimum"}
# PyTorch's rule of these refuses numbers.
_CHECKED_BY_RULE = {"softshrink"}
# Rules of aten/aclnn/rules.h whose result has the arguments' type.
_RULES_OF_SAME_LAYOUT = {"rules::unary", "rules::binary", "rules::gradient", "rules::reversed_sub"}


def signature_kernel(function: NativeFunction) -> Kernel:
    """The C++ function of ATen that has the dispatcher's signature."""
    written = {
        a.name
        for a in function.func.arguments.flat_all
        if a.is_write and isinstance(a.type, ListType)
    }
    with native_function_manager(function):
        group = CppSignatureGroup.from_native_function(
            function, method=False, fallback_binding=False
        )
        signature = group.faithful_signature or group.signature
        return Kernel(
            operator=str(function.func.name),
            header=function.root_name,
            function=signature.name(),
            returns=cpp.returns_type(function.func.returns, symint=False).cpp_type(),
            arguments=tuple(argument.type for argument in signature.arguments()),
            written_lists=tuple(
                i for i, argument in enumerate(signature.arguments()) if argument.name in written
            ),
        )


def _arguments(function: NativeFunction) -> tuple[Argument, ...]:
    tensors = {a.name for a in function.func.arguments.flat_all if a.type.is_tensor_like()}
    with native_function_manager(function):
        group = CppSignatureGroup.from_native_function(
            function, method=False, fallback_binding=False
        )
        signature = group.faithful_signature or group.signature
        return tuple(Argument(a.name, a.type, a.name in tensors) for a in signature.arguments())


def _outputs(function: NativeFunction) -> tuple[str, ...]:
    return tuple(argument.name for argument in function.func.arguments.out)


def is_on_lists(function: NativeFunction) -> bool:
    """Whether it does the same to each tensor of a list."""
    return function.root_name.startswith("_foreach_")


class _Schemas:
    """torch's operators and which of them belong together."""

    def __init__(self, parsed: ParsedYaml) -> None:
        self.parsed = parsed
        self.by_name = {str(f.func.name): f for f in parsed.native_functions}
        self._by_signature: dict[object, list[NativeFunction]] = {}
        for function in parsed.native_functions:
            self._by_signature.setdefault(function.func.signature(), []).append(function)

    def runs_as(self, function: NativeFunction) -> str | None:
        """The namespace of the kernel that can run it: "cpu", "compositeexplicitautograd", or None."""
        if function.structured_delegate is not None:
            return "cpu"
        for key, name in (
            (DispatchKey.CPU, "cpu"),
            (DispatchKey.CompositeExplicitAutograd, "compositeexplicitautograd"),
        ):
            if self.parsed.backend_indices[key].has_kernel(function):
                return name
        return None

    def group_of(self, function: NativeFunction) -> list[NativeFunction]:
        """The forms of the operator that npu can register, ``function`` among them."""
        if is_on_lists(function):  # their in-place forms return nothing
            name = function.func.name
            family = [
                f
                for f in self.parsed.native_functions
                if (f.func.name.name.base, f.func.name.overload_name)
                == (name.name.base, name.overload_name)
            ]
        elif function.structured:
            family = [
                f
                for f in self.parsed.native_functions
                if f is function or f.structured_delegate == function.func.name
            ]
        elif function.func.kind() is SchemaKind.inplace:
            family = [function]
        else:
            family = self._by_signature[function.func.signature()]
        return [
            f
            for f in family
            if f.func.kind() in _FORMS and "generated" not in f.tags and self.runs_as(f) is not None
        ]

    def structured_rule(self, function: NativeFunction) -> tuple[str, str]:
        """Class and header of PyTorch's shape rule of a structured ``.out`` operator."""
        functional = next(
            f
            for f in self.parsed.native_functions
            if f.structured_delegate == function.func.name
            and f.func.kind() is SchemaKind.functional
        )
        group = NativeFunctionsGroup(
            functional=functional, inplace=None, mutable=None, out=function
        )
        return f"at::meta::structured_{meta.name(group)}", f"ATen/ops/{function.root_name}_meta.h"


class _Resolver:
    def __init__(self, entry: Entry, schemas: _Schemas) -> None:
        function = schemas.by_name.get(entry.func)
        if function is None:
            raise EntryError(
                entry.line,
                f"torch has no operator 'aten::{entry.func}' (overloads are written 'add.out')",
            )
        if function.structured_delegate is not None:
            raise EntryError(
                entry.line,
                f"'{entry.func}' follows from '{function.structured_delegate}': write the entry for that",
            )
        self.entry, self.schemas, self.function = entry, schemas, function
        self.group = schemas.group_of(function)
        if function not in self.group:
            raise EntryError(
                entry.line,
                f"'{entry.func}' has no CPU kernel to go on to: PyTorch decomposes it already",
            )
        by_kind = {f.func.kind(): f for f in self.group}
        self.is_inplace_only = set(by_kind) == {SchemaKind.inplace}
        shape_giver = by_kind.get(SchemaKind.functional, self.group[0])
        out = by_kind.get(SchemaKind.out)
        outs = set(_outputs(shape_giver))
        self.arguments = tuple(a for a in _arguments(shape_giver) if a.name not in outs)
        self.types = {a.name: a.type for a in shape_giver.func.arguments.flat_all}
        count = len(function.func.returns)
        self.output_names = {"out": 0} if count == 1 else {}
        if not is_on_lists(function):
            self.output_names |= {f"out{i}": i for i in range(count)}
        named = _outputs(out) if out else [r.name for r in shape_giver.func.returns]
        self.output_names |= {name: i for i, name in enumerate(named) if name}
        self.count = 0 if self.is_inplace_only else count

    def _known(self) -> str:
        return ", ".join((*(a.name for a in self.arguments), *dict.fromkeys(self.output_names)))

    def _writer(self) -> CallWriter:
        if is_on_lists(self.function):
            results = {"out": "results.list()"}
        elif self.is_inplace_only:
            results = {}
        else:
            results = {name: f"results[{i}]" for name, i in self.output_names.items()}
        return CallWriter(self.entry.func, self.entry.line, self.types, results, self._known)

    def routes(self) -> Iterator[AclnnRoute]:
        """The function for tensors, then those for numbers."""
        outs = [] if self.is_inplace_only else [f"out{i}" for i in range(self.count)]
        if is_on_lists(self.function):
            outs = ["out"]
        default = tuple(Attribute(n) for n in (*(a.name for a in self.arguments), *outs))
        writer = self._writer()
        for name, call in ((None, self.entry.call), *self.entry.number_calls):
            if name is not None:
                self._check_tensor(name, "exec_scalar")
            yield writer.route(call, default, name)

    def _check_tensor(self, name: str, key: str) -> None:
        tensors = [a.name for a in self.arguments if a.is_tensor]
        if name not in tensors:
            raise EntryError(
                self.entry.line,
                f"'{key}' of '{self.entry.func}' names '{name}': its tensors are {', '.join(tensors)}",
            )

    def rule(self) -> tuple[str | None, str | None]:
        """Class and header of what gives outputs their sizes."""
        entry = self.entry
        if entry.keeps_format and (self.is_inplace_only or is_on_lists(self.function)):
            raise EntryError(
                entry.line, f"'keeps_format' of '{entry.func}': no rule makes its first output"
            )
        if is_on_lists(self.function):
            if entry.rule not in (None, "one_number"):
                raise EntryError(
                    entry.line,
                    f"'rule' of '{entry.func}', which works on lists, is one_number or left out",
                )
            return entry.rule, None
        if self.is_inplace_only:
            if entry.rule or entry.structured_inherit:
                raise EntryError(
                    entry.line, f"'{entry.func}' writes self in place and takes no 'rule'"
                )
            return None, None
        if entry.structured_inherit is not None:
            other = self.schemas.by_name.get(entry.structured_inherit)
            if other is None or not other.structured:
                raise EntryError(
                    entry.line, f"'{entry.structured_inherit}' is no structured operator of torch"
                )
            return self.schemas.structured_rule(other)
        if entry.rule is not None:
            return f"rules::{entry.rule}", "aten/aclnn/rules.h"
        if not self.function.structured:
            raise EntryError(
                entry.line,
                f"'{entry.func}' is not structured in torch: 'rule' or 'structured_inherit' has to say "
                "what its outputs are",
            )
        return self.schemas.structured_rule(self.function)

    def result_type(self, rule: str | None) -> str | None:
        """The enumerator of ResultType if tensors of one type and shape give one more like them."""
        if rule not in _RULES_OF_SAME_LAYOUT and not self.is_pointwise():
            return None
        name = self.function.root_name
        if name in _TRUTHS:
            return "kTruth"
        return "kOfAll" if name in _OF_ALL else "kOfNumbers" if name in _OF_NUMBERS else "kOfFloats"

    def is_pointwise(self) -> bool:
        """Whether PyTorch's rule is a pointwise one."""
        function = self.function
        return (
            function.structured_inherits == "TensorIteratorBase"
            and function.root_name not in _CHECKED_BY_RULE
            and self.arguments[0].is_tensor
        )

    def dtypes(self) -> tuple[tuple[str, frozenset[str] | None], ...]:
        """What each tensor argument may be."""
        given = dict(self.entry.dtypes)
        for name in (*given, *self.entry.same_dtype):
            if name:
                self._check_tensor(name, "dtypes" if name in given else "same_dtype")
        every = given.get("")
        return tuple((a.name, given.get(a.name, every)) for a in self.arguments if a.is_tensor)

    def condition(self) -> str | None:
        """The entry's own condition in C++."""
        when = self.entry.when
        return (
            None if when is None else self._writer().function("conditions", when, self.entry.call)
        )

    def members(
        self, takes: Callable[[str], str], boxed_composite: frozenset[str]
    ) -> Iterator[Member]:
        """The forms that are registered."""
        for function in self.group:
            name = str(function.func.name)
            yield Member(
                operator=name,
                variant=_FORMS[function.func.kind()],
                kernel=signature_kernel(function),
                is_composite=self.schemas.runs_as(function) != "cpu",
                boxed_composite=name in boxed_composite,
                arguments=_arguments(function),
                outputs=_outputs(function),
                takes=takes(name),
            )


def _resolve(
    resolver: _Resolver, takes: Callable[[str], str], boxed_composite: frozenset[str]
) -> AclnnOperator:
    rule, header = resolver.rule()
    return AclnnOperator(
        name=resolver.entry.func,
        arguments=resolver.arguments,
        rule=rule,
        rule_header=header,
        is_on_lists=is_on_lists(resolver.function),
        result_type=resolver.result_type(rule),
        broadcasts=resolver.is_pointwise(),
        outputs=resolver.count,
        routes=tuple(resolver.routes()),
        dtypes=resolver.dtypes(),
        same_dtype=resolver.entry.same_dtype,
        when=resolver.condition(),
        keeps_format=resolver.entry.keeps_format,
        members=tuple(resolver.members(takes, boxed_composite)),
    )


def resolve(
    entries: tuple[Entry, ...],
    parsed: ParsedYaml,
    takes: Callable[[str], str] = lambda _: "",
    boxed_composite: frozenset[str] = frozenset(),
) -> tuple[AclnnOperator, ...]:
    """The entries with what torch's schemas add to them.

    Raises:
        EntryError: one does not fit its schema.
    """
    schemas = _Schemas(parsed)
    found = []
    for entry in entries:
        with errors_in(entry.file):
            found.append(_resolve(_Resolver(entry, schemas), takes, boxed_composite))
    return tuple(found)
