"""Profiles that a file starts while a program runs. Names and the file's keys are the official plug-in's (BSD-3-Clause).

Example:
    >>> from torch_npu.profiler import dynamic_profile
    >>> dynamic_profile.init("settings")  # writes settings/profiler_config.json if it is missing
    >>> for batch in loader:
    ...     train_step(batch)
    ...     dynamic_profile.step()  # a changed file begins a profile of its "active" steps
"""

import dataclasses
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

from torch.profiler import schedule

from torch_npu._core import environment
from torch_npu.profiler.config import (
    AiCMetrics,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
)
from torch_npu.profiler.session import profile, tensorboard_trace_handler

FILE = "profiler_config.json"
TEMPLATE: dict[str, Any] = {
    "activities": ["CPU", "NPU"],
    "prof_dir": "./",
    "analyse": False,
    "record_shapes": False,
    "profile_memory": False,
    "with_stack": False,
    "with_flops": False,
    "with_modules": False,
    "active": 1,
    "start_step": 0,
    "is_rank": False,
    "rank_list": [],
    "metadata": {},
    "experimental_config": {"profiler_level": "Level0", "aic_metrics": "AiCoreNone"},
}


@dataclasses.dataclass
class _State:
    file: Path | None = None
    seen: bytes = b""  # the file's last content
    step: int = 0
    waiting: dict[str, Any] | None = None  # for its start_step
    running: profile | None = None
    left: int = 0


_state = _State()


def _content(file: Path) -> bytes:
    """What the file holds; nothing if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _read(file: Path, content: bytes) -> dict[str, Any]:
    try:
        given = json.loads(content)
    except ValueError as error:
        raise ValueError(f"{file} is no configuration of a profile: {error}") from None
    if not isinstance(given, dict):
        raise ValueError(f"{file} is no configuration of a profile: it holds no object")
    known = {**TEMPLATE, "is_valid": True}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"{file} has the unknown key {key!r}: the keys are {', '.join(known)}")
        if not isinstance(value, type(known[key])):
            raise ValueError(f"{file}: {key} is {value!r}, not a {type(known[key]).__name__}")
    config = {**TEMPLATE, **given}
    _activities(file, config)
    _experimental(file, config)
    return config


_ACTIVITIES = {"CPU": ProfilerActivity.CPU, "NPU": ProfilerActivity.NPU}


def _activities(file: Path, config: dict[str, Any]) -> list[Any]:
    names = [str(name).upper() for name in config["activities"]]
    for name in names:
        if name not in _ACTIVITIES:
            known = ", ".join(_ACTIVITIES)
            raise ValueError(f"{file} has the unknown activity {name}: there are {known}")
    return [_ACTIVITIES[name] for name in names]


def _experimental(file: Path, config: dict[str, Any]) -> _ExperimentalConfig:
    given = dict(config["experimental_config"])
    for key, kind in (("profiler_level", ProfilerLevel), ("aic_metrics", AiCMetrics)):
        if key in given:
            given[key] = getattr(kind, str(given[key]), given[key])
    try:
        return _ExperimentalConfig(**given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: experimental_config: {error}") from None


def _is_for_this_rank(config: dict[str, Any]) -> bool:
    return not config["is_rank"] or int(environment.text("RANK")) in config["rank_list"]


def _begin(file: Path, config: dict[str, Any]) -> None:
    if not _is_for_this_rank(config):
        return
    active = max(config["active"], 1)
    begun = profile(
        activities=_activities(file, config),
        schedule=schedule(wait=0, warmup=0, active=active, repeat=1),
        on_trace_ready=tensorboard_trace_handler(
            config["prof_dir"], analyse_flag=config["analyse"] and not config["is_rank"]
        ),
        **{
            key: config[key] for key in TEMPLATE if key.startswith(("record_", "profile_", "with_"))
        },
        experimental_config=_experimental(file, config),
    )
    begun.start()
    _state.running, _state.left = begun, active
    for key, value in config["metadata"].items():
        begun.add_metadata_json(str(key), json.dumps(value))


def _write_template(file: Path) -> None:
    """Writes the whole file at once, unless another process has been faster."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".json", encoding="utf-8") as new:
        new.write(json.dumps(TEMPLATE, indent=4) + "\n")
        new.flush()
        try:
            os.link(new.name, file)
        except FileExistsError:
            return
    file.chmod(0o644)


def init(path: str) -> None:
    """Watches ``profiler_config.json`` in the folder ``path``; writes one with all keys if there is none.

    Raises:
        ValueError: ``path`` is no folder.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"{path} is no folder: make it before dynamic_profile.init")
    file = folder / FILE
    if not file.exists():
        _write_template(file)
    _state.file, _state.seen, _state.step = file, _content(file), 0


def start(config_path: str | None = None) -> None:
    """Begins a profile now: of ``config_path``, by default of the file that :func:`init` watches.

    Raises:
        RuntimeError: a profile goes on, or there is neither a file nor an :func:`init`.
        ValueError: the file is no configuration: no JSON, an unknown key, a value of another type.
    """
    if _state.running is not None:
        raise RuntimeError(f"a profile goes on: it ends after {_state.left} steps")
    file = Path(config_path) if config_path else _state.file
    if file is None:
        raise RuntimeError("dynamic_profile.start needs a file, or dynamic_profile.init before it")
    _begin(file, _read(file, _content(file)))


def step() -> None:
    """Counts a step of the program: begins a profile if the file has changed, ends one after its ``active`` steps.

    A file that is no configuration is a warning: the program goes on, and the file is read again when it changes.

    Raises:
        RuntimeError: :func:`init` was not called.
    """
    if _state.file is None and _state.running is None:
        raise RuntimeError("dynamic_profile.step needs dynamic_profile.init before it")
    _state.step += 1
    if _state.running is not None:
        _state.running.step()
        _state.left -= 1
        if _state.left == 0:
            ended, _state.running = _state.running, None
            ended.stop()
        return
    if _state.file is None:
        return
    content = _content(_state.file)
    try:
        if content not in (b"", _state.seen):
            _state.seen = content
            _state.waiting = _read(_state.file, content)
        if _state.waiting is not None and _state.step >= _state.waiting["start_step"]:
            config, _state.waiting = _state.waiting, None
            _begin(_state.file, config)
    except (ValueError, RuntimeError, OSError) as error:
        warnings.warn(f"no profile begins: {error}", stacklevel=2)
