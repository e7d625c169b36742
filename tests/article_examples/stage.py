"""Runs the scripts as a user would: in a folder with the files that they read, torchvision's names within reach.

ResNet-50 has random weights of a fixed seed. torch.hub finds its repository in a local folder.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
SHIM = HERE / "shim"

SEED = 0
# Runs a script with the same random numbers each time.
_SEEDED = f"""
import runpy, sys, torch
torch.manual_seed({SEED})
runpy.run_path(sys.argv[1], run_name="__main__")
"""
_HUBCONF = """
dependencies = ["torch"]
from torchvision.models import resnet50
"""


@contextmanager
def torchvision() -> Iterator[None]:
    """Torchvision's names within reach of this process; other libraries would take them for the whole of it."""
    sys.path.insert(0, str(SHIM))
    try:
        yield
    finally:
        sys.path.remove(str(SHIM))
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]


def prepare(folder: Path) -> None:
    """Writes the weights, the hub's folder and a red image into ``folder``."""
    import torch

    with torchvision():
        from torchvision.models import resnet50

    checkpoints = folder / "hub" / "checkpoints"
    repository = folder / "hub" / "pytorch_vision_v0.10.0"
    for result in (checkpoints, repository):
        result.mkdir(parents=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = resnet50()
        with torch.no_grad():
            model.fc.weight *= 50  # so that the classes differ clearly
        torch.save(model.state_dict(), folder / "resnet50.pth")
    (checkpoints / "resnet50.pth").hardlink_to(folder / "resnet50.pth")
    (repository / "hubconf.py").write_text(_HUBCONF)
    Image.new("RGB", (224, 224), color="red").save(folder / "demo_image1.jpg")


def environment(folder: Path) -> dict[str, str]:
    """The variables of a script that runs in ``folder``."""
    path = os.pathsep.join(filter(None, [str(SHIM), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "TORCH_HOME": str(folder), "PYTHONUTF8": "1"}


def run(name: str, folder: Path, code: str = _SEEDED) -> str:
    """What the script ``name`` prints, which must succeed; or ``code``, which gets the script's path."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(SCRIPTS / f"{name}.py")],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return done.stdout
