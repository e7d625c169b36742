"""`./dev bench`: the command line of bench/run.py, which measures."""

import argparse
from pathlib import Path

from dev import gate, performance
from dev.command_line import Parser
from dev.paths import PYTHON, ROOT
from dev.peers import INTERPRETER, make_venv
from dev.run import DevError, run

# bench/run.py has a function for each.
SUITES = {
    "runtime": "streams, events, copies against plain host code",
    "dispatch": "16 elements: what one operator costs from Python",
    "instructions": "the same in instructions (valgrind); by name only",
    "custom": "operators of npu against compositions on npu; by name only",
    "graphs": "replays of captured graphs against npu eager, and against reading the weights",
    "compiled-models": "networks that atc compiled, against npu eager, CPU eager and without passes",
    "model-sizes": "atc and loading with 10^3 to 10^6 nodes: time and memory; by name only",
    "elementwise": "operators with 64 MiB results",
    "matmul": "linear layers",
    "alloc": "tensors that come and go",
    "models": "the demo's networks",
    "ops": "operators of networks, at their sizes",
    "networks": "ResNet-50, a Llama-like decoder",
    "llm": "a language model against transformers, graphs, quantized weights; by name only",
    "collectives": "HCCL between 2 and 4 processes against Gloo on the CPU; by name only",
    "compile": "torch.compile on npu against npu eager and against torch.compile on the CPU; by name only",
    "sizes": "every operator with an aclnn entry, 1,000 to 10,000,000 elements; by name only",
    "articles": "fused convolution, sepia, rotary embedding, SwiGLU, RMSNorm",
    "memory": "peak memory of ResNet-50",
    "neighbours": "the same work beside busy processes",
    "precision": "what products and convolutions lose, in place of times",
    "peers": "ONNX Runtime, OpenVINO, inductor; by name only",
    "peer-graphs": "the graph engine against them on whole networks; by name only",
    "provider": "ONNX Runtime by the graph engine against its CPU provider; by name only",
    "kernels": "kernels in Ascend C against operators of libopapi",
    "report": "torch-npu report on programs with a planted fault each; by name only",
    "kernel-checks": "what checked mode finds in the labelled kernels, and its time; by name only",
    "timeline": "how the model of an NPU orders pairs of kernels, in place of times; by name only",
}
COMPARE = "compare"
GATE = "gate"
TABLES = "tables"


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev bench`."""
    rows = [f"  {name:13} {text}" for name, text in SUITES.items()]
    rows.append(f"  {COMPARE:13} A.json B.json: two builds' results, side by side")
    rows.append(f"  {TABLES:13} [RESULT.json MACHINE]: writes docs/performance.md")
    rows.append(f"  {GATE:13} --base A --head B: is the build in checkout B slower than that in A?")
    parser.epilog = "suites:\n" + "\n".join(rows)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="default: all but those by name")
    parser.add_argument("--cpu-time", action="store_true", help="one thread, and its CPU time")
    parser.add_argument("--runs", type=int, default=1, help="runs, of which the slowest counts")
    parser.add_argument("--base", type=gate.checkout, help="of gate: the checkout to compare with")
    parser.add_argument("--head", type=gate.checkout, help="of gate: the checkout that is judged")
    parser.add_argument("--write", type=Path, help="a file for the results, .json or .md")


def check(options: argparse.Namespace) -> None:
    """Raises DevError if a suite or a file to compare does not exist."""
    from dev.command_line import suggestion

    if (GATE in options.suites) != bool(options.base and options.head):
        raise DevError("gate takes two checkouts: ./dev bench gate --base A --head B")
    if options.suites == [GATE]:
        return
    if options.suites[:1] == [COMPARE]:
        files = options.suites[1:]
        if len(files) != 2:
            raise DevError("compare takes two files: ./dev bench compare A.json B.json")
        if missing := [file for file in files if not Path(file).exists()]:
            raise DevError(f"there is no {missing[0]}")
        return
    if options.suites[:1] == [TABLES]:
        words = options.suites[1:]
        if len(words) not in (0, 2):
            raise DevError("tables takes a result and a machine's name, or neither")
        if words and not Path(words[0]).exists():
            raise DevError(f"there is no {words[0]}")
        return
    for name in options.suites:
        if name not in SUITES:
            raise DevError(f"no suite '{name}'{suggestion(name, SUITES)}")


def bench(options: argparse.Namespace) -> None:
    """Runs bench/run.py with the options."""
    if options.suites == [GATE]:
        gate.gate(options.base, options.head, options.write)
        return
    if options.suites[:1] == [TABLES]:
        performance.tables(options.suites[1:])
        return
    interpreter = PYTHON
    if {"peers", "peer-graphs", "provider"} & set(options.suites):
        make_venv()
        interpreter = INTERPRETER
    words = [*options.suites]
    if options.suites[:1] != [COMPARE]:
        words += ["--cpu-time"] if options.cpu_time else []
        words += ["--runs", str(options.runs)]
        words += ["--write", str(options.write)] if options.write else []
    run([interpreter, ROOT / "bench" / "run.py", *words])
