"""Words that identifiers must not use: each thing has the field's name (docs/glossary.md), not a private one."""

import re
from pathlib import Path

from dev.paths import ROOT

# A part of an identifier (lower case, without its underscores) -> the name of the thing. Words that the
# field uses in another sense are in NAMES, as whole identifiers.
PARTS = {
    "alike": "same_layout",
    "coloured": "with_rgb_channels",
    "colour": "color",
    "colours": "colors",
    "meetings": "use_count",
    "patience": "min_uses",
    "pressed": "on_out_of_memory",
    "resting": "free",
    "seat": "slot",
    "seats": "slots",
    "sweep": "loop",
    "sweeps": "loops",
    "twin": "cpu_view",
    "twins": "cpu_views",
}

# Whole identifiers.
NAMES = {
    "Door": "Accessor",
    "Held": "StorageShape",
    "HeldTask": "BlockingTask",
    "Joinable": "Fusible",
    "Kept": "CachedLaunch",
    "KeptCall": "BoundCall",
    "MallocBeside": "TryMallocSameDevice",
    "Matrices": "GemmOperand",
    "Producer": "FusionRoot",
    "SharedWork": "ParallelRegion",
    "StreamBytes": "NonTemporalCopy",
    "Turn": "InlineGate",
    "Way": "OperandAccess",
    "Wide": "ComputeType",
    "WriteClock": "WriteEpochs",
    "count_together": "count_fusible_loops",
    "end_turn": "leave_inline",
    "goes_together": "is_fusible",
    "in_blocks": "is_blocked",
    "is_in_blocks": "is_blocked_format",
    "is_rested": "idle_long_enough",
    "let_go": "release",
    "lie_down": "park",
    "may_join": "is_fusible",
    "run_together": "run_loops",
    "seen_within": "last_reader",
    "softnpuDiscard": "softnpuOutputDead",
    "softnpuKeep": "softnpuCacheLaunch",
    "take_own": "take_slot",
    "take_turn": "enter_inline",
    "told_status": "status_from_callback",
    "wide_of": "compute_type_of",
    "workers_are_at_hand": "any_worker_awake",
    "write_clock": "write_epochs",
}

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_COMMENT = {".py": re.compile(r"#.*$"), ".cpp": re.compile(r"//.*$"), ".h": re.compile(r"//.*$")}
_STRING = re.compile(r"""(\x22|\x27)(?:(?!\1)[^\\]|\\.)*\1""")


def retired(identifier: str) -> str | None:
    """The name to use instead of ``identifier``, or None if it contains no retired word."""
    if identifier in NAMES:
        return NAMES[identifier]
    for part in _PART.findall(identifier):
        if part.lower() in PARTS:
            return PARTS[part.lower()]
    return None


def retired_words(files: list[Path], root: Path = ROOT) -> list[str]:
    """Identifiers and file names with retired words, as 'file:line: text'."""
    found = []
    for file in files:
        name = file.relative_to(root).as_posix()
        for stem in re.findall(r"[A-Za-z_]\w*", name.removesuffix(file.suffix)):
            if better := retired(stem):
                found.append(f"{name}:1: {stem} uses a retired word: {better} (docs/glossary.md)")
        if file.suffix not in _COMMENT or name == "tools/dev/words.py":
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            code = _COMMENT[file.suffix].sub("", _STRING.sub('""', line))
            for identifier in _IDENTIFIER.findall(code):
                if better := retired(identifier):
                    found.append(
                        f"{name}:{number}: {identifier} uses a retired word: {better} (docs/glossary.md)"
                    )
    return found
