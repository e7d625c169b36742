"""What a profile collects. Names and values are the official plug-in's (BSD-3-Clause)."""

from collections.abc import Collection
from typing import Any

from torch.profiler import ProfilerActivity as _Activity

from torch_npu._core.warnings import warn


class ProfilerActivity:
    """What is recorded."""

    CPU = _Activity.CPU
    NPU = _Activity.PrivateUse1


class ProfilerLevel:
    """How much is recorded on the device."""

    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics:
    """Metrics of the cores. A software NPU measures the time on the cores alone."""

    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType:
    """Files that are written."""

    Db = "db"
    Text = "text"


class HostSystem:
    """Data of the host's system."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
    NUMA = "numa"


def _values(kind: type) -> set[str]:
    return {value for name, value in vars(kind).items() if not name.startswith("__")}


def supported_activities() -> set[_Activity]:
    """All of :class:`ProfilerActivity`."""
    return {ProfilerActivity.CPU, ProfilerActivity.NPU}


def supported_profiler_level() -> set[str]:
    """All of :class:`ProfilerLevel`."""
    return _values(ProfilerLevel)


def supported_ai_core_metrics() -> set[str]:
    """All of :class:`AiCMetrics`."""
    return _values(AiCMetrics)


def supported_export_type() -> set[str]:
    """What :class:`_ExperimentalConfig` accepts: text."""
    return {ExportType.Text}


# Bits of aclprofCreateConfig's data (acl_prof.h) and values of its metrics.
_DATA = {
    ProfilerLevel.Level_none: 0x1080,
    ProfilerLevel.Level0: 0x1801,
    ProfilerLevel.Level1: 0x1027,
    ProfilerLevel.Level2: 0x112F,
}
_MARKS, _CACHE = 0x80, 0x10
_METRICS = {
    AiCMetrics.ArithmeticUtilization: 0,
    AiCMetrics.PipeUtilization: 1,
    AiCMetrics.Memory: 2,
    AiCMetrics.MemoryL0: 3,
    AiCMetrics.ResourceConflictRatio: 4,
    AiCMetrics.MemoryUB: 5,
    AiCMetrics.L2Cache: 6,
    AiCMetrics.MemoryAccess: 8,
    AiCMetrics.AiCoreNone: 255,
}


def _check(value: object, allowed: Collection[str], argument: str) -> None:
    if value not in allowed:
        raise ValueError(f"{argument} is {value!r}: it is one of {', '.join(sorted(allowed))}")


class _ExperimentalConfig:
    """Settings of the device's half.

    Args:
        profiler_level: one of :class:`ProfilerLevel`.
        aic_metrics: one of :class:`AiCMetrics`; without effect below Level1.
        l2_cache: passed on to CANN; a software NPU measures no cache.
        msprof_tx: the older name of ``mstx``.
        mstx: also record marks and ranges of ``torch.npu.mstx``.
        export_type: :attr:`ExportType.Text`.
        data_simplification: delete the host's raw files after the analysis.
        record_op_args, op_attr, gc_detect_threshold, host_sys, mstx_domain_include, mstx_domain_exclude, sys_io,
            sys_interconnection: the official plug-in's; they warn, since nothing collects these data here.

    Raises:
        ValueError: a level, a metric or an export type does not exist, or is not supported.
    """

    def __init__(
        self,
        profiler_level: str = ProfilerLevel.Level0,
        aic_metrics: str | None = None,
        l2_cache: bool = False,
        msprof_tx: bool = False,
        mstx: bool = False,
        data_simplification: bool = True,
        export_type: str | list[str] = ExportType.Text,
        record_op_args: bool = False,
        op_attr: bool = False,
        gc_detect_threshold: float | None = None,
        host_sys: list[str] | None = None,
        mstx_domain_include: list[str] | None = None,
        mstx_domain_exclude: list[str] | None = None,
        sys_io: bool = False,
        sys_interconnection: bool = False,
    ) -> None:
        """See the class for the arguments."""
        _check(profiler_level, supported_profiler_level(), "profiler_level")
        has_metrics = profiler_level in (ProfilerLevel.Level1, ProfilerLevel.Level2)
        default = AiCMetrics.PipeUtilization if has_metrics else AiCMetrics.AiCoreNone
        self.metrics = default if aic_metrics is None or not has_metrics else aic_metrics
        _check(self.metrics, supported_ai_core_metrics(), "aic_metrics")
        kinds = [export_type] if isinstance(export_type, str) else list(export_type)
        if kinds != [ExportType.Text]:
            raise ValueError(
                f"export_type is {export_type!r}: this plug-in writes 'text'; `msprof --export=on --type=db` writes "
                "a database of the folder PROF_*"
            )
        self.level = profiler_level
        self.l2_cache = bool(l2_cache)
        self.marks = bool(mstx or msprof_tx) or profiler_level == ProfilerLevel.Level_none
        self.data_simplification = bool(data_simplification)
        self.others = {
            "record_op_args": record_op_args,
            "op_attr": op_attr,
            "gc_detect_threshold": gc_detect_threshold,
            "host_sys": host_sys or [],
            "mstx_domain_include": mstx_domain_include or [],
            "mstx_domain_exclude": mstx_domain_exclude or [],
            "sys_io": sys_io,
            "sys_interconnection": sys_interconnection,
        }
        asked = [name for name, value in self.others.items() if value]
        if asked:
            warn(
                f"torch_npu.profiler: {', '.join(asked)}: not collected by this plug-in",
                stacklevel=2,
            )

    @property
    def data(self) -> int:
        """The bits for aclprofCreateConfig."""
        bits = _DATA[self.level]
        return bits | (_MARKS if self.marks else 0) | (_CACHE if self.l2_cache else 0)

    @property
    def metrics_value(self) -> int:
        """The value for aclprofCreateConfig."""
        return _METRICS[self.metrics]

    def as_dict(self) -> dict[str, Any]:
        """What ``profiler_info.json`` stores."""
        return {
            "_profiler_level": self.level,
            "_aic_metrics": self.metrics,
            "_l2_cache": self.l2_cache,
            "_mstx": self.marks,
            "_data_simplification": self.data_simplification,
            "_export_type": [ExportType.Text],
            **{
                name if name == "record_op_args" else f"_{name}": value
                for name, value in self.others.items()
            },
        }
