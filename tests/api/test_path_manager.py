"""torch_npu.utils._path_manager: what the official plug-in's profilers and tests call for files and folders."""

import os
import warnings

import pytest

from torch_npu.utils._path_manager import PathManager


def test_input_paths_need_not_exist(tmp_path):
    file, folder = tmp_path / "file", tmp_path / "folder"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PathManager.check_input_directory_path(str(folder))
        PathManager.check_input_file_path(str(file))
    folder.mkdir()
    file.touch()
    with pytest.raises(RuntimeError, match="ERR00001 PTA invalid parameter"):
        PathManager.check_input_directory_path(str(file))
    with pytest.raises(RuntimeError, match="is a directory path"):
        PathManager.check_input_file_path(str(folder))


@pytest.mark.parametrize(
    ("path", "text"),
    [("a" * 256, "exceeds the limit"), ("a/" * 2100, "exceeds the limit"), ("a$b", "Invalid input path: ")],
)  # fmt: skip
def test_unusual_paths_are_warned_of(path, text):
    with pytest.warns(UserWarning, match=text):
        PathManager.check_input_file_path(path)


def test_links_are_warned_of(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir()
    link.symlink_to(target)
    for check in (
        PathManager.check_input_directory_path,
        PathManager.check_directory_path_readable,
    ):
        with pytest.warns(UserWarning, match="is a symbolic link"):
            check(str(link))


def test_access(tmp_path):
    for check in (
        PathManager.check_directory_path_readable,
        PathManager.check_directory_path_writeable,
    ):
        check(str(tmp_path))
        with pytest.raises(RuntimeError, match="The path does not exist"):
            check(str(tmp_path / "none"))
    assert PathManager.check_path_is_readable(str(tmp_path))
    assert PathManager.check_path_is_writeable(str(tmp_path))
    assert not PathManager.check_path_is_readable(str(tmp_path / "none"))


def test_files_and_folders_are_made_and_removed(tmp_path):
    folder, file = tmp_path / "a" / "b", tmp_path / "a" / "b" / "file"
    umask = os.umask(0)
    try:
        for _ in range(2):
            PathManager.make_dir_safety(str(folder))
            PathManager.create_file_safety(str(file))
    finally:
        os.umask(umask)
    assert folder.stat().st_mode & 0o777 == PathManager.DATA_DIR_AUTHORITY
    assert file.stat().st_mode & 0o777 == PathManager.DATA_FILE_AUTHORITY
    for _ in range(2):
        PathManager.remove_file_safety(str(file))
        assert not file.exists()
    with pytest.raises(RuntimeError, match=r"Failed to remove file(.|\n)*ERR00010 PTA system call"):
        PathManager.remove_file_safety(str(folder))
    PathManager.remove_path_safety(str(tmp_path / "a"))
    assert not folder.exists()
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RuntimeError, match="Failed to make directory"):
        PathManager.make_dir_safety(str(file / "x"))
