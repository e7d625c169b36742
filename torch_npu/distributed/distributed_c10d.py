"""Functions on process groups that the official torch_npu adds to ``torch.distributed``."""

import logging
from collections.abc import Sequence

import torch
from torch import distributed as dist
from torch.distributed import distributed_c10d as c10d

__all__ = ["is_hccl_available", "reinit_process_group"]

logger = logging.getLogger("torch.distributed")


def is_hccl_available() -> bool:
    """Whether ``torch.distributed`` has the backend ``hccl``."""
    return "hccl" in dist.Backend.backend_list


def _npu_backend(group: dist.ProcessGroup | None) -> object:
    """The backend of ``group``, or of the default one, for npu tensors."""
    return (group or c10d._get_default_group())._get_backend(torch.device("npu"))


def _is_member(group: dist.ProcessGroup | None, name: str) -> bool:
    """Whether this rank is in ``group``; warns, as PyTorch's collectives do, if it is not."""
    if not c10d._rank_not_in_group(group):
        return True
    c10d._warn_not_in_group(name)
    return False


def _check_npu(name: str, **tensors: torch.Tensor) -> None:
    for argument, tensor in tensors.items():
        if tensor.device.type != "npu":
            raise ValueError(f"{name}: {argument} is on {tensor.device}, but has to be on npu")


def _finished(work: dist.Work, *, async_op: bool) -> dist.Work | None:
    if async_op:
        return work
    work.wait()
    return None


def reinit_process_group(
    group: dist.ProcessGroup | None = None, rebuild_link: bool = True
) -> dist.ProcessGroup | None:
    """Gives the HCCL communicators of ``group`` back; its next collective makes new ones.

    All ranks of the group call it, after a collective failed on some of them. Collectives in flight fail.

    Args:
        group: the default group if None.
        rebuild_link: has to be True: links between processes of one host cannot be resumed.

    Returns:
        The group.

    Raises:
        NotImplementedError: ``rebuild_link`` is False.
    """
    if not rebuild_link:
        raise NotImplementedError(
            "reinit_process_group(rebuild_link=False) resumes links between hosts, which softnpu does not have: "
            "call it with rebuild_link=True"
        )
    chosen = group or c10d._get_default_group()
    if "hccl" in dist.get_backend_config(chosen):
        _npu_backend(chosen).abort_hccl_comm("reinit")
    logger.info("process group %s has new HCCL communicators", chosen.group_name)
    return chosen


def reduce_scatter_tensor_uneven(
    output: torch.Tensor,
    input: torch.Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: dist.ReduceOp = dist.ReduceOp.SUM,
    group: dist.ProcessGroup | None = None,
    async_op: bool = False,
) -> dist.Work | None:
    """Reduces ``input`` over the ranks and gives each rank some of its rows.

    Args:
        output: this rank's rows of the result, on npu.
        input: all rows, on npu; as many on each rank.
        input_split_sizes: how many rows each rank gets; equal numbers if None.
        op: the reduction.
        group: the default group if None.
        async_op: returns the work instead of waiting for it.

    Raises:
        ValueError: a tensor is not on npu, or sizes do not match.
    """
    if not _is_member(group, "reduce_scatter_tensor_uneven"):
        return None
    _check_npu("reduce_scatter_tensor_uneven", output=output, input=input)
    options = c10d.ReduceScatterOptions()
    options.reduceOp = op
    options.asyncOp = async_op
    work = _npu_backend(group).reduce_scatter_tensor_uneven(
        output, input, list(input_split_sizes or []), options
    )
    return _finished(work, async_op=async_op)


def all_gather_into_tensor_uneven(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: dist.ProcessGroup | None = None,
    async_op: bool = False,
) -> dist.Work | None:
    """Gathers rows of all ranks, of which each may have another number.

    Args:
        output: the rows of all ranks, in their order, on npu.
        input: this rank's rows, on npu.
        output_split_sizes: how many rows each rank has; equal numbers if None.
        group: the default group if None.
        async_op: returns the work instead of waiting for it.

    Raises:
        ValueError: a tensor is not on npu, or sizes do not match.
    """
    if not _is_member(group, "all_gather_into_tensor_uneven"):
        return None
    _check_npu("all_gather_into_tensor_uneven", output=output, input=input)
    options = c10d.AllgatherOptions()
    options.asyncOp = async_op
    work = _npu_backend(group).all_gather_into_tensor_uneven(
        output, input, list(output_split_sizes or []), options
    )
    return _finished(work, async_op=async_op)


def all_to_all_vc(
    output: torch.Tensor,
    input: torch.Tensor,
    send_count_matrix: Sequence[Sequence[int]],
    group: dist.ProcessGroup | None = None,
    async_op: bool = False,
) -> dist.Work | None:
    """Sends parts of ``input`` to all ranks, with the sizes of all parts known to each of them.

    Args:
        output: what this rank gets, in the order of the ranks, on npu; column sums of the matrix.
        input: what this rank sends, in the order of the ranks, on npu; row sums of the matrix.
        send_count_matrix: in row i, column j the number of elements that rank i sends to rank j; the same on each rank.
        group: the default group if None.
        async_op: returns the work instead of waiting for it.

    Raises:
        ValueError: a tensor is not on npu, or the matrix does not match the ranks or the tensors.
    """
    if not _is_member(group, "all_to_all_vc"):
        return None
    _check_npu("all_to_all_vc", output=output, input=input)
    ranks = dist.get_world_size(group)
    if len(send_count_matrix) != ranks or any(len(row) != ranks for row in send_count_matrix):
        raise ValueError(
            f"send_count_matrix must be a square [{ranks}][{ranks}] matrix, got rows of lengths "
            f"{[len(row) for row in send_count_matrix]}"
        )
    options = c10d.AllToAllOptions()
    options.asyncOp = async_op
    flat = [int(count) for row in send_count_matrix for count in row]
    work = _npu_backend(group).alltoallvc(output, input, flat, options)
    return _finished(work, async_op=async_op)
