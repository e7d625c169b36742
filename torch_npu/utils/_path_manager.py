"""Checked access to files and folders, with the names and errors of the official plug-in's helper."""

import os
import re
import shutil
import warnings
from collections.abc import Callable

from torch_npu._core.errors import ErrCode, pta_error

_USUAL = re.compile(r"(\.|/|_|-|\s|[~0-9a-zA-Z]|[\u4e00-\u9fa5])+")


def _warn_of_link(path: str, text: str) -> None:
    if os.path.islink(path):
        warnings.warn(text, stacklevel=3)


def _try(text: str, act: Callable[[], object]) -> None:
    try:
        act()
    except OSError as error:
        raise RuntimeError(text + pta_error(ErrCode.SYSCALL)) from error


class PathManager:
    """Functions for paths. What is unusual is warned about, what cannot work raises a RuntimeError."""

    MAX_PATH_LENGTH = 4096
    MAX_FILE_NAME_LENGTH = 255
    DATA_FILE_AUTHORITY = 0o640
    DATA_DIR_AUTHORITY = 0o750

    @classmethod
    def check_input_directory_path(cls, path: str) -> None:
        """Raises if ``path`` is a file; warns of links, long names and unusual characters. It need not exist."""
        cls._check_input(path)
        if os.path.isfile(path):
            raise RuntimeError(
                f"Invalid input path is a file path: {path}" + pta_error(ErrCode.PARAM)
            )

    @classmethod
    def check_input_file_path(cls, path: str) -> None:
        """The same for a file: raises if ``path`` is a folder."""
        cls._check_input(path)
        if os.path.isdir(path):
            raise RuntimeError(
                f"Invalid input path is a directory path: {path}" + pta_error(ErrCode.PARAM)
            )

    @classmethod
    def check_directory_path_writeable(cls, path: str) -> None:
        """Raises if ``path`` does not exist; warns if it is a link, or must not be written."""
        cls._check_access(path, os.W_OK)

    @classmethod
    def check_directory_path_readable(cls, path: str) -> None:
        """Raises if ``path`` does not exist; warns if it is a link, or must not be read."""
        cls._check_access(path, os.R_OK)

    @classmethod
    def check_path_is_readable(cls, path: str) -> bool:
        """Whether it may be read."""
        return os.access(path, os.R_OK)

    @classmethod
    def check_path_is_writeable(cls, path: str) -> bool:
        """Whether it may be written."""
        return os.access(path, os.W_OK)

    @classmethod
    def remove_path_safety(cls, path: str) -> None:
        """Removes a folder with its contents, if it exists."""
        text = f"Failed to remove path: {path}"
        _warn_of_link(path, text)
        if os.path.exists(path):
            _try(text, lambda: shutil.rmtree(path))

    @classmethod
    def remove_file_safety(cls, file: str) -> None:
        """Removes a file, if it exists."""
        text = f"Failed to remove file: {file}"
        _warn_of_link(file, text)
        if os.path.exists(file):
            _try(text, lambda: os.remove(file))

    @classmethod
    def make_dir_safety(cls, path: str) -> None:
        """Creates a folder with its parents for its owner and group, unless it exists."""
        text = f"Failed to make directory: {path}"
        _warn_of_link(path, text)
        if not os.path.exists(path):
            _try(text, lambda: os.makedirs(path, mode=cls.DATA_DIR_AUTHORITY, exist_ok=True))

    @classmethod
    def create_file_safety(cls, path: str) -> None:
        """Creates an empty file for its owner and group, unless it exists."""
        text = f"Failed to create file: {path}"
        _warn_of_link(path, text)

        def create() -> None:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, cls.DATA_FILE_AUTHORITY))

        if not os.path.exists(path):
            _try(text, create)

    @classmethod
    def _check_access(cls, path: str, mode: int) -> None:
        if not os.path.exists(path):
            raise RuntimeError(f"The path does not exist: {path}" + pta_error(ErrCode.NOT_FOUND))
        _warn_of_link(path, f"Invalid path is a symbolic link: {path}")
        if not os.access(path, mode):
            warnings.warn(f"The path permission check failed: {path}", stacklevel=3)

    @classmethod
    def _check_input(cls, path: str) -> None:
        too_long = len(path) > cls.MAX_PATH_LENGTH
        if too_long or any(len(name) > cls.MAX_FILE_NAME_LENGTH for name in path.split("/")):
            warnings.warn("Length of input path exceeds the limit.", stacklevel=3)
        _warn_of_link(path, f"Invalid input path is a symbolic link: {path}")
        if not _USUAL.fullmatch(path):
            warnings.warn(f"Invalid input path: {path}", stacklevel=3)


__all__ = ["PathManager"]
