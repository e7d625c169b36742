"""The environment variables of the official torch_npu: where each is honoured, or why it has no effect here.

``docs/environment.md`` says what the honoured ones do. A variable without effect that is set is warned about once, when
torch_npu is loaded.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from torch_npu.npu._warn import warn


class Variable(NamedTuple):
    """``name``, where a trailing ``*`` stands for any ending; ``meaning`` to the official plug-in; then one of two."""

    name: str
    meaning: str
    honoured_by: str = ""  # a file of the repository
    reason: str = ""  # why it has no effect
    values: tuple[str, ...] = ()  # all that it takes, where another one is a mistake


_COMPILED = "all operators are compiled when the package is built"
_ONE_WAY = "ranks of one host have one way to each other"
_RECORDER = (
    "a recorder of collectives is not part of this build yet; errors name call, rank and group"
)
_MISMATCH = "calls that differ between ranks are always found, and the error shows them"
_DIRECT = "ranks read each other's memory: there is no staging buffer"
_ORDERED = "reductions always are in the order of ranks"
_WATCHDOG = "one thread watches each group, and nothing has to watch it"
_PROFILER = "dynamic profiling is not part of this build yet; torch.profiler works"
_DETECTION = "detection of silent data corruption is not part of this build yet"
_INDUCTOR = "it chooses between code generators for Ascend hardware"
_TIMEOUT = "torch.npu.set_op_timeout_ms limits how long a wait may last"
_AMP = "torch_npu/npu/overflow.py"
_QUEUE = "torch_npu/csrc/core/task_queue.cpp"
_ALLOCATOR = "torch_npu/csrc/core/allocator/settings.cpp"
_WAIT = "torch_npu/csrc/core/wait.cpp"
_LOG = "softnpu/base/log.cpp"
_GROUP = "torch_npu/csrc/distributed/options.cpp"
_HCCL = "softnpu/ccl/settings.cpp"

VARIABLES = (
    Variable("TASK_QUEUE_ENABLE", "which thread launches operators", _QUEUE),
    Variable("ASCEND_LAUNCH_BLOCKING", "each launch waits for its work", _QUEUE),
    Variable(
        "PER_STREAM_QUEUE",
        "a launching thread for each stream",
        reason="one thread launches for all streams",
    ),
    Variable(
        "COMBINED_ENABLE",
        "merges operators on strided tensors",
        reason="operators read strided tensors in place",
    ),
    Variable("INF_NAN_MODE_ENABLE", "infinities and NaN, or saturation", _AMP),
    Variable("INF_NAN_MODE_FORCE_DISABLE", "saturation on every SoC", _AMP),
    Variable("FORCE_OVERFLOW_CHECK", "an overflow flag without saturation", _AMP),
    Variable(
        "TORCH_ACL_INIT_CONFIG_PATH",
        "a configuration file for aclInit",
        "torch_npu/npu/_acl_configuration.py",
    ),
    Variable(
        "TORCH_NPU_FALLBACK_CPU_DISABLE",
        "forbids operators on the CPU",
        "torch_npu/csrc/aten/aicpu/copying.cpp",
    ),
    Variable(
        "TORCH_NPU_USE_COMPATIBLE_IMPL",
        "operators as PyTorch defines them",
        "torch_npu/npu/impl.py",
    ),
    Variable(
        "TORCH_NPU_LEGACY_IMPL_LIST",
        "earlier implementations of named features",
        reason="each feature has one implementation here",
    ),
    Variable("ACL_OP_COMPILER_CACHE_DIR", "folder of compiled operators", reason=_COMPILED),
    Variable("ACL_OP_COMPILER_CACHE_MODE", "use of compiled operators", reason=_COMPILED),
    Variable(
        "ACL_OP_INIT_MODE",
        "when the operator compiler starts",
        reason=_COMPILED,
        values=("0", "1", "2"),
    ),
    Variable("PYTORCH_NPU_ALLOC_CONF", "the caching allocator", _ALLOCATOR),
    Variable("PYTORCH_ALLOC_CONF", "the caching allocator", _ALLOCATOR),
    Variable("PYTORCH_NO_NPU_MEMORY_CACHING", "no caching allocator", _ALLOCATOR),
    Variable("MULTI_STREAM_MEMORY_REUSE", "memory of collectives across streams", _ALLOCATOR),
    Variable(
        "OOM_SNAPSHOT_ENABLE",
        "a memory snapshot when memory runs out",
        "torch_npu/npu/memory.py",
    ),
    Variable(
        "OOM_SNAPSHOT_PATH",
        "folder of that snapshot",
        "torch_npu/npu/memory.py",
    ),
    Variable(
        "TORCH_NPUGRAPH_GC",
        "garbage collection when a graph is captured",
        reason="graphs are not part of this build yet",
    ),
    Variable(
        "STREAMS_PER_DEVICE",
        "the number of streams in the pool, 32 or 8",
        "torch_npu/csrc/core/stream.cpp",
    ),
    Variable(
        "ASCEND_RT_VISIBLE_DEVICES", "the devices of the process", "softnpu/runtime/config.cpp"
    ),
    Variable(
        "TORCH_NPU_DEVICE_CAPABILITY",
        "the result of torch.npu.get_device_capability",
        "torch_npu/npu/capability.py",
    ),
    Variable(
        "TORCH_TRANSFER_TO_NPU",
        "1 imports torch_npu.contrib.transfer_to_npu",
        "torch_npu/_load.py",
    ),
    Variable("ACL_DEVICE_SYNC_TIMEOUT", "seconds to wait for a device", _WAIT),
    Variable("ACL_STREAM_TIMEOUT", "milliseconds to wait for a stream", _WAIT),
    Variable("TORCH_HCCL_ASYNC_ERROR_HANDLING", "what a failed collective ends", _GROUP),
    Variable("TORCH_HCCL_BLOCKING_WAIT", "Work.wait() blocks the host", _GROUP),
    Variable("TORCH_HCCL_HIGH_PRIORITY", "streams of high priority", _GROUP),
    Variable("TORCH_HCCL_ENABLE_MONITORING", "a thread that watches watchdogs", reason=_WATCHDOG),
    Variable("TORCH_HCCL_HEARTBEAT_TIMEOUT_SEC", "a watchdog's heartbeat", reason=_WATCHDOG),
    Variable(
        "TORCH_HCCL_COORD_CHECK_MILSEC", "how watchdogs find others' errors", reason=_WATCHDOG
    ),
    Variable("TORCH_HCCL_DESYNC_DEBUG", "reports of ranks that differ", reason=_MISMATCH),
    Variable("TORCH_HCCL_DUMP_ON_TIMEOUT", "the flight recorder", reason=_RECORDER),
    Variable("TORCH_HCCL_TRACE_BUFFER_SIZE", "the flight recorder", reason=_RECORDER),
    Variable("TORCH_HCCL_WAIT_TIMEOUT_DUMP_MILSEC", "the flight recorder", reason=_RECORDER),
    Variable("TORCH_HCCL_DEBUG_INFO_*", "files of the flight recorder", reason=_RECORDER),
    Variable("TORCH_HCCL_STATUS_SAVE_*", "files with each rank's last call", reason=_RECORDER),
    Variable("TORCH_HCCL_ZERO_COPY", "collectives without a staging copy", reason=_DIRECT),
    Variable("HCCL_ASYNC_ERROR_HANDLING", "an earlier name", _GROUP),
    Variable("HCCL_BLOCKING_WAIT", "an earlier name", _GROUP),
    Variable("HCCL_CONNECT_TIMEOUT", "seconds until all ranks have come", _HCCL),
    Variable("HCCL_EXEC_TIMEOUT", "seconds until all ranks have called", _HCCL),
    Variable("HCCL_EVENT_TIMEOUT", "seconds to wait for an event", reason=_TIMEOUT),
    Variable("HCCL_BUFFSIZE", "staging buffers of collectives", reason=_DIRECT),
    Variable("HCCL_DETERMINISTIC", "the same bits in each run", reason=_ORDERED),
    Variable("HCCL_ALGO", "the algorithm of collectives", reason=_ONE_WAY),
    Variable("HCCL_OP_EXPANSION_MODE", "who runs collectives", reason=_ONE_WAY),
    Variable("HCCL_IF_*", "network interfaces", reason=_ONE_WAY),
    Variable("HCCL_SOCKET_*", "network interfaces", reason=_ONE_WAY),
    Variable("HCCL_RDMA_*", "links between hosts", reason=_ONE_WAY),
    Variable("HCCL_INTRA_*", "links within a host", reason=_ONE_WAY),
    Variable("HCCL_WHITELIST_*", "hosts that may connect", reason=_ONE_WAY),
    Variable("P2P_HCCL_BUFFSIZE", "buffers of sends and receives", reason=_DIRECT),
    Variable("RANK_TABLE_FILE", "the ranks of a cluster", reason=_ONE_WAY),
    Variable(
        "TORCH_NPU_LOGS",
        "logs of parts of the plug-in",
        reason="ASCEND_GLOBAL_LOG_LEVEL logs softnpu, torch_npu.utils.explain lists operators",
    ),
    Variable(
        "TORCH_NPU_LOGS_FILTER",
        "filters these logs",
        reason="TORCH_NPU_LOGS has no effect",
    ),
    Variable(
        "TORCH_NPU_COMPACT_ERROR_OUTPUT",
        "1 omits the line of the error code",
        "torch_npu/utils/_error_code.py",
    ),
    Variable("TORCH_NPU_WARNING_DISABLE", "1 omits warnings", "torch_npu/npu/_warn.py"),
    Variable("TORCH_NPU_DISABLED_WARNING", "its earlier name", "torch_npu/npu/_warn.py"),
    Variable("ASCEND_GLOBAL_LOG_LEVEL", "what is logged", _LOG),
    Variable("ASCEND_SLOG_PRINT_TO_STDOUT", "1 logs to stdout", _LOG),
    Variable(
        "CPU_AFFINITY_CONF",
        "the cores of the process's threads",
        reason="SOFTNPU_CORES and the process's affinity choose cores",
    ),
    Variable(
        "TORCH_NPU_LAZY_FUSION",
        "fuses elementwise operators",
        reason="they are always fused; SOFTNPU_FUSE=0 switches that off",
    ),
    Variable("PROF_CONFIG_PATH", "configuration of the dynamic profiler", reason=_PROFILER),
    Variable("KINETO_USE_DAEMON", "profiling by msMonitor", reason=_PROFILER),
    Variable("MSMONITOR_USE_DAEMON", "profiling by msMonitor", reason=_PROFILER),
    Variable(
        "NPU_ASD_UPPER_THRESH",
        "thresholds of register_asd_hook",
        "torch_npu/utils/asd_detector.py",
    ),
    Variable(
        "NPU_ASD_SIGMA_THRESH",
        "thresholds of register_asd_hook",
        "torch_npu/utils/asd_detector.py",
    ),
    Variable("NPU_ASD_ENABLE", "detection of silent data corruption", reason=_DETECTION),
    Variable("NPU_ASD_CONFIG", "detection of silent data corruption", reason=_DETECTION),
    Variable("TORCHINDUCTOR_NPU_BACKEND", "torch.compile's code generator", reason=_INDUCTOR),
    Variable("TORCHINDUCTOR_ENABLE_MFUSION", "fusion by MFusion", reason=_INDUCTOR),
    Variable("TORCHINDUCTOR_USE_AKG", "fusion by AKG", reason=_INDUCTOR),
    Variable("NPU_INDUCTOR_FALLBACK_LIST", "operators not compiled", reason=_INDUCTOR),
    Variable("INDUCTOR_ASCEND_*", "torch.compile on Ascend", reason=_INDUCTOR),
    Variable(
        "TORCH_NPU_SANITIZER",
        "finds races between streams",
        reason="it is not part of this build; SOFTNPU_PROTECT=1 finds host accesses to device memory",
    ),
)


def _set_names(variable: Variable, environment: Mapping[str, str]) -> list[str]:
    if not variable.name.endswith("*"):
        return [variable.name] if variable.name in environment else []
    return sorted(name for name in environment if name.startswith(variable.name[:-1]))


def _fault(variable: Variable, value: str) -> str:
    if not variable.values or value in variable.values:
        return ""
    return f"Get env {variable.name} not in [{', '.join(variable.values)}]. "


def ignored(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable of ``environment`` that has no effect."""
    return [
        _fault(variable, environment[name])
        + f"{name}={environment[name]} has no effect: {variable.reason}"
        for variable in VARIABLES
        if variable.reason
        for name in _set_names(variable, environment)
    ]


def warn_of_ignored() -> None:
    """Warns about variables that are set and have no effect. Called once, when torch_npu is loaded."""
    for text in ignored(os.environ):
        warn(text)
