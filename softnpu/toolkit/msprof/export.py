"""Writes the files of a profile beside its records."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import database
from records import Profile
from tables import TABLES
from timeline import Timeline

OUTPUT = "mindstudio_profiler_output"


def _stamp() -> str:
    return time.strftime("%Y%m%d%H%M%S")


def write_text(profile: Profile) -> list[Path]:
    """Writes the tables and the timeline anew; returns their paths."""
    folder = profile.folder / OUTPUT
    folder.mkdir(exist_ok=True)
    stamp = _stamp()
    written = []
    for old in folder.iterdir():
        if old.suffix in (".csv", ".json"):
            old.unlink()
    path = folder / f"msprof_{stamp}.json"
    path.write_text(json.dumps(Timeline(profile).events))
    written.append(path)
    for name, make in TABLES.items():
        table = make(profile)
        if table is None:
            continue
        path = folder / f"{name}_{stamp}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table[0])
            writer.writerows(table[1])
        written.append(path)
    return written


def write_database(profile: Profile) -> list[Path]:
    """Writes the database anew; returns its path."""
    for old in profile.folder.glob("msprof_*.db"):
        old.unlink()
    path = profile.folder / f"msprof_{_stamp()}.db"
    database.write(profile, path)
    return [path]
