"""``python -m codegen.goldens``: writes what every emitter makes of a small YAML, for the tests to compare with.

A change of codegen shows in them as a diff of the generated text.
"""

import sys
from pathlib import Path

from codegen import parse
from codegen.__main__ import custom_files
from codegen.emit import aclnn, aicpu, boxed, python, unimplemented
from codegen.official import without_entry

FOLDER = Path(__file__).parent / "tests" / "goldens"
YAML = FOLDER / "functions.yaml"
# Kernels of ATen's CPU that stand for the others: functional, in place, `out`, with indices on the CPU, on lists.
ON_CPU = ("exp", "exp_", "exp.out", "index.Tensor", "_fused_sgd_")


def goldens() -> dict[str, str]:
    """{file name: text}; their names end in ``.golden``, so that no tool takes them for sources."""
    functions = parse.native_functions()
    found = parse.read(YAML, functions)
    rest = tuple(without_entry(found.custom, found.settings.schemas))
    on_cpu = parse.operators(found.settings, functions, found.aclnn)
    files = {
        **aclnn.aclnn(found.aclnn, 1),
        **aicpu.unboxed(
            [operator for operator in on_cpu if operator.name in ON_CPU], 1, ("exp", "sum")
        ),
        **boxed.boxed({"PrivateUse1": tuple(found.settings.boxed_composite)}),
        **custom_files(found.custom, found.settings.cpp_namespace),
        **unimplemented.unimplemented(rest),
        **python.python(found.custom, rest),
    }
    return {f"{name}.golden": text for name, text in files.items()}


def main() -> int:
    """Writes the files and removes those that nothing makes any more."""
    result = goldens()
    for old in FOLDER.glob("*.golden"):
        if old.name not in result:
            old.unlink()
    for name, text in result.items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
