"""Which tests a changed file may break: rules over paths, and the operators that use a family of kernels."""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dev.paths import PYTHON, ROOT
from dev.pytests import NO_DEVICE
from dev.run import DevError

OPS = "softnpu/ops/"
INDEX = ROOT / "torch_npu/csrc/aten/npu_native_functions.yaml"

# Path prefixes -> tests. The first row that matches counts.
RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("softnpu/abi/", ("tests/abi",)),
    ("softnpu/opgen/", ("tests/opgen", "tests/abi/test_conformance.py")),
    ("softnpu/workers/bind_onednn.py", ("tests/abi/test_bind_onednn.py",)),
    (
        "softnpu/runtime/",
        (
            "tests/abi/test_ctypes.py",
            "tests/capability/test_device.py",
            "tests/capability/test_memory.py",
            "tests/capability/test_streams.py",
            "tests/capability/test_threads.py",
        ),
    ),
    (
        "softnpu/fusion/",
        ("tests/capability/test_dead_stores.py", "tests/capability/test_less_precision.py"),
    ),
    ("softnpu/ascendcl/", ("tests/abi", "tests/capability/test_device.py")),
    ("softnpu/include/", ("tests/abi",)),
    ("softnpu/ascendc/launch/", ("tests/abi/test_ctypes.py", "tests/ascendc/test_write_epochs.py")),
    ("softnpu/ops/", ("tests/abi/test_ctypes.py", "tests/tools/test_counts.py")),
    ("softnpu/", ("tests/abi/test_ctypes.py",)),
    ("codegen/headers.py", ("codegen/tests", "tests/extension")),
    ("codegen/", ("codegen/tests", "tests/capability/test_custom_ops.py", "tests/versions")),
    ("torch_npu/csrc/aten/version_counters.h", ("tests/versions",)),
    (
        "torch_npu/csrc/core/allocator/",
        (
            "tests/capability/test_memory.py",
            "tests/capability/test_allocator_settings.py",
            "tests/capability/test_memory_optimization.py",
        ),
    ),
    (
        "torch_npu/csrc/core/",
        (
            "tests/capability/test_device.py",
            "tests/capability/test_streams.py",
            "tests/capability/test_memory.py",
            "tests/capability/test_task_queue.py",
            "tests/capability/test_launch_cache.py",
        ),
    ),
    ("torch_npu/csrc/aten/custom/", ("tests/capability/test_custom_ops.py",)),
    (
        "torch_npu/csrc/aten/aicpu/",
        ("tests/capability/test_features.py", "tests/capability/test_derived.py"),
    ),
    ("torch_npu/csrc/aten/aclnn/", ("tests/capability/test_explain.py",)),
    (
        "torch_npu/csrc/aten/native_functions/",
        (
            "codegen/tests",
            "tests/capability/test_custom_ops.py",
            "tests/recipes",
            "tests/tools/test_counts.py",
        ),
    ),
    ("torch_npu/csrc/extension/", ("tests/extension",)),
    ("torch_npu/csrc/profiler/", ("tests/capability/test_profiler.py",)),
    (
        "torch_npu/csrc/bind/",
        (
            "tests/api/test_stubs.py",
            "tests/capability/test_device.py",
            "tests/capability/test_ops.py",
        ),
    ),
    ("torch_npu/contrib/", ("tests/migration",)),
    ("torch_npu/tools/", ("tests/migration/test_migrate_tool.py",)),
    ("torch_npu/ascendc/", ("tests/ascendc",)),
    (
        "torch_npu/utils/cpp_extension.py",
        ("tests/ascendc/test_load.py", "tests/extension/test_example_extensions.py"),
    ),
    ("torch_npu/_C/", ("tests/api/test_stubs.py",)),
    ("torch_npu/_command_line.py", ("tests/api/test_command_line.py",)),
    (
        "torch_npu/accuracy/",
        ("tests/accuracy", "tests/judge", "tests/api/test_compare_command.py"),
    ),
    ("torch_npu/_core/", ("tests/api/test_environment.py", "tests/api/test_error_codes.py")),
    ("torch_npu/", ("tests/capability/test_load.py", "tests/capability/test_options.py")),
    (".importlinter", ("tests/tools/test_python_layers.py",)),
    ("tools/dev/api/", ("tests/tools/test_api.py", "tests/api/test_coverage.py")),
    ("tools/", ("tests/tools",)),
    ("examples/ascend_c/", ("tests/ascendc/test_cmake.py", "tests/ascendc/test_tutorial.py")),
    ("examples/npu_extension", ("tests/extension/test_example_extensions.py",)),
    ("examples/", ("tests/models/test_examples.py",)),
    ("docs/ascend_c/tutorial.md", ("tests/ascendc/test_tutorial.py",)),
    ("docs/ascend_c/driver.md", ("tests/ascendc/test_document.py",)),
    ("docs/cpp_extensions.md", ("tests/extension/test_document.py",)),
    ("docs/accuracy.md", ("tests/api/test_compare_command.py", "tests/models/test_examples.py")),
    ("docs/", ("tests/models/test_examples.py", "tests/tools")),
    ("CONTRIBUTING.md", ("tests/recipes", "tests/tools")),
    ("README.md", ("tests/models/test_examples.py", "tests/tools")),
    ("bench/", ("tests/tools/test_bench_results.py", "tests/tools/test_performance.py")),
)


