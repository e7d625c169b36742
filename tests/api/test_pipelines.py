"""torch_npu.pipelines.NPUImageClassificationPipeline, with a small network."""

import json
import threading

import pytest
import torch
from PIL import Image
from torch import nn

from torch_npu.pipelines import NPUImageClassificationPipeline

CLASS = "torch_npu.pipelines.NPUImageClassificationPipeline"
COLORS = ("red", "green", "blue")


class Colors(nn.Module):
    """Logits of red, green and blue are the image's means; counts its calls by batch size."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.batches = []

    def forward(self, x):
        self.batches.append(len(x))
        if len(x) > 8:
            raise torch.OutOfMemoryError("too many images")
        return x.mean((2, 3)) * self.scale


@pytest.fixture
def pipeline():
    return NPUImageClassificationPipeline(model=Colors(), class_names=COLORS)


@pytest.fixture
def images(tmp_path):
    for color in COLORS:
        Image.new("RGB", (300, 260), color).save(tmp_path / f"{color}.png")
    return [tmp_path / f"{color}.png" for color in COLORS]


def names(result):
    return [p["class_name"] for p in result["predictions"]]


@pytest.mark.api(f"{CLASS}.classify_image")
def test_one_image(pipeline, images):
    result = json.loads(json.dumps(pipeline.classify_image(images[2], top_k=3)))
    assert list(result) == [
        "image_path",
        "preprocess_time_ms",
        "inference_time_ms",
        "total_time_ms",
        "predictions",
    ]
    assert result["image_path"] == str(images[2])
    assert result["total_time_ms"] == pytest.approx(
        result["preprocess_time_ms"] + result["inference_time_ms"]
    )
    best = result["predictions"][0]
    assert {key: best[key] for key in ("rank", "class_id", "class_name")} == {
        "rank": 1,
        "class_id": 2,
        "class_name": "blue",
    }
    assert [p["rank"] for p in result["predictions"]] == [1, 2, 3]
    assert sum(p["confidence"] for p in result["predictions"]) == pytest.approx(100, rel=1e-4)


@pytest.mark.api(f"{CLASS}.classify_image")
@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1"])
def test_images_of_other_modes(pipeline, tmp_path, mode):
    file = tmp_path / ("image.tif" if mode == "CMYK" else "image.png")
    Image.new("RGB", (224, 500), "white").convert(mode).save(file)
    assert len(pipeline.classify_image(file, top_k=1)["predictions"]) == 1


@pytest.mark.api(f"{CLASS}.batch_classify")
def test_real_batches_and_bad_images(pipeline, images, tmp_path):
    text, short = tmp_path / "text.jpg", tmp_path / "short.png"
    text.write_text("no picture")
    short.write_bytes(images[0].read_bytes()[:-40])
    files = [*images, text, tmp_path / "missing.jpg", short, tmp_path, 7, *images]
    results = pipeline.batch_classify(files, batch_size=4, top_k=1)
    assert pipeline.model.batches == [3, 3]
    assert [r["image_path"] for r in results] == [str(f) for f in files]
    good = [*results[:3], *results[8:]]
    assert [names(r)[0] for r in good] == [*COLORS, *COLORS]
    for result in results[3:8]:
        assert set(result) == {"image_path", "error"}
        assert result["error"]
    assert "cannot identify image file" in results[3]["error"]
    assert "No such file" in results[4]["error"]
    assert "must be a path, but got int" in results[7]["error"]
    json.dumps(results)
    assert pipeline.batch_classify([]) == []


@pytest.mark.api(f"{CLASS}.batch_classify")
def test_a_batch_without_memory_goes_image_by_image(pipeline, images):
    results = pipeline.batch_classify(images * 3, batch_size=9, top_k=1)
    assert pipeline.model.batches == [9, *[1] * 9]
    assert [names(r)[0] for r in results] == [*COLORS] * 3


@pytest.mark.api(f"{CLASS}.batch_classify")
def test_images_of_several_sizes(images):
    """A preprocessing of one's own may keep sizes: such images cannot be stacked."""

    edges = iter((8, 9, 10))

    def preprocess(image):
        edge = next(edges)
        return torch.ones(3, edge, edge)

    pipeline = NPUImageClassificationPipeline(model=Colors(), preprocess=preprocess)
    results = pipeline.batch_classify(images, top_k=1)
    assert [names(r) for r in results] == [["class 0"]] * 3


@pytest.mark.api(f"{CLASS}.load", f"{CLASS}.logits")
def test_cpu_gives_the_same(pipeline, images):
    other = NPUImageClassificationPipeline(model=Colors(), class_names=COLORS, device="cpu")
    batch = torch.stack([pipeline.load(file) for file in images])
    assert batch.shape == (3, 3, 224, 224)
    result = pipeline.logits(batch)
    assert result.device == torch.device("npu:0")
    torch.testing.assert_close(result.cpu(), other.logits(batch))
    half = NPUImageClassificationPipeline(model=Colors().bfloat16())
    assert half.logits(batch).dtype == torch.bfloat16


@pytest.mark.api(f"{CLASS}.classify_image", f"{CLASS}.batch_classify")
def test_bad_arguments(pipeline, images, tmp_path):
    text = tmp_path / "text.jpg"
    text.write_text("no picture")
    with pytest.raises(FileNotFoundError, match=r"missing\.jpg"):
        pipeline.classify_image(tmp_path / "missing.jpg")
    with pytest.raises(OSError, match="cannot identify image file"):
        pipeline.classify_image(text)
    with pytest.raises(TypeError, match="image_path must be a path, but got NoneType"):
        pipeline.classify_image(None)
    for count in (0, 4):
        with pytest.raises(ValueError, match="between 1 and the 3 classes"):
            pipeline.classify_image(images[0], top_k=count)
    with pytest.raises(ValueError, match="batch_size must be at least 1, but got 0"):
        pipeline.batch_classify(images, batch_size=0)
    with pytest.raises(TypeError, match="sequence of paths"):
        pipeline.batch_classify(str(images[0]))
    with pytest.raises(ValueError, match="no model 'vgg': model_name is one of resnet50"):
        NPUImageClassificationPipeline("vgg")
    assert names(pipeline.classify_image(images[1], 1)) == ["green"]


@pytest.mark.api(CLASS)
def test_a_hub_without_a_copy_or_a_network(tmp_path, monkeypatch):
    def load(*arguments, **options):
        raise OSError("no network")

    monkeypatch.setattr(torch.hub, "load", load)
    with pytest.raises(RuntimeError, match=r"could not load resnet50 .* no network; .* model="):
        NPUImageClassificationPipeline()


@pytest.mark.api(f"{CLASS}.batch_classify")
def test_threads(pipeline, images):
    found = [None] * 4

    def work(location):
        files = images[location % 3 :] + images[: location % 3]
        found[location] = [
            names(r)[0] for _ in range(5) for r in pipeline.batch_classify(files, 2, top_k=1)
        ]

    threads = [threading.Thread(target=work, args=(location,)) for location in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for location, result in enumerate(found):
        first = location % 3
        assert result == [*COLORS[first:], *COLORS[:first]] * 5
