"""Real photographs, as they come with scikit-image and scikit-learn."""

from importlib.util import find_spec
from pathlib import Path


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} holds the photographs: run ./dev setup")
    return Path(spec.origin).parent


def photographs() -> list[Path]:
    """The files that are there, of a cat, a cup of coffee, a rocket, a palace and a flower."""
    image, learn = _package("skimage") / "data", _package("sklearn") / "datasets" / "images"
    wanted = [image / "chelsea.png", image / "coffee.png", image / "rocket.jpg"]
    return [p for p in [*wanted, learn / "china.jpg", learn / "flower.jpg"] if p.exists()]
