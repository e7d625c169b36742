"""What tasks are called in the exported files: types of operators, cores, names of other work.

Facts: the columns of Ascend/msprof's documents (Mulan PSL v2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from records import EVENT_RECORD, EVENT_WAIT, STEPS, Task

AI_CORE, VECTOR, MIX, AI_CPU, COMMUNICATION = (
    "AI_CORE",
    "AI_VECTOR_CORE",
    "MIX_AIC",
    "AI_CPU",
    "COMMUNICATION",
)
COMPUTE = (AI_CORE, VECTOR, MIX, AI_CPU)

# Work of the runtime: what it is called on the device.
_RUNTIME = {
    "aclrtMemcpyAsync": "MEMCPY_ASYNC",
    "aclrtMemcpy2dAsync": "MEMCPY_ASYNC",
    "aclrtMemsetAsync": "MEMSET_ASYNC",
    "aclrtValueWrite": "WRITE_VALUE",
    "aclrtValueWait": "WAIT_VALUE",
    "aclrtLaunchCallback": "HOST_FUNC",
    "aclrtLaunchHostFunc": "HOST_FUNC",
    "aclmdlRIExecuteAsync": "MODEL_EXECUTE",
}
# Operators on the cores for matrices: the beginning of the name without aclnn and Inplace, and the type.
_CUBE = (
    (re.compile(r"(BatchMatMul|Baddbmm|Bmm)"), "BatchMatMulV2"),
    (re.compile(r"(Addmm|Addmv|Matmul|MatMul|Mm$|Mv$|Addbmm|Linear)"), "MatMulV2"),
    (re.compile(r"(QuantMatmul|WeightQuantBatchMatmul)"), "QuantBatchMatmulV3"),
    (re.compile(r"GroupedMatmul"), "GroupedMatmul"),
    (re.compile(r"ConvolutionBackward"), "Conv2DBackprop"),
    (re.compile(r"Conv"), "Conv2D"),
)
_MIXED = re.compile(r"(FlashAttention|FusedInferAttention|PromptFlash|IncreFlash|MultiLatent)")


@dataclass(frozen=True)
class Kernel:
    """How a task is shown."""

    name: str
    type: str
    core: str  # AI_CORE to COMMUNICATION, or what the runtime did

    @property
    def is_compute(self) -> bool:
        """Whether it is an operator on a core or the AI CPU."""
        return self.core in COMPUTE


def _operator(name: str) -> Kernel:
    if name.startswith("aicpu::"):
        op = name[len("aicpu::") :]
        return Kernel(name, op, AI_CPU)
    plain = name[len("aclnn") :] if name.startswith("aclnn") else name
    plain = plain[len("Inplace") :] if plain.startswith("Inplace") else plain
    if _MIXED.match(plain):
        return Kernel(f"{name}_{plain}", plain, MIX)
    for pattern, type_ in _CUBE:
        if pattern.match(plain):
            return Kernel(f"{name}_{type_}", type_, AI_CORE)
    return Kernel(f"{name}_{plain}" if plain != name else name, plain, VECTOR)


def kernel_of(task: Task) -> Kernel:
    """How ``task`` is shown."""
    if task.kind == EVENT_RECORD:
        return Kernel("EVENT_RECORD", "EVENT_RECORD", "EVENT_RECORD")
    runtime = _RUNTIME.get(task.name)
    if runtime is not None:
        return Kernel(runtime, runtime, runtime)
    if task.kind == EVENT_WAIT:
        return Kernel("EVENT_WAIT", "EVENT_WAIT", "EVENT_WAIT")
    if task.kind == STEPS and task.name.startswith("Hccl"):
        op = task.name[len("Hccl") :]
        op = "hcom_" + op[0].lower() + op[1:] + "_"
        return Kernel(op, op, COMMUNICATION)
    return _operator(task.name)


@dataclass(frozen=True)
class Operands:
    """Shapes, data types and formats, each with ';' between tensors; "N/A" if they were not recorded."""

    input_shapes: str = "N/A"
    input_types: str = "N/A"
    input_formats: str = "N/A"
    output_shapes: str = "N/A"
    output_types: str = "N/A"
    output_formats: str = "N/A"
    cores: str = "N/A"


def operands_of(task: Task) -> Operands:
    """The operands of ``task``."""
    parts = task.detail.split("|")
    return Operands(*parts) if len(parts) == 7 else Operands()
