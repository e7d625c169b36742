"""The tables of official names and of the reasons why some are missing."""

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# The variable that names another file than names.tsv, of another version of the official package.
OTHER_NAMES = "DEV_API_NAMES"
# Not counted until their own turn; and counted as missing, since only hardware serves them.
LATER, HARDWARE = "turn", "hardware"
# mstx.mstx: the module mstx has the class mstx, whose name torch.npu.mstx is.
GROUPS = (
    "torch.npu",
    "torch.npu.aclnn",
    "torch.npu.amp",
    "torch.npu.autocast_utils",
    "torch.npu.deterministic",
    "torch.npu.graphs",
    "torch.npu.memory",
    "torch.npu.mstx.mstx",
    "torch.npu.npu_config",
    "torch.npu.npugraph_ex",
    "torch.npu.random",
    "torch.npu.streams",
    "torch.npu.utils",
    "torch_npu",
    "torch_npu.contrib",
    "torch_npu.distributed",
    "torch_npu.jit",
    "torch_npu.multiprocessing",
    "torch_npu.optim",
    "torch_npu.profiler",
    "torch_npu.utils",
)


@dataclass(frozen=True)
class Name:
    """One official name; ``signature`` is empty for what is not callable or has none."""

    name: str
    kind: str
    signature: str

    @property
    def group(self) -> str:
        """Its line in the report: the longest of ``GROUPS`` that its name begins with."""
        fitting = [group for group in GROUPS if f"{self.name}.".startswith(f"{group}.")]
        return max(fitting, key=len)


@dataclass(frozen=True)
class Reason:
    """Why the names that match ``pattern`` are missing: ``status`` is ``LATER`` or ``HARDWARE``."""

    pattern: str
    status: str
    text: str


def _lines(file: str) -> list[list[str]]:
    lines = (FOLDER / file).read_text().splitlines()  # an absolute path stays as it is
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@cache
def names() -> tuple[Name, ...]:
    """All official names, sorted."""
    lines = [*_lines(os.environ.get(OTHER_NAMES) or "names.tsv"), *_lines("runtime.tsv")]
    rows = {row[0]: Name(row[0], row[1], row[2] if len(row) > 2 else "") for row in lines}
    return tuple(rows[name] for name in sorted(rows))


@cache
def reasons() -> tuple[Reason, ...]:
    """The rows of ``reasons.tsv``."""
    return tuple(Reason(*row) for row in _lines("reasons.tsv"))


def reason(name: str) -> Reason | None:
    """The first reason whose pattern matches ``name``."""
    return next((row for row in reasons() if fnmatchcase(name, row.pattern)), None)
