"""Reads the tables of CANN's C ABI into records. Every problem is a TableError that names file and line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
STATUSES = ("done", "benign", "unsupported")
WHEEL = ("link", "dlsym", "-")
_NAME = r"[A-Za-z_]\w*"


class TableError(ValueError):
    """A table is invalid; the text is ``file:line: what is wrong``."""


@dataclass(frozen=True)
class Function:
    """One exported function.

    Attributes:
        name: its symbol.
        library: the file that exports it, "libascendcl.so".
        status: "done"; "benign": it checks its arguments and has nothing to do; "unsupported": it says what is missing.
        wheel: how the official torch_npu looks it up: "link", "dlsym", or "-".
        returns: the type that it returns; empty where no source states the prototype.
        parameters: "int a, void* b", "void", or empty as above.
        note: why it is benign or unsupported; empty where it is done.
        location: its row as "file:line"; empty where it was made without a table.
    """

    name: str
    library: str
    status: str
    wheel: str
    returns: str
    parameters: str
    note: str
    location: str = field(default="", compare=False)

    @property
    def has_prototype(self) -> bool:
        """Whether a source states its arguments."""
        return bool(self.returns)

    @property
    def parameter_count(self) -> int:
        """How many arguments it takes; 0 without a prototype."""
        return 0 if self.parameters in ("", "void") else self.parameters.count(",") + 1


@dataclass(frozen=True)
class Constant:
    """One constant; `kind` is an enum's name, "const" or "define"; `value` is a literal of C."""

    kind: str
    name: str
    value: str


@dataclass(frozen=True)
class Struct:
    """One struct with the callers' layout; `fields` are C's declarations, `names` the fields' names."""

    name: str
    fields: tuple[str, ...]
    names: tuple[str, ...]


def _rows(path: Path, columns: str, counts: range) -> Iterator[tuple[str, list[str]]]:
    """Each row with its position, "file:line"; '#' begins a comment line."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        location = f"{path}:{number}"
        cells = line.split("\t")
        if len(cells) not in counts or any(not cell.strip() for cell in cells):
            raise TableError(f"{location}: expected {columns} with a tab between, found {line!r}")
        yield location, cells


class _Once:
    """Refuses repeated names."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def add(self, location: str, name: str) -> None:
        if name in self._seen:
            raise TableError(f"{location}: {name} stands at {self._seen[name]} already")
        self._seen[name] = location


def _one_of(location: str, what: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise TableError(f"{location}: {what} '{value}': there are {', '.join(known)}")
    return value


def _prototype(location: str, name: str, text: str) -> tuple[str, str]:
    if text == "-":
        return "", ""
    found = re.fullmatch(rf"(\S.*?)\s*\b{re.escape(name)}\((.+)\)", text)
    if found is None:
        raise TableError(
            f"{location}: expected 'type {name}(parameters)' or '-', found {text!r}; no parameters are 'void'"
        )
    return found[1], found[2]


def functions(path: Path = FOLDER / "functions.tsv") -> list[Function]:
    """The functions of `path`, in its order.

    Raises:
        TableError: a line is malformed, a word is unknown, a name is repeated, a reason is missing or superfluous.
    """
    found = []
    once = _Once()
    for location, cells in _rows(
        path, "symbol, library, status, wheel, prototype[, note]", range(5, 7)
    ):
        name, library, status, wheel, prototype = cells[:5]
        if not re.fullmatch(_NAME, name):
            raise TableError(f"{location}: {name!r} is no symbol")
        if not re.fullmatch(r"lib\w+\.so", library):
            raise TableError(
                f"{location}: library {library!r}: expected a name like libascendcl.so"
            )
        once.add(location, name)
        _one_of(location, "status", status, STATUSES)
        _one_of(location, "wheel", wheel, WHEEL)
        if (len(cells) == 6) != (status != "done"):
            wanted = "has no note" if status == "done" else "needs a note that says why"
            raise TableError(f"{location}: {name} is {status}: it {wanted}")
        note = cells[5] if len(cells) == 6 else ""
        found.append(
            Function(
                name, library, status, wheel, *_prototype(location, name, prototype), note, location
            )
        )
    return found


def constants(path: Path = FOLDER / "constants.tsv") -> list[Constant]:
    """The constants of `path`, in its order.

    Raises:
        TableError: a line is malformed, a name is repeated.
    """
    found = []
    once = _Once()
    for location, (kind, name, value) in _rows(path, "kind, name, value", range(3, 4)):
        if not re.fullmatch(_NAME, kind) or not re.fullmatch(_NAME, name):
            raise TableError(f"{location}: {kind!r} {name!r}: expected two names")
        if not re.fullmatch(r"-?(\d+|0[xX][0-9a-fA-F]+)[uUlL]*", value):
            raise TableError(
                f"{location}: {name} is {value!r}: expected a whole number as C writes it"
            )
        once.add(location, name)
        found.append(Constant(kind, name, value))
    return found


def structs(path: Path = FOLDER / "structs.tsv") -> list[Struct]:
    """The structs of `path`, in its order.

    Raises:
        TableError: a line is malformed, a name is repeated.
    """
    found = []
    once = _Once()
    for location, (name, body) in _rows(path, "name, fields", range(2, 3)):
        if not re.fullmatch(_NAME, name):
            raise TableError(f"{location}: {name!r} is no name")
        once.add(location, name)
        inner = re.fullmatch(r"\{\s*(.*;)\s*\}", body)
        if inner is None:
            raise TableError(f"{location}: expected '{{ type field; … }}', found {body!r}")
        fields = tuple(field.strip() for field in inner[1].split(";")[:-1])
        names = []
        for text in fields:
            declared = re.fullmatch(rf".*[\s*]({_NAME})(\[\w+\])*", text)
            if declared is None:
                raise TableError(f"{location}: field {text!r} of {name}: expected 'type name'")
            names.append(declared[1])
        found.append(Struct(name, fields, tuple(names)))
    return found
