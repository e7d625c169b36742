"""Reads ``schemas/*.tsv``: every operator of the namespaces ``npu`` and ``atb`` that the official torch_npu registers.

A row has three columns, between which are tabs: the schema as PyTorch prints it, words of ``WORDS`` or ``-``, and what does
the same in place of an operator that nothing here implements, or ``-``. An operator without an entry under ``custom`` is
registered with this schema and raises NotImplementedError.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.model import OfficialOperator

FOLDER = "schemas"
WORDS = {
    "public": "a name of torch_npu.__all__",
    "by_hand": "its kernels are registered in torch_npu/csrc/aten, and torch_npu has a function of its name",
    "kernels": "its kernels are registered in torch_npu/csrc/aten/custom: no entry describes it",
    "top_level": "of namespace atb: a name of torch_npu, where the others are names of torch_npu.atb",
}
_SCHEMA = re.compile(r"(npu|atb)::(\w+(?:\.\w+)?)\((.*)\) -> (.+)")
_COLUMNS = 3


def _row(line: str, family: str) -> OfficialOperator:
    """Raises ValueError with what is wrong."""
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise ValueError(f"{_COLUMNS} columns between tabs are taken, not {len(columns)}")
    schema = _SCHEMA.fullmatch(columns[0])
    if schema is None:
        raise ValueError(f"'{columns[0]}' is no schema: npu::npu_x(Tensor input) -> Tensor")
    words = () if columns[1] == "-" else tuple(columns[1].split())
    for word in words:
        if word not in WORDS:
            raise ValueError(f"unknown word '{word}': there are {', '.join(WORDS)}")
    return OfficialOperator(
        namespace=schema[1],
        name=schema[2],
        schema=columns[0],
        arguments=schema[3],
        returns=schema[4],
        words=frozenset(words),
        instead="" if columns[2] == "-" else columns[2],
        family=family,
    )


def _rows(path: Path, error: type[Exception]) -> Iterator[tuple[int, OfficialOperator]]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            try:
                yield number, _row(line, path.stem)
            except ValueError as what:
                raise error(f"{path}:{number}: {what}") from None


def read_schemas(folder: Path, error: type[Exception]) -> tuple[OfficialOperator, ...]:
    """The rows of all files in ``folder``, none where there is no folder; raises ``error`` with ``file:line: what is wrong``."""
    found: dict[tuple[str, str], OfficialOperator] = {}
    for path in sorted(folder.glob("*.tsv")):
        for number, operator in _rows(path, error):
            key = (operator.namespace, operator.name)
            if key in found:
                raise error(
                    f"{path}:{number}: '{operator.name}' has a row in {found[key].family}.tsv already"
                )
            found[key] = operator
    return tuple(found.values())
