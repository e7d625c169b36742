"""The device's times of profiled events under the names that programs of the official plug-in read."""

from torch.autograd.profiler_util import FormattedTimesMixin, FunctionEvent, FunctionEventAvg


def _alias(name: str, text: str) -> property:
    return property(lambda event: getattr(event, name), doc=text)


def register() -> None:
    """Adds ``npu_time``, ``npu_time_total`` and ``self_npu_time_total``, in microseconds. Called once."""
    FormattedTimesMixin.npu_time = _alias("device_time", "The average of ``npu_time_total``.")  # type: ignore[attr-defined]
    total = _alias("device_time_total", "``device_time_total``.")
    own = _alias("self_device_time_total", "``self_device_time_total``.")
    for of_type in (FunctionEvent, FunctionEventAvg):
        of_type.npu_time_total, of_type.self_npu_time_total = total, own  # type: ignore[union-attr]
