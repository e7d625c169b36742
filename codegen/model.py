"""What is generated, as frozen values: no text of C++ in here, no reading of files."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import yaml


class Route(Enum):
    """How an operator of PyTorch runs on npu."""

    OWN = "own"  # a kernel written by hand registers itself
    UNBOXED = "unboxed"  # the CPU's kernel on npu's bytes, by a generated wrapper
    BOXED = "boxed"  # the same by the boxed fallback
    ACLNN = "aclnn"  # an aclnn function, by a generated wrapper; what it does not take goes on as UNBOXED
    COMPOSITE = "composite"  # PyTorch decomposes it


@dataclass(frozen=True)
class Attribute:
    """An argument of an aclnn function as an entry writes it: a name, a number, or a function of names."""

    name: str
    arguments: tuple[str, ...] | None = None  # of a function in namespace torch_npu::attributes


@dataclass(frozen=True)
class ExecSpec:
    """``aclnnAdd(self, other, alpha, out)``; without arguments they are the schema's, then the outputs."""

    function: str
    arguments: tuple[Attribute, ...] | None
    line: int


@dataclass(frozen=True)
class Section:
    """A section of one file: a list of entries."""

    path: Path
    node: yaml.Node


@dataclass(frozen=True)
class Entry:
    """An entry of ``official`` as it is written; ``codegen/entries.py`` says what the keys mean."""

    func: str
    line: int
    call: ExecSpec
    number_calls: tuple[tuple[str, ExecSpec], ...] = ()
    structured_inherit: str | None = None
    rule: str | None = None
    dtypes: tuple[tuple[str, frozenset[str]], ...] = ()  # "": all tensors
    same_dtype: tuple[str, ...] = ()
    when: Attribute | None = None  # a function in namespace torch_npu::conditions
    keeps_format: bool = False
    file: str = ""  # that has the entry


@dataclass(frozen=True)
class Described:
    """What an entry says about an argument or a result."""

    meaning: str
    shape: str = ""
    dtypes: str = ""


@dataclass(frozen=True)
class Documentation:
    """What an entry says about its operator beside one sentence."""

    arguments: tuple[tuple[str, Described], ...]  # by the schema's names
    returns: tuple[Described, ...]
    raises: tuple[tuple[str, str], ...]  # exception, condition
    formula: str
    source: str


@dataclass(frozen=True)
class CustomEntry:
    """An entry of ``custom`` as it is written; ``codegen/custom_entries.py`` says what the keys mean."""

    func: str  # "npu_swiglu", "npu_transpose.out"
    line: int
    schema: str
    call: ExecSpec | None  # None: the kernel is written by hand
    outputs: tuple[Attribute, ...]
    gradients: tuple[tuple[tuple[str, ...], Attribute, int], ...]  # arguments, formula, line
    dtypes: tuple[tuple[str, frozenset[str]], ...]  # "": all tensors
    is_composed: bool  # the kernel by hand serves meta tensors, too
    is_exposed: bool
    doc: str
    documentation: Documentation | None = None
    file: str = ""  # that has the entry


@dataclass(frozen=True)
class OfficialOperator:
    """A row of ``schemas/*.tsv``; ``codegen/schemas.py`` says what the columns are."""

    namespace: str  # "npu", "atb"
    name: str  # "npu_swiglu", "npu_transpose.out"
    schema: str  # as PyTorch prints it, with the namespace
    arguments: str  # text of the schema
    returns: str
    words: frozenset[str]
    instead: str  # what does the same; empty: nothing does
    family: str  # the name of the file that has the row

    @property
    def base(self) -> str:
        """The name without the overload."""
        return self.name.split(".")[0]

    @property
    def is_refused(self) -> bool:
        """Whether nothing implements it, if no entry does."""
        return not self.words & {"by_hand", "kernels"}


