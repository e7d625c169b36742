"""`./dev operators` on artificial records."""

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from dev import operators
from dev.run import DevError


@pytest.fixture
def records(tmp_path, monkeypatch):
    known = [("math", "aclnnAdd"), ("math", "aclnnMul"), ("index", "aclnnGather")]
    library = tmp_path / "library"
    library.touch()
    os.utime(library, (1000, 1000))
    monkeypatch.setattr(operators, "RECORDS", tmp_path)
    monkeypatch.setattr(operators, "LIBRARY", library)
    monkeypatch.setattr(operators, "known_operators", lambda: known)

    def write(*names: str) -> None:
        for i, name in enumerate(names):
            (tmp_path / f"{i}.json").write_text(json.dumps([[name, "float32", "dense"]]))

    return write


def test_every_operator_was_run(records, capsys):
    records("aclnnAdd", "aclnnMul", "aclnnGather")
    operators.operators()
    assert "3 of 3 operators were run by the tests" in capsys.readouterr().out


def test_an_operator_that_was_not_run_is_an_error(records, capsys):
    records("aclnnAdd", "aclnnGather")
    with pytest.raises(DevError, match="1 operators were run by no test: aclnnMul"):
        operators.operators()
    assert "2 of 3 operators were run by the tests" in capsys.readouterr().out


def test_without_records_all_are_missing(records):
    with pytest.raises(DevError, match="3 operators were run by no test"):
        operators.operators()


def test_records_of_an_earlier_build_do_not_count(records, tmp_path):
    records("aclnnAdd", "aclnnMul", "aclnnGather")
    os.utime(tmp_path / "1.json", (999, 999))
    with pytest.raises(DevError, match="1 operators were run by no test: aclnnMul"):
        operators.operators()


def test_without_a_library_the_table_is_refused(records, tmp_path):
    (tmp_path / "library").unlink()
    with pytest.raises(DevError, match="no operator library"):
        operators.operators()
