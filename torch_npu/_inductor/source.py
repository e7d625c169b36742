"""The C++ around a generated kernel: how it is called, and what its OpenMP calls are bound to."""

import re
from pathlib import Path

# The header of PyTorch that a generated kernel includes first.
PREFIX_HEADER = "torch/csrc/inductor/cpp_prefix.h"
_PREFIX = f"#include <{PREFIX_HEADER}>\n"
_MASK_BYTES = Path(__file__).with_name("mask_bytes.h").read_text()

_STATEMENT = re.compile(r"\bauto tmp\d+ =")
_FUNCTION = re.compile(r"\b(?:exp|expm1|log|log1p|pow|sin|cos|tan|tanh|erf|sigmoid|rsqrt)\(")

# Begins the source of npu's kernels.
MARK = "// for npu\n"

# The kernel's regions run on softnpu's workers: the names of libgomp are defined here, hidden, and forward to functions
# that are bound after loading. `struct Threads` is KernelThreads of torch_npu/csrc/core/generated_kernel.h, `Word` its
# KernelWord.
_TEXT = """
#define TORCH_NPU_HIDDEN extern "C" __attribute__((visibility("hidden")))
namespace {{
struct Threads {{
  void (*parallel)(void (*body)(void*), void* data, unsigned threads);
  void (*barrier)();
  int (*thread)();
  int (*threads)();
}};
union Word {{
  void* pointer;
  int64_t integer;
  double number;
}};
const Threads* bound_threads = nullptr;
constexpr unsigned kThreads = {threads};
}}  // namespace

TORCH_NPU_HIDDEN void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {{
  bound_threads->parallel(body, data, threads == 0 ? kThreads : threads);
}}
TORCH_NPU_HIDDEN void GOMP_barrier() {{ bound_threads->barrier(); }}
TORCH_NPU_HIDDEN bool GOMP_single_start() {{ return bound_threads->thread() == 0; }}
TORCH_NPU_HIDDEN int omp_get_thread_num() noexcept {{ return bound_threads->thread(); }}
TORCH_NPU_HIDDEN int omp_get_num_threads() noexcept {{ return bound_threads->threads(); }}
TORCH_NPU_HIDDEN int omp_get_max_threads() noexcept {{ return kThreads; }}

extern "C" __attribute__((visibility("default"))) void torch_npu_bind(const Threads* threads) {{
  bound_threads = threads;
}}
extern "C" __attribute__((visibility("default"))) void torch_npu_run([[maybe_unused]] const Word* words) {{
  kernel({arguments});
}}
"""


def _kind(argument_type: str) -> str:
    """The letter of a C++ type: r, a pointer to read from; w, one to write to; i, an integer; d, a number."""
    if argument_type.rstrip().endswith("*"):
        return "r" if argument_type.lstrip().startswith("const ") else "w"
    return "d" if argument_type.split()[-1] in ("float", "double") else "i"


def work_of(source: str) -> float:
    """An estimate of a kernel's operations per element.

    Its vector loops have a remainder with the same statements, so that each counts half. A function such as ``exp``
    counts as 20 operations.
    """
    return (len(_STATEMENT.findall(source)) + 20 * len(_FUNCTION.findall(source))) / 2


def signature_of(argument_types: list[str]) -> str:
    """One letter per C++ type of a kernel's parameters, as in ``GeneratedKernel::signature``."""
    return "".join(map(_kind, argument_types))


def with_entries(source: str, argument_types: list[str], threads: int) -> str:
    """The source of a library with one kernel.

    Args:
        source: C++ that defines ``kernel``.
        argument_types: The C++ types of its parameters.
        threads: The most threads of its regions; the number for which it was generated.
    """
    members = {"r": "pointer", "w": "pointer", "i": "integer", "d": "number"}
    arguments = ", ".join(
        f"static_cast<{declared}>(words[{location}].{members[_kind(declared)]})"
        for location, declared in enumerate(argument_types)
    )
    source = source.replace(_PREFIX, _PREFIX + _MASK_BYTES, 1)
    return source + _TEXT.format(arguments=arguments, threads=threads)
