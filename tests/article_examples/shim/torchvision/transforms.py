"""The four transformations of a PIL image, and their composition."""

from collections.abc import Callable, Sequence

import torch
from PIL import Image


class Compose:
    """Applies the transformations one after another."""

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = transforms

    def __call__(self, x: object) -> object:
        for transform in self.transforms:
            x = transform(x)
        return x


class Resize:
    """Scales the shorter edge to ``size`` pixels."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: Image.Image) -> Image.Image:
        shorter = min(image.size)
        return image.resize(
            tuple(edge * self.size // shorter for edge in image.size), Image.Resampling.BILINEAR
        )


class CenterCrop:
    """The square of ``size`` pixels in the middle."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: Image.Image) -> Image.Image:
        left, top = (round((edge - self.size) / 2) for edge in image.size)
        return image.crop((left, top, left + self.size, top + self.size))


class ToTensor:
    """uint8 [height, width, 3] to float32 [3, height, width] between 0 and 1."""

    def __call__(self, image: Image.Image) -> torch.Tensor:
        width, height = image.size
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        return pixels.view(height, width, 3).permute(2, 0, 1).float() / 255


class Normalize:
    """Subtracts each channel's mean and divides by its deviation."""

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = (torch.tensor(values).view(3, 1, 1) for values in (mean, std))

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - self.mean) / self.std
