"""The report of `./dev api`: how many official names there are, by module, and why the others are missing."""

import json
import sys
from collections import Counter
from collections.abc import Mapping

from dev.api.table import GROUPS, HARDWARE, LATER, names, reason


def missing() -> dict[str, str]:
    """Each name that does not count, with what is wrong with it; imports ``torch_npu``."""
    from dev.api.reach import problem

    found = {official.name: problem(official) for official in names()}
    return {name: text for name, text in found.items() if text}


def status(name: str) -> str:
    """``LATER``, ``HARDWARE`` or empty."""
    row = reason(name)
    return row.status if row else ""


def percent(gone: Mapping[str, str]) -> float:
    """The part of the counted names that there are, in percent."""
    counted = [official.name for official in names() if status(official.name) != LATER]
    there = [name for name in counted if name not in gone and status(name) != HARDWARE]
    return 100 * len(there) / len(counted)


def report(gone: Mapping[str, str]) -> str:
    """A line per module, then a line per missing name; ``gone`` is what ``missing`` returns."""
    totals, there, later = Counter(), Counter(), Counter()
    for official in names():
        kind = status(official.name)
        if kind == LATER:
            later[official.group] += 1
            continue
        totals[official.group] += 1
        there[official.group] += official.name not in gone and kind != HARDWARE
    width = max(map(len, GROUPS))
    lines = [f"{'module':{width}}  there  of  %   later"]
    for group in GROUPS:
        share = f"{100 * there[group] / totals[group]:3.0f}" if totals[group] else "  -"
        after = f"  {later[group]:4}" if later[group] else ""
        lines.append(f"{group:{width}} {there[group]:5} {totals[group]:4} {share}{after}")
    lines.append("")
    for official in names():
        row = reason(official.name)
        if row and row.status == HARDWARE:
            lines.append(f"{official.name}: only hardware: {row.text}")
        elif official.name in gone and not row:
            lines.append(f"{official.name}: {gone[official.name]}")
    for text in sorted(
        {row.text for row in map(reason, sorted(gone)) if row and row.status == LATER}
    ):
        of_text = [name for name in gone if (row := reason(name)) and row.text == text]
        lines.append(f"{len(of_text)} names later, {text}: {of_text[0]}, …")
    total, present = sum(totals.values()), sum(there.values())
    lines += ["", f"{present} of {total} names: {percent(gone):.1f} %"]
    return "\n".join(lines)


if __name__ == "__main__":
    json.dump(missing(), sys.stdout)
