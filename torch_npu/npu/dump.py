"""Dumps of operators: their npu tensors as files, for comparison with another device.

:func:`init_dump`, then :func:`set_dump` with a configuration, then the operators, then :func:`finalize_dump`. Each
tensor becomes ``<dump_path>/<process>/<number>.<operator>.<input or output>.<index>.npy``; bfloat16 is stored as float32.
"""

import itertools
import json
import os
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves

from torch_npu._core.errors import ErrCode, pta_error

_MODES = ("all", "input", "output")


class _Dump(TorchDispatchMode):
    """Writes the tensors of this thread's operators and of the backward passes that it starts."""

    def __init__(self, folder: Path, mode: str, names: frozenset[str]) -> None:
        super().__init__()
        self.folder = folder
        self.mode = mode
        self.names = names
        self.is_on = True
        self.numbers = itertools.count()

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        kwargs = kwargs or {}
        name = func._schema.name.rsplit("::", 1)[-1]
        if not self.is_on or (self.names and name not in self.names):
            return func(*args, **kwargs)
        inputs = self._tensors((args, kwargs))
        number = next(self.numbers)
        if self.mode != "output":
            self._write(number, name, "input", inputs)
        result = func(*args, **kwargs)
        if self.mode != "input":
            self._write(number, name, "output", self._tensors(result))
        return result

    @staticmethod
    def _tensors(tree: object) -> list[torch.Tensor]:
        return [
            leaf
            for leaf in tree_leaves(tree)
            if type(leaf) in (torch.Tensor, torch.nn.Parameter)
            and leaf.device.type == "npu"
            and leaf.layout is torch.strided
        ]

    def _write(self, number: int, name: str, kind: str, tensors: list[torch.Tensor]) -> None:
        import numpy as np

        for index, tensor in enumerate(tensors):
            values = tensor.detach()
            if values.dtype is torch.bfloat16:
                values = values.float()
            path = self.folder / f"{number:06d}.{name}.{kind}.{index}.npy"
            np.save(path, values.cpu().resolve_conj().resolve_neg().numpy())


_is_initialized = False
_dump: _Dump | None = None


def init_dump() -> None:
    """Prepares to dump. The configuration of :func:`set_dump` starts it."""
    global _is_initialized
    _is_initialized = True


def _read(cfg_file: str) -> tuple[Path, str, frozenset[str]]:
    try:
        content = json.loads(Path(cfg_file).read_text())
        config = content["dump"]
        folder = Path(config["dump_path"])
        mode = config.get("dump_mode", "output")
        names = frozenset(
            layer for model in config.get("dump_list", ()) for layer in model.get("layer", ())
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f'set_dump: {cfg_file} is no configuration: {error!r}. It is JSON like {{"dump": {{"dump_path": "/tmp/d", '
            '"dump_mode": "all"}}' + pta_error(ErrCode.PARAM)
        ) from None
    if mode not in _MODES:
        raise ValueError(
            f"set_dump: dump_mode of {cfg_file} is one of {', '.join(_MODES)}, not {mode!r}"
            + pta_error(ErrCode.PARAM)
        )
    return folder, mode, names


def set_dump(cfg_file: str) -> None:
    """Starts to dump as a file says; replaces the earlier configuration.

    Args:
        cfg_file: JSON with an object ``dump``: ``dump_path``, a folder, made if missing; ``dump_mode``, ``"input"``,
            ``"output"`` (the default) or ``"all"``; ``dump_list``, a list of objects whose lists ``layer`` have names of
            operators (``"add"``), or empty for all.

    Raises:
        AssertionError: there is no such file.
        RuntimeError: :func:`init_dump` was not called.
        ValueError: the file is no configuration.
    """
    global _dump
    if not os.path.exists(cfg_file):
        raise AssertionError(
            f"cfg_file {cfg_file} path does not exists." + pta_error(ErrCode.NOT_FOUND)
        )
    if not _is_initialized:
        raise RuntimeError("set_dump: call torch.npu.init_dump() first" + pta_error(ErrCode.PARAM))
    path, mode, names = _read(os.path.realpath(cfg_file))
    folder = path / str(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    _stop()
    _dump = _Dump(folder, mode, names)
    _dump.__enter__()


def _stop() -> None:
    global _dump
    if _dump is None:
        return
    _dump.is_on = False
    # A mode that was entered later must be left first; then this one stays, switched off.
    if _get_current_dispatch_mode() is _dump:
        _dump.__exit__(None, None, None)
    _dump = None


def finalize_dump() -> None:
    """Ends the dump. All files are complete when it returns."""
    global _is_initialized
    _stop()
    _is_initialized = False
