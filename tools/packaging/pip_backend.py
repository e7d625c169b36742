"""The build backend of ``pip install .``: scikit-build-core, with the torch of the interpreter that runs pip.

torch is no build requirement: pip would fetch gigabytes, or another version than the one in use.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import scikit_build_core.build as scikit
from found_torch import TorchError, find

# Of a checkout: the checks of the system are those of ./dev setup.
sys.path.append(str(Path(__file__).resolve().parents[1]))
from dev.run import DevError
from dev.system import check_build_tools

Settings = dict[str, list[str] | str] | None


# Beside an isolated build's own packages, and searched after them.
_LINK_TO_TORCH = Path(scikit.__file__).parents[2] / "torch_of_the_interpreter.pth"


def _prepare() -> None:
    """Checks torch, compiler and libraries, and lets programs of an isolated build import torch.

    Each call of the backend is a process of its own. Those of one isolated build share the link, so that only the first
    checks the system.

    Raises:
        SystemExit: something is missing; one sentence says what to do.
    """
    try:
        folder, _ = find()
        link = f"{folder}\n"
        if _LINK_TO_TORCH.exists() and _LINK_TO_TORCH.read_text() == link:
            return
        check_build_tools()
    except (DevError, TorchError) as error:
        raise SystemExit(f"\ntorch_npu cannot be built: {error}") from None
    if find_spec("torch") is None:
        _LINK_TO_TORCH.write_text(link)


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """Requirements beyond those of pyproject.toml: CMake and Ninja, where the system has none."""
    _prepare()
    return scikit.get_requires_for_build_wheel(settings)


def get_requires_for_build_editable(settings: Settings = None) -> list[str]:
    """The same for ``pip install -e .``."""
    _prepare()
    return scikit.get_requires_for_build_editable(settings)


def get_requires_for_build_sdist(settings: Settings = None) -> list[str]:
    """The same for an archive of sources."""
    return scikit.get_requires_for_build_sdist(settings)


def prepare_metadata_for_build_wheel(folder: str, settings: Settings = None) -> str:
    """Writes the metadata; returns the name of their folder in ``folder``."""
    _prepare()
    return scikit.prepare_metadata_for_build_wheel(folder, settings)


def prepare_metadata_for_build_editable(folder: str, settings: Settings = None) -> str:
    """The same for ``pip install -e .``."""
    _prepare()
    return scikit.prepare_metadata_for_build_editable(folder, settings)


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Builds a wheel; returns its name in ``folder``. With ``metadata``, ``prepare_metadata_for_build_wheel`` checked."""
    if metadata is None:
        _prepare()
    return scikit.build_wheel(folder, settings, metadata)


def build_editable(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """The same for a wheel that refers to the checkout."""
    if metadata is None:
        _prepare()
    return scikit.build_editable(folder, settings, metadata)


def build_sdist(folder: str, settings: Settings = None) -> str:
    """Packs the sources; returns the archive's name in ``folder``."""
    return scikit.build_sdist(folder, settings)
