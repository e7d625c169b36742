"""The wheel in a separate virtual environment that sees torch and its dependencies, but not the checkout."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from dev.wheel import wheel_tag

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a new environment with the wheel installed."""
    wheels = sorted(DIST.glob("torch_npu-*.whl"))
    assert len(wheels) == 1, f"expected one wheel in {DIST}: ./dev wheel makes it"
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    # A path in a .pth file is searched, but the .pth files in it (the checkout's) are not read.
    site = Path(sh(interpreter, "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "torch_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [interpreter, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheels[0]]
    subprocess.run(install, check=True, cwd=folder)
    return interpreter


def sh(interpreter, code, check=True):
    result = subprocess.run(
        [interpreter, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(interpreter).parents[1],
    )
    assert not check or result.returncode == 0, result.stderr
    return result.stdout + ("" if check else result.stderr)


def test_one_line_program_runs(python):
    out = sh(python, "import torch; print(torch.ones(2, device='npu') + 1)")
    assert out.strip() == "tensor([2., 2.], device='npu:0')"


def test_the_tag_is_what_the_symbols_need():
    (wheel,) = DIST.glob("torch_npu-*.whl")
    assert wheel_tag(wheel) in wheel.name


@pytest.mark.skipif(
    'VERSION_ID="12"' not in Path("/etc/os-release").read_text(), reason="not Debian 12"
)
def test_the_floor_of_a_build_on_debian_12_is_what_readme_says():
    (wheel,) = DIST.glob("torch_npu-*.whl")
    stated = re.search(r"glibc (\d+)\.(\d+) or newer", (DIST.parent / "README.md").read_text())
    assert f"manylinux_{stated[1]}_{stated[2]}_" in wheel.name


def test_types_and_tables_are_in_the_wheel():
    (wheel,) = DIST.glob("torch_npu-*.whl")
    beside = {"py.typed", "_C/__init__.pyi", "_C/_distributed_c10d.pyi", "_core/environment.tsv"}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"torch_npu/{name}" for name in beside} <= names
    assert {"acl/__init__.py", "acl/rt.py"} <= names


def test_third_party_libraries_are_outside_the_cann_folder():
    (wheel,) = DIST.glob("torch_npu-*.whl")
    libraries = [n for n in zipfile.ZipFile(wheel).namelist() if ".so" in Path(n).name]
    others = {
        "libdnnl.so.3": "oneDNN",
        "libhwy.so.1": "highway",
        "libjpeg.so.62": "libjpeg-turbo",
        "libpng16.so.16": "libpng",
    }
    beside = {Path(n).name for n in libraries if Path(n).parent == Path("torch_npu/lib")}
    assert beside == {
        "libtorch_npu.so",
        "libonnxruntime_providers_ascend.so",
        "libsoftnpu_graph.so",
        "libsoftnpu_kernel.so",
        "libsoftnpu_workers.so",
        *others,
    }
    assert "torch_npu/lib/softnpu_atc" in zipfile.ZipFile(wheel).namelist()
    licences = {f"torch_npu/lib/LICENSE.{name}.txt" for name in others.values()}
    licences.add("torch_npu/lib/CHANGES.oneDNN.txt")
    assert licences <= set(zipfile.ZipFile(wheel).namelist())
    cann = {Path(n).name for n in libraries if n.startswith("torch_npu/lib/cann/")}
    assert cann == {
        "libacl_dvpp.so",
        "libacl_op_compiler.so",
        "libacl_tdt_channel.so",
        "libascend_dump_parser.so",
        "libascend_hal.so",
        "libascendcl.so",
        "libc_sec.so",
        "libdcmi.so",
        "libfmk_onnx_parser.so",
        "libge_compiler.so",
        "libge_runner.so",
        "libgraph.so",
        "libhccl.so",
        "libhcomm.so",
        "libmetadef.so",
        "libms_tools_ext.so",
        "libmsprofiler.so",
        "libnnopbase.so",
        "libop_common.so",
        "libopapi.so",
        "libopapi_nn.so",
        "libplatform.so",
        "libprofapi.so",
        "libregister.so",
        "libruntime.so",
    }


def test_matmul_runs_on_the_wheels_onednn_and_workers(python):
    out = sh(
        python,
        "import torch\n"
        "x = torch.randn(256, 256, device='npu')\n"
        "assert torch.allclose((x @ x).cpu(), x.cpu() @ x.cpu(), atol=1e-3)\n"
        "maps = {line.split()[-1] for line in open('/proc/self/maps') if ' r-xp ' in line}\n"
        "print(*[m for m in maps if 'libdnnl' in m], sep='\\n')\n"
        "print(*[m for m in maps if 'libsoftnpu_workers' in m], sep='\\n')",
    )
    libraries = out.split()
    assert [Path(p).name for p in libraries] == ["libdnnl.so.3", "libsoftnpu_workers.so"]
    assert all(p.startswith(str(python.parents[1])) for p in libraries)
    asked = subprocess.run(
        ["objdump", "-T", libraries[0]], capture_output=True, text=True, check=True
    )
    openmp = set(re.findall(r"\bG?OMP_1\.0\)?\s+(\w+)", asked.stdout))
    assert len(openmp) == 10
    assert all(name.startswith("softnpu_") for name in openmp)


def test_the_wheel_is_imported_not_the_checkout(python):
    out = sh(
        python,
        "import torch_npu, torch_npu._C as c; print(torch_npu.__version__, torch_npu.__file__, c.__file__)",
    )
    version, package, native = out.split()
    assert version == "2.13.0+softnpu"
    assert str(python.parents[1]) in package
    assert str(python.parents[1]) in native


def test_beside_an_official_wheel(python):
    site = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip()).parent
    official = site / "torch_npu-2.13.0.dist-info"
    official.mkdir()
    (official / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.13.0\n")
    try:
        out = sh(
            python, "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
        )
        assert out.startswith("False the official torch_npu 2.13.0 is installed beside this one")
        out = sh(python, "import torch; import torch_npu", check=False)
        assert "LoadError: the official torch_npu 2.13.0 is installed beside" in out
        assert "pip uninstall torch-npu" in out
        assert "LoadError" in sh(python, "import torch_npu", check=False)
    finally:
        (official / "METADATA").unlink()
        official.rmdir()


def test_a_missing_library(python):
    library = Path(sh(python, "import torch_npu._load as x; print(x.bound_library())").strip())
    hidden = library.rename(library.with_suffix(".hidden"))
    try:
        out = sh(
            python, "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
        )
        assert out.startswith("False libascendcl.so is missing in ")
        out = sh(python, "import torch; torch.ones(1, device='npu')", check=False)
        assert "No NPU is available: libascendcl.so is missing in" in out
    finally:
        hidden.rename(library)


@pytest.mark.parametrize("cut", [None, 100_000, 0], ids=["missing", "cut-off", "empty"])
@pytest.mark.parametrize("name", ["_C.so", "lib/libtorch_npu.so", "lib/cann/libopapi.so"])
def test_half_an_installation(python, name, cut):
    package = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip())
    library = package / name
    hidden = library.rename(library.with_suffix(".hidden"))
    try:
        if cut is not None:
            library.write_bytes(hidden.read_bytes()[:cut])
        out = sh(
            python, "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
        )
        assert re.match(
            r"False .*( is missing in | is cut off, |part of torch_npu is missing: )", out
        )
        assert out.count("\n") == 1
        assert "run 'pip install --force-reinstall" in out
    finally:
        library.unlink(missing_ok=True)
        hidden.rename(library)


@pytest.mark.parametrize("cut", [None, 100, 1], ids=["missing", "cut-off", "one byte"])
@pytest.mark.parametrize(
    "name", ["_load.py", "npu/device.py", "custom_ops.py", "_core/environment.tsv"]
)
def test_half_of_the_python_files(python, name, cut):
    package = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip())
    file = package / name
    hidden = file.rename(file.with_name(f"{file.name}.hidden"))
    reason = f"{file} is {'missing' if cut is None else 'cut off'}, torch_npu is not installed completely: run 'pip"
    try:
        if cut is not None:
            file.write_bytes(hidden.read_bytes()[:cut])
        out = sh(
            python, "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
        )
        assert out.startswith(f"False {reason}")
        assert out.count("\n") == 1
        out = sh(python, "import torch; torch.ones(1, device='npu')", check=False)
        assert f"RuntimeError: No NPU is available: {reason}" in out
        assert reason in sh(python, "import torch_npu", check=False).splitlines()[-1]
    finally:
        file.unlink(missing_ok=True)
        hidden.rename(file)


