"""The data files of an installed toolkit: its version, and the sizes of the SoCs that softnpu emulates by name.

Facts: cann-cann 0.2.0 (MIT) reads these files and names their keys. The sizes are those of the Ascend 910B.
"""

import platform
import re
from collections.abc import Iterator
from pathlib import Path

_KB = 1 << 10
_GB = 1 << 30
# Cube cores and device memory. Each cube core has two vector cores.
_SOCS = {
    "Ascend910B1": (24, 64 * _GB),
    "Ascend910B2": (24, 64 * _GB),
    "Ascend910B3": (20, 64 * _GB),
    "Ascend910B4": (20, 32 * _GB),
}
_CORE = {
    "l0_a_size": 64 * _KB,
    "l0_b_size": 64 * _KB,
    "l0_c_size": 128 * _KB,
    "l1_size": 512 * _KB,
    "ub_size": 192 * _KB,
    "ubblock_size": 32,
}
_L2_SIZE = 192 * 1024 * _KB
_ARCHITECTURE = 2201


def cann_version(source: Path) -> str:
    """The version that aclsysGetCANNVersion returns.

    Args:
        source: softnpu/ascendcl/init.cpp, which has the numbers.

    Raises:
        ValueError: it has none.
    """
    found = re.search(r"kCannVersion = \{([^}]*)\}", source.read_text())
    if found is None:
        raise ValueError(f"{source} has no kCannVersion")
    return ".".join(re.findall(r'"(\d+)"', found[1])[:3])


def _config(name: str, cubes: int, memory: int) -> Iterator[str]:
    yield "[version]"
    yield f"SoC_version={name}"
    yield "Short_SoC_version=Ascend910B"
    yield f"NpuArch={_ARCHITECTURE}"
    yield "[SoCInfo]"
    yield f"ai_core_cnt={cubes}"
    yield f"cube_core_cnt={cubes}"
    yield f"vector_core_cnt={2 * cubes}"
    yield f"memory_size={memory}"
    yield f"l2_size={_L2_SIZE}"
    yield "[AICoreSpec]"
    for key, size in _CORE.items():
        yield f"{key}={size}"


def write(folder: Path, version: str) -> None:
    """Writes the files below the toolkit's ``folder``, in the folder of the machine's architecture."""
    home = folder / f"{platform.machine()}-linux"
    configs = home / "data" / "platform_config"
    configs.mkdir(parents=True)
    (home / "ascend_toolkit_install.info").write_text(f"version={version}\n")
    for name, (cubes, memory) in _SOCS.items():
        (configs / f"{name}.ini").write_text("\n".join(_config(name, cubes, memory)) + "\n")
