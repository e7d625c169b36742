"""The files that codegen reads: the index ``npu_native_functions.yaml`` and a file a family of operators beside it.

The index has the lists of ``parse.py`` and, under ``families``, the names of the files ``native_functions/<name>.yaml``. A
family has the sections ``custom`` and ``official``; an index without families may have them itself. ``schemas/*.tsv`` beside
the index are read by ``codegen/schemas.py``. Every problem is a ``ParseError`` that names file and line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from codegen.custom_entries import read_custom
from codegen.entries import read_entries
from codegen.model import CustomEntry, Entry, OfficialOperator, Section
from codegen.schemas import FOLDER as SCHEMAS
from codegen.schemas import read_schemas

# The folder beside the index, and the sections of a family.
FOLDER = "native_functions"
SECTIONS = ("official", "custom")


class ParseError(ValueError):
    """The YAML cannot be used; the text is ``file:line: what is wrong``."""


def mapping(path: Path, keys: Sequence[str]) -> dict[str, yaml.Node]:
    """The keys at the top of a file, which are some of ``keys`` if there are any, and what they have.

    Raises:
        ParseError: the file is malformed, or has another key or one twice.
    """
    try:
        root = yaml.compose(path.read_text())
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ParseError(f"{path}:{line}: {error.problem}") from None
    if not isinstance(root, yaml.MappingNode):
        known = f" such as {', '.join(keys)}" if keys else ""
        raise ParseError(f"{path}:1: expected keys{known} at the top")
    found: dict[str, yaml.Node] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if keys and key.value not in keys:
            raise ParseError(
                f"{path}:{line}: unknown key '{key.value}': there are {', '.join(keys)}"
            )
        if key.value in found:
            raise ParseError(f"{path}:{line}: key '{key.value}' is defined twice")
        found[key.value] = value
    return found


def _families(path: Path, node: yaml.Node | None) -> Iterator[Path]:
    """The files that ``families`` of the index lists, which are all of the folder."""
    if node is None:
        return
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.SequenceNode):
        raise ParseError(f"{path}:{line}: 'families' takes a list of names, '- norms'")
    folder = path.parent / FOLDER
    listed: set[str] = set()
    for item in node.value:
        at, name = item.start_mark.line + 1, str(item.value)
        if name in listed:
            raise ParseError(f"{path}:{at}: '{name}' is defined twice under 'families'")
        listed.add(name)
        if not (folder / f"{name}.yaml").is_file():
            raise ParseError(f"{path}:{at}: there is no file {FOLDER}/{name}.yaml")
        yield folder / f"{name}.yaml"
    if left := sorted({file.stem for file in folder.glob("*.yaml")} - listed):
        raise ParseError(f"{path}:{line}: 'families' leaves out {FOLDER}/{left[0]}.yaml")


@dataclass(frozen=True)
class Files:
    """What the files have: ``index`` are the keys of the index, the entries are those of all families."""

    index: dict[str, yaml.Node]
    official: tuple[Entry, ...]
    custom: tuple[CustomEntry, ...]
    schemas: tuple[OfficialOperator, ...]


def read_files(path: Path, keys: Sequence[str] = ()) -> Files:
    """Reads the index ``path`` and its families; ``keys`` are those that the index may have, none: any.

    Raises:
        ParseError: a file or an entry is malformed, or ``families`` and the folder differ.
    """
    index = mapping(path, keys)
    families = list(_families(path, index.get("families")))
    tops = [(path, index), *((file, mapping(file, SECTIONS)) for file in families)]
    sections = {
        name: [Section(file, nodes[name]) for file, nodes in tops if name in nodes]
        for name in SECTIONS
    }
    return Files(
        index,
        read_entries(sections["official"], ParseError),
        read_custom(sections["custom"], ParseError),
        read_schemas(path.parent / SCHEMAS, ParseError),
    )
