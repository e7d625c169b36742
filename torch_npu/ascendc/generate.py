"""The code that the driver adds: entries of kernels, ``aclrtlaunch_<kernel>`` and its header."""

import re

from .rewrite import Kernel, c_parameters


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def entries(kernels: tuple[Kernel, ...]) -> str:
    """What follows a translation unit: for each kernel what other programs find, and ``aclrtlaunch_<kernel>``."""
    parts = []
    for kernel in kernels:
        entry = f"softnpu_entry_{kernel.name}"
        kind = f"::softnpu::kernel::Entry<&{kernel.qualified}>"
        file = _quoted(kernel.location.file)
        declared = "".join(f", {d}" for d, _ in c_parameters(kernel))
        passed = "".join(f", {name}" for _, name in c_parameters(kernel))
        tilings = "".join(
            f"{{{_quoted(t.type)}, {t.size}, {t.parameter}}}, " for t in kernel.tilings
        )
        table = f"softnpu_tilings_{kernel.name}"
        known = f"{table}, {len(kernel.tilings)}" if tilings else "nullptr, 0"
        defined = (
            f"static constexpr softnpuKernelTiling {table}[] = {{{tilings}}}; " if tilings else ""
        )
        # An error in it is the kernel's: of a parameter's type.
        parts.append(
            f"\n# {kernel.location.line} {file}\n"
            f'{defined}extern "C" {{ extern __attribute__((visibility("default"))) const softnpuKernelEntry {entry};'
            f" const softnpuKernelEntry {entry} ="
            f" {kind}::make({_quoted(kernel.name)}, {file}, {kernel.location.line}, {known});"
            f' __attribute__((visibility("default"))) ::std::uint32_t aclrtlaunch_{kernel.name}('
            f"::std::uint32_t softnpu_blocks, void* softnpu_stream{declared}) {{ return"
            f" {kind}::launch_with({entry}, softnpu_blocks, softnpu_stream{passed}); }} }}"
        )
    return "".join(parts) + "\n"


def header(kernel: Kernel) -> str:
    """The text of ``aclrtlaunch_<kernel>.h``."""
    declared = "".join(f", {d}" for d, _ in c_parameters(kernel))
    # Only these need C++20.
    has_types = re.search(r"\b(half|bfloat16_t)\b", declared)
    types = '#include "ascendc/types.h"\n\n' if has_types else ""
    return (
        "#pragma once\n"
        f"// Written by ascendc from {kernel.location}.\n\n"
        "#include <cstdint>\n\n"
        f"{types}"
        "#ifndef ACLRT_LAUNCH_KERNEL\n"
        "#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel\n"
        "#endif\n\n"
        "// Returns an aclError.\n"
        f'extern "C" std::uint32_t aclrtlaunch_{kernel.name}(std::uint32_t blocks, void* stream{declared});\n'
    )
