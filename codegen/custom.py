"""What the entries of ``custom`` mean: one ``CustomOperator`` each, by torchgen's reading of their schemas."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from torchgen import local
from torchgen.api import cpp, dispatcher
from torchgen.model import Argument as SchemaArgument
from torchgen.model import (
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    OptionalType,
    Return,
    SchemaKind,
    Type,
)

from codegen.calls import CallWriter, EntryError, errors_in
from codegen.entries import DTYPES
from codegen.model import (
    AclnnRoute,
    Attribute,
    CustomArgument,
    CustomEntry,
    CustomOperator,
    Described,
    Documentation,
    Formula,
    Gradients,
    Kind,
    Property,
    Variant,
)

_FORMS = {
    SchemaKind.functional: Variant.FUNCTIONAL,
    SchemaKind.inplace: Variant.INPLACE,
    SchemaKind.out: Variant.OUT,
}
_PYTHON_TYPES = {
    BaseTy.Tensor: "Tensor",
    BaseTy.int: "int",
    BaseTy.SymInt: "int | torch.SymInt",
    BaseTy.float: "float",
    BaseTy.bool: "bool",
    BaseTy.str: "str",
    BaseTy.Scalar: "complex",
    BaseTy.ScalarType: "torch.dtype",
    BaseTy.Layout: "torch.layout",
    BaseTy.Device: "torch.device | str",
    BaseTy.Generator: "torch.Generator",
}
_PYTHON_DEFAULTS = {"None": "None", "True": "True", "False": "False"}
_TENSOR = BaseType(BaseTy.Tensor)
_GRAD = re.compile(r"^grad(\d*)$")
_RESULT = re.compile(r"^result(\d*)$")
# What a formula reads of an argument: its sizes, its first or second one, its type, the other truth value.
_PROPERTY = re.compile(
    r"^(?:(?P<of>\w+)_(?P<what>sizes|size0|size1|dtype)|(?P<what_not>not)_(?P<flag>\w+))$"
)
# Which of its gradients a formula has to give.
ASKED = "asked"


def _python_name(name: str) -> str:
    return "input" if name == "self" else name


def _python_type(type_: Type) -> str:
    """Raises ValueError for a type that has none."""
    if isinstance(type_, OptionalType):
        return f"{_python_type(type_.elem)} | None"
    if isinstance(type_, ListType):
        return f"Sequence[{_python_type(type_.elem)}]"
    if isinstance(type_, BaseType) and type_.name in _PYTHON_TYPES:
        return _PYTHON_TYPES[type_.name]
    known = ", ".join(t.name for t in _PYTHON_TYPES)
    raise ValueError(f"{type_}, which has no form here: there are {known}")


def _type_of(type_: Type, entry: CustomEntry) -> str:
    try:
        return _python_type(type_)
    except ValueError as error:
        raise EntryError(entry.line, f"'{entry.func}' takes or gives {error}") from None


def python_returns(returns: Sequence[Return]) -> str:
    """What a call returns, as a type of Python."""
    types = [_python_type(r.type) for r in returns]
    return f"tuple[{', '.join(types)}]" if len(types) != 1 else types[0]


def python_argument(argument: SchemaArgument, keyword_only: bool) -> CustomArgument:
    """An argument of which only Python's side is asked."""
    return CustomArgument(
        name=argument.name,
        python_name=_python_name(argument.name),
        type="",
        default=None,
        python_type=_python_type(argument.type),
        python_default=_python_default(argument.default),
        kind=_kind(argument.type),
        is_written=argument.is_write,
        keyword_only=keyword_only,
    )


def _python_default(default: str | None) -> str | None:
    if default is None:
        return None
    if default.startswith(("'", '"')):
        return '"' + default[1:-1] + '"'
    return _PYTHON_DEFAULTS.get(default, default)


