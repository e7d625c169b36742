"""What an ``exec`` means in C++: the arguments of an aclnn function by the arguments of an operator's schema."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from torchgen.model import BaseTy, BaseType, ListType, OptionalType, Type

from codegen.model import AclnnRoute, Attribute, ExecSpec

_LITERALS = {"true": "true", "false": "false", "null": "nullptr"}
# Functions of aten/aclnn/attributes.h that make a list of something else.
_LIST_MAKERS = {"no_dims": "kIntArray", "one_dim": "kIntArray"}
# Objects of aclnn that lists become, by their elements.
_LISTS = {
    BaseTy.int: "kIntArray",
    BaseTy.SymInt: "kIntArray",
    BaseTy.float: "kFloatArray",
    BaseTy.bool: "kBoolArray",
    BaseTy.Tensor: "kTensorList",
    BaseTy.Scalar: "kScalarList",
}


class EntryError(ValueError):
    """An entry does not fit the operator's schema; ``file`` and ``line`` are where it is."""

    def __init__(self, line: int, text: str) -> None:
        """``text`` says what is wrong."""
        super().__init__(text)
        self.line = line
        self.file = ""


@contextmanager
def errors_in(file: str) -> Iterator[None]:
    """Adds the file to errors of the block."""
    try:
        yield
    except EntryError as error:
        error.file = file
        raise


def _base(type_: Type) -> Type:
    while isinstance(type_, OptionalType):
        type_ = type_.elem
    return type_


def _needs(type_: Type) -> str | None:
    type_ = _base(type_)
    if not isinstance(type_, ListType):
        return None
    element = _base(type_.elem)
    return _LISTS.get(element.name) if isinstance(element, BaseType) else None


def _converts(type_: Type) -> bool:
    """Whether an argument of this type has a form in aclnn by itself."""
    if isinstance(type_, OptionalType):
        inner = type_.elem
        return isinstance(inner, ListType) or inner in (
            BaseType(BaseTy.Tensor),
            BaseType(BaseTy.Scalar),
        )
    if isinstance(type_, ListType):
        return _needs(type_) is not None and not isinstance(type_.elem, OptionalType)
    return type_ not in (
        BaseType(BaseTy.Generator),
        BaseType(BaseTy.Device),
        BaseType(BaseTy.Layout),
    )


class CallWriter:
    """Writes the calls of one operator."""

    def __init__(
        self,
        operator: str,
        line: int,
        types: Mapping[str, Type],
        results: Mapping[str, str],
        known: Callable[[], str],
    ) -> None:
        """``line`` is that of the entry, ``results`` are the names of outputs and their C++; ``known`` lists what an exec may name."""
        self._operator, self._line, self._types = operator, line, types
        self._results, self._known = results, known

    def _name(self, name: str, call: ExecSpec) -> str:
        if name in self._types:
            return name
        if name in self._results:
            return self._results[name]
        raise EntryError(
            call.line, f"'{self._operator}' has no argument '{name}': there are {self._known()}"
        )

    def function(self, namespace: str, of: Attribute, call: ExecSpec) -> str:
        """A function of ``namespace`` and its arguments; ``call`` is where an error stands."""
        inner = (self._name(name, call) for name in of.arguments or ())
        return f"{namespace}::{of.name}({', '.join(inner)})"

    def _expression(self, attribute: Attribute, call: ExecSpec, number: str | None) -> str:
        name = attribute.name
        if attribute.arguments is not None:
            return self.function("attributes", attribute, call)
        if name in _LITERALS:
            return _LITERALS[name]
        if name.isdigit():
            return f"int64_t{{{name}}}"
        if name == number:
            return f"number({name})"
        text = self._name(name, call)
        if name in self._types and not _converts(self._types[name]):
            raise EntryError(
                call.line,
                f"'{name}' of '{self._operator}' is {self._types[name]}, which aclnn does not know: "
                "write a function of aten/aclnn/attributes.h around it, dtype_of(out)",
            )
        return text

    def route(
        self, call: ExecSpec, default: tuple[Attribute, ...], number: str | None = None
    ) -> AclnnRoute:
        """The call with its arguments in C++; ``default`` are those of a call without any."""
        attributes = default if call.arguments is None else call.arguments
        used = [n for a in attributes for n in ((a.name,) if a.arguments is None else a.arguments)]
        needs = {_needs(self._types[n]) for n in used if n in self._types}
        needs |= {_LIST_MAKERS.get(a.name) for a in attributes}
        return AclnnRoute(
            function=call.function,
            arguments=tuple(self._expression(a, call, number) for a in attributes),
            needs=tuple(sorted(n for n in needs if n)),
            number=number,
            line=call.line - self._line + 1,
        )
