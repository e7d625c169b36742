"""The examples run, and their results are those in the documentation."""

import os
import re
import socket
import sys
from pathlib import Path

import fresh
import pytest
import torch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def pipeline():
    import image_classification

    return image_classification.pipeline()


# The classes of the photographs, by file.
EXPECTED = {
    "chelsea.png": "tiger cat",
    "coffee.png": "espresso",
    "rocket.jpg": "missile",
    "china.jpg": "palace",
    "flower.jpg": "daisy",
}


def test_photographs(pipeline, tmp_path):
    from photographs import photographs

    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture")
    files = [*photographs()[:2], broken, *photographs()[2:]]
    results = pipeline.batch_classify(files, batch_size=4)
    assert [r["image_path"] for r in results] == [str(f) for f in files]
    for result in results:
        name = Path(result["image_path"]).name
        if name == "broken.jpg":
            assert set(result) == {"image_path", "error"}
            assert "cannot identify image file" in result["error"]
            continue
        assert result["predictions"][0]["class_name"] == EXPECTED[name]
        assert len(result["predictions"]) == 5
    assert len(results) == len(EXPECTED) + 1


def test_one_image_has_the_keys_of_the_interface(pipeline):
    from photographs import photographs

    result = pipeline.classify_image(photographs()[0], top_k=3)
    assert set(result) == {
        "image_path",
        "preprocess_time_ms",
        "inference_time_ms",
        "total_time_ms",
        "predictions",
    }
    assert [set(p) for p in result["predictions"]] == [
        {"rank", "class_id", "class_name", "confidence"}
    ] * 3


def test_digits():
    import digits

    assert digits.run() > 0.97


def test_sentences():
    import sentences

    similarity = sentences.run().cpu()
    assert similarity[0, 1] > 0.6
    assert similarity[2, 3] > similarity[0, 3]
    on_cpu = sentences.Embedder("cpu")(sentences.SENTENCES)
    torch.testing.assert_close(similarity, on_cpu @ on_cpu.T, rtol=1e-4, atol=1e-5)


def _examples():
    """The Python blocks of README.md and of the pages of docs/."""
    root = EXAMPLES.parent
    for document in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        blocks = re.findall(
            r"^```python\n(.*?)^```$", document.read_text(), re.DOTALL | re.MULTILINE
        )
        for number, block in enumerate(blocks):
            yield pytest.param(block, id=f"{document.relative_to(root)}-{number}")


@pytest.fixture
def one_rank():
    """What torchrun sets for a single process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = {
        "RANK": 0,
        "LOCAL_RANK": 0,
        "WORLD_SIZE": 1,
        "LOCAL_WORLD_SIZE": 1,
        "MASTER_PORT": port,
    }
    return {"MASTER_ADDR": "127.0.0.1", **{name: str(number) for name, number in names.items()}}


@pytest.mark.parametrize("block", _examples())
def test_example_of_a_document_runs(block, one_rank, tmp_path):
    fresh.output(block, cwd=tmp_path, **(one_rank if "init_process_group" in block else {}))
