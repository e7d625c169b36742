"""Makes C++ of Ascend C: launches become calls, kernels are found.

It reads what the preprocessor made of a file, so that launches in headers and macros count. Line numbers stay.
"""

import re
from dataclasses import dataclass

from .errors import AscendcError
from .text import Location, Places, closing, pattern, split

# What the preprocessor makes of GET_TILING_DATA(name, parameter), and what ends a kernel early.
_TILING = pattern(
    r"(?P<brace>[{}])|(?P<end>\b(?:return|goto)\b)"
    r"|::softnpu::kernel::tiling_of<(?P<type>[^;{}]+?)>\s*\(\s*(?P<name>\w+)\s*\)"
)
# Some blocks end here, not all of a launch.
_END_OF_BLOCKS = pattern(r"\bif\s*\([^;{}]*\bGetBlockIdx\b[^;{}]*\)\s*\{?\s*return\b")
# What the preprocessor makes of __global__.
GLOBAL = "__softnpu_global__"
_TOKEN = pattern(rf"(?P<launch><<\s*<)|(?P<brace>[{{}}])|(?P<kernel>\b{GLOBAL}\b)")
_NAMESPACE = re.compile(r"\bnamespace(?:\s+([\w:]+))?\s*$")
_EXTERN_C = re.compile(r'\bextern\s*"C"\s*$')
_DECLARATOR = re.compile(r"(?:(?!__attribute__)\b[A-Za-z_]\w*)\s*\(")
_POINTER = re.compile(r"\*|\bGM_ADDR\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_TYPES = frozenset(
    [
        "bool",
        "char",
        "double",
        "float",
        "half",
        "int",
        "long",
        "short",
        "signed",
        "unsigned",
        "bfloat16_t",
    ]
) | {f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Tiling:
    """A structure that each launch of a kernel reads from one of its parameters.

    Attributes:
        parameter: its index.
        type: as written, which is known behind the kernel.
        size: the C++ name of the number of its bytes, which is declared there.
    """

    parameter: int
    type: str
    size: str


@dataclass(frozen=True)
class Kernel:
    """A kernel that other programs can find.

    Attributes:
        name: as its author wrote it.
        qualified: its C++ name, with namespaces.
        parameters: types and names, as written.
        location: of its name.
        end: the index behind its body.
        tilings: those whose types are known outside of it.
    """

    name: str
    qualified: str
    parameters: tuple[str, ...]
    location: Location
    end: int
    tilings: tuple[Tiling, ...] = ()


@dataclass(frozen=True)
class Rewritten:
    """C++ of one translation unit, and the kernels that it defines; templates are no kernels of their own."""

    text: str
    kernels: tuple[Kernel, ...]


def _behind_angle(text: str, index: int) -> int:
    """The index of the ``<`` that the ``>`` before ``index`` closes; -1 if nothing does."""
    depth, brackets = 0, 0
    for i in range(index - 1, -1, -1):
        letter = text[i]
        if letter in ")]}":
            brackets += 1
        elif letter in "([{":
            brackets -= 1
            if brackets < 0:
                return -1
        elif brackets == 0 and letter == ">" and text[i - 1] != "-":
            depth += 1
        elif brackets == 0 and letter == "<":
            depth -= 1
            if depth == 0:
                return i
        elif letter == ";":
            return -1
    return -1


def _strip(text: str, index: int) -> int:
    """``index`` without the white space before it."""
    while index > 0 and text[index - 1].isspace():
        index -= 1
    return index


def _callee(text: str, end: int) -> int:
    """Where the expression that ends at ``end`` begins: a name with ``::`` and template arguments, or ``(...)``."""
    index = end
    while True:
        if index and text[index - 1] == ">":
            index = _behind_angle(text, index)
            if index < 0:
                return -1
            index = _strip(text, index)
        start = index
        while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        if start == index:
            if index and text[index - 1] == ")" and index == end:
                depth = 0
                for i in range(index - 1, -1, -1):
                    depth += (text[i] == ")") - (text[i] == "(")
                    if depth == 0:
                        return i
            return -1
        before = _strip(text, start)
        if text[max(0, before - 2) : before] != "::":
            return start
        index = _strip(text, before - 2)
        if not index or not (text[index - 1].isalnum() or text[index - 1] in "_>"):
            return before - 2  # ::name


_CLOSE = pattern(
    r"(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>>>\s*>)(?=\s*\()|(?P<comma>,)|(?P<stop>;)"
    r"|(?P<left>(?<=\w)<)|(?P<right>(?<!-)>)"
)


def _configuration(text: str, start: int, *, templates: bool = True) -> tuple[int, int] | None:
    """Of the text behind ``<<<``: where the ``>>>`` behind at least three values begins and ends.

    A ``<`` directly behind a name begins template arguments. Where no ``>>>`` is left then, it was a comparison.
    """
    depth, commas, angles = 0, 0, 0
    for found in _CLOSE.finditer(text, start):
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth -= 1
        if found["stop"] or depth < 0:
            break
        if depth:
            continue
        if found["end"]:
            if angles == 0 and commas >= 2:
                return found.start(), found.end()
            angles = max(0, angles - 3)
        elif found["comma"] and angles == 0:
            commas += 1
        elif found["left"] and templates:
            angles += 1
        elif found["right"]:
            angles = max(0, angles - 1)
    return _configuration(text, start, templates=False) if templates else None


def _values(text: str, start: int) -> int:
    """How many values a launch has that ``_configuration`` does not take."""
    end = re.search(r">>\s*>", text[start : start + 2000])
    return len(split(text[start : start + end.start()])) if end else 0


def rewrite(text: str, file: str) -> Rewritten:
    """The C++ of a translation unit.

    Args:
        text: preprocessed, with ``__global__`` as ``GLOBAL``; or as written.
        file: its name as far as line markers do not say otherwise.

    Raises:
        AscendcError: a launch is not of the form ``kernel<<<blocks, l2ctrl, stream>>>(...)``.
    """
    places = Places(text, file)
    edits: list[tuple[int, int, str]] = []
    kernels: dict[str, Kernel] = {}
    overloaded: set[str] = set()
    scopes: list[str | None] = []  # None: no namespace
    names: dict[str, str] = {}  # of kernels in C++
    for start, end in places.segments():
        for found in _TOKEN.finditer(text, start, end):
            if found["launch"]:
                edits += _launch(text, found, places, names)
            elif found["brace"] == "{":
                before = text[max(0, found.start() - 300) : found.start()]
                if name := _NAMESPACE.search(before):
                    scopes.append(name[1] or "")
                else:
                    scopes.append("" if _EXTERN_C.search(before) else None)
            elif found["brace"] == "}":
                if scopes:
                    scopes.pop()
            elif found["kernel"]:
                edits.append((found.start(), found.end(), " " * len(GLOBAL)))
                edits += _own_name(text, found, places, names)
                kernel = _kernel(text, found, scopes, places, names)
                if kernel is not None and kernel.tilings:
                    sizes = "".join(
                        f" [[maybe_unused]] static constexpr decltype(sizeof 0) {t.size.split('::')[-1]} ="
                        f" sizeof({t.type});"
                        for t in kernel.tilings
                    )
                    edits.append((kernel.end, kernel.end, sizes))
                if kernel is not None and kernels.setdefault(kernel.name, kernel) != kernel:
                    overloaded.add(kernel.name)
    parts, last = [], 0
    for begin, behind, new in sorted(edits):
        parts += [text[last:begin], new]
        last = behind
    parts.append(text[last:])
    return Rewritten("".join(parts), tuple(k for k in kernels.values() if k.name not in overloaded))


def _own_name(
    text: str, found: re.Match[str], places: Places, names: dict[str, str]
) -> list[tuple[int, int, str]]:
    """Gives a kernel another name in C++ where a function of C has its name; ``names`` keeps it."""
    declarator = _DECLARATOR.search(text, found.end())
    if declarator is None:
        return []
    name = declarator[0][:-1].strip()
    if name not in names:
        names[name] = f"softnpu_kernel_{name}" if places.declares_in_c(name) else name
    return [(declarator.start(), declarator.start() + len(name), names[name])]


def _launch(
    text: str, found: re.Match[str], places: Places, names: dict[str, str]
) -> list[tuple[int, int, str]]:
    end = _strip(text, found.start())
    if re.search(r"\boperator$", text[max(0, end - 8) : end]):
        return []
    start = _callee(text, end)
    location = places.at(found.start())
    if start < 0:
        raise AscendcError(
            f"{location}: no kernel is named before <<<: write kernel<<<blocks, l2ctrl, stream>>>(arguments)"
        )
    rest = _configuration(text, found.end())
    name = " ".join(text[start:end].split())
    if rest is None:
        count = _values(text, found.end())
        what = f"has {count} values" if count in (1, 2) else "has no >>>(arguments)"
        raise AscendcError(
            f"{location}: the launch of {name} {what}: write {name}<<<blocks, l2ctrl, stream>>>(arguments)"
        )
    # The last word of ``a::b::k<...>``.
    word = re.match(r"(?:\s*::)?(?:\s*\w+\s*::)*\s*(\w+)", text[start:end])
    callee = (
        []
        if word is None or word[1] not in names
        else [(start + word.start(1), start + word.end(1), names[word[1]])]
    )
    literal = name.replace("\\", "\\\\").replace('"', '\\"')
    return [
        (start, start, " ::softnpu::kernel::launch_of("),
        *callee,
        (end, found.end(), f', "{literal}", ' + "\n" * text.count("\n", end, found.end())),
        (rest[0], rest[1], ")" + "\n" * text.count("\n", rest[0], rest[1])),
    ]


def _kernel(
    text: str,
    found: re.Match[str],
    scopes: list[str | None],
    places: Places,
    names: dict[str, str],
) -> Kernel | None:
    """The kernel that is defined there; None for declarations, templates and members of classes."""
    if None in scopes:
        return None
    declarator = _DECLARATOR.search(text, found.end())
    if declarator is None:
        return None
    opening = declarator.end() - 1
    behind = closing(text, opening)
    if behind < 0 or not re.match(r"\s*(?:noexcept\s*)?\{", text[behind : behind + 200]):
        return None
    body = text.index("{", behind)
    end = closing(text, body)
    if end < 0:
        return None
    head = re.split(r"[;{}]", text[max(0, found.start() - 500) : found.start()])[-1]
    if re.search(r"\btemplate\b", head):
        return None
    name = declarator[0][:-1].strip()
    spaces = [scope for scope in scopes if scope]
    parameters = tuple(" ".join(p.split()) for p in split(text[opening + 1 : behind - 1]))
    if parameters == ("void",):
        parameters = ()
    tilings = tuple(
        Tiling(index, kind, "::".join([*spaces, f"softnpu_tiling_{body}_{index}"]))
        for index, kind in _tilings(text[body:end], parameters).items()
    )
    qualified = "::".join([*spaces, names[name]])
    return Kernel(name, qualified, parameters, places.at(declarator.start()), end, tilings)


def _tilings(body: str, parameters: tuple[str, ...]) -> dict[int, str]:
    """The structures that a kernel reads whatever it is launched with, by the indices of parameters.

    Left out are types that may be known in the body alone.
    """
    names = [_WORD.findall(parameter.split("=")[0])[-1:] for parameter in parameters]
    found_types: dict[int, str] = {}
    depth = 0
    ends_of_blocks = {found.end() for found in _END_OF_BLOCKS.finditer(body)}
    for found in _TILING.finditer(body):
        if brace := found["brace"]:
            depth += 1 if brace == "{" else -1
        elif found["end"]:
            if found.end() not in ends_of_blocks:
                break
        elif depth == 1 and found["name"] is not None and [found["name"]] in names:
            kind = re.sub(r"^const\s+|\s+const$", "", found["type"].strip())
            # The declaration of the type, or of its name, precedes its use.
            local = rf"\b(?:using|typedef)\b|(?:\b(?!const\b)\w+|[>*&])\s+{re.escape(kind)}\b"
            before = re.sub(r"^#[^\n]*", "", body[: found.start()], flags=re.MULTILINE)
            if re.fullmatch(r"[\w:]+", kind) and not re.search(local, before):
                found_types.setdefault(names.index([found["name"]]), kind)
    return found_types


def c_parameters(kernel: Kernel) -> list[tuple[str, str]]:
    """Declaration and name of each parameter of ``aclrtlaunch_<kernel>``; addresses are ``void*``."""
    declared = []
    for i, parameter in enumerate(kernel.parameters):
        text = parameter.split("=")[0].strip()
        words = _WORD.findall(text)
        is_named = len(words) > 1 and words[-1] not in _TYPES and text.endswith(words[-1])
        name = words[-1] if is_named else f"argument{i}"
        if _POINTER.search(text):
            declared.append((f"void* {name}", name))
        else:
            declared.append((text if is_named else f"{text} {name}", name))
    return declared
