"""./dev bench [--cpu-time] [--runs N] [--write FILE] [suite ...]: npu against CPU eager in one process.

Without a suite: all of them but ``collectives``, ``peers``, ``peer-graphs``, ``provider``, ``instructions``, ``compile``, ``sizes``,
``kernel-checks``, ``timeline`` and ``report``. ``--runs 3`` measures three times and keeps each row's slowest ratio;
``--write`` gives JSON, or Markdown where the file's name ends with .md. ``./dev bench compare A.json B.json`` compares two builds.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean

import torch
from interleave import CPU_TIME, Row, compare, restrict_threads
from results import Measured, Results, machine, print_comparison, table_of
from rich.console import Console
from rich.progress import track
from rich.table import Table
from small import small_works

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))


RUNTIME = Path(__file__).resolve().parents[1] / "build" / "bench" / "bench_runtime"


def runtime() -> list[Measured]:
    """The runtime against the plainest means of the host, without torch (bench/runtime.cpp)."""
    table = Table(
        title="runtime: medians of 21 interleaved rounds; in brackets what it is compared with"
    )
    table.add_column("work")
    for column in ("npu ns", "host ns", "npu / host"):
        table.add_column(column, justify="right")
    with subprocess.Popen([RUNTIME], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in track(process.stdout, description="runtime", total=22, transient=True):
            table.add_row(*line.rstrip("\n").split("\t"))
    if process.returncode != 0:
        sys.exit(f"{RUNTIME.name} failed with exit code {process.returncode}")
    Console(width=140).print(table)
    return []  # in nanoseconds, and against other things


def dispatch() -> list[Measured]:
    """What one small operator costs, seen from Python."""
    npu, cpu = small_works("npu"), small_works("cpu")
    repeats = {name: 500 if "backward" in name else 2000 for name in npu}
    return compare(
        "dispatch",
        [Row(name, npu[name], cpu[name], repeats[name], is_separate=False) for name in npu],
    )


def custom() -> list[Measured]:
    """Operators of namespace npu against compositions on npu and on the CPU."""
    from custom import custom_works

    rows = [
        Row(name, one, other, repeats=10, against=against)
        for name, (one, *others) in custom_works().items()
        for against, other in zip(("composed", "composed, CPU"), others, strict=True)
    ]
    measured = compare("custom", rows, rounds=7)
    for against in ("composed", "composed, CPU"):
        ratios = {m.work: m.ratio for m in measured if m.against == against}
        slower = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > 1)
        print(
            f"against {against}: geometric mean {geometric_mean(ratios.values()):.2f}; above 1: {slower or 'none'}"
        )
    return measured


def graphs() -> list[Measured]:
    """Replays of captured graphs against npu eager and against reading the weights."""
    from graphs import rows

    return compare("graphs", rows())


def compiled_models() -> list[Measured]:
    """Networks that atc compiled, against npu eager, CPU eager and themselves without passes."""
    from compiled_models import rows

    return compare("compiled models", rows(), rounds=7)


def instructions() -> list[Measured]:
    """The same in instructions, which no other process changes; takes minutes."""
    if shutil.which("callgrind_control") is None:
        sys.exit("./dev bench instructions counts with callgrind: install valgrind")
    from instructions import measure

    table = Table(title="instructions of one call, seen from Python")
    table.add_column("work")
    for column in ("npu", "CPU eager", "ratio"):
        table.add_column(column, justify="right")
    counts = measure(list(small_works("cpu")))
    for work, npu, cpu in counts:
        table.add_row(work, f"{npu:,.0f}", f"{cpu:,.0f}", f"{npu / cpu:.2f}")
    Console(width=140).print(table)
    return [
        Measured("instructions", work, "CPU eager", npu, cpu, npu / cpu, "instructions")
        for work, npu, cpu in counts
    ]


def elementwise() -> list[Measured]:
    """Operators that allocate 64 MiB results."""
    from ops import big

    return compare("elementwise", big(), rounds=7)


def matmul() -> list[Measured]:
    """Linear layers of the sizes that transformers have: rows x inputs -> outputs."""
    from ops import products

    return compare("matmul", products())


def alloc() -> list[Measured]:
    """Tensors that come and go: memory alone, memory that is written, sizes in turn, many alive at once."""

    def both(name: str, work: Callable[[str], object], repeats: int) -> Row:
        return Row(name, partial(work, "npu"), partial(work, "cpu"), repeats)

    def empty(nbytes: int, device: str) -> torch.Tensor:
        return torch.empty(nbytes, dtype=torch.uint8, device=device)

    def zeros(nbytes: int, device: str) -> torch.Tensor:
        return torch.zeros(nbytes, dtype=torch.uint8, device=device)

    # What stands at a place is freed when the next one takes it: another order than it came in.
    choose = random.Random(0)
    trace = [(1 << choose.randrange(9, 24), choose.randrange(32)) for _ in range(1000)]

    def mixed(device: str) -> None:
        alive: list[torch.Tensor | None] = [None] * 32
        for nbytes, location in trace:
            alive[location] = empty(nbytes, device)

    def many(device: str) -> None:
        alive = [empty(256, device) for _ in range(10_000)]
        alive.clear()

    sizes = {"1 KiB": (1 << 10, 2000), "1 MiB": (1 << 20, 500), "64 MiB": (64 << 20, 5)}
    rows = [both(f"empty, {n}", partial(empty, b), 2000) for n, (b, _) in sizes.items()]
    rows += [both(f"zeros, {n}", partial(zeros, b), repeats) for n, (b, repeats) in sizes.items()]
    rows.append(both("1000 sizes from 512 B to 8 MiB, 32 alive", mixed, 2))
    rows.append(both("10,000 of 256 B alive", many, 2))
    sources = {device: torch.ones(16 << 20, device=device) for device in ("npu", "cpu")}
    rows.append(both("clone of 64 MiB", lambda device: sources[device].clone(), 5))
    return compare("alloc", rows)


def models() -> list[Measured]:
    """The demo's networks."""
    import digits
    from efficientnet_lite import pretrained

    def step(device: str) -> object:
        x, y, _, _ = digits.dataset(device)
        x, y = x[:64], y[:64]
        model = digits.network().to(device)
        optimizer = torch.optim.AdamW(model.parameters())

        def one() -> None:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

        return one

    def infer(device: str) -> object:
        model = pretrained().to(device).to(memory_format=torch.channels_last)
        image = torch.randn(1, 3, 224, 224, device=device).to(memory_format=torch.channels_last)
        return torch.no_grad()(lambda: model(image))

    return compare(
        "models",
        [
            Row("digits, training step of 64", step("npu"), step("cpu"), 10),
            Row("EfficientNet-Lite0, one image", infer("npu"), infer("cpu"), 5),
        ],
        rounds=9,
    )


