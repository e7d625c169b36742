"""`./dev install-trial`: its steps, what a step has to print, and the package sources that a root gets."""

import os
from pathlib import Path

import pytest
from dev import debian_root, install_trial
from dev.debian_root import Result, Root, local_folders, mirror
from dev.install_trial import Step, judged, run_steps, steps
from dev.run import DevError

REFUSAL = Step("a refusal", "pip install .", r"this needs g\+\+", fails=True)


@pytest.mark.parametrize(
    ("step", "result", "reason"),
    [
        (REFUSAL, Result("this needs g++ 12", 1), ""),
        (REFUSAL, Result("this needs g++ 12", 0), "ended with exit code 0"),
        (REFUSAL, Result("error: metadata", 1), "printed nothing that matches"),
        (REFUSAL, Result("Traceback (most …\nthis needs g++ 12", 1), "printed a traceback"),
        (Step("a build", "make"), Result("", 0), ""),
        (Step("a build", "make"), Result("", 2), "ended with exit code 2"),
    ],
)
def test_a_step_is_judged_by_code_and_text(step, result, reason):
    assert judged(step, result).startswith(reason)
    assert bool(judged(step, result)) == bool(reason)


def test_the_first_wrong_step_ends_the_trial(capsys):
    tried = []

    def execute(script):
        tried.append(script)
        return Result("as it is\n" * 100 + "no space", int(script == "second"))

    with pytest.raises(DevError, match=r"second step: ended with exit code 1(.|\n)*no space"):
        run_steps(execute, [Step(f"{name} step", name) for name in ("first", "second", "third")])
    assert tried == ["first", "second"]
    assert "first step" in capsys.readouterr().out


def test_a_wheel_is_installed_and_nothing_is_built():
    built, installed = steps(), steps("/wheels/torch_npu-2.13.0.whl")
    assert {step.name for step in installed} - {step.name for step in built} == {
        "pip install torch_npu-2.13.0.whl"
    }
    assert not any("libhwy-dev" in step.script for step in installed)
    assert any("libhwy-dev" in step.script for step in built)
    assert len({step.name for step in built}) == len(built)


def test_the_example_is_that_of_the_readme():
    compile(install_trial.example(), "README.md", "exec")
    assert 'device="npu"' in install_trial.example()


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ("Types: deb\nURIs: http://a.example/debian\nSuites: bookworm", "http://a.example/debian"),
        ("deb [signed-by=/k] http://b.example/debian/ trixie main", "http://b.example/debian"),
        ("deb http://c.example/ubuntu noble main", debian_root.MIRROR),
        ("", debian_root.MIRROR),
    ],
)
def test_the_mirror_is_that_of_apt(sources, found):
    assert mirror(sources) == found


def test_folders_of_packages_are_those_that_exist(tmp_path):
    wheels, index = tmp_path / "wheels", tmp_path / "index" / "simple"
    wheels.mkdir()
    index.mkdir(parents=True)
    text = f"find-links = {wheels} /no/such/folder\nindex-url = https://a.example{index}\nextra-index-url = file://{index}"
    assert local_folders(text) == [index.parent, wheels]
    assert local_folders(f"index-url = https://a.example{index}") == []


def test_only_root_makes_roots(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(DevError, match="run it under sudo"):
        debian_root.make_root("debian12", tmp_path / "root", {})
    assert not (tmp_path / "root").exists()


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        DevError, match=r"this needs debootstrap, unshare.*apt-get install debootstrap"
    ):
        debian_root.make_root("debian12", tmp_path / "root", {})


def test_what_is_mounted_cannot_be_written():
    *_, script = Root(Path("/a root"), {"/src": Path("/of checkout")}).command("true")
    assert (
        "mount --bind '/of checkout' '/a root/src'\nmount -o remount,bind,ro '/a root/src'"
        in script
    )
