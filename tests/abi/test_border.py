"""No exception crosses the C ABI: calls of a C function outside of a guard must not throw."""

import re
from pathlib import Path

import pytest

from softnpu.abi import tables

ROOT = Path(__file__).resolve().parents[2]
GUARDS = {"api", "guarded", "hccl_api"}  # softnpu/base/border.h, softnpu/ccl/api.h
# Language constructs, and functions of the standard library that are noexcept or cannot fail.
HARMLESS = {
    "if", "for", "while", "switch", "return", "sizeof", "static_cast", "reinterpret_cast", "const_cast", "va_start",
    "va_end", "std::vsnprintf", "std::bit_cast", "std::countl_zero", "std::exchange", "std::move", "std::size",
    "std::numeric_limits", "std::chrono::steady_clock::now", "std::chrono::duration_cast", "uint32_t", "size_t",
    ".data", ".size", ".empty", ".clear", ".swap", ".c_str", ".max", ".count", ".time_since_epoch",
}  # fmt: skip
DEFINITION = re.compile(
    r"^(?!\s|#|//|using|return|struct|class)[\w:<>*&, ]*?\b(?P<name>\w+)\((?P<parameters>[^;{}]*)\)"
    r"(?P<tail>[^;{}()]*)\{",
    re.MULTILINE,
)
CALL = re.compile(r"(?P<name>(?:\.|->)?[A-Za-z_]\w*(?:::\w+)*)(?:<[^;(){}]*>)?\s*\(")

LAMBDA = re.compile(r"\[[&=\w, ]*\]\s*(?:\([^(){}]*\))?\s*(?:mutable\s*)?(?:->\s*[\w:]+\s*)?\{")


def closing(text: str, start: int) -> int:
    """The position after the bracket that closes the one at ``start``."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "({[") - (text[index] in ")}]")
        if depth == 0:
            return index + 1
    raise ValueError("brackets do not match")


def without_lambdas(body: str) -> str:
    """Removes the bodies of lambdas: functions that call a lambda outside of a guard are found themselves."""
    out, at = "", 0
    while match := LAMBDA.search(body, at):
        out += body[at : match.end() - 1]
        at = closing(body, match.end() - 1)
    return out + body[at:]


def plain(source: str) -> str:
    """Removes comments and the contents of literals."""
    return re.sub(
        r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
        lambda m: "" if m[0].startswith("//") else '""',
        source,
    )


def functions(source: str) -> dict[str, list[tuple[str, str]]]:
    """The definitions in a source: name -> the text between parameters and body, and the body."""
    found: dict[str, list[tuple[str, str]]] = {}
    for match in DEFINITION.finditer(source):
        body = source[match.end() - 1 : closing(source, match.end() - 1)]
        found.setdefault(match["name"], []).append((match["tail"], body))
    return found


class Source:
    """One file, with those of its functions that cannot throw."""

    def __init__(self, text: str, known: set[str] = frozenset()):
        self.functions = functions(plain(text))
        self.safe = set(GUARDS) | known
        while more := {
            name for name in self.functions if name not in self.safe and not self.throwing(name)
        }:
            self.safe |= more

    def throwing(self, name: str) -> list[str]:
        """The calls in the function that may throw."""
        return [
            call
            for tail, body in self.functions[name]
            if "noexcept" not in tail
            for call in self._calls(body)
        ]

    def _calls(self, body: str) -> list[str]:
        calls = (
            m["name"].replace("->", ".").removeprefix("softnpu::")
            for m in CALL.finditer(without_lambdas(body))
        )
        return [name for name in calls if name not in HARMLESS | self.safe]


def noexcept_of_headers() -> set[str]:
    """The functions that softnpu's headers declare noexcept."""
    message = re.compile(r"\b(\w+)\([^;{}()]*\)(?:\s*const)?\s*noexcept")
    return {
        match[1]
        for path in (ROOT / "softnpu").rglob("*.h")
        if "tests" not in path.parts
        for match in message.finditer(plain(path.read_text()))
    }


# C functions that softnpu exports beside CANN's.
OWN = {
    name
    for path in (ROOT / "softnpu/include/softnpu").glob("*.h")
    for name in re.findall(r"\b(softnpu\w+)\(", path.read_text())
}


def sources() -> dict[Path, Source]:
    texts = {
        path: path.read_text()
        for folder in (
            "ascendcl",
            "op_compiler",
            "nnopbase",
            "ccl",
            "client_libraries",
            "dvpp",
            "monitor",
            "prof",
            "tdt",
        )
        for path in (ROOT / "softnpu" / folder).rglob("*.cpp")
    }
    known = noexcept_of_headers()
    # Other files call softnpu's own C functions.
    for text in texts.values():
        file = Source(text, known)
        known |= {name for name in file.functions if name in file.safe and name in OWN}
    return {path: Source(text, known) for path, text in texts.items()}


def unguarded(files: dict[Path, Source], names: set[str]) -> list[str]:
    """``file: function: call`` for each function that may throw."""
    return [
        f"{path.name}: {name}: {', '.join(file.throwing(name))}"
        for path, file in files.items()
        for name in sorted(names & file.functions.keys() - file.safe)
    ]


@pytest.fixture(scope="module")
def files():
    return sources()


NAMES = {row.name for row in tables.functions(ROOT / "softnpu/abi/functions.tsv")}


def test_every_function_of_the_table_is_found(files):
    assert sorted(NAMES - {name for file in files.values() for name in file.functions}) == []


def test_no_function_lets_an_exception_out(files):
    assert unguarded(files, NAMES) == []


PLANTED = {
    "calls": "void aclF(const char* s) { log(s); }",
    "a method that allocates": "const char* aclF() { kept().push_back(1); return kept().data(); }",
    "before the guard": "size_t aclF() { auto s = text(1); return guarded(0, [&] { return s.size(); }); }",
    "within the guard's arguments": "size_t aclF() { return guarded(size_of(1), [] { return 1; }); }",
    "a helper": "int helper() { return std::stoi(words()); }\nint aclF() { return helper(); }",
    "a lambda of its own": "int aclF() { auto f = [] { return std::stoi(words()); }; return f(); }",
    "a helper that calls what it is given": (
        "template <typename F>\nint call(F f) { return f(); }\n"
        "int aclF() { return call([] { return 1; }); }"
    ),
}
GUARDED = {
    "guarded": "void aclF(const char* s) { guarded([&] { log(s); }); }",
    "api": 'aclError aclF() { return api("aclF", [&]() -> Status { return work(); }); }',
    "noexcept": "int helper() noexcept { return 1; }\nint aclF() { return helper(); }",
    "a guarded helper": (
        'int drop(int x) { return api("x", [&] { return read(x); }); }\nint aclF() { return drop(1); }'
    ),
    "nothing": "void* aclF(const Info* info) { return info ? info->data : nullptr; }  // log()",
}


@pytest.mark.parametrize("name", PLANTED)
def test_calls_that_may_throw_are_found(name):
    assert len(unguarded({Path("f.cpp"): Source(PLANTED[name])}, {"aclF"})) == 1


@pytest.mark.parametrize("name", GUARDED)
def test_guarded_calls_pass(name):
    assert unguarded({Path("f.cpp"): Source(GUARDED[name])}, {"aclF"}) == []
