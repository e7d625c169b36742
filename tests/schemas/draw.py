"""Arguments for any operator of ATen, drawn from its schema: types and names of the arguments say what may fit.

An attempt's number determines its arguments, so that another process can draw them again.
"""

import random
import zlib
from collections.abc import Iterator

import torch
from fuzz.draw import Drawn
from fuzz.recorded import YAML

SHAPES = (
    (3, 4), (3,), (4, 4), (2, 3, 4), (2, 4, 4), (2, 4, 6, 6), (1, 3, 4, 4, 4), (), (1,), (8, 4),
)  # fmt: skip
DTYPES = (torch.float32,) * 6 + (
    torch.int64,
    torch.int64,
    torch.bool,
    torch.complex64,
    torch.float64,
    torch.uint8,
)
# Names of tensors that select elements of others, that count, and that have one element for each channel.
_INDICES = {
    "index",
    "indices",
    "target",
    "targets",
    "offsets",
    "ind",
    "batch_offsets",
    "pivots",
    "LU_pivots",
    "lengths",
}
_MASKS = {"mask", "condition", "found_inf_mask", "bool_mask"}
_OF_CHANNELS = {
    "weight", "bias", "running_mean", "running_var", "save_mean", "save_invstd", "mean", "rstd", "invstd",
    "scale", "zero_point", "scales", "zero_points",
}  # fmt: skip
_TEXTS = (
    "sum", "mean", "none", "floor", "fro", "L", "U", "ij", "valid", "same", "amax", "linear", "tanh", "constant",
    "reflect", "left", "right", "bilinear",
)  # fmt: skip
# Operators that no test calls, with the reason.
NEVER = {
    "from_file": "reads a file",
    "_print": "prints",
    "record_stream": "takes a stream, which has no place in a schema",
    "_fill_mem_eff_dropout_mask_": "is for CUDA",
    "_foobar": "is PyTorch's own test",
    "_make_dep_token": "has no results",
    "set_data": "replaces a tensor's contents, whatever its device",
}
# Overloads whose CPU kernels read or write beyond their arguments' memory for what is drawn, without a check.
UNCHECKED = {
    "aten._compute_linear_combination.default": "more coefficients in a row than the input has rows",
    "aten._compute_linear_combination.out": "more coefficients in a row than the input has rows",
    "aten._convert_indices_from_coo_to_csr.out": "indices beyond the size are written",
    "aten._fft_r2c.default": "a dimension that is named twice",
    "aten._batch_norm_with_update.default": "weights and statistics of other sizes than the channels",
    "aten._batch_norm_with_update.out": "weights and statistics of other sizes than the channels",
    "aten.batch_norm_update_stats.out": "statistics of other sizes than the channels",
    "aten.batch_norm_backward.default": "statistics of other sizes than the channels",
    "aten._native_batch_norm_legit_no_training.default": "weights of other sizes than the channels",
    "aten._cdist_backward.out": "distances that are not those of its arguments",
    "aten._weight_norm_interface.default": "magnitudes of other sizes than one for each row",
    "aten._weight_norm_interface.out": "magnitudes of other sizes than one for each row",
    "aten._weight_norm_interface_backward.default": "magnitudes of other sizes than one for each row",
    "aten._weight_norm_interface_backward.out": "magnitudes of other sizes than one for each row",
}


class UnbuildableError(Exception):
    """No value of an argument's type can be drawn."""