def _kind(type_: Type) -> Kind:
    if type_ == _TENSOR:
        return Kind.TENSOR
    return Kind.OPTIONAL_TENSOR if type_ == OptionalType(_TENSOR) else Kind.VALUE


def _parse(entry: CustomEntry) -> FunctionSchema:
    try:
        schema = FunctionSchema.parse(entry.schema)
    except (AssertionError, RuntimeError, ValueError) as error:
        raise EntryError(entry.line, f"'{entry.func}' has no schema: {error}") from None
    names = [_python_name(a.name) for a in schema.arguments.flat_all]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise EntryError(entry.line, f"'{entry.func}' has two arguments '{twice}'")
    if schema.kind() not in _FORMS:
        raise EntryError(
            entry.line,
            f"'{entry.func}' writes arguments and gives new tensors: write it as two operators, one of "
            "which is in-place or has 'out'",
        )
    return schema


def _argument(
    argument: SchemaArgument, type_: str, keyword_only: bool, entry: CustomEntry
) -> CustomArgument:
    default = argument.default
    _type_of(argument.type, entry)
    return replace(
        python_argument(argument, keyword_only),
        type=type_,
        default=None if default is None else cpp.default_expr(default, argument.type, symint=True),
    )


class _Resolver:
    """One entry; ``schemas`` are all of the section, by name."""

    def __init__(self, entry: CustomEntry, schemas: Mapping[str, FunctionSchema]) -> None:
        self.entry, self.schemas = entry, schemas
        self.schema = schemas[entry.func]
        self.variant = _FORMS[self.schema.kind()]
        self.types = {a.name: a.type for a in self.schema.arguments.flat_all}
        self.tensors = [name for name, type_ in self.types.items() if type_.is_tensor_like()]
        self.outs = [a.name for a in self.schema.arguments.out]
        self.count = 0 if self.variant is Variant.INPLACE else len(self.schema.returns)

    def _error(self, text: str, line: int | None = None) -> EntryError:
        return EntryError(self.entry.line if line is None else line, text)

    def arguments(self) -> tuple[CustomArgument, ...]:
        """In the order of the schema."""
        flat = self.schema.arguments.flat_all
        keyword_only = {a.name for a in self.schema.arguments.flat_kwarg_only} | set(self.outs)
        types = [a.nctype.cpp_type() for a in dispatcher.arguments(self.schema)]
        return tuple(
            _argument(a, type_, a.name in keyword_only, self.entry)
            for a, type_ in zip(flat, types, strict=True)
        )

    def _inputs(self) -> list[str]:
        return [name for name in self.types if name not in self.outs]

    def outputs(self) -> tuple[str, ...]:
        """What each output is, in C++."""
        given = self.entry.outputs
        if self.entry.is_composed:
            if given:
                raise self._error(f"'{self.entry.func}' is composed and takes no 'out'")
            return ()
        if len(given) != self.count:
            wanted = "takes no 'out'" if self.count == 0 else f"has {self.count} outputs"
            raise self._error(f"'{self.entry.func}' {wanted}: 'out' says what {len(given)} are")
        return tuple(self._output(function) for function in given)

    def _output(self, function: Attribute) -> str:
        inputs = self._inputs()
        for name in function.arguments or ():
            if name not in inputs:
                raise self._error(
                    f"'out' of '{self.entry.func}' names '{name}': there are {', '.join(inputs)}"
                )
        return f"shapes::{function.name}({', '.join(function.arguments or ())})"

    def route(self) -> AclnnRoute | None:
        """The call of ``exec``."""
        if self.entry.call is None:
            return None
        given = self.outs or ["out"] * (self.count == 1) or [f"out{i}" for i in range(self.count)]
        results = {f"out{i}": name for i, name in enumerate(given)}
        results |= {name: name for name in given}
        default = tuple(Attribute(name) for name in (*self._inputs(), *given))

        def known() -> str:
            return ", ".join(dict.fromkeys((*self.types, *results)))

        writer = CallWriter(self.entry.func, self.entry.line, self.types, results, known)
        return writer.route(self.entry.call, default)

    def dtypes(self) -> tuple[tuple[str, frozenset[str] | None], ...]:
        """What each tensor that is read or written in place may be."""
        given = dict(self.entry.dtypes)
        inputs = [name for name in self.tensors if name not in self.outs]
        for name in given:
            if name and name not in inputs:
                raise self._error(
                    f"'dtypes' of '{self.entry.func}' names '{name}': its tensors are {', '.join(inputs)}"
                )
        return tuple((name, given.get(name, given.get(""))) for name in inputs)

    def _formula(self, names: tuple[str, ...], call: Attribute, line: int) -> Formula:
        target = self.schemas.get(call.name)
        if target is None:
            raise self._error(f"there is no entry 'npu::{call.name}' under 'custom'", line)
        given = call.arguments or ()
        wanted = [a.name for a in target.arguments.flat_all]
        if len(given) != len(wanted):
            raise self._error(
                f"'{call.name}' takes {len(wanted)} arguments, {', '.join(wanted)}: {len(given)} are given",
                line,
            )
        if len(target.returns) != len(names):
            raise self._error(
                f"'{call.name}' gives {len(target.returns)} tensors for {len(names)} gradients",
                line,
            )
        for name in names:
            if _kind(self.types.get(name, BaseType(BaseTy.int))) is Kind.VALUE:
                raise self._error(
                    f"'autograd' of '{self.entry.func}' names '{name}': its tensors are "
                    f"{', '.join(self.tensors)}",
                    line,
                )
        for name in given:
            self._check_source(name, line)
        function = cpp.name(target, faithful_name_for_out_overloads=True)
        return Formula(function, given, names)

    def _property(self, name: str) -> Property | None:
        """What the name of a formula's argument says of an argument of the operator, if it does."""
        match = None if name in self.types else _PROPERTY.match(name)
        if match is None:
            return None
        of, what = match["of"] or match["flag"], match["what"] or match["what_not"]
        wanted = BaseType(BaseTy.bool) if what == "not" else _TENSOR
        return Property(name, of, what) if self.types.get(of) == wanted else None

    def _check_source(self, name: str, line: int) -> None:
        if name == ASKED or self._property(name) is not None:
            return
        for pattern in (_GRAD, _RESULT):
            match = pattern.match(name)
            if match and name not in self.types and int(match[1] or 0) < self.count:
                return
        type_ = self.types.get(name)
        if type_ is None or (isinstance(type_, ListType) and type_.is_tensor_like()):
            numbers = [str(i) for i in range(self.count)] if self.count > 1 else [""]
            known = ", ".join(
                (*self.types, *(f"{stem}{n}" for stem in ("grad", "result") for n in numbers))
            )
            raise self._error(
                f"a formula of '{self.entry.func}' cannot read '{name}': there are {known}", line
            )

    def gradients(self) -> Gradients | None:
        """The formulas with what they read."""
        if not self.entry.gradients:
            return None
        if self.variant is not Variant.FUNCTIONAL:
            raise self._error(
                f"'{self.entry.func}' writes a tensor in place and takes no 'autograd'"
            )
        formulas = tuple(self._formula(*given) for given in self.entry.gradients)
        read = dict.fromkeys(name for formula in formulas for name in formula.arguments)
        numbers = {
            pattern: tuple(
                int(match[1] or 0)
                for match in map(pattern.match, read)
                if match and match[0] not in self.types
            )
            for pattern in (_GRAD, _RESULT)
        }
        return Gradients(
            formulas=formulas,
            kept=tuple(name for name in read if name in self.types),
            properties=tuple(found for found in map(self._property, read) if found is not None),
            kept_results=numbers[_RESULT],
            used_grads=tuple(sorted(numbers[_GRAD])) or (0,),
        )

    def documentation(self) -> Documentation | None:
        """What the entry says, which has to be about all arguments and results or none."""
        found = self.entry.documentation
        if found is None:
            return None
        known = list(self.types)
        described = [name for name, _ in found.arguments]
        for name in described:
            if name not in self.types:
                raise self._error(
                    f"'args' of '{self.entry.func}' names '{name}': there are {', '.join(known)}"
                )
        left = [name for name in known if name not in described]
        if described and left:
            raise self._error(f"'args' of '{self.entry.func}' leaves out '{left[0]}'")
        count = len(self.schema.returns)
        if found.returns and len(found.returns) != count:
            raise self._error(
                f"'{self.entry.func}' has {count} results: 'returns' says what {len(found.returns)} are"
            )
        arguments = tuple((name, self._with_dtypes(name, what)) for name, what in found.arguments)
        return replace(found, arguments=arguments)

    def _with_dtypes(self, name: str, what: Described) -> Described:
        """The argument with the data types of the entry's ``dtypes``, if it has none of its own."""
        taken = dict(self.dtypes()).get(name)
        if what.dtypes or taken is None:
            return what
        return replace(what, dtypes=", ".join(dtype for dtype in DTYPES if dtype in taken))

    def functional(self) -> str | None:
        """The operator with the same signature that writes nothing."""
        if self.variant is Variant.FUNCTIONAL:
            return None
        signature = self.schema.signature()
        found: Iterator[str] = (
            name
            for name, other in self.schemas.items()
            if _FORMS[other.kind()] is Variant.FUNCTIONAL and other.signature() == signature
        )
        return next(found, None)


