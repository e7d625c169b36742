"""Makes ``npu`` a device of PyTorch: connects all parts of the package with it, once, when the package is loaded."""

import atexit
import sys
from types import ModuleType

import torch

from torch_npu import _compat, npu
from torch_npu._core import environment, import_hook, state
from torch_npu._core.warnings import warn
from torch_npu.distributed import _backend
from torch_npu.multiprocessing import reductions
from torch_npu.npu import (
    _acl_configuration,
    legacy,
    memory,
    overflow,
    sanitizer,
    torch_backends_module,
)
from torch_npu.npu.random import _make_default_generators
from torch_npu.utils import (
    _flex_attention,
    _profiled_events,
    _storage,
    batching_rules,
    fake_kernels,
    syncbatchnorm,
)


def _finish() -> None:
    """Waits for queued work when the interpreter ends. After a Ctrl-C the work is dropped instead.

    Failed work that was never waited for is reported here, and the process exits with an error.
    """
    if not state.is_loaded():
        return  # the import failed after it was registered
    native = state.native()
    native.wait_for_autograd_threads()
    has_failed = getattr(sys, "last_type", None) is not None
    native._distributed_c10d.end_process_groups(has_failed)
    if getattr(sys, "last_type", None) is not KeyboardInterrupt:
        failure = native.shutdown()
        if failure:
            print(f"Work on the npu that nobody waited for failed: {failure}", file=sys.stderr)
    native.close_shared()  # after the wait: queued work may write memory of other processes


def _register_with_dynamo() -> None:
    from torch_npu import (
        _dynamo_interface,  # it imports torch._dynamo, as a program does that needs it
    )

    _dynamo_interface.register()


def _register_backends() -> None:
    """Makes the backends of ``torch.compile`` known by name; they are imported at the first use.

    The installed package has them as entry points, too.
    """
    from importlib.metadata import EntryPoint

    from torch._dynamo.backends import registry

    for name in ("npu", "npugraph_ex", "npugraphs"):
        function = "npugraphs" if name == "npugraphs" else "npugraph_ex"
        entry = EntryPoint(name, f"torch_npu._npugraph_ex:{function}", "torch_dynamo_backends")
        registry._BACKENDS.setdefault(name, entry)


def _register_with_inductor() -> None:
    """Registers code generators, with a cache key, which attributes of the device module cannot give."""
    from torch_npu import _inductor  # noqa: F401  # it imports Inductor, which takes seconds


def register(native: ModuleType | None, reason: str) -> None:
    """Makes ``npu`` a device of PyTorch; without the native module it is not available.

    Args:
        native: ``torch_npu._C``, or None.
        reason: why it is None.
    """
    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", npu)
    # Inductor asks a device that is not registered yet for its code generators.
    npu._first_uses["Scheduling"] = _register_with_inductor
    state.attach(native, reason)
    if native is None:
        return
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    npu.default_generators = _make_default_generators()
    # The official plug-in's name for the version of the bound CANN.
    torch.version.__dict__["cann"] = native.cann_version()
    reductions.register()
    _compat.apply()
    memory._dump_when_out_of_memory()
    fake_kernels.register()
    batching_rules.register()
    legacy.register()
    _storage.register()
    _profiled_events.register()
    _flex_attention.register()
    torch_backends_module.register()
    _backend.register()
    syncbatchnorm.register()
    overflow.init_from_environment()
    sanitizer.init_from_environment()
    for text in environment.ignored():
        warn(text)
    _acl_configuration.apply()
    import_hook.when_imported("torch._dynamo.device_interface", _register_with_dynamo)
    import_hook.when_imported("torch._dynamo.backends.registry", _register_backends)
    atexit.register(_finish)
