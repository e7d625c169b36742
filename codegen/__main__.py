"""``python -m codegen --yaml F --output FOLDER --files N``: writes the generated C++; unchanged files stay untouched."""

import argparse
import sys
from pathlib import Path

from codegen import emit, parse
from codegen.emit import aclnn, aicpu, boxed
from codegen.model import Route

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


def main(arguments: list[str]) -> int:
    """Generates; 0, or 1 with one line on stderr where the YAML cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description=emit.__doc__)
    parser.add_argument("--yaml", type=Path, required=True, help="npu_native_functions.yaml")
    parser.add_argument("--output", type=Path, required=True, help="folder for the generated files")
    parser.add_argument("--files", type=int, default=16, help="files to spread the wrappers over")
    parser.add_argument("--trial", action="store_true", help="the entries on trial, too")
    options = parser.parse_args(arguments)
    functions = parse.native_functions()
    try:
        settings = parse.read_settings(options.yaml, functions, trial=options.trial)
        by_aclnn = parse.aclnn_operators(options.yaml, settings, functions)
    except parse.ParseError as error:
        print(error, file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    all_operators = parse.operators(settings, functions, by_aclnn)
    boxed_here = (o.name for o in all_operators if o.route is Route.BOXED)
    by_key = {"PrivateUse1": tuple(settings.as_on_cpu.intersection(boxed_here))}
    for npu, cpu in DERIVED_KEYS.items():
        kernels = parse.kernels_of(cpu, functions)
        by_key[npu] = tuple(k for k in kernels if k not in settings.supported_derived)
    files = {
        **aicpu.unboxed(all_operators, options.files),
        **aclnn.aclnn(by_aclnn, options.files),
    }
    for name, text in {**files, **boxed.boxed(by_key)}.items():
        _write(options.output / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
