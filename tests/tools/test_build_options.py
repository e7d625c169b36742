"""How `./dev build` calls CMake: warnings, and a Python other than that of the build folder."""

import os
import subprocess

import pytest
from dev import build
from dev.paths import BUILD, ROOT
from dev.run import DevError


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """CMake's calls; each creates CMake's files in ``tmp_path / "build"``."""
    result = []

    def run(command, **_):
        result.append([str(word) for word in command])
        (tmp_path / "build").mkdir(exist_ok=True)
        for name in ("build.ninja", "CMakeCache.txt"):
            (tmp_path / "build" / name).touch()

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build, "VENV", tmp_path)
    monkeypatch.setattr(build, "run", run)
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    return result


def test_cmake_runs_once_for_the_same_options(calls):
    build.configure()
    build.configure()
    assert len(calls) == 1
    assert "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF" in calls[0]


@pytest.mark.parametrize(("value", "state"), [("true", "ON"), ("1", "ON"), ("false", "OFF")])
def test_warnings_are_errors_where_ci_says_so(calls, monkeypatch, value, state):
    monkeypatch.setenv("CI", value)
    build.configure()
    assert f"-DCMAKE_COMPILE_WARNING_AS_ERROR={state}" in calls[0]


def test_another_python_empties_cmakes_cache(calls, tmp_path):
    cache = tmp_path / "build" / "CMakeCache.txt"
    build.configure()
    cache.write_text("Python3_INCLUDE_DIR=/usr/include/python3.12\n")
    (tmp_path / "pyvenv.cfg").write_text("version = 3.13.5\n")
    build.configure()
    assert len(calls) == 2
    assert cache.read_text() == ""


def test_other_options_keep_cmakes_cache(calls, tmp_path, monkeypatch):
    cache = tmp_path / "build" / "CMakeCache.txt"
    build.configure()
    cache.write_text("CMAKE_BUILD_TYPE=Debug\n")
    monkeypatch.setenv("CI", "true")
    build.configure()
    assert len(calls) == 2
    assert cache.read_text() == "CMAKE_BUILD_TYPE=Debug\n"


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("exists", [True, False])
def test_ccache_has_a_folder_that_it_can_write(calls, tmp_path, monkeypatch, writable, exists):
    folder = tmp_path / "home" / ".cache" / "ccache"
    (folder if exists else tmp_path / "home").mkdir(parents=True)
    monkeypatch.setattr(build, "output", lambda _: f"{folder}\n")
    monkeypatch.setattr(os, "access", lambda path, mode: writable)
    own = {} if writable else {"CCACHE_DIR": str(tmp_path / "build" / "ccache")}
    assert build.ccache() == {"CCACHE_SLOPPINESS": "pch_defines,time_macros", **own}


def test_a_folder_that_ci_configured_is_not_built_anew(calls, monkeypatch):
    monkeypatch.setenv("CI", "true")
    build.configure()
    monkeypatch.delenv("CI")
    build.configure()
    assert len(calls) == 1
    monkeypatch.setenv("CI", "false")
    build.configure()
    assert "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF" in calls[1]


RULES = """rule copy
  command = cp $in $out && echo $out: {header} > $out.d
  depfile = $out.d
build out: copy in
"""


@pytest.mark.parametrize("is_temporary", [False, True])
def test_a_second_build_has_nothing_to_do(tmp_path, is_temporary):
    """A dependency file that names a temporary file makes Ninja run the step for ever."""
    header = tmp_path / "header.h"
    (tmp_path / "in").touch()
    header.touch()
    (tmp_path / "build.ninja").write_text(RULES.format(header=header))
    subprocess.run([build.program("ninja"), "-C", tmp_path], check=True)
    if is_temporary:
        header.unlink()
        with pytest.raises(DevError, match=r"(?s)had work to do.*header\.h"):
            build.check_nothing_to_build(tmp_path)
    else:
        build.check_nothing_to_build(tmp_path)


def test_codegen_runs_again_where_a_file_of_operators_changed():
    if not (BUILD / "build.ninja").exists():
        pytest.skip("nothing is configured in build/")
    folder = ROOT / "torch_npu" / "csrc" / "aten"
    stamp = "torch_npu/csrc/generated/stamp"
    query = [build.program("ninja"), "-C", BUILD, "-t", "query", stamp]
    listed = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    inputs = {line.strip().removeprefix("| ") for line in listed.splitlines()}
    files = {folder / "npu_native_functions.yaml", *(folder / "native_functions").glob("*.yaml")}
    assert len(files) > 10
    assert {str(file) for file in files} <= inputs
