"""``python -m codegen --yaml F --output FOLDER --files N``: writes what is generated; unchanged files stay untouched."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from codegen import emit, parse
from codegen.emit import aclnn, aicpu, boxed, custom, custom_autograd, python, unimplemented
from codegen.model import CustomOperator, Route
from codegen.official import without_entry
from codegen.summary import summary

# npu's dispatch keys beside the dense one, and the CPU's whose kernels serve them.
DERIVED_KEYS = {
    "SparsePrivateUse1": "SparseCPU",
    "SparseCsrPrivateUse1": "SparseCsrCPU",
    "QuantizedPrivateUse1": "QuantizedCPU",
    "NestedTensorPrivateUse1": "NestedTensorCPU",
}


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def custom_files(operators: tuple[CustomOperator, ...], namespace: str) -> dict[str, str]:
    """Everything in C++ that follows from the YAML's ``custom``; ``namespace`` is its ``cpp_namespace``."""
    return {
        **custom.schemas(operators),
        **custom.functions(operators, namespace),
        **custom.kernels(operators),
        **custom_autograd.autograd(operators, namespace),
    }


def main(arguments: list[str]) -> int:
    """Generates; 0, or 1 with one line on stderr where the YAML cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description=emit.__doc__)
    parser.add_argument("--yaml", type=Path, required=True, help="npu_native_functions.yaml")
    parser.add_argument("--output", type=Path, required=True, help="folder for the generated C++")
    parser.add_argument("--python", type=Path, help="folder for the Python files; else --output")
    parser.add_argument("--files", type=int, default=16, help="files to spread the wrappers over")
    options = parser.parse_args(arguments)
    functions = parse.native_functions()
    try:
        found = parse.read(options.yaml, functions)
    except parse.ParseError as error:
        print(error, file=sys.stderr)
        return 1
    settings = found.settings
    rest = tuple(without_entry(found.custom, settings.schemas))
    on_cpu = parse.operators(settings, functions, found.aclnn)
    boxed_here = (o.name for o in on_cpu if o.route is Route.BOXED)
    by_key = {"PrivateUse1": tuple(settings.boxed_composite.intersection(boxed_here))}
    for npu, cpu in DERIVED_KEYS.items():
        kernels = parse.kernels_of(cpu, functions)
        by_key[npu] = tuple(k for k in kernels if k not in settings.supported_derived)
    files = {
        **aicpu.unboxed(on_cpu, options.files, parse.streaming(settings, functions)),
        **aclnn.aclnn(found.aclnn, options.files),
        **boxed.boxed(by_key),
        **custom_files(found.custom, settings.cpp_namespace),
        **unimplemented.unimplemented(rest),
    }
    in_python = python.python(found.custom, rest)
    rows = summary(found.aclnn, on_cpu, by_key, found.custom, rest)
    files["summary.json"] = json.dumps([asdict(row) for row in rows], indent=1)
    for folder, written in (
        (options.output, files),
        (options.python or options.output, in_python),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            _write(folder / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
