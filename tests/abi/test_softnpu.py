"""`python -m torch_npu.softnpu`: for programs with their own CANN application."""

import configparser
import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from softnpu.toolkit.headers import HeaderError, headers, read_names

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torch_npu.softnpu", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
    )


def test_the_folder_has_the_libraries():
    printed = run("--lib-dir")
    assert printed.returncode == 0, printed.stderr
    folder = Path(printed.stdout.strip())
    assert folder.is_absolute()
    library = ctypes.CDLL(str(folder / "libascendcl.so"))
    library.softnpuVersion.restype = ctypes.c_char_p
    assert library.softnpuVersion().startswith(b"softnpu ")


def test_a_wrong_option_is_refused():
    assert run().returncode == 2
    assert "--lib-dir" in run().stderr


@pytest.fixture
def toolkit(tmp_path):
    """The folder that --cann-dir prints, with its links in a folder of the test."""
    printed = run("--cann-dir", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert printed.returncode == 0, printed.stderr
    return Path(printed.stdout.strip())


def shell(command: str) -> str:
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_toolkit_is_laid_out_as_an_installed_one(toolkit):
    for part in ("include/acl/acl.h", "include/aclnnop/aclnn_argmax.h", "lib64/libopapi.so"):
        assert (toolkit / part).is_file(), part
    assert toolkit.name == "cann"
    variables = "$ASCEND_TOOLKIT_HOME:$ASCEND_HOME_PATH:$ASCEND_AICPU_PATH:$ASCEND_OPP_PATH"
    firsts = "${LD_LIBRARY_PATH%%:*}:${PATH%%:*}:${PYTHONPATH%%:*}"
    printed = shell(f'source "{toolkit}/set_env.sh" && echo "{variables}:{firsts}"').strip()
    folders = ["opp", "lib64", "bin", "python/site-packages"]
    assert printed.split(":") == [str(toolkit)] * 3 + [f"{toolkit}/{folder}" for folder in folders]
    assert (toolkit / "opp" / "vendors").is_dir()


def test_the_toolkit_has_its_version_and_the_sizes_of_the_soc(toolkit):
    folder = toolkit / f"{platform.machine()}-linux"
    library = ctypes.CDLL(str(toolkit / "lib64" / "libascendcl.so"))
    version = ctypes.create_string_buffer(128)
    assert library.aclsysGetVersionStr(b"toolkit", version) == 0
    assert (
        folder / "ascend_toolkit_install.info"
    ).read_text() == f"version={version.value.decode()}\n"
    name = shell(
        f'source "{toolkit}/set_env.sh" && python3 -c "import acl; print(acl.get_soc_name())"'
    ).strip()
    config = configparser.ConfigParser()
    config.read(folder / "data" / "platform_config" / f"{name}.ini")
    assert config["version"]["SoC_version"] == name
    assert int(config["SoCInfo"]["vector_core_cnt"]) == 2 * int(config["SoCInfo"]["cube_core_cnt"])
    assert int(config["AICoreSpec"]["ub_size"]) == 192 << 10


def test_npu_smi_names_the_soc_in_line_7(toolkit):
    library = ctypes.CDLL(str(toolkit / "lib64" / "libascendcl.so"))
    library.aclrtGetSocName.restype = ctypes.c_char_p
    third = shell(f"{toolkit}/bin/npu-smi info | awk 'NR == 7 {{print $3}}'").strip()
    assert f"Ascend{third}" == library.aclrtGetSocName().decode()
    lines = shell(f"SOFTNPU_DEVICE_COUNT=3 {toolkit}/bin/npu-smi info").splitlines()
    assert [line.split()[1] for line in lines[6:15:3]] == ["0", "1", "2"]
    assert len({len(line) for line in lines}) == 1
    assert subprocess.run([toolkit / "bin" / "npu-smi"], capture_output=True).returncode == 1


def test_the_links_follow_an_installation(toolkit):
    """A second call keeps the folder; links that another installation left are replaced."""
    link = toolkit / "bin"
    target = link.readlink()
    link.unlink()
    link.symlink_to("/nowhere")
    again = run("--cann-dir", env={"XDG_CACHE_HOME": str(toolkit.parents[2])})
    assert Path(again.stdout.strip()) == toolkit
    assert link.readlink() == target


def test_every_header_of_the_toolkit_compiles_on_its_own(toolkit, tmp_path):
    headers = sorted(
        path.relative_to(toolkit / "include")
        for folder in ("acl", "aclnn", "aclnnop")
        for path in (toolkit / "include" / folder).rglob("*.h")
    )
    assert len(headers) > 500
    lines = "".join(f"#include <{header}>\n" for header in headers)
    for name in ("all.c", "all.cpp"):
        source = tmp_path / name
        source.write_text(f"{lines}int main(void) {{ return aclCreateTensor == 0; }}\n")
        shell(f"{'gcc' if name == 'all.c' else 'g++'} -fsyntax-only -I {toolkit}/include {source}")
    source = tmp_path / "base.c"
    source.write_text(
        "#include <aclnn/aclnn_base.h>\nint main(void) { return aclCreateTensor == 0; }\n"
    )
    shell(f"gcc -fsyntax-only -I {toolkit}/include {source}")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")
def test_the_example_project_builds_against_the_toolkit(toolkit, tmp_path):
    source, build = ROOT / "examples" / "cann_project", tmp_path / "build"
    printed = shell(
        f'source "{toolkit}/set_env.sh" && cmake -S {source} -B {build} >&2 && '
        f"cmake --build {build} >&2 && {build}/add"
    )
    assert printed == "21 42 63 on Ascend910B1, built for Ascend910B1\n"


def test_a_header_of_an_unknown_function_is_an_error(tmp_path):
    names = tmp_path / "headers.txt"
    names.write_text("# c\naclnn_x.h  Nothing\n")
    with pytest.raises(HeaderError, match=r"headers.txt:2: no table has aclnnNothing"):
        headers([], read_names(names))
