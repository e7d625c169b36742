"""What the scan finds in a program."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """What becomes of a use of CUDA."""

    MAPPED = "mapped"  # transfer_to_npu maps it
    SAME = "same"  # it works on npu as it is, or has no effect there
    CHECK = "check"  # it runs, but may mean something else on npu
    ABSENT = "absent"  # it has no counterpart


@dataclass(frozen=True, order=True)
class Finding:
    """One use: where (1-based line, 0-based column as in ``ast``), what, its status, what it is on npu."""

    line: int
    column: int
    what: str
    status: Status
    on_npu: str
