"""The main job: photographs classified, a network trained, sentences compared, on the device npu.

./dev demo
"""

import tempfile
import time
from pathlib import Path

import torch
from digits import run as train_digits
from image_classification import pipeline
from photographs import photographs
from rich.console import Console
from rich.table import Table
from sentences import run as compare_sentences

console = Console(width=110)


def classify() -> None:
    """Classifies the photographs one by one, beside them a file that is no image, and compares with the CPU."""
    npu, cpu = pipeline("npu:0"), pipeline("cpu")
    table = Table(title="EfficientNet-Lite0 on npu: top 5")
    for name, style in (
        ("photograph", "bold"),
        ("classes and confidence", ""),
        ("prepare", ""),
        ("infer", ""),
    ):
        table.add_column(name, style=style)
    table.add_column("npu - cpu", justify="right")
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "broken.jpg"
        broken.write_bytes(b"this is no photograph")
        files = [*photographs(), broken]
        npu.classify_image(files[0])  # the first call also makes primitives and caches
        for file in files:
            result = npu.batch_classify([file])[0]
            if "error" in result:
                table.add_row(file.name, f"[red]{result['error'].replace(folder + '/', '')}")
                continue
            image = npu.load(file).unsqueeze(0)
            difference = (npu.logits(image).cpu() - cpu.logits(image)).abs().max().item()
            best = ", ".join(
                f"{p['class_name'].split(',')[0]} {p['confidence']:.0f} %"
                for p in result["predictions"]
            )
            times = (f"{result[key]:.0f} ms" for key in ("preprocess_time_ms", "inference_time_ms"))
            table.add_row(file.name, best, *times, f"{difference:.1e}")
    console.print(table)


def main() -> None:
    """Runs the three parts and prints what they took."""
    properties = torch.npu.get_device_properties()
    console.print(
        f"[bold]{properties.name}[/] played by {properties.softnpu or 'real hardware'}, "
        f"{properties.total_memory / 2**30:.1f} GiB, torch {torch.__version__}"
    )
    started = time.monotonic()
    classify()
    console.print("[bold]Handwritten digits: a CNN trained on npu[/]")
    if train_digits() < 0.97:
        raise SystemExit(
            "the network reads less than 97 % of the test pictures: something is wrong"
        )
    console.print("[bold]Sentences: cosine similarity, all-MiniLM-L6-v2 on npu[/]")
    compare_sentences()
    console.print(
        f"peak memory on npu {torch.npu.max_memory_allocated() / 2**20:.0f} MiB, "
        f"{time.monotonic() - started:.0f} s in all"
    )


if __name__ == "__main__":
    main()
