"""`ascendc new NAME`: the project that it writes builds, runs and passes its own test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torch_npu.ascendc.command_line import main
from torch_npu.softnpu import cmake_dir

FILES = ["CMakeLists.txt", "main.cpp", "scale_rows.asc", "scale_rows.py", "scale_rows_tiling.h"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "scale_rows"
    assert main(["new", str(folder)]) == 0
    return folder


def _run(*command, cwd, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SOFTNPU_KERNEL_")}
    environment |= {"ASCENDC_PYTHON": sys.executable, **variables}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_has_the_files(project):
    assert sorted(p.name for p in project.iterdir()) == sorted([*FILES, "test_scale_rows.py"])
    for path in project.iterdir():
        text = path.read_text()
        assert "new_kernel" not in text
        assert "NewKernel" not in text


@pytest.mark.parametrize("check", ["", "1"])
def test_its_test_passes(project, tmp_path_factory, check):
    extensions = tmp_path_factory.getbasetemp() / "project_extensions"
    variables = {"TORCH_EXTENSIONS_DIR": str(extensions), "SOFTNPU_KERNEL_CHECK": check}
    output = _run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        ".",
        cwd=project,
        **variables,
    )
    assert "11 passed" in output


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")
def test_its_program_builds_and_passes(project, tmp_path):
    build = str(tmp_path / "build")
    _run("cmake", "-S", ".", "-B", build, f"-DCMAKE_PREFIX_PATH={cmake_dir()}", cwd=project)
    _run("cmake", "--build", build, cwd=project)
    assert "100% tests passed" in _run("ctest", "--test-dir", build, cwd=project)


@pytest.mark.parametrize("name", ["Scale", "2d", "int", "for", "a-b", "main"])
def test_a_bad_name_is_a_clear_error(name, tmp_path, capsys):
    assert main(["new", str(tmp_path / name)]) == 1
    assert f"ascendc: '{name}' is no name for a kernel" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_a_folder_with_files_stays_as_it_is(tmp_path, capsys):
    folder = tmp_path / "scale"
    folder.mkdir()
    Path(folder, "notes.txt").write_text("mine")
    assert main(["new", str(folder)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("words", [["new"], ["new", "a", "b"], ["new", "--help"]])
def test_it_takes_one_name(words, capsys):
    assert main(words) == 1
    assert "ascendc new NAME: one name" in capsys.readouterr().err