def _resolve(entry: CustomEntry, schemas: Mapping[str, FunctionSchema]) -> CustomOperator:
    resolver = _Resolver(entry, schemas)
    schema = resolver.schema
    returned = [_type_of(r.type, entry) for r in schema.returns]
    gives_list = returned == ["Sequence[Tensor]"]
    takes = all(type_ in ("Tensor", "int") for type_ in returned) and "Tensor" in returned[:1]
    if not takes and not gives_list:
        raise EntryError(
            entry.line, f"'{entry.func}' has to give tensors, and then ints, or one list of tensors"
        )
    if gives_list and entry.call is not None:
        raise EntryError(
            entry.line, f"'{entry.func}' gives a list: write it by hand, 'op_api: true'"
        )
    numbers = frozenset(i for i, type_ in enumerate(returned) if type_ == "int")
    if numbers and entry.call is not None:
        raise EntryError(entry.line, f"'{entry.func}' gives ints: write it by hand, 'op_api: true'")
    return CustomOperator(
        name=entry.func,
        schema=re.sub(r"\bself\b", "input", str(schema)),
        function=cpp.name(schema, faithful_name_for_out_overloads=True),
        variant=resolver.variant,
        returns=dispatcher.returns_type(schema.returns).cpp_type(),
        python_returns=python_returns(schema.returns),
        arguments=resolver.arguments(),
        count=len(schema.returns),
        outputs=resolver.outputs(),
        numbers=numbers,
        gives_list=gives_list,
        route=resolver.route(),
        is_composed=entry.is_composed,
        dtypes=resolver.dtypes(),
        gradients=resolver.gradients(),
        functional=resolver.functional(),
        is_exposed=entry.is_exposed,
        doc=entry.doc,
        documentation=resolver.documentation(),
        family=Path(entry.file).stem,
    )


def resolve_custom(entries: tuple[CustomEntry, ...]) -> tuple[CustomOperator, ...]:
    """The entries with what their schemas and each other add to them.

    Raises:
        EntryError: one is malformed, or names what is not there.
    """
    with local.parametrize(
        use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
    ):
        schemas = {}
        for entry in entries:
            with errors_in(entry.file):
                schemas[entry.func] = _parse(entry)
        found = []
        for entry in entries:
            with errors_in(entry.file):
                found.append(_resolve(entry, schemas))
        return tuple(found)