def test_a_package_without_its_init_file(python):
    package = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip())
    file = package / "utils" / "__init__.py"
    hidden = file.rename(file.with_suffix(".hidden"))
    try:
        out = sh(python, "import torch; print(torch.npu.unavailable_reason())")
        assert out.startswith(f"{file} is missing, torch_npu is not installed completely: run 'pip")
    finally:
        hidden.rename(file)


def test_the_doctor_of_half_an_installation(python):
    package = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip())
    library = package / "lib/cann/libopapi.so"
    hidden = library.rename(library.with_suffix(".hidden"))
    try:
        for command in ([python, "-m", "torch_npu"], [Path(python).with_name("torch-npu")]):
            ended = subprocess.run(
                [*command, "doctor"], capture_output=True, text=True, cwd=package.parent
            )
            assert ended.returncode == 1
            assert re.search(r"^problem .*libopapi\.so is missing in ", ended.stdout, re.MULTILINE)
            assert "Traceback" not in ended.stdout + ended.stderr
    finally:
        hidden.rename(library)


def test_two_versions_at_once(python):
    package = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip())
    second = package.with_name("torch_npu-2.14.1+softnpu.dist-info")
    second.mkdir()
    (second / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.14.1+softnpu\n"
    )
    try:
        out = sh(
            python, "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
        )
        assert out.startswith(f"False {package.parent} has two versions of torch_npu, ")
        assert "2.13.0+softnpu" in out
        assert "2.14.1+softnpu: run 'pip uninstall" in out
    finally:
        (second / "METADATA").unlink()
        second.rmdir()


