"""``profile``: records steps of a program, and writes the official tree."""

import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import profiler as torch_profiler

from torch_npu import npu
from torch_npu._core import environment
from torch_npu.profiler import lines, tree
from torch_npu.profiler.config import ProfilerActivity, _ExperimentalConfig, supported_activities
from torch_npu.profiler.device import DeviceProfile
from torch_npu.version import __version__

_FRAMEWORK = "FRAMEWORK"
_ENVIRONMENT = (
    "ASCEND_GLOBAL_LOG_LEVEL",
    "HCCL_RDMA_TC",
    "HCCL_RDMA_SL",
    "ACLNN_CACHE_LIMIT",
    "HOST_CACHE_CAPACITY",
    "ASCEND_ENHANCE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",
    "ASCEND_LAUNCH_BLOCKING",
    "HCCL_ALGO",
)


class _Handler:
    """What :func:`tensorboard_trace_handler` returns."""

    def __init__(self, folder: Path, worker: str, is_analysed: bool) -> None:
        self.folder = folder
        self.worker = worker
        self.is_analysed = is_analysed

    def __call__(self, profile: "profile") -> None:
        if self.is_analysed:
            profile.analyse()


def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[["profile"], None]:
    """For ``on_trace_ready``: analyses each run.

    Args:
        dir_name: where runs are written; by default the working directory.
        worker_name: the beginning of their names; by default the host's.
        analyse_flag: False keeps the raw files, for :func:`analyse`.
        async_mode: accepted; the analysis is done before the call returns.
    """
    return _Handler(Path(dir_name or "."), worker_name or socket.gethostname(), analyse_flag)


def _run_name(worker: str) -> str:
    now = time.time()
    stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(now)) + f"{int(now * 1000) % 1000:03d}"
    return f"{worker}_{os.getpid()}_{stamp}_ascend_pt"


