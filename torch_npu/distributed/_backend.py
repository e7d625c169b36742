"""Makes ``hccl`` a backend of ``torch.distributed``."""

from functools import wraps

from torch import distributed as dist

from torch_npu._core import import_hook, state
from torch_npu.distributed import _autograd
from torch_npu.distributed.distributed_c10d import is_hccl_available, reinit_process_group


def _make_group(options: object, group_options: object) -> object:
    """What ``torch.distributed`` calls for each new group.

    Args:
        options: the store, this rank, the number of ranks and the time-out (``_DistributedBackendOptions``).
        group_options: ``pg_options`` of the program: ``ProcessGroupHCCL.Options``, or None.

    Raises:
        TypeError: ``pg_options`` are those of another backend.
    """
    ProcessGroupHCCL = state.native()._distributed_c10d.ProcessGroupHCCL  # noqa: N806
    result = group_options if group_options is not None else ProcessGroupHCCL.Options()
    if not isinstance(result, ProcessGroupHCCL.Options):
        raise TypeError(
            f"pg_options of backend hccl are ProcessGroupHCCL.Options, not {type(result).__name__}"
        )
    result._timeout = options.timeout
    result.global_ranks_in_group = options.global_ranks_in_group
    result.group_id = options.group_id
    result.group_name = options.group_id
    return ProcessGroupHCCL(options.store, options.group_rank, options.group_size, result)


def register() -> None:
    """Registers the backend: for npu tensors also where ``init_process_group`` is not told of a backend."""
    if not dist.is_available():
        return
    native = state.native()
    native._c10d_npu_init()
    # A list: a string would be taken letter by letter.
    dist.Backend.register_backend("hccl", _make_group, extended_api=True, devices=["npu"])
    group = native._distributed_c10d.ProcessGroupHCCL
    for module in (dist, dist.distributed_c10d):
        module.ProcessGroupHCCL = group
        module.is_hccl_available = is_hccl_available
        module.reinit_process_group = reinit_process_group
    _autograd.let_all_gather_have_gradients()
    _serve_cpu_tensors_by_default()
    import_hook.when_imported("torch.distributed.tensor", _let_attention_be_sharded)


def _let_attention_be_sharded() -> None:
    from torch_npu.distributed import _attention_sharding, _operator_sharding

    _attention_sharding.register()
    _operator_sharding.register()


def _serve_cpu_tensors_by_default() -> None:
    """A group that is told of no backend has Gloo for CPU tensors beside hccl; torch 2.13 gives it the latter alone."""
    original = dist.distributed_c10d.BackendConfig.__init__

    @wraps(original)
    def init(self: object, backend: str) -> None:
        chosen = backend
        if backend == dist.Backend.UNDEFINED and dist.is_gloo_available():
            chosen = "cpu:gloo,npu:hccl"
        original(self, chosen)

    dist.distributed_c10d.BackendConfig.__init__ = init