@dataclass(frozen=True)
class Settings:
    """``npu_native_functions.yaml``."""

    backend: str
    cpp_namespace: str
    supported: frozenset[str]  # written by hand
    supported_derived: frozenset[str]  # written by hand for sparse, quantized, nested tensors
    autograd: frozenset[str]  # written by hand with their derivatives, under AutogradPrivateUse1
    symint: frozenset[str]  # of those written by hand: they take SymInts
    boxed: frozenset[str]  # CPU kernels that stay with the boxed fallback
    boxed_composite: frozenset[str]  # decomposed by PyTorch, but boxed here
    decomposed: frozenset[str]  # by PyTorch as for other devices, in place of the CPU's kernel
    takes_cpu_tensors: frozenset[str]  # CPU tensors may stand beside npu tensors
    cpu_reads_dense: frozenset[str]  # CPU kernels that read strided tensors as if they were dense
    cpu_reads_dense_weights: frozenset[str]  # those that read optional ones so
    cpu_reads_dense_lists: frozenset[str]  # those that read and write lists so
    streaming_on_cpu: frozenset[str]  # that take no memory for each element of an expanded tensor
    official: tuple[Entry, ...] = ()  # run by aclnn functions
    custom: tuple[CustomEntry, ...] = ()  # operators of namespace npu
    schemas: tuple[OfficialOperator, ...] = ()  # of all official operators of npu and atb

    def takes(self, name: str) -> str:
        """The enumerator of aicpu::InputLayout for an operator's CPU kernel; empty for the plain rule."""
        if name in self.takes_cpu_tensors:
            return "kCpuIndices"
        if name in self.cpu_reads_dense_weights:
            return "kDenseWeights"
        if name in self.cpu_reads_dense_lists:
            return "kDenseLists"
        return "kDense" if name in self.cpu_reads_dense else ""


@dataclass(frozen=True)
class Kernel:
    """One CPU kernel of ATen with the signature that the dispatcher calls."""

    operator: str  # "add.Tensor"
    header: str  # "add": ATen/ops/add_cpu_dispatch.h declares it
    function: str  # "add", "add_outf", "add_"
    returns: str  # C++ type
    arguments: tuple[str, ...]  # C++ types
    written_lists: tuple[int, ...] = ()  # which arguments are lists that it writes

    @property
    def pointer(self) -> str:
        """The C++ type of a pointer to it."""
        return f"{self.returns} (*)({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Operator:
    """An operator with the route that it takes; ``kernel`` is there for UNBOXED."""

    name: str
    route: Route
    kernel: Kernel | None = None
    takes: str = ""  # an enumerator of aicpu::InputLayout


class Variant(Enum):
    """What a member of an aclnn operator does with its outputs."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"


@dataclass(frozen=True)
class Argument:
    """One argument with its C++ type."""

    name: str
    type: str
    is_tensor: bool


@dataclass(frozen=True)
class Member:
    """One operator that an aclnn operator registers."""

    operator: str  # "add_.Tensor"
    variant: Variant
    kernel: Kernel  # what runs where aclnn does not take the call
    is_composite: bool  # that is PyTorch's own composition, not a CPU kernel
    boxed_composite: bool  # which asks what device it is on, and has to see CPU tensors
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]  # of OUT, among the arguments
    takes: str = ""  # an enumerator of aicpu::InputLayout


@dataclass(frozen=True)
class AclnnRoute:
    """One aclnn function with its arguments as C++ expressions."""

    function: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...]  # of AclObject
    number: str | None  # this argument has to be a number in host memory
    line: int  # of the call within its entry, whose first line is 1


@dataclass(frozen=True)
class AclnnOperator:
    """An operator in all its forms, run by aclnn functions."""

    name: str  # "add.out"
    arguments: tuple[Argument, ...]  # inputs, by the functional form
    rule: (
        str | None
    )  # C++ class that gives the outputs sizes and types; None: self is written in place
    rule_header: str | None
    is_on_lists: bool  # of tensors; ``rule`` is None, or "one_number" for each of a list
    result_type: (
        str | None
    )  # an enumerator of ResultType: tensors of one type and shape give one more like them
    broadcasts: bool  # also where the others are broadcast to the first one
    outputs: int
    routes: tuple[AclnnRoute, ...]
    dtypes: tuple[
        tuple[str, frozenset[str] | None], ...
    ]  # tensor argument -> what is taken, None: all
    same_dtype: tuple[str, ...]
    when: str | None  # C++ expression: whether aclnn takes the call
    keeps_format: bool  # of images in NC1HWC0 the first output is one, too
    members: tuple[Member, ...]

    @property
    def has_rule(self) -> bool:
        """Whether PyTorch's way of a shape rule makes or checks its outputs."""
        return self.rule is not None and not self.is_on_lists

    @property
    def writes_self_alone(self) -> bool:
        """Whether it has one form, which writes ``self``."""
        return self.rule is None and not self.is_on_lists