def operators() -> list[Measured]:
    """What networks are made of, at their sizes."""
    from ops import rows

    return compare("ops", rows(), rounds=7)


def networks() -> list[Measured]:
    """ResNet-50 and a Llama-like decoder."""
    from networks import rows

    return compare("networks", rows(), rounds=5)


def compiled() -> list[Measured]:
    """torch.compile on npu, against npu eager and against the same on the CPU."""
    from compile import geometric_mean, rows

    measured = compare("compile", rows(), rounds=9)
    for against in dict.fromkeys(row.against for row in measured):
        ratios = [row.ratio for row in measured if row.against == against]
        print(
            f"against {against}: geometric mean {geometric_mean(ratios):.2f}, largest {max(ratios):.2f}"
        )
    return measured


def memory() -> list[Measured]:
    """What a process needs for ResNet-50 at its peak."""
    from memory import measure

    measured = measure()
    Console(width=110).print(table_of("memory: peak growth of a process", measured))
    return measured


def neighbours() -> list[Measured]:
    """The same work beside processes that keep every core busy: what a preempted thread costs."""
    from networks import rows as of_networks
    from ops import big, products

    chosen = (
        "ResNet-50, one image, HF32 allowed",
        "Llama-like, 128 tokens at once",
        "gelu, 64 MiB",
        "softmax, 64 MiB",
        "linear 1024 x 1024 -> 1024",
        "linear 8 x 4096 -> 4096",
    )
    measured = []
    for count in (0, os.cpu_count() or 1):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
        try:
            work = [row for row in (*of_networks(), *big(), *products()) if row.name in chosen]
            measured += compare(f"beside {count} busy processes", work, rounds=9)
        finally:
            for process in busy:
                process.kill()
                process.wait()
    return measured


def sizes() -> list[Measured]:
    """Every operator with an aclnn entry at five sizes."""
    from sizes import measure

    return measure()


def articles() -> list[Measured]:
    """The comparisons that the project began with."""
    from article_examples import rows

    return compare("articles", rows(), rounds=7)


