"""Whether a native library is whole, by what its header says."""

import pytest

from torch_npu import _load
from torch_npu._core import shared_objects


@pytest.fixture
def library(tmp_path):
    """A copy of a native library of the package."""
    source = _load.package_dir() / "_C.so"
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes())
    return path


def test_every_library_of_the_package_is_whole():
    libraries = list(_load.package_dir().rglob("*.so*"))
    assert len(libraries) > 20
    assert all(map(shared_objects.is_whole, libraries))


@pytest.mark.parametrize("left", [-1, 100, 63, 0])
def test_a_shorter_copy_is_not(library, left):
    library.write_bytes(library.read_bytes()[:left])
    assert not shared_objects.is_whole(library)


def test_another_file_is_not(library):
    library.write_text("no library" * 100)
    assert not shared_objects.is_whole(library)


def test_no_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        shared_objects.is_whole(tmp_path / "none.so")