class Kind(Enum):
    """How C++ keeps an argument between the forward and the backward pass."""

    TENSOR = "tensor"
    OPTIONAL_TENSOR = "optional tensor"
    VALUE = "value"


@dataclass(frozen=True)
class CustomArgument:
    """One argument of an ``npu::`` operator."""

    name: str
    python_name: str  # ``self`` is registered as ``input``
    type: str  # of C++
    default: str | None  # in C++
    python_type: str
    python_default: str | None
    kind: Kind
    is_written: bool
    keyword_only: bool


@dataclass(frozen=True)
class Formula:
    """A call that gives gradients: ``function`` is an ``npu::`` operator with its C++ arguments."""

    function: str
    arguments: tuple[str, ...]
    gives: tuple[str, ...]  # arguments of the forward operator, in the order of the results


@dataclass(frozen=True)
class Property:
    """What a formula reads of an argument instead of its value."""

    name: str  # as the formula writes it: "self_sizes", "self_dtype", "not_transpose_first"
    of: str  # the argument
    what: str  # "sizes", "size0", "size1", "dtype", "not"


@dataclass(frozen=True)
class Gradients:
    """What the backward pass computes, and what the forward pass keeps for it."""

    formulas: tuple[Formula, ...]
    kept: tuple[str, ...]  # arguments
    properties: tuple[Property, ...]
    kept_results: tuple[int, ...]
    used_grads: tuple[
        int, ...
    ]  # outputs whose gradients are read; the others are not differentiable


@dataclass(frozen=True)
class CustomOperator:
    """An ``npu::`` operator."""

    name: str  # "npu_transpose.out"
    schema: str  # as it is registered
    function: str  # C++ name: "npu_transpose_outf"
    variant: Variant
    returns: str  # C++ type
    python_returns: str
    arguments: tuple[CustomArgument, ...]
    count: int  # of results
    outputs: tuple[
        str, ...
    ]  # C++ expressions of what they are; none of INPLACE and of compositions
    numbers: frozenset[int]  # which outputs are ints
    gives_list: bool  # the one output is a list of tensors
    route: AclnnRoute | None  # None: written by hand
    is_composed: bool  # the kernel by hand serves meta tensors, too
    dtypes: tuple[tuple[str, frozenset[str] | None], ...]  # tensor argument -> what is taken
    gradients: Gradients | None
    functional: str | None  # the operator that computes the same and writes nothing
    is_exposed: bool
    doc: str
    documentation: Documentation | None = None
    family: str = ""  # the name of the file that has the entry

    @property
    def summary(self) -> str:
        """What it computes on one line, with the formula."""
        formula = self.documentation.formula if self.documentation else ""
        return f"{self.doc} {formula}" if formula else self.doc

    @property
    def base(self) -> str:
        """The name without the overload."""
        return self.name.split(".")[0]

    @property
    def pointer(self) -> str:
        """The C++ type of a function with its signature."""
        return f"{self.returns} ({', '.join(a.type for a in self.arguments)})"
