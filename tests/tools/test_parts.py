"""The parts of `./dev test`: every part has its rotation, and all shares together are everything."""

import pytest
from dev import parts, tidy
from dev.parts import EVERY, IN_TURN, RECENT, SHARES, Part, Rotation, chosen
from dev.paths import ROOT
from dev.run import DevError
from dev.test import run_parts


def test_every_rotating_part_has_its_turn():
    assert {word for row in SHARES for word in row} == {part.word for part in IN_TURN}


def test_a_run_has_the_parts_of_every_run_and_one_row():
    ran = [part.word for part in chosen(Rotation(7))]
    every = [part.word for part in EVERY if part is not RECENT]
    assert ran[: len(every)] == every
    assert set(ran[len(every) :]) <= set(SHARES[7 % len(SHARES)])
    assert "address" in ran


def test_a_run_has_recent_folders_or_all_of_them_under_the_address_sanitizer():
    for number in range(len(SHARES)):
        ran = {part.word for part in chosen(Rotation(number))}
        assert len(ran & {"recent", "address"}) == 1


def test_full_has_all_of_them(monkeypatch):
    monkeypatch.setattr(parts, "applies", lambda _: True)
    ran = [part.word for part in chosen(Rotation(3, full=True))]
    assert ran == [word for word in parts.words() if word != RECENT.word]
    assert Rotation(3, full=True).share(4) == "1/1"


def test_rotations_cover_all_shares():
    assert sorted(Rotation(number).share(4) for number in range(8, 12)) == [
        "1/4",
        "2/4",
        "3/4",
        "4/4",
    ]


def test_parts_of_clang_tidy_are_all_sources():
    found = [path for part in range(5) for path in tidy.part_of(part, 5)]
    assert sorted(found) == tidy.sources()


def test_the_minutes_planned_for_a_run_are_at_most_forty():
    # Collectives, kernels, graph, tools and libraries: a minute each in every run, and three in their rotation.
    for number in range(len(SHARES)):
        assert sum(part.minutes for part in chosen(Rotation(number))) + 8 <= 40


def test_the_documented_minutes_are_the_tables():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for part in (*EVERY, *IN_TURN):
        assert f"| `{part.word}` | {part.what} | {part.minutes} |" in text


def test_a_part_that_fails_fails_the_run_and_the_others_run(capsys):
    ran = []

    def fails(_: Rotation) -> None:
        raise DevError("exit code 1")

    rows = [
        Part("lint", "checks", 1, fails),
        Part("functions", "tests", 1, lambda _: ran.append("functions")),
    ]
    with pytest.raises(DevError, match="lint: exit code 1"):
        run_parts(rows, Rotation(0))
    assert ran == ["functions"]
    assert "FAILED" in capsys.readouterr().out


def test_nothing_is_tested_on_a_build_that_failed():
    ran = []

    def fails(_: Rotation) -> None:
        raise DevError("the first error above is the one to fix")

    rows = [Part("build", "", 1, fails), Part("functions", "", 1, lambda _: ran.append(1))]
    with pytest.raises(DevError):
        run_parts(rows, Rotation(0))
    assert not ran
