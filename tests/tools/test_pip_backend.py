"""The build backend of pip install: which torch it takes, and its sentences where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "tools" / "packaging"
sys.path.append(str(PACKAGING))

import found_torch  # noqa: E402
import torch_metadata  # noqa: E402


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages that the backend takes; a function that puts a torch there."""
    monkeypatch.setenv(found_torch.VARIABLE, str(tmp_path))

    def install(version):
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "version.py").write_text(
            f"__version__ = '{version}'\ndebug = False\n"
        )

    return install


@pytest.mark.parametrize(
    ("version", "found"),
    [("2.13.0+cpu", "2.13.0"), ("2.14.1+cu130", "2.14.1"), ("2.15.0", "2.15.0")],
)
def test_the_wheel_is_of_the_torch_that_is_there(site, tmp_path, version, found):
    site(version)
    assert found_torch.find() == (tmp_path, found)
    assert torch_metadata.dynamic_metadata({}, {}) == {
        "version": f"{found}+softnpu",
        "dependencies": [f"torch=={found}"],
    }


def test_another_torch_is_refused_in_one_sentence(site):
    site("2.6.0+cu124")
    with pytest.raises(
        found_torch.TorchError, match=r"has torch 2\.6\.0: install another torch first \(pip"
    ):
        found_torch.find()


def test_no_torch_is_refused_in_one_sentence(site, tmp_path):
    with pytest.raises(
        found_torch.TorchError, match=f"there is none in {tmp_path}: pip install torch, then"
    ):
        found_torch.find()


def backend(code, **environment):
    program = f"import sys; sys.path.insert(0, {str(PACKAGING)!r}); import pip_backend; {code}"
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


def test_the_backend_ends_with_the_sentence(tmp_path):
    ended = backend(
        "pip_backend.get_requires_for_build_wheel()", TORCH_NPU_BUILD_TORCH=str(tmp_path)
    )
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        f"torch_npu cannot be built: torch_npu is built for one torch, and there is none in {tmp_path}: "
        "pip install torch, then install torch_npu again (TORCH_NPU_BUILD_TORCH names a folder that has one elsewhere)"
    )


def test_a_missing_compiler_is_said_before_anything_is_fetched(tmp_path):
    ended = backend("pip_backend.get_requires_for_build_wheel()", CXX="no-such-compiler")
    assert ended.returncode == 1
    assert ended.stderr.strip().startswith(
        "torch_npu cannot be built: this needs g++ 12 or newer, Highway"
    )
    assert "apt-get install" in ended.stderr
    assert "Traceback" not in ended.stderr


# pip makes each of these calls in a process of its own.
CALLS = ["get_requires_for_build_wheel()", "prepare_metadata_for_build_wheel('m')", "build_wheel('w', None, 'm')"]  # fmt: skip
COUNTS = """
from pathlib import Path
from unittest import mock
pip_backend.scikit = mock.Mock()
pip_backend.find_spec = lambda name: {spec}
pip_backend.check_build_tools = lambda: print("checked")
pip_backend._LINK_TO_TORCH = Path({link!r})
pip_backend.{call}
"""


@pytest.mark.parametrize("is_isolated", [True, False])
def test_one_build_checks_the_system_once(site, tmp_path, is_isolated):
    site("2.13.0")
    link, printed = tmp_path / "torch.pth", ""
    for call in CALLS if is_isolated else CALLS[1:]:
        ended = backend(
            "\n"
            + COUNTS.format(spec=None if is_isolated else "pip_backend", link=str(link), call=call),
            TORCH_NPU_BUILD_TORCH=str(tmp_path),
        )
        assert ended.returncode == 0, ended.stderr
        printed += ended.stdout
    assert printed == "checked\n"
    assert link.exists() == is_isolated


def test_the_metadata_of_this_checkout_name_its_torch(tmp_path):
    import torch

    version = torch.__version__.split("+")[0]
    ended = backend(f"print(pip_backend.prepare_metadata_for_build_wheel({str(tmp_path)!r}))")
    assert ended.returncode == 0, ended.stderr
    (metadata,) = tmp_path.glob("*.dist-info/METADATA")
    lines = metadata.read_text().splitlines()
    assert f"Version: {version}+softnpu" in lines
    assert f"Requires-Dist: torch=={version}" in lines
