"""Reads ``npu_native_functions.yaml``, its families and PyTorch's own schemas into the model.

Every problem of the YAML is a ``ParseError`` that names file and line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from torchgen.gen import ParsedYaml, parse_native_yaml
from torchgen.model import DispatchKey, NativeFunction, OperatorName

from codegen.aclnn import resolve, signature_kernel
from codegen.calls import EntryError
from codegen.custom import resolve_custom
from codegen.files import SECTIONS, ParseError, read_files
from codegen.model import AclnnOperator, CustomOperator, Kernel, Operator, Route, Settings
from codegen.official import check_entries

_LISTS = (
    "supported", "supported_derived", "autograd", "symint", "boxed", "boxed_composite", "decomposed", "takes_cpu_tensors",
    "cpu_reads_dense", "cpu_reads_dense_weights", "cpu_reads_dense_lists", "streaming_on_cpu",
)  # fmt: skip
_TEXTS = ("backend", "cpp_namespace")
_KEYS = (*_TEXTS, *_LISTS, *SECTIONS, "families")


@cache
def native_functions() -> ParsedYaml:
    """The schemas of the installed torch, from the torchgen that comes with it."""
    import torchgen

    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    return parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))


def _names(path: Path, key: str, node: yaml.Node | None, known: set[str]) -> Iterator[str]:
    if node is None:
        return
    if not isinstance(node, yaml.SequenceNode):
        raise ParseError(
            f"{path}:{node.start_mark.line + 1}: '{key}' takes a list of operators, '- add.Tensor'"
        )
    seen = set()
    for item in node.value:
        line = item.start_mark.line + 1
        if item.value not in known:
            raise ParseError(
                f"{path}:{line}: torch has no operator 'aten::{item.value}' (overloads are written 'add.out')"
            )
        if item.value in seen:
            raise ParseError(f"{path}:{line}: '{item.value}' is defined twice under '{key}'")
        seen.add(item.value)
        yield item.value


def _check_by_hand(
    path: Path,
    nodes: dict[str, yaml.Node],
    lists: dict[str, frozenset[str]],
    functions: ParsedYaml,
) -> None:
    """Kernels under ``symint`` are written by hand, of operators with a SymInt."""
    sizes = {
        str(f.func.name)
        for f in functions.native_functions
        if any("SymInt" in str(a.type) for a in f.func.arguments.flat_all)
    }
    by_hand = lists["supported"] | lists["supported_derived"] | lists["autograd"]
    for name in sorted(lists["symint"]):
        line = nodes["symint"].start_mark.line + 1
        if name not in by_hand:
            raise ParseError(
                f"{path}:{line}: '{name}' under 'symint' is not written by hand: 'supported' or "
                "'autograd' has to name it"
            )
        if name not in sizes:
            raise ParseError(f"{path}:{line}: '{name}' under 'symint' has no SymInt in its schema")


def read_settings(path: Path, functions: ParsedYaml) -> Settings:
    """The YAML as Settings.

    Raises:
        ParseError: it is malformed, or names an operator that torch does not have.
    """
    files = read_files(path, _KEYS)
    nodes = files.index
    texts = {}
    for key in _TEXTS:
        if key not in nodes:
            raise ParseError(f"{path}:1: the key '{key}' is missing")
        texts[key] = str(nodes[key].value)
    known = {str(f.func.name) for f in functions.native_functions}
    lists = {key: frozenset(_names(path, key, nodes.get(key), known)) for key in _LISTS}
    routed = (
        "boxed", "boxed_composite", "decomposed", "takes_cpu_tensors", "cpu_reads_dense", "cpu_reads_dense_weights",
        "cpu_reads_dense_lists",
    )  # fmt: skip
    both = lists["supported"] & frozenset().union(*(lists[key] for key in routed))
    if both:
        raise ParseError(
            f"{path}:1: '{min(both)}' is written by hand ('supported') and cannot have another route"
        )
    _check_by_hand(path, nodes, lists, functions)
    return Settings(
        **texts,
        **lists,
        official=files.official,
        custom=files.custom,
        schemas=files.schemas,
    )


def aclnn_operators(settings: Settings, parsed: ParsedYaml) -> tuple[AclnnOperator, ...]:
    """The operators of the sections ``official``.

    Raises:
        ParseError: an entry does not fit its schema, or an operator has another route as well.
    """
    try:
        found = resolve(settings.official, parsed, settings.takes, settings.boxed_composite)
    except EntryError as error:
        raise ParseError(f"{error.file}:{error.line}: {error}") from None
    taken = dict.fromkeys(settings.supported | settings.boxed, "a list")
    for entry, operator in zip(settings.official, found, strict=True):
        for member in operator.members:
            if member.operator in taken:
                raise ParseError(
                    f"{entry.file}:{entry.line}: '{member.operator}', which '{entry.func}' registers, has "
                    f"{taken[member.operator]} of its own"
                )
            taken[member.operator] = "an entry"
    return found


def custom_operators(settings: Settings) -> tuple[CustomOperator, ...]:
    """The operators of the sections ``custom``.

    Raises:
        ParseError: an entry's schema is malformed or not the official one, or it names what is not there.
    """
    try:
        found = resolve_custom(settings.custom)
        check_entries(settings.custom, found, settings.schemas)
        return found
    except EntryError as error:
        raise ParseError(f"{error.file}:{error.line}: {error}") from None


@dataclass(frozen=True)
class Parsed:
    """All files: the settings, and the operators of ``official`` and ``custom``."""

    settings: Settings
    aclnn: tuple[AclnnOperator, ...]
    custom: tuple[CustomOperator, ...]


def read(path: Path, functions: ParsedYaml) -> Parsed:
    """Everything that the YAML says.

    Raises:
        ParseError: as ``read_settings``, ``aclnn_operators`` and ``custom_operators``.
    """
    settings = read_settings(path, functions)
    return Parsed(settings, aclnn_operators(settings, functions), custom_operators(settings))


def _with_cpu_kernels(parsed: ParsedYaml) -> set[OperatorName]:
    """The operators that have a CPU kernel, of their own or in the structured form that they belong to."""
    index = parsed.backend_indices[DispatchKey.CPU]
    own = {f.func.name for f in parsed.native_functions if index.has_kernel(f)}
    return own | {f.func.name for f in parsed.native_functions if f.structured_delegate in own}


def streaming(settings: Settings, parsed: ParsedYaml) -> tuple[str, ...]:
    """Operators, without overloads and sorted, whose CPU kernels take no memory for each element of an expanded tensor.

    By PyTorch's tags those that compute element by element and reductions, and those of the YAML's ``streaming_on_cpu``.
    """
    tagged = {
        f.func.name.name.base
        for f in parsed.native_functions
        if f.tags & {"pointwise", "reduction"}
    }
    functions = (f.func.name.name for f in parsed.native_functions)
    found = {str(name) for name in functions if name.base in tagged and not name.dunder_method}
    return tuple(sorted(found | {name.split(".")[0] for name in settings.streaming_on_cpu}))


def kernels_of(key: str, parsed: ParsedYaml) -> tuple[str, ...]:
    """The operators that have a kernel under a dispatch key such as SparseCPU, in the order of the schemas."""
    index = parsed.backend_indices[DispatchKey.parse(key)]
    return tuple(str(f.func.name) for f in parsed.native_functions if index.has_kernel(f))


def _draws_unseen(function: NativeFunction, kernel: Kernel) -> bool:
    """Random kernels without a generator argument draw from the CPU's default one, which has to be swapped."""
    takes_generator = any("Generator" in argument for argument in kernel.arguments)
    return "nondeterministic_seeded" in function.tags and not takes_generator


def operators(
    settings: Settings, parsed: ParsedYaml, aclnn: tuple[AclnnOperator, ...] = ()
) -> tuple[Operator, ...]:
    """Every operator of ATen with its route, in the order of the schemas."""
    by_aclnn = {member.operator for operator in aclnn for member in operator.members}
    with_cpu_kernels = _with_cpu_kernels(parsed)
    found = []
    for function in parsed.native_functions:
        name = str(function.func.name)
        delegate = str(function.structured_delegate) if function.structured_delegate else name
        if name in by_aclnn:
            found.append(Operator(name, Route.ACLNN))
        elif name in settings.supported or delegate in settings.supported:
            found.append(Operator(name, Route.OWN))
        elif name in settings.boxed_composite:
            found.append(Operator(name, Route.BOXED))
        elif name in settings.decomposed or function.func.name not in with_cpu_kernels:
            found.append(Operator(name, Route.COMPOSITE))
        else:
            kernel = signature_kernel(function)
            boxed = name in settings.boxed or _draws_unseen(function, kernel)
            route = Route.BOXED if boxed else Route.UNBOXED
            found.append(Operator(name, route, None if boxed else kernel, settings.takes(name)))
    return tuple(found)