class _Attempt:
    """One draw of all arguments of a function."""

    def __init__(self, function: torch._ops.OpOverload, number: int):
        seed = zlib.crc32(f"{function}:{number}".encode())
        self.choose = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.function = function
        choose = self.choose
        self.shape = SHAPES[0] if number == 0 else choose.choice(SHAPES)
        self.dtype = DTYPES[0] if number == 0 else choose.choice(DTYPES)
        self.shares_shape = number == 0 or choose.random() < 0.6
        self.keeps_defaults = 0.95 if number < 8 else 0.7
        self.listed = choose.choice((1, 2, 2, 3))
        self.ints = choose.choice(((1,), (0, 1), (1, 2), (2, 3), (0, 1, 2, 3, 4)))

    def tensor(self, name: str, written_out: bool) -> torch.Tensor:
        choose = self.choose
        shape = self.shape if self.shares_shape else choose.choice(SHAPES)
        dtype = self.dtype
        if written_out:
            kinds = (
                (dtype, torch.int64)
                if name in _INDICES
                else (dtype, torch.float32, torch.int64, torch.bool)
            )
            return torch.empty(0, dtype=choose.choice(kinds))
        if name in _INDICES:
            shape, dtype = choose.choice((shape, (3,), shape[:1], (2,))), torch.int64
        elif name in _MASKS:
            dtype = torch.bool
        elif name in _OF_CHANNELS and choose.random() < 0.7:
            shape = (choose.choice(self.shape or (1,)),)
        elif choose.random() < 0.1:
            dtype = choose.choice(DTYPES)
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(shape, dtype=dtype, generator=self.generator) + 0.25
        most = 2 if dtype == torch.bool or name in _INDICES else 4
        return torch.randint(0, most, shape, generator=self.generator).to(dtype)

    def value(self, argument: torch._C.Argument, kind: str) -> object:
        """A value for one argument; ``kind`` is its type as text, without Optional."""
        choose, name = self.choose, argument.name
        written_out = bool(
            argument.alias_info and argument.alias_info.is_write and argument.kwarg_only
        )
        if kind.startswith("Optional["):
            inner = kind.removeprefix("Optional[").removesuffix("]")
            return None if choose.random() < 0.5 else self.value(argument, inner)
        if kind == "Tensor":
            return self.tensor(name, written_out)
        if kind in {"List[Tensor]", "List[Optional[Tensor]]"}:
            return [self.tensor(name, written_out) for _ in range(self.listed)]
        if kind == "bool":
            return choose.random() < 0.3
        if kind in {"int", "SymInt"}:
            if name.startswith("dim") or name == "axis":
                return choose.choice((0, 0, -1, 1))
            return choose.choice(self.ints)
        if kind in {"number", "Scalar"}:
            return choose.choice((1, 0.5, 2))
        if kind == "float":
            return choose.choice((0.5, 1.0, 0.1))
        if kind.startswith("List[") and kind.endswith("]"):
            inner = kind.removeprefix("List[").removesuffix("]")
            count = argument.N or choose.choice((1, 2, 2, 3, 4))
            return [self.value(argument, inner) for _ in range(count)]
        if kind == "str":
            return choose.choice(_TEXTS)
        if kind == "Device":
            return torch.device("cpu")
        if kind in {"ScalarType", "Layout", "MemoryFormat", "Generator"}:
            return _coded(argument, self)
        raise UnbuildableError(f"no value of type {kind} can be drawn")


def _coded(argument: torch._C.Argument, attempt: _Attempt) -> object:
    """Types that a schema shows as int."""
    text = str(argument.real_type)
    if "ScalarType" in text:
        return attempt.dtype
    if "MemoryFormat" in text:
        return torch.contiguous_format
    if "Layout" in text:
        return torch.strided
    return None


def _one(function: torch._ops.OpOverload, number: int) -> Drawn:
    attempt = _Attempt(function, number)
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for argument in function._schema.arguments:
        kind = str(argument.real_type)
        is_device = "Device" in kind
        if (
            argument.has_default_value()
            and not is_device
            and attempt.choose.random() < attempt.keeps_defaults
        ):
            value = argument.default_value
        elif is_device:
            value = torch.device("cpu")
        else:
            value = attempt.value(argument, kind)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return Drawn(str(function), tuple(args), kwargs)


def drawn(name: str, number: int) -> Drawn:
    """The call of attempt ``number`` of the overload ``aten.add.Tensor``.

    Raises:
        UnbuildableError: an argument's type has no values here.
    """
    return _one(function_named(name), number)


def function_named(name: str) -> torch._ops.OpOverload:
    """``aten.add.Tensor`` as the function."""
    _, packet, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


def overloads() -> Iterator[str]:
    """Every overload of ATen, as ``aten.add.Tensor``."""
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith("aten::"):
            base, _, overload = name.removeprefix("aten::").partition(".")
            packet = getattr(torch.ops.aten, base, None)
            if packet is not None and hasattr(packet, overload or "default"):
                yield f"aten.{base}.{overload or 'default'}"


def with_opinfo() -> set[str]:
    """Operators, without overloads, that PyTorch's own cases call: in each form."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: set[str] = set()
    for info in op_db:
        names = {info.name.replace(".", "_"), info.name.rpartition(".")[2], info.aten_name}
        names |= {alias.name.replace(".", "_") for alias in info.aliases} | {
            info.aten_backward_name
        }
        found |= {name for name in names if name}
    return found | {f"{name}_" for name in found}


def on_ai_cpu() -> set[str]:
    """The overloads whose wrapper calls ATen's CPU kernel and nothing else."""
    from codegen import parse
    from codegen.model import Route

    functions = parse.native_functions()
    found = parse.read(YAML, functions)
    routed = parse.operators(found.settings, functions, found.aclnn)
    names = (o.name for o in routed if o.route in {Route.UNBOXED, Route.BOXED})
    return {f"aten.{name}" if "." in name else f"aten.{name}.default" for name in names}


def without_opinfo() -> list[str]:
    """The overloads of operators that have no OpInfo, without those of NEVER."""
    left_out = with_opinfo() | set(NEVER)
    return [name for name in overloads() if name.split(".")[1] not in left_out]


def all_wanted() -> list[str]:
    """All overloads that some test here calls."""
    return sorted({*without_opinfo(), *(on_ai_cpu() & set(overloads()))})
