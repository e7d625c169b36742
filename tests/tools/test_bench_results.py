"""The results that ./dev bench writes, and reads again to compare."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from results import Measured, Results, machine, print_comparison

del sys.path[0]  # its other modules have common names


def row(work: str = "add", ratio: float = 0.5, against: str = "cpu") -> Measured:
    return Measured("ops", work, against, 10 * ratio, 10, ratio)


def test_of_several_runs_the_slowest_counts():
    results = Results(machine("wall time"))
    results.add([row(ratio=0.5), row("mul", 0.7)])
    results.add([row(ratio=0.6), row("mul", 0.3), row(against="a copy")])
    assert [r.ratio for r in results.rows] == [0.6, 0.7, 0.5]


def test_written_results_are_read_back(tmp_path):
    results = Results(machine("wall time"), [row(), row("mul", 1.25)])
    results.write(tmp_path / "a.json")
    assert Results.read(tmp_path / "a.json") == results
    assert {"processor", "threads", "load", "torch", "mode"} <= set(results.machine)


def test_markdown_is_a_table(tmp_path):
    Results({"processor": "one"}, [row()]).write(tmp_path / "a.md")
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert lines[0] == "processor one"
    assert lines[-1] == "| ops | add | 5.0 us | cpu | 10.0 us | 0.50 |"
    assert len({line.count("|") for line in lines[2:]}) == 1


def test_two_files_beside_each_other(tmp_path, capsys):
    Results({"load": "0.1"}, [row(ratio=0.5), row("old")]).write(tmp_path / "before.json")
    Results({"load": "0.2"}, [row(ratio=0.4), row("new")]).write(tmp_path / "after.json")
    print_comparison(tmp_path / "before.json", tmp_path / "after.json")
    out = capsys.readouterr().out
    assert "load 0.1" in out
    assert "load 0.2" in out
    lines = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert "-20 %" in lines["ops: add"]
    assert "gone" in lines["ops: old"]
    assert "%" not in lines["ops: new"]


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        Results.read(tmp_path / "none.json")
