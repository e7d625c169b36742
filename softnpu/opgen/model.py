"""The contents of one row of an operator table. Frozen; made by parse, read by emit and by the tests."""

from dataclasses import dataclass

from softnpu.opgen.types import OperatorType

# Objects are passed by pointer, the others by value. The name in a table -> its C type.
OBJECTS = {
    "Tensor": "aclTensor",
    "Scalar": "aclScalar",
    "IntArray": "aclIntArray",
    "FloatArray": "aclFloatArray",
    "BoolArray": "aclBoolArray",
    "TensorList": "aclTensorList",
    "ScalarList": "aclScalarList",
}
VALUES = {
    "bool": "bool",
    "int8": "int8_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float": "float",
    "double": "double",
    "dtype": "aclDataType",
    "string": "const char*",
}


def header_of(function: str) -> str:
    """The header of an aclnn function: aclnnBatchMatMul -> aclnn_batch_mat_mul.h."""
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in function)
    return f"{words}.h"


@dataclass(frozen=True)
class Argument:
    """`Tensor? bias`, `Tensor! out`, `int64 dim`."""

    name: str
    type: str
    optional: bool = False
    written: bool = False

    @property
    def is_object(self) -> bool:
        """Whether it is passed by pointer."""
        return self.type in OBJECTS

    @property
    def c_type(self) -> str:
        """Its type in the C function."""
        if not self.is_object:
            return VALUES[self.type]
        # An output's memory is written, so CANN does not declare its descriptor const.
        return f"{OBJECTS[self.type]}*" if self.written else f"const {OBJECTS[self.type]}*"


@dataclass(frozen=True)
class Operator:
    """A pair of aclnn functions, and the call that plans it."""

    name: str  # with the prefix: aclnnAdd
    arguments: tuple[Argument, ...]
    plan: str  # a C++ call with the operator's arguments: add(self, other, alpha, out)
    line: int = 0  # of its row in the table

    @property
    def header(self) -> str:
        """The name of its header."""
        return header_of(self.name)


@dataclass(frozen=True)
class Function:
    """A function that maps the elements of tensors."""

    name: str  # the name of its functor; the enumerator's is k + name
    file: str | None  # FILE.cpp has a functor of that name; None: its kernels are elsewhere
    cost: int
    rounds_constants: bool
    keeps_numbers: bool
    doc: str


@dataclass(frozen=True)
class Table:
    """One file of operators."""

    path: str
    includes: tuple[str, ...]
    operators: tuple[Operator, ...]
    functions: tuple[Function, ...] = ()
    types: tuple[OperatorType, ...] = ()
