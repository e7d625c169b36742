"""Image classification: files to classes, one at a time or in batches."""

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from PIL import Image

Path = str | os.PathLike[str]
Preprocess = Callable[["Image.Image"], Tensor]

# The repository of torch.hub that has the models by name.
HUB = "pytorch/vision:v0.10.0"
MODELS = ("resnet50",)

# Mean and standard deviation of ImageNet's red, green and blue, between 0 and 1.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def preprocess_imagenet(image: "Image.Image", resize: int = 256, crop: int = 224) -> Tensor:
    """An image as torchvision's ImageNet networks take it.

    Args:
        image: of mode RGB.
        resize: the length of its shorter edge before the crop, in pixels.
        crop: the edges of the square in the middle, in pixels.

    Returns:
        float32 ``[3, crop, crop]``, each channel less ImageNet's mean and divided by its standard deviation.
    """
    from PIL import Image

    shorter = min(image.size)
    scaled = tuple(edge * resize // shorter for edge in image.size)
    left, top = (round((edge - crop) / 2) for edge in scaled)
    image = image.resize(scaled, Image.Resampling.BILINEAR)
    image = image.crop((left, top, left + crop, top + crop))
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    mean, deviation = (torch.tensor(v).view(3, 1, 1) for v in (_MEAN, _DEVIATION))
    return (pixels.view(crop, crop, 3).permute(2, 0, 1).float() / 255 - mean) / deviation


class NPUImageClassificationPipeline:
    """Classifies image files on an npu.

    Results are dictionaries for ``json.dump``: ``image_path``; ``preprocess_time_ms``, ``inference_time_ms``,
    ``total_time_ms``, in a batch its time divided by its images; ``predictions``, a list with ``rank`` from 1,
    ``class_id``, ``class_name`` and ``confidence`` in percent. Several threads may use one pipeline.
    """

    def __init__(
        self,
        model_name: str = "resnet50",
        *,
        model: nn.Module | None = None,
        preprocess: Preprocess = preprocess_imagenet,
        class_names: Sequence[str] | None = None,
        device: torch.device | str = "npu:0",
    ) -> None:
        """Loads the model, moves it to ``device`` and sets it to eval mode.

        Args:
            model_name: ``resnet50``, which ``torch.hub`` loads with its weights from ``pytorch/vision:v0.10.0``.
            model: a network to use in its place, ``[N, 3, H, W]`` to logits ``[N, classes]``. It is moved itself.
            preprocess: makes an RGB image of PIL a tensor ``[3, H, W]``, of one size for all images.
            class_names: the classes' names in the order of the logits; by default ``class 0``, ``class 1`` ...
            device: where the model runs; an npu, or the CPU to compare with.

        Raises:
            ValueError: an unknown ``model_name``.
            RuntimeError: torch.hub has no copy of the model and cannot download it.
            ModuleNotFoundError: Pillow is not installed.
        """
        try:
            import PIL.Image  # noqa: F401
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "NPUImageClassificationPipeline reads images with Pillow: pip install pillow"
            ) from None
        if model is None and model_name not in MODELS:
            raise ValueError(
                f"no model {model_name!r}: model_name is one of {', '.join(MODELS)}; "
                "another network is given as model="
            )
        if model is None:
            model = _from_hub(model_name)
        else:
            model_name = type(model).__name__
        self.device = torch.device(device)
        self.model_name = model_name
        self.model = model.to(self.device).to(memory_format=torch.channels_last).eval()
        self.preprocess = preprocess
        self.class_names = None if class_names is None else list(class_names)

    def load(self, image_path: Path) -> Tensor:
        """The preprocessed image ``[3, H, W]``, on the CPU.

        Raises:
            TypeError: ``image_path`` is no path.
            OSError: there is no such file, or it is no image that Pillow reads.
        """
        from PIL import Image

        if not isinstance(image_path, str | os.PathLike):
            raise TypeError(f"image_path must be a path, but got {type(image_path).__name__}")
        with Image.open(image_path) as image:
            return self.preprocess(image.convert("RGB"))

    def logits(self, images: Tensor) -> Tensor:
        """``[N, classes]`` on the pipeline's device, of preprocessed images ``[N, 3, H, W]``."""
        weight = next(self.model.parameters(), images)
        with torch.no_grad():
            return self.model(
                images.to(self.device, weight.dtype, memory_format=torch.channels_last)
            )

    def classify_image(self, image_path: Path, top_k: int = 5) -> dict[str, Any]:
        """The ``top_k`` most likely classes of one image.

        Raises:
            OSError: there is no such file, or it is no image that Pillow reads.
            ValueError: ``top_k`` is not between 1 and the number of classes.
        """
        started = time.perf_counter()
        image = self.load(image_path)
        loaded = time.perf_counter()
        (predictions,) = self._predictions(image.unsqueeze(0), top_k)
        ended = time.perf_counter()
        return _result(image_path, loaded - started, ended - loaded, predictions)

    def batch_classify(
        self, image_paths: Sequence[Path], batch_size: int = 4, top_k: int = 5
    ) -> list[dict[str, Any]]:
        """The classes of each image, ``batch_size`` of them at a time through the model.

        An image that cannot be read or classified has ``image_path`` and ``error`` only, and the others go on. If a
        batch fails, for example for lack of memory, its images are classified one by one.

        Raises:
            TypeError: ``image_paths`` is a single path.
            ValueError: ``batch_size`` or ``top_k`` is not positive.
        """
        if isinstance(image_paths, str | os.PathLike):
            raise TypeError("image_paths must be a sequence of paths; one is for classify_image")
        for name, value in (("batch_size", batch_size), ("top_k", top_k)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, but got {value}")
        return [
            result
            for start in range(0, len(image_paths), batch_size)
            for result in self._classify_batch(image_paths[start : start + batch_size], top_k)
        ]

    def _classify_batch(self, paths: Sequence[Path], top_k: int) -> list[dict[str, Any]]:
        images: dict[int, tuple[Tensor, float]] = {}
        results: dict[int, dict[str, Any]] = {}
        for location, path in enumerate(paths):
            started = time.perf_counter()
            try:
                images[location] = self.load(path), time.perf_counter() - started
            except Exception as error:
                results[location] = _failure(path, error)
        groups = [list(images)] if images else []
        while groups:
            group = groups.pop()
            started = time.perf_counter()
            try:
                batch = torch.stack([images[location][0] for location in group])
                predictions = self._predictions(batch, top_k)
            except Exception as error:
                if len(group) > 1:
                    groups += [[location] for location in group]
                else:
                    results[group[0]] = _failure(paths[group[0]], error)
                continue
            seconds = (time.perf_counter() - started) / len(group)
            for location, best in zip(group, predictions, strict=True):
                results[location] = _result(paths[location], images[location][1], seconds, best)
        return [results[location] for location in range(len(paths))]

    def _predictions(self, images: Tensor, top_k: int) -> list[list[dict[str, Any]]]:
        """The predictions of each image of a batch; waits for the device."""
        logits = self.logits(images)
        if not 1 <= top_k <= logits.shape[-1]:
            raise ValueError(
                f"top_k must be between 1 and the {logits.shape[-1]} classes, but got {top_k}"
            )
        confidences, classes = torch.topk(F.softmax(logits, dim=-1), top_k)
        rows = zip(confidences.tolist(), classes.tolist(), strict=True)
        return [
            [
                {
                    "rank": rank,
                    "class_id": number,
                    "class_name": self._name(number),
                    "confidence": confidence * 100,
                }
                for rank, (confidence, number) in enumerate(zip(*row, strict=True), 1)
            ]
            for row in rows
        ]

    def _name(self, number: int) -> str:
        names = self.class_names
        return f"class {number}" if names is None or number >= len(names) else names[number]


def _from_hub(name: str) -> nn.Module:
    try:
        return torch.hub.load(HUB, name, pretrained=True)
    except OSError as error:
        raise RuntimeError(
            f"torch.hub could not load {name} of {HUB}: {error}; its copies are in {torch.hub.get_dir()}, "
            "or give a network as model="
        ) from error


def _result(
    path: Path, preprocess: float, inference: float, predictions: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "image_path": os.fspath(path),
        "preprocess_time_ms": preprocess * 1000,
        "inference_time_ms": inference * 1000,
        "total_time_ms": (preprocess + inference) * 1000,
        "predictions": predictions,
    }


def _failure(path: object, error: Exception) -> dict[str, Any]:
    return {"image_path": str(path), "error": str(error) or type(error).__name__}
