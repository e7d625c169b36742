"""Which torch `./dev setup` installs from local indexes: for GPUs only, CPU, none, broken. No network."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from dev import torch_wheel
from dev.run import DevError
from dev.torch_wheel import Offer, choose, install_torch, is_cpu_build, offer

PIP = Path(importlib.util.find_spec("pip").origin).parent


def write_index(folder, version=None, requires=(), broken=False):
    """A simple index (PEP 503) with one tiny torch, or with none; returns its URL."""
    page = folder / "torch"
    page.mkdir(parents=True)
    links = ""
    if version:
        wheel = page / f"torch-{version}-py3-none-any.whl"
        info = f"torch-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {name}\n" for name in requires)
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"{info}/METADATA", metadata)
            file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            file.writestr(f"{info}/RECORD", "")
        if broken:
            wheel.write_bytes(b"no wheel")
        links = f'<a href="{wheel.name.replace("+", "%2B")}">{wheel.name}</a>'
    (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    return folder.as_uri()


INDEXES = {
    "cpu": ("2.13.0",),
    "labelled": ("2.13.0+cpu",),
    "gpu": ("2.13.0", ["nvidia-cudnn-cu13==9.20.0.48"]),
    "nothing": (),
    "broken": ("2.13.0", (), True),
    "broken, labelled": ("2.13.0+cpu", (), True),
}


@pytest.fixture
def python(tmp_path, monkeypatch):
    """The interpreter of an empty environment, with a pip that ignores this machine's configuration."""
    venv = tmp_path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python3.*/site-packages")
    (site / "pip").symlink_to(PIP)
    for name in [name for name in os.environ if name.startswith(("PIP_", "TORCH_CPU"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    monkeypatch.setattr(torch_wheel, "PYTHON", venv / "bin" / "python")
    return venv / "bin" / "python"


@pytest.fixture
def indexes(python, tmp_path, monkeypatch):
    """Sets the offers of pip's own index and of PyTorch's, and TORCH_CPU_INDEX if a third one is named."""

    def choose(own, pytorchs, named=None):
        url = {
            role: write_index(tmp_path / role, *INDEXES[kind])
            for role, kind in {"own": own, "pytorchs": pytorchs, "named": named}.items()
            if kind
        }
        monkeypatch.setenv("PIP_INDEX_URL", url["own"])
        monkeypatch.setattr(torch_wheel, "CPU_INDEX", url["pytorchs"])
        if named:
            monkeypatch.setenv("TORCH_CPU_INDEX", url["named"])

    return choose


def torch_of(python):
    """The version of torch in the environment; None if there is none."""
    found = python.parents[1].glob("lib/python3.*/site-packages/torch-*.dist-info")
    return next((i.name.removeprefix("torch-").removesuffix(".dist-info") for i in found), None)


@pytest.mark.parametrize(
    ("own", "pytorchs", "named", "taken"),
    [
        ("cpu", "nothing", None, None),
        ("gpu", "labelled", None, "pytorchs"),
        ("nothing", "labelled", None, "pytorchs"),
        ("broken", "labelled", None, "pytorchs"),
        ("cpu", "nothing", "labelled", "named"),
    ],
)
def test_the_first_index_with_a_cpu_build_is_taken(tmp_path, indexes, own, pytorchs, named, taken):
    indexes(own, pytorchs, named)
    requirement, source = choose()
    assert source == (["--index-url", (tmp_path / taken).as_uri()] if taken else [])
    assert requirement == ("torch==2.13.0+cpu" if taken == "pytorchs" else "torch==2.13.0")


@pytest.mark.parametrize(
    ("own", "pytorchs", "named", "says"),
    [
        ("gpu", "nothing", None, "pip's own indexes offer a build for GPUs only"),
        (
            "broken",
            "broken, labelled",
            None,
            "pip's own indexes offer none that pip could reach and read",
        ),
        ("cpu", "labelled", "gpu", r"TORCH_CPU_INDEX=file:\S+ offers a build for GPUs only"),
        (
            "cpu",
            "labelled",
            "nothing",
            r"TORCH_CPU_INDEX=file:\S+ offers none that pip could reach and read",
        ),
    ],
)
def test_one_sentence_if_no_index_has_a_cpu_build(python, indexes, own, pytorchs, named, says):
    indexes(own, pytorchs, named)
    with pytest.raises(DevError, match=says) as error:
        install_torch()
    assert "TORCH_CPU_INDEX=<index> ./dev setup" in str(error.value)
    assert torch_of(python) is None


def test_an_installed_torch_of_this_version_is_kept(python, indexes):
    indexes("gpu", "broken, labelled")
    (site,) = python.parents[1].glob("lib/python3.*/site-packages")
    (site / "torch-2.13.0+cu130.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0+cu130\n"
    (site / "torch-2.13.0+cu130.dist-info" / "METADATA").write_text(metadata)
    install_torch()
    assert torch_of(python) == "2.13.0+cu130"


def old_pip(python, upgrade):
    """Installs a pip 22, which has no reports and installs what it is told; ``upgrade``: what its upgrade does."""
    (pip,) = python.parents[1].glob("lib/python3.*/site-packages/pip")
    pip.unlink()
    pip.mkdir()
    (pip / "__init__.py").write_text("__version__ = '22.0.2'\n")
    (pip / "__main__.py").write_text(
        "import pathlib, shutil, sys\n"
        "here, words = pathlib.Path(__file__).parent, sys.argv[1:]\n"
        "if '--report' in words: sys.exit('no such option: --report')\n"
        f"elif '--upgrade' in words: {upgrade}\n"
        "else: (here.parent / 'torch-2.13.0+unasked.dist-info').mkdir()\n"
    )


def test_an_old_pip_is_upgraded_before_it_is_asked(python, indexes):
    indexes("gpu", "labelled")
    old_pip(python, f"shutil.rmtree(here); here.symlink_to({str(PIP)!r})")
    install_torch()
    assert torch_of(python) == "2.13.0+cpu"


def test_an_old_pip_that_stays_installs_nothing(python, indexes):
    indexes("gpu", "labelled")
    old_pip(python, "sys.exit(1)")
    with pytest.raises(DevError, match=r"pip 22\.0\.2.*offer none that pip could reach and read"):
        install_torch()
    assert torch_of(python) is None


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "no JSON",
        "{",
        "{}",
        '{"install": []}',
        '{"install": [{"metadata": {}}]}',
        '{"install": [{"metadata": {"version": null}}]}',
        "[]",
    ],
)
def test_an_unreadable_report_is_unknown(monkeypatch, printed):
    monkeypatch.setattr(torch_wheel, "output", lambda _: printed)
    assert offer("torch==2.13.0") is Offer.UNKNOWN


@pytest.mark.parametrize(
    ("version", "requirements", "cpu"),
    [
        ("2.13.0", ["filelock", "sympy>=1.13.3"], True),
        ("2.13.0", ["filelock", "nvidia_cudnn_cu13==9; platform_system == 'Linux'"], False),
        ("2.13.0", ["cuda-toolkit[cublas]==13.0.3"], False),
        ("2.13.0+cpu", [], True),
        ("2.13.0+cpu.cxx11.abi", [], True),
        ("2.13.0+cu130", [], False),
        ("2.13.0+rocm7.1", [], False),
    ],
)
def test_label_and_requirements_identify_a_cpu_build(version, requirements, cpu):
    assert is_cpu_build(version, requirements) == cpu
