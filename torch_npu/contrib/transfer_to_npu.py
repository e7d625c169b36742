"""Makes programs written for CUDA run on npu: ``from torch_npu.contrib import transfer_to_npu``, or TORCH_TRANSFER_TO_NPU=1.

How ``cuda`` becomes npu, by the least that each way costs and breaks:

- Tensors that operators make, ``torch.zeros(2, device="cuda")``: no PyTorch function is replaced. A fallback of the
  dispatcher's CUDA keys makes them on npu. So calls without a device cost what they cost without this module, and
  TorchScript, ``torch.device`` as a context and ``torch.set_default_device`` work, whose tables know PyTorch's own
  functions. A mode (``TorchFunctionMode``) would cost each call microseconds; a wrapper of each factory would break
  ``torch.jit.script``.
- ``torch.device`` stays the class that it is, with ``torch.device("cuda").type == "cuda"``; it is read as npu where it is
  used. Tensors say ``npu``: their ``is_cuda`` is True.
- Names of ``torch.cuda`` become ``torch.npu``'s of the same name, looked up when this is imported. Names that npu does
  not have raise RuntimeError where they are called.
- The few Python functions that read a device before the dispatcher does are replaced, as ``_transfer/rules.py`` lists.

:func:`restore` brings every original back.
"""

import functools
import importlib
import sys

from torch_npu._core import import_hook, state
from torch_npu.contrib._transfer import absent, checkpoints, patcher
from torch_npu.contrib._transfer.counterparts import all_counterparts, exists, resolve
from torch_npu.contrib._transfer.rules import RULES, Rule

__all__ = ["apply", "is_applied", "restore"]

_patcher = patcher.PATCHER


def _replace(dotted: str, replacement: object) -> None:
    owner, _, name = dotted.rpartition(".")
    _patcher.replace(resolve(owner), name, replacement)


def _apply_to_modules() -> None:
    for name, target, kept in all_counterparts():
        if kept:
            continue
        original = resolve(name)
        new = absent.stand_in(name, original) if target is None else resolve(target)
        if new is not original:
            _replace(name, new)


def _apply_rules() -> None:
    for module in ("torch._subclasses.fake_tensor", "torch.fx.experimental.proxy_tensor"):
        importlib.import_module(module)
    for rule in RULES:
        if rule.imported_with is None:
            _replace(rule.name, rule.make(resolve(rule.name) if exists(rule.name) else None))
        elif rule.imported_with in sys.modules:
            _apply_to_imported(rule)


def _apply_to_imported(rule: Rule) -> None:
    """Applies a rule to a module that may be unknown to its package yet, as the import that it is part of goes on."""
    *path, name = rule.name.removeprefix(f"{rule.imported_with}.").split(".")
    owner = functools.reduce(getattr, path, sys.modules[str(rule.imported_with)])
    _patcher.replace(owner, name, rule.make(getattr(owner, name)))


def _apply_when_imported(rule: Rule) -> None:
    if is_applied():
        _apply_to_imported(rule)


def _wait_for_imports() -> None:
    """Once in a process: what is imported while CUDA is mapped is mapped then."""
    for rule in RULES:
        if rule.imported_with is not None and rule.imported_with not in sys.modules:
            import_hook.when_imported(
                rule.imported_with, functools.partial(_apply_when_imported, rule)
            )


def is_applied() -> bool:
    """Whether CUDA is mapped to npu now."""
    return bool(_patcher.changes)


def apply() -> None:
    """Maps CUDA to npu; importing this module does so. Doing it twice is harmless.

    Raises:
        RuntimeError: torch_npu could not be loaded, or torch is built with CUDA.
    """
    if is_applied():
        return
    native = state.native()
    try:
        _patcher.switch(
            lambda: native.set_cuda_redirect(True), lambda: native.set_cuda_redirect(False)
        )
        _patcher.switch(checkpoints.register, checkpoints.unregister)
        _apply_to_modules()
        _apply_rules()
    except BaseException:
        _patcher.restore()
        raise


def restore() -> None:
    """Brings every original object of PyTorch back. Tensors on npu stay. Does nothing where nothing is mapped."""
    _patcher.restore()


_wait_for_imports()
apply()