def copied(example, folder):
    """A copy of an example outside of the checkout."""
    return Path(shutil.copytree(ROOT / "examples" / example, folder / example))


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")
def test_a_project_builds_against_the_toolkit_of_the_wheel(python, tmp_path):
    source = copied("cann_project", tmp_path)
    steps = (
        f'cann="$({python} -m torch_npu.softnpu --cann-dir)" && source "$cann/set_env.sh" && '
        f"cmake -S {source} -B built >&2 && cmake --build built >&2 && ./built/add && "
        'realpath "$cann/include" "$cann/lib64"'
    )
    done = subprocess.run(
        ["bash", "-c", steps],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    printed, *folders = done.stdout.splitlines()
    assert printed == "21 42 63 on Ascend910B1, built for Ascend910B1"
    assert all(folder.startswith(str(python.parents[1])) for folder in folders)


def test_an_extension_builds_against_the_wheel(python, tmp_path):
    folder = copied("npu_extension_aclnn", tmp_path)
    for command, result in (
        (["setup.py", "build_ext", "--inplace"], None),
        (["run.py"], ["True", "True", "(2, 3)"]),
    ):
        done = subprocess.run(
            [python, *command],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "CFLAGS": "-O0 -g0"},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert result is None or done.stdout.splitlines()[:3] == result
        assert str(ROOT / "build") not in done.stdout


def test_the_command_ascendc_compiles_a_program(python, tmp_path):
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include "tikicpulib.h"\n'
        "__global__ __aicore__ void k(GM_ADDR x) { x[AscendC::GetBlockIdx()] = 7; }\n"
        "int main() {\n"
        "  auto* x = (uint8_t*)AscendC::GmAlloc(4);\n"
        "  k<<<2, nullptr, nullptr>>>(x);\n"
        "  ICPU_RUN_KF(k, 3, x);\n"
        '  std::printf("%d %d %d\\n", x[0], x[2], x[3]);\n'
        "}\n"
    )
    compiles = [python.with_name("ascendc"), "main.cpp", "-O0", "-o", "main"]
    for command in (compiles, ["./main"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "7 7 0\n"


def test_uninstall_leaves_nothing(python):
    site = Path(sh(python, "import torch_npu; print(torch_npu.__path__[0])").strip()).parent
    subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "torch-npu"], check=True)
    assert not list(site.glob("torch_npu*"))
    assert sh(python, "import torch; print(torch.ones(1).item())").strip() == "1.0"


def test_python_of_the_tests_is_another(python):
    assert Path(sys.executable).parents[1] != python.parents[1]