class profile(torch_profiler.profile):  # noqa: N801 - the name is PyTorch's
    """Records the host by PyTorch's profiler and the device by CANN's.

    Args:
        activities: of :class:`ProfilerActivity`; by default all.
        schedule: as of ``torch.profiler.profile``.
        on_trace_ready: called with the profile after each run; :func:`tensorboard_trace_handler` writes the tree.
        record_shapes, profile_memory, with_stack, with_flops, with_modules: as of ``torch.profiler.profile``.
        experimental_config: settings of the device's half.

    Raises:
        ProfilerError: the device's profiler cannot start: another one goes on, or a folder cannot be written.
    """

    def __init__(
        self,
        *,
        activities: Iterable[torch_profiler.ProfilerActivity] | None = None,
        schedule: Callable[[int], torch_profiler.ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
    ) -> None:
        """See the class for the arguments."""
        wanted = set(activities) if activities else supported_activities()
        super().__init__(
            activities=wanted,
            schedule=schedule,
            on_trace_ready=on_trace_ready,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
        )
        self._config = experimental_config or _ExperimentalConfig()
        self._has_device = ProfilerActivity.NPU in wanted
        handler = (
            on_trace_ready
            if isinstance(on_trace_ready, _Handler)
            else _Handler(Path("."), socket.gethostname(), False)
        )
        self._handler = handler
        self._device: DeviceProfile | None = None
        self._lines: lines.ProgramLines | None = None
        self._is_started = False
        self._begin_ns = 0
        self._metadata: dict[str, Any] = {}
        self.run_folder: Path | None = None

    def prepare_trace(self) -> None:
        """Makes the folder of the run."""
        npu.init()
        self.run_folder = self._handler.folder.absolute() / _run_name(self._handler.worker)
        (self.run_folder / _FRAMEWORK).mkdir(parents=True)
        if self._has_device:
            self._device = DeviceProfile(self.run_folder, self._config)
        super().prepare_trace()

    def start_trace(self) -> None:
        """Begins to record."""
        super().start_trace()
        self._begin_ns = time.time_ns()
        if self._device is not None:
            self._device.start()
            self._is_started = True
            self._lines = lines.ProgramLines()

    def stop_trace(self) -> None:
        """Ends the recording after the device's work, and writes the raw files."""
        recorded, self._lines = (None if self._lines is None else self._lines.stop()), None
        if self._device is not None and self._is_started:
            npu.synchronize()
        super().stop_trace()
        device, self._device = self._device, None
        if device is not None and not self._is_started:
            device.abandon()
        elif device is not None:
            self._is_started = False
            device.stop()
        if self.run_folder is not None:
            self._write_raw(self.run_folder)
            if recorded is not None:
                lines.write(self.run_folder, recorded)

    def _write_raw(self, run: Path) -> None:
        super().export_chrome_trace(str(run / _FRAMEWORK / "trace.json"))
        rank = self._rank()
        info = {
            "config": {
                "common_config": {
                    "activities": [
                        name
                        for name, is_in in (
                            ("ProfilerActivity.CPU", ProfilerActivity.CPU in self.activities),
                            ("ProfilerActivity.NPU", self._has_device),
                        )
                        if is_in
                    ],
                    "schedule": None,
                    "record_shapes": self.record_shapes,
                    "profile_memory": self.profile_memory,
                    "with_stack": self.with_stack,
                    "with_flops": self.with_flops,
                    "with_modules": self.with_modules,
                },
                "experimental_config": self._config.as_dict(),
            },
            "start_info": {
                "syscnt_enable": False,
                "freq": 100,
                "start_cnt": 0,
                "start_monotonic": time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
                - (time.time_ns() - self._begin_ns),
            },
            "end_info": {
                "collectionTimeEnd": time.time_ns(),
                "MonotonicTimeEnd": time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW),
            },
            "torch_npu_version": __version__,
            "cann_version": "not known",
        }
        if rank is not None:
            info["rank_id"] = rank
        name = "profiler_info.json" if rank is None else f"profiler_info_{rank}.json"
        (run / name).write_text(json.dumps(info, indent=4))
        known = dict(environment.all_set())
        metadata = {
            "ENV_VARIABLES": {name: known.get(name, "") for name in _ENVIRONMENT},
            **self._metadata,
        }
        (run / "profiler_metadata.json").write_text(json.dumps(metadata, indent=4))

    @staticmethod
    def _rank() -> int | None:
        distributed = torch.distributed
        is_on = distributed.is_available() and distributed.is_initialized()
        return distributed.get_rank() if is_on else None

    def add_metadata(self, key: str, value: str) -> None:
        """Stores a text in ``profiler_metadata.json``."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Stores what the JSON text ``value`` means.

        Raises:
            ValueError: it is no JSON.
        """
        self._metadata[key] = json.loads(value)

    def analyse(self) -> None:
        """Writes ``ASCEND_PROFILER_OUTPUT`` of the last run."""
        if self.run_folder is None:
            raise RuntimeError("analyse: nothing was recorded; run steps inside the profile first")
        tree.write(self.run_folder)
        if self._config.data_simplification:
            shutil.rmtree(self.run_folder / _FRAMEWORK, ignore_errors=True)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Writes the timeline of host and device to the file ``path``; the second argument is PyTorch's, without effect."""
        if self.run_folder is None:
            raise RuntimeError(
                "export_chrome_trace: nothing was recorded; run steps inside the profile first"
            )
        if not (self.run_folder / tree.OUTPUT / "trace_view.json").exists():
            tree.write(self.run_folder)
        shutil.copy(self.run_folder / tree.OUTPUT / "trace_view.json", path)


_KinetoProfile = profile


def analyse(
    profiler_path: str,
    max_process_number: int = 1,
    export_type: str | list[str] | None = None,
) -> None:
    """Analyses runs whose raw files were kept.

    Args:
        profiler_path: a folder ``*_ascend_pt``, or one that holds some.
        max_process_number: accepted; one process analyses.
        export_type: None or "text".

    Raises:
        ValueError: there are no such folders, or another export type is asked for.
    """
    _ExperimentalConfig(export_type=export_type or "text")
    folder = Path(profiler_path)
    runs = [folder] if (folder / _FRAMEWORK).is_dir() else sorted(folder.glob("*_ascend_pt"))
    if not runs:
        raise ValueError(f"{profiler_path} is no folder *_ascend_pt with raw files, and holds none")
    for run in runs:
        tree.write(run)
