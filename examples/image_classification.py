"""Image classification on npu: one image, batches, JSON.

python examples/image_classification.py photo.jpg [more.jpg ...]
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from efficientnet_lite import pretrained
from PIL import Image

from torch_npu.pipelines import NPUImageClassificationPipeline

PIXELS = 224
CROP = 0.875  # the part of the shorter edge that the centre crop keeps


def class_names() -> list[str]:
    """The 1000 ImageNet names, read from timm's tables without importing timm."""
    spec = find_spec("timm")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("timm holds the class names: pip install --no-deps timm==1.0.31")
    info = Path(spec.origin).parent / "data" / "_info"
    lemmas = dict(
        line.split("\t", 1)
        for line in (info / "imagenet_synset_to_lemma.txt").read_text().splitlines()
    )
    return [lemmas[s] for s in (info / "imagenet_synsets.txt").read_text().split()]


def preprocess(image: Image.Image) -> torch.Tensor:
    """A normalised (3, 224, 224) tensor: bicubic resize, centre crop, mean and deviation 0.5."""
    scale = round(PIXELS / CROP) / min(image.size)
    width, height = (round(edge * scale) for edge in image.size)
    left, top = (width - PIXELS) // 2, (height - PIXELS) // 2
    image = image.resize((width, height), Image.Resampling.BICUBIC)
    image = image.crop((left, top, left + PIXELS, top + PIXELS))
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return pixels.view(PIXELS, PIXELS, 3).permute(2, 0, 1).float().div(127.5).sub(1)


def pipeline(device: str = "npu:0") -> NPUImageClassificationPipeline:
    """EfficientNet-Lite0 with its weights and the names of its classes, on ``device``."""
    return NPUImageClassificationPipeline(
        model=pretrained(), preprocess=preprocess, class_names=class_names(), device=device
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(json.dumps(pipeline().batch_classify(sys.argv[1:]), indent=2))
