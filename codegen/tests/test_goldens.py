"""The generated text of a small YAML is what the checkout says it is."""

import pytest

from codegen import goldens

GENERATED = goldens.goldens()


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_text_is_the_golden(name):
    kept = goldens.FOLDER / name
    assert kept.exists(), f"{name} is new: ./dev gen --update-goldens writes it"
    assert kept.read_text() == GENERATED[name], (
        "./dev gen --update-goldens writes what codegen makes now"
    )


def test_nothing_else_lies_there():
    assert {path.name for path in goldens.FOLDER.glob("*.golden")} == set(GENERATED)


def test_the_command_rewrites_them(tmp_path, monkeypatch):
    (tmp_path / "old.cpp.golden").write_text("")
    monkeypatch.setattr(goldens, "FOLDER", tmp_path)
    assert goldens.main() == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == GENERATED
