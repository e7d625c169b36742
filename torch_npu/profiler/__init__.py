"""``torch_npu.profiler``: the official plug-in's profiler, with its names, on PyTorch's and CANN's profilers.

The host's half comes from ``torch.profiler``, the device's from ``aclprof*`` and the program ``msprof``. A run is a folder
``<worker>_<pid>_<time>_ascend_pt``, whose ``ASCEND_PROFILER_OUTPUT`` tools read: TensorBoard's plug-in,
``msprof-analyze``, Perfetto.

Example:
    >>> from torch_npu import profiler
    >>> with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("runs")) as p:
    ...     train_step()
"""

from torch.profiler import ProfilerAction, schedule

from torch_npu.profiler.config import (
    AiCMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    supported_activities,
    supported_ai_core_metrics,
    supported_export_type,
    supported_profiler_level,
)
from torch_npu.profiler.reporting import report
from torch_npu.profiler.session import (
    _KinetoProfile,
    analyse,
    profile,
    tensorboard_trace_handler,
)

__all__ = [
    "AiCMetrics",
    "ExportType",
    "HostSystem",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "_KinetoProfile",
    "analyse",
    "profile",
    "report",
    "schedule",
    "supported_activities",
    "supported_ai_core_metrics",
    "supported_export_type",
    "supported_profiler_level",
    "tensorboard_trace_handler",
]