def precision() -> list[Measured]:
    """What products and convolutions lose, with and without the permission of HF32."""
    from precision import all_lost

    table = Table(title="largest error against float64, as a share of the result's deviation")
    table.add_column("work")
    for column in ("CPU eager", "npu", "npu, allow_hf32", "HF32 itself"):
        table.add_column(column, justify="right")
    for row in track(all_lost(), description="precision", transient=True):
        table.add_row(row.work, *(f"{x:.1e}" for x in (row.cpu, row.exact, row.allowed, row.hf32)))
    Console(width=140).print(table)
    return []  # no times


def collectives() -> list[Measured]:
    """Collectives of 2 and 4 processes against Gloo's on CPU tensors, and against copies."""
    from collectives import measure

    return measure()


def peers() -> list[Measured]:
    """Other runtimes on the same work."""
    from peers import networks, trained

    with torch.no_grad():
        measured = compare("peers", networks(), rounds=7)
    return measured + compare("peers", trained(), rounds=7)


def peer_graphs() -> list[Measured]:
    """The graph engine on whole networks, against npu eager and other runtimes."""
    from peer_graphs import rows, summary

    with torch.no_grad():
        measured = compare("peer-graphs", rows(), rounds=7)
    print(summary(measured))
    return measured


def provider() -> list[Measured]:
    """ONNX Runtime's sessions by the graph engine, against its CPU provider."""
    from provider import rows, summary

    measured = compare("provider", rows(), rounds=7)
    print(summary(measured))
    return measured


def model_sizes() -> list[Measured]:
    """Time and memory of compiling and loading models of 10^3 to 10^6 nodes."""
    from model_sizes import main as measure

    return measure()


def kernel_checks() -> list[Measured]:
    """Recall of the checks of Ascend C kernels, and the time that they take."""
    from kernel_checks import measure

    return measure()


def timeline() -> list[Measured]:
    """How the timeline's model orders pairs of Ascend C kernels."""
    from timeline import measure

    return measure()


def report() -> list[Measured]:
    """What torch-npu report says of programs with planted faults, and what its changes save."""
    from reports import measure

    return measure()


def kernels() -> list[Measured]:
    """Kernels in Ascend C against libopapi's operators."""
    from kernels import rows

    return compare("kernels", rows())


def language_model() -> list[Measured]:
    """A language model against transformers on the CPU, its forms against each other."""
    from llm import llm

    return compare("language model", llm(), rounds=7)


# What needs an environment of its own or a tool that `./dev setup` does not install, or compiles for minutes, runs by its
# name only.
BY_NAME = (
    "collectives",
    "custom",
    "llm",
    "peers",
    "peer-graphs",
    "provider",
    "instructions",
    "compile",
    "sizes",
    "kernel-checks",
    "timeline",
    "model-sizes",
    "report",
)
SUITES: dict[str, Callable[[], list[Measured]]] = {
    "runtime": runtime,
    "dispatch": dispatch,
    "instructions": instructions,
    "custom": custom,
    "graphs": graphs,
    "compiled-models": compiled_models,
    "model-sizes": model_sizes,
    "elementwise": elementwise,
    "matmul": matmul,
    "alloc": alloc,
    "models": models,
    "ops": operators,
    "networks": networks,
    "llm": language_model,
    "collectives": collectives,
    "compile": compiled,
    "sizes": sizes,
    "articles": articles,
    "memory": memory,
    "neighbours": neighbours,
    "precision": precision,
    "peers": peers,
    "peer-graphs": peer_graphs,
    "provider": provider,
    "kernels": kernels,
    "report": report,
    "kernel-checks": kernel_checks,
    "timeline": timeline,
}


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument(CPU_TIME, action="store_true", help="one thread, and its processor time")
    parser.add_argument("--runs", type=int, default=1, help="runs, of which the slowest counts")
    parser.add_argument("--write", type=Path, help="a file, .json or .md")
    parser.add_argument("suites", nargs="*", help=", ".join(SUITES))
    arguments = parser.parse_args()
    names = arguments.suites or [name for name in SUITES if name not in BY_NAME]
    if unknown := [name for name in names if name not in SUITES]:
        parser.error(f"no suite {unknown[0]}: there are {', '.join(SUITES)}")
    results = Results(machine("one thread, CPU time" if arguments.cpu_time else "wall time"))
    for _ in range(arguments.runs):
        for name in names:
            results.add(SUITES[name]())
    if arguments.write is not None:
        results.write(arguments.write)


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        if len(sys.argv) != 4:
            sys.exit("./dev bench compare A.json B.json")
        print_comparison(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        restrict_threads()
        main()
