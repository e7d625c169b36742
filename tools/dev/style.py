"""``python -m dev.style FILE...``: the layers of C++, lengths, words, environment variables, paths in documents."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from dev.environment import check_environment
from dev.files import tracked
from dev.paths import ROOT
from dev.run import DevError
from dev.words import retired_words

MAX_LINES = 600
COMPAT = "torch_npu/csrc/compat/"


def read_layers(text: str) -> dict[str, list[str]]:
    """The file LAYERS as {folder: [what it may include]}.

    Raises DevError with the line's number if a line is malformed.
    """
    layers = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, arrow, allowed = line.partition("->")
        if not arrow or not folder.strip():
            raise DevError(
                f"LAYERS:{number}: expected 'folder -> what it may include', found {line!r}"
            )
        layers[folder.strip()] = allowed.split()
    return layers


def _covers(allowed: str, include: str) -> bool:
    """Whether an entry of LAYERS, ``ops`` or ``ops/*``, allows the header."""
    if allowed.endswith("/*"):
        return include.rsplit("/", 1)[0] == allowed.removesuffix("/*")
    return include.startswith(allowed + "/")


# Headers that the build or the driver writes, or that are on the include path of tests, kernels and generated files.
_GENERATED = ("acl_fixture.h", "aclrtlaunch_axpy.h", "custom_kernels.h", "kernel_operator.h")


def _is_beside(file: Path, header: str, owner: Path) -> bool:
    return header in _GENERATED or (file.parent / header).exists() or (owner / header).exists()


def layer_violations(
    layers: dict[str, list[str]], files: list[Path], root: Path = ROOT
) -> list[str]:
    """The includes that LAYERS does not allow, as 'file:line: text'."""
    found = []
    for file in files:
        name = file.relative_to(root).as_posix()
        owner = max((f for f in layers if name.startswith(f + "/")), key=len, default=None)
        if owner is None:
            found.append(f"{name}:1: in no folder of LAYERS")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if include is None or include[2].startswith(("sys/", "gtest/")):
                continue
            if "/" not in include[2]:
                if include[1] == '"' and not _is_beside(file, include[2], root / owner):
                    found.append(f"{name}:{number}: {include[2]} is in another folder: name it")
            elif not any(_covers(allowed, include[2]) for allowed in layers[owner]):
                found.append(f"{name}:{number}: {owner} may not include {include[2]}")
    return found


def _long_files(files: list[Path]) -> list[str]:
    lengths = {file: len(file.read_text().splitlines()) for file in files}
    return [
        f"{f.relative_to(ROOT)}:1: {n} lines, more than {MAX_LINES}"
        for f, n in lengths.items()
        if n > MAX_LINES
    ]


def _dead_paths() -> list[str]:
    """Paths in documents that do not exist: `folder/file.ext` in backticks, relative to the checkout."""
    found = []
    for document in tracked("*.md"):
        for number, line in enumerate(document.read_text().splitlines(), 1):
            for path in re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", line):
                if path.startswith(("build/", ".venv/")) or (ROOT / path).exists():
                    continue
                if (ROOT / path.split("/")[0]).exists():
                    found.append(f"{document.relative_to(ROOT)}:{number}: {path} does not exist")
    return found


def version_conditions(files: list[Path], root: Path = ROOT) -> list[str]:
    """Code outside of compat/ that checks torch's version, as 'file:line: text'."""
    return [
        f"{file.relative_to(root)}:{number}: what depends on torch's version belongs in {COMPAT}"
        for file in files
        if not file.relative_to(root).as_posix().startswith(COMPAT)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "TORCH_VERSION_" in line or "torch/version.h" in line
    ]


_BYTES = re.compile(
    r"(?:\b\w*(?:storage|impl)(?:\(\))?(?:->|\.)data|mutable_data|(?:const|mutable)_data_ptr)\(\)"
)
# The files that define the accessors, or that access tensors of the CPU.
_BYTES_IN = {
    "torch_npu/csrc/core/format.h",
    "torch_npu/csrc/core/generator.cpp",
    "torch_npu/csrc/aten/aclnn/outputs.cpp",
    "torch_npu/csrc/aten/stubs.cpp",
}


def raw_bytes(files: Iterable[Path], root: Path = ROOT) -> list[str]:
    """Accesses of the plug-in to storages' bytes that do not name the layout, as 'file:line: text'."""
    return [
        f"{name}:{number}: bytes_of, mutable_bytes_of, plain_data (core/format.h) say in which layout"
        for file in files
        if (name := file.relative_to(root).as_posix()).startswith("torch_npu/csrc/")
        and name not in _BYTES_IN
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if _BYTES.search(line)
    ]


def findings(files: Iterable[Path]) -> list[str]:
    """What is wrong in ``files``, in the documents and in the table of environment variables, as 'file:line: text'."""
    chosen = [file for file in files if file.suffix in {".py", ".cpp", ".h"}]
    sources = [file for file in chosen if file.suffix != ".py"]
    layers = read_layers((ROOT / "LAYERS").read_text())
    return [
        *layer_violations(layers, sources),
        *version_conditions(sources),
        *raw_bytes(sources),
        *check_environment(),
        *_long_files(chosen),
        *retired_words(chosen),
        *_dead_paths(),
    ]


def main(names: list[str]) -> int:
    """Prints the findings in the named files; 1 if there are any."""
    try:
        found = findings(ROOT / name for name in names)
    except DevError as error:
        found = [str(error)]
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
