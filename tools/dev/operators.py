"""`./dev operators`: the aclnn operators that the tests ran, in which types and layouts, from the tests' records."""

import json
from collections import defaultdict
from pathlib import Path

from dev.paths import BUILD, PYTHON, ROOT
from dev.run import DevError, output

RECORDS = BUILD / "operators"
LIBRARY = BUILD / "python/torch_npu/lib/cann/libopapi.so"
DTYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "bool": "bool",
    "complex64": "c64",
    "complex128": "c128",
}
LAYOUTS = ("dense", "permuted", "gaps", "broadcast", "scalar", "empty")
_LIST = (
    "from tests.aclnn.library import operators, family; "
    "import json; print(json.dumps([(family(n), n) for n in sorted(operators())]))"
)


def table(known: list[tuple[str, str]], ran: set[tuple[str, str, str]]) -> str:
    """One line per operator; a dot is a type or layout that no test has run. The last line has the totals."""
    dtypes: dict[str, set[str]] = defaultdict(set)
    layouts: dict[str, set[str]] = defaultdict(set)
    for name, dtype, layout in ran:
        dtypes[name].add(dtype)
        layouts[name].add(layout)
    width = max(len(name) for _, name in known)
    lines = []
    for family, name in sorted(known):
        types = " ".join(
            (short if dtype in dtypes[name] else "·").ljust(len(short))
            for dtype, short in DTYPES.items()
        )
        lies = " ".join(
            (layout if layout in layouts[name] else "·").ljust(len(layout)) for layout in LAYOUTS
        )
        lines.append(f"{family:12} {name:{width}}  {types}  {lies}".rstrip())
    tested = len(known) - len(untested(known, ran))
    lines.append(f"{tested} of {len(known)} operators were run by the tests")
    return "\n".join(lines)


def untested(known: list[tuple[str, str]], ran: set[tuple[str, str, str]]) -> list[str]:
    """The operators that no test has run."""
    return sorted({name for _, name in known} - {name for name, _, _ in ran})


def known_operators() -> list[tuple[str, str]]:
    """Family and name of each operator that libopapi exports."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {_LIST}"
    return [(family, name) for family, name in json.loads(output([PYTHON, "-c", code]))]


def recorded(records: Path, library: Path) -> set[tuple[str, str, str]]:
    """Operator, data type and layout of the records written since ``library`` was built: older files are ignored."""
    built = library.stat().st_mtime
    return {
        (name, dtype, layout)
        for file in records.glob("*.json")
        if file.stat().st_mtime >= built
        for name, dtype, layout in json.loads(file.read_text())
    }


def operators() -> None:
    """Prints the table of the test runs since the build; ``./dev test tests/aclnn`` writes the records.

    Raises DevError with the names of the operators that were not run.
    """
    if not LIBRARY.exists():
        raise DevError("there is no operator library: ./dev build")
    ran = recorded(RECORDS, LIBRARY)
    known = known_operators()
    print(table(known, ran))
    if missing := untested(known, ran):
        raise DevError(
            f"{len(missing)} operators were run by no test: {', '.join(missing)}\n"
            "./dev test tests/aclnn makes the records"
        )
