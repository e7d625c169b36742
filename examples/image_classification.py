"""Image classification on npu: one image, batches, JSON.

python examples/image_classification.py photo.jpg [more.jpg ...]
"""

import json
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from efficientnet_lite import pretrained
from PIL import Image
from torch.nn import functional as F

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


class NPUImageClassificationPipeline:
    """Classifies images with EfficientNet-Lite0 on ``device``."""

    def __init__(self, device: str = "npu:0") -> None:
        """Loads the weights and the class names."""
        self.device = torch.device(device)
        self.class_names = class_names()
        self.model = pretrained().to(self.device).to(memory_format=torch.channels_last)

    def _synchronize(self) -> None:
        if self.device.type == "npu":
            torch.npu.synchronize()

    def load(self, image_path: str | Path) -> torch.Tensor:
        """The image as a tensor; raises OSError where it is no image."""
        with Image.open(image_path) as image:
            return preprocess(image.convert("RGB"))

    @torch.no_grad()
    def logits(self, images: torch.Tensor) -> torch.Tensor:
        """(N, 1000) logits of (N, 3, 224, 224) images."""
        return self.model(images.to(self.device, memory_format=torch.channels_last))

    def _predictions(self, logits: torch.Tensor, top_k: int) -> list[dict[str, Any]]:
        values, indices = torch.topk(F.softmax(logits, dim=0), top_k)
        return [
            {
                "rank": rank,
                "class_id": index,
                "class_name": self.class_names[index],
                "confidence": value * 100,
            }
            for rank, (value, index) in enumerate(
                zip(values.tolist(), indices.tolist(), strict=True), 1
            )
        ]

    def classify_image(self, image_path: str | Path, top_k: int = 5) -> dict[str, Any]:
        """One image: its ``top_k`` classes, confidence in percent, times in ms."""
        started = time.perf_counter()
        images = self.load(image_path).unsqueeze(0)
        preprocessed = time.perf_counter()
        logits = self.logits(images)
        self._synchronize()
        inferred = time.perf_counter()
        predictions = self._predictions(logits[0], top_k)
        return {
            "image_path": str(image_path),
            "preprocess_time_ms": (preprocessed - started) * 1000,
            "inference_time_ms": (inferred - preprocessed) * 1000,
            "total_time_ms": (time.perf_counter() - started) * 1000,
            "predictions": predictions,
        }

    def batch_classify(
        self, image_paths: Sequence[str | Path], batch_size: int = 4, top_k: int = 5
    ) -> list[dict[str, Any]]:
        """Many images, ``batch_size`` at a time through the network; a bad image becomes an entry with "error"."""
        results: list[dict[str, Any]] = []
        for start in range(0, len(image_paths), batch_size):
            results += self._classify_batch(image_paths[start : start + batch_size], top_k)
        return results

    def _classify_batch(self, paths: Sequence[str | Path], top_k: int) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        images = []
        for path in paths:
            started = time.perf_counter()
            entry: dict[str, Any] = {"image_path": str(path)}
            try:
                images.append(self.load(path))
                entry["preprocess_time_ms"] = (time.perf_counter() - started) * 1000
            except (OSError, ValueError) as error:
                entry["error"] = str(error)
            entries.append(entry)
        if not images:
            return entries
        started = time.perf_counter()
        logits = self.logits(torch.stack(images))
        self._synchronize()
        inference = (time.perf_counter() - started) * 1000 / len(images)
        good = [entry for entry in entries if "error" not in entry]
        for entry, row in zip(good, logits, strict=True):
            entry["inference_time_ms"] = inference
            entry["total_time_ms"] = entry["preprocess_time_ms"] + inference
            entry["predictions"] = self._predictions(row, top_k)
        return entries


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pipeline = NPUImageClassificationPipeline()
    print(json.dumps(pipeline.batch_classify(sys.argv[1:]), indent=2))
