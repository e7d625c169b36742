"""Batch normalization whose statistics are those of all processes of a group."""

from typing import Any

import torch
from torch import distributed as dist
from torch.autograd.function import Function, FunctionCtx, once_differentiable
from torch.nn.modules import batchnorm

__all__ = ["SyncBatchNorm"]


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """A batch as float32 of shape (channels, everything else)."""
    return tensor.float().transpose(0, 1).flatten(1)


def _sum_over_processes(tensor: torch.Tensor, process_group: Any, world_size: int) -> torch.Tensor:  # noqa: ANN401
    if world_size > 1:
        dist.all_reduce(tensor, dist.ReduceOp.SUM, process_group)
    return tensor


def _per_channel(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return values.view(1, -1, *[1] * (like.dim() - 2))


class SyncBatchNorm(Function):
    """Training's batch normalization over the batches of ``world_size`` processes; of one, it is the usual one."""

    @staticmethod
    def forward(
        self: FunctionCtx,
        input_tensor: torch.Tensor,
        weight: torch.Tensor | None,
        bias: torch.Tensor | None,
        running_mean: torch.Tensor | None,
        running_var: torch.Tensor | None,
        eps: float,
        momentum: float,
        process_group: Any,  # noqa: ANN401
        world_size: int,
    ) -> torch.Tensor:
        """Normalizes ``input_tensor`` of shape (batch, channels, ...), and updates running statistics in place.

        Args:
            self: the context that autograd passes.
            input_tensor: floating point, on npu.
            weight: of shape (channels,), or None.
            bias: of shape (channels,), or None.
            running_mean: of shape (channels,), or None.
            running_var: of shape (channels,), unbiased, or None.
            eps: added to the variance.
            momentum: the part of the new statistics in the running ones.
            process_group: of ``torch.distributed``; not used for one process.
            world_size: the processes of the group.

        Raises:
            ValueError: there is only one value per channel.
        """
        rows = _rows(input_tensor)
        channels = rows.shape[0]
        count = rows.new_full((1,), float(rows.shape[1]))
        sums = torch.cat([rows.sum(1), count])
        sums = _sum_over_processes(sums, process_group, world_size)
        size = float(sums[-1])
        if size <= 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size {int(size)}"
            )
        mean = sums[:channels] / size
        squares = (rows - mean.unsqueeze(1)).square().sum(1)
        variance = _sum_over_processes(squares, process_group, world_size) / size
        if running_mean is not None:
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
        if running_var is not None:
            unbiased = variance * (size / (size - 1))
            running_var.lerp_(unbiased.to(running_var.dtype), momentum)
        invstd = (variance + eps).rsqrt()
        scale = invstd if weight is None else invstd * weight.float()
        shift = -mean * scale if bias is None else bias.float() - mean * scale
        out = input_tensor.float() * _per_channel(scale, input_tensor)
        out = out + _per_channel(shift, input_tensor)
        self.save_for_backward(input_tensor, weight, mean, invstd)
        self.group, self.size = (process_group, world_size), size
        return out.to(input_tensor.dtype)

    @staticmethod
    @once_differentiable
    def backward(self: FunctionCtx, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of input, weight and bias; those of weight and bias are this process's part of the sums."""
        input_tensor, weight, mean, invstd = self.saved_tensors
        grads, rows = _rows(grad_output), _rows(input_tensor)
        normal = (rows - mean.unsqueeze(1)) * invstd.unsqueeze(1)
        grad_bias, grad_weight = grads.sum(1), (grads * normal).sum(1)
        grad_input = None
        if self.needs_input_grad[0]:
            sums = torch.stack([grad_bias, grad_weight])
            sums = _sum_over_processes(sums, *self.group) / self.size
            scale = invstd if weight is None else invstd * weight.float()
            centred = (_view(normal, input_tensor)) * _per_channel(sums[1], input_tensor)
            grad = grad_output.float() - _per_channel(sums[0], input_tensor) - centred
            grad_input = (grad * _per_channel(scale, input_tensor)).to(input_tensor.dtype)
        if weight is None or not self.needs_input_grad[1]:
            grad_weight = None
        else:
            grad_weight = grad_weight.to(weight.dtype)
        if not self.needs_input_grad[2]:
            grad_bias = None
        return grad_input, grad_weight, grad_bias, None, None, None, None, None, None


def _view(rows: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The inverse of ``_rows`` in the shape of ``like``."""
    shape = (like.shape[1], like.shape[0], *like.shape[2:])
    return rows.view(shape).transpose(0, 1)


class _OfDevice:
    """What ``torch.nn.SyncBatchNorm`` calls: this function for npu, PyTorch's, whose operators npu lacks, for others."""

    def __init__(self, original: type[Function]) -> None:
        self.original = original

    def apply(self, input_tensor: torch.Tensor, *args: Any) -> torch.Tensor:  # noqa: ANN401
        chosen = SyncBatchNorm if input_tensor.device.type == "npu" else self.original
        return chosen.apply(input_tensor, *args)


def register() -> None:
    """Makes ``torch.nn.SyncBatchNorm`` work on npu."""
    if not isinstance(batchnorm.sync_batch_norm, _OfDevice):
        batchnorm.sync_batch_norm = _OfDevice(batchnorm.sync_batch_norm)
