"""`./dev environment`: the table of environment variables, docs/environment.md, which is written from it, and its readers."""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from dev.files import tracked
from dev.paths import ROOT
from dev.run import DevError, say

TABLE = "torch_npu/_core/environment.tsv"
READER = "torch_npu/_core/environment.py"
READER_OF_CPP = "softnpu/include/softnpu/environment.h"
DOCUMENT = "docs/environment.md"
ORIGINS = {"official": "official", "own": "this project", "torch": "PyTorch", "system": "system"}
# The driver of Ascend C runs while the package is built, so that it reads its variables itself.
_DRIVER = "torch_npu/ascendc/"
# A call of the reader in C++.
_READS_IN_CPP = re.compile(r'\b(?:flag|choice|integer|text|is_set|given)\(\s*"(\w+)"')
_HEAD = """# Environment variables

`./dev environment` writes this page from `torch_npu/_core/environment.tsv`. Empty variables count as not set. A value that
a variable does not take is an error that names the variable, the value and what it takes, unless its row says otherwise.

| variable | whose | values | default | what it does |
|---|---|---|---|---|
"""
_IGNORED_HEAD = """
## Variables without effect
The official torch_npu reads these, too. One that is set is warned about when torch_npu is loaded, with the reason. A star
stands for any ending.

| variable | what it is for | why it has no effect |
|---|---|---|
"""


def registry() -> ModuleType:
    """The module ``torch_npu._core.environment`` by itself: it needs neither torch nor a build."""
    name = "torch_npu_environment"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / READER)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def document(variables: Iterable) -> str:
    """The page about ``variables``."""
    honoured, ignored = [], []
    for v in variables:
        if v.reason:
            ignored.append(f"| `{v.name}` | {v.meaning} | {v.reason} |\n")
            continue
        values = "0, 1" if v.type == "flag" else v.values
        default = f"`{v.default}`" if v.default else ""
        honoured.append(
            f"| `{v.name}` | {ORIGINS[v.origin]} | {values} | {default} | {v.meaning} |\n"
        )
    return "".join([_HEAD, *honoured, _IGNORED_HEAD, *ignored])


def _names_in_python(file: Path, name: str) -> tuple[set[str], list[str]]:
    """The variables that a file of the package reads, and what is wrong with how it does."""
    names, wrong, written = set(), [], set()
    functions = {*registry()._PARSERS, "is_set"}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            is_registry = called.startswith("environment.") and node.func.attr in functions
            is_driver = called in ("os.environ.get", "os.getenv") and name.startswith(_DRIVER)
            if is_registry or is_driver:
                argument = node.args[0] if node.args else None
                if isinstance(argument, ast.Constant):
                    names.add(str(argument.value))
                else:
                    wrong.append(f"{name}:{node.lineno}: name the variable where it is read")
        if isinstance(node, ast.Attribute) and node.attr == "setdefault":
            written.add(id(node.value))  # a variable that PyTorch's tests read
        reads = isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv")
        if reads and id(node) not in written and not name.startswith(_DRIVER) and name != READER:
            wrong.append(f"{name}:{node.lineno}: read variables through {READER}")
    return names, wrong


def _names_in_cpp(file: Path, name: str) -> tuple[set[str], list[str]]:
    """The variables that a file in C++ reads, and reads beside the one reader. The compiler checks their rows."""
    text = file.read_text()
    wrong = [
        f"{name}:{number}: read variables through {READER_OF_CPP}"
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(r"\b(?:secure_)?getenv\b|\benviron\b", line.split("//")[0])
        and name != READER_OF_CPP
    ]
    if "environment.h" not in text:
        return set(), wrong
    return {match[1] for match in _READS_IN_CPP.finditer(text)}, wrong


def readers(root: Path, files: Iterable[Path]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Who reads each variable, as {name: {"python" or "c++": a file}}, and reads that are not allowed."""
    found: dict[str, dict[str, str]] = {}
    wrong: list[str] = []
    for file in files:
        name = file.relative_to(root).as_posix()
        if file.suffix == ".py":
            names, more = _names_in_python(file, name)
        elif "/tests/" not in name:
            names, more = _names_in_cpp(file, name)
        else:
            continue
        wrong += more
        language = "python" if file.suffix == ".py" else "c++"
        for variable in names:
            found.setdefault(variable, {})[language] = name
    return found, wrong


def _faults(variable: object, known: ModuleType) -> list[str]:
    """What is wrong in a row by itself."""
    v = variable
    if v.type == "ignored":
        return [] if v.reason else ["has no effect and says no reason"]
    if v.type not in known._PARSERS:
        return [f"has type {v.type}; there are {', '.join(known._PARSERS)}, ignored"]
    found = [] if v.meaning and not v.reason else ["needs a meaning, and no reason"]
    if v.origin not in ORIGINS:
        found.append(f"has origin {v.origin}; there are {', '.join(ORIGINS)}")
    if v.default and known._PARSERS[v.type](v.default, v.values) is None:
        found.append(f"does not take its default, {v.default}")
    if "python" in v.read_by and v.type in ("flag", "integer", "pair") and not v.default:
        found.append(f"is read by Python as {v.type} and has no default")
    return found


def check_table(variables: Iterable, found: dict[str, dict[str, str]]) -> list[str]:
    """Rows that contradict themselves or the sources, and variables without a row, as 'file: text'."""
    known = registry()
    rows = {v.name: v for v in variables}
    wrong = [f"{TABLE}: {v.name} {fault}" for v in rows.values() for fault in _faults(v, known)]
    for name, by in sorted(found.items()):
        if name not in rows:
            wrong.append(f"{next(iter(by.values()))}: reads {name}, which has no row in {TABLE}")
    for v in rows.values():
        by = ", ".join(sorted(found.get(v.name, {}), reverse=True))
        if not by and not v.reason and v.origin != "torch":
            wrong.append(f"{TABLE}: {v.name} has an effect, and nobody reads it")
        elif by != v.read_by:
            wrong.append(f"{TABLE}: {v.name} is read by {by or 'nobody'}, its row says {v.read_by}")
    return wrong


def sources() -> list[Path]:
    """The files that may read variables: the package, and C++ of both halves."""
    files = tracked("torch_npu/*.py", "torch_npu/csrc/*.cpp", "torch_npu/csrc/*.h")
    return [*files, *tracked("softnpu/*.cpp", "softnpu/*.h")]


def check_environment() -> list[str]:
    """All findings about the variables: their table, their readers, their document."""
    found, wrong = readers(ROOT, sources())
    variables = registry().read_table().values()
    wrong += check_table(variables, found)
    if not wrong and (ROOT / DOCUMENT).read_text() != document(variables):
        wrong.append(f"{DOCUMENT}: differs from {TABLE}: run ./dev environment")
    return wrong


def environment() -> None:
    """Writes docs/environment.md from the table.

    Raises DevError if the table contradicts itself or the sources.
    """
    found, wrong = readers(ROOT, sources())
    variables = registry().read_table().values()
    if wrong := wrong + check_table(variables, found):
        raise DevError("\n".join(wrong))
    (ROOT / DOCUMENT).write_text(document(variables))
    say(DOCUMENT)