@dataclass
class Impact:
    """The tests to run: test files, operators whose OpInfo cases run, whether softnpu's GoogleTest runs."""

    tests: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)
    functions: bool = False


def family_functions(family: str, root: Path = ROOT) -> set[str]:
    """The aclnn functions in the table of a family of kernels; empty if it has no table."""
    table = next((root / OPS).glob(f"*/{family}/operators.txt"), None)
    if table is None:
        return set()
    return set(re.findall(r"^(aclnn\w+)\(", table.read_text(), re.MULTILINE))


def functions_of_entries(index: Path = INDEX) -> dict[str, list[str]]:
    """The aclnn functions that the entry of each operator calls; an operator is written as ``add.out``.

    Raises DevError where the YAML is invalid.
    """
    command = [str(PYTHON), "-m", "codegen.functions", "--yaml", str(index)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DevError(done.stderr.strip())
    return json.loads(done.stdout)


def operators_of(functions: Iterable[str], entries: Mapping[str, Iterable[str]]) -> set[str]:
    """ATen's operators, without overloads, whose ``entries`` call one of ``functions``."""
    wanted = set(functions)
    return {name.split(".")[0] for name, called in entries.items() if wanted & set(called)}


def registered(text: str) -> set[str]:
    """ATen's operators, without overloads, that a source of the plug-in registers."""
    return set(re.findall(r'\bm\.impl\("(?:\w+::)?(\w+)', text))


def _tests_named(stem: str) -> set[str]:
    """Test files named after a source, its plural or its folder."""
    names = {f"test_{stem}.py", f"test_{stem}s.py", f"test_{stem.rstrip('s')}.py"}
    return {
        file.relative_to(ROOT).as_posix()
        for folder in ("tests/capability", "tests/aclnn", "tests/modules")
        for file in (ROOT / folder).glob("test_*.py")
        if file.name in names
    }


def _tests_that_mention(path: str) -> set[str]:
    """Test files that mention the Python module ``path``, or its package."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package = module.rpartition(".")[0]
    # Programs call torch_npu.npu.memory torch.npu.memory. The names of the whole API are too common to search for.
    names = {module, package, module.replace("torch_npu.npu", "torch.npu")}
    names -= {"", "torch_npu", "torch_npu.npu", "torch.npu"}
    return {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("test_*.py")
        if not any(file.is_relative_to(ROOT / part) for part in ("tests/oracle", "tests/clients"))
        and any(re.search(rf"\b{re.escape(name)}\b", file.read_text()) for name in names)
    }


def _of_test(path: str) -> set[str]:
    """A test file itself, or the tests beside a file that they share."""
    if Path(path).name.startswith("test_"):
        return {path}
    folder = Path(path).parent
    if not path.endswith(".py") or folder.as_posix() in {"tests", "tests/opinfo", "tests/oracle"}:
        return set()
    return {f.relative_to(ROOT).as_posix() for f in (ROOT / folder).glob("test_*.py")}


def impact(paths: Iterable[str]) -> Impact:
    """The tests for changed ``paths``, relative to the checkout."""
    found = Impact()
    for path in paths:
        if not (ROOT / path).exists():
            continue
        if path.startswith(("tests/", "codegen/tests/")) and path.endswith(".py"):
            found.tests |= _of_test(path)
            continue
        rule = next((tests for prefix, tests in RULES if path.startswith(prefix)), ())
        found.tests.update(rule)
        stem = Path(path).stem
        if path.startswith("softnpu/"):
            found.functions = True
        if path.startswith(OPS) and path.count("/") > 3:
            family = path.split("/")[3]
            functions = family_functions(family)
            found.operators |= operators_of(functions, functions_of_entries())
            found.tests |= _tests_named(family)
        elif path.startswith(("softnpu/", "torch_npu/csrc/")):
            found.tests |= _tests_named(stem) | _tests_named(Path(path).parent.name)
            found.operators |= registered((ROOT / path).read_text())
        elif path.startswith("torch_npu/") and path.endswith(".py"):
            found.tests |= _tests_named(stem) | _tests_that_mention(path)
    return found


def split(tests: Iterable[str]) -> tuple[list[str], list[str]]:
    """The tests that need a device, and those that need none."""
    ordered = sorted(tests)
    alone = [path for path in ordered if path.startswith(NO_DEVICE)]
    return [path for path in ordered if path not in alone], alone
