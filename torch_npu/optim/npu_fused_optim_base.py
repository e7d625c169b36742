"""The base of optimizers whose parameters of a group and dtype share one memory."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import Optimizer

from torch_npu.optim._blocks import DTYPES, Block, combine

__all__ = ["NpuFusedOptimizerBase"]


class NpuFusedOptimizerBase(Optimizer):
    """An optimizer that updates all parameters of a group and dtype by operators over one flat tensor.

    The first step moves the parameters, their gradients and states into common memory: parameters stay the same
    objects, and views on them stay valid. A parameter that gets its first gradient later, that moves, or a group that
    is added makes the next step combine again. Between steps, a gradient that the program replaced is copied.

    Parameters are float32, float16 or bfloat16, on one npu; states have the parameter's dtype, and the arithmetic of
    float16 and bfloat16 is float32's. A subclass defines :meth:`_state_names` and :meth:`_update`.

    Args:
        params: the parameters, or groups of them, as for ``torch.optim.Optimizer``.
        default: the options of a group that does not set them.
    """

    def __init__(self, params: Any, default: dict[str, Any]) -> None:  # noqa: ANN401
        """Takes the parameters; nothing is combined before the first gradients."""
        super().__init__(params, default)
        self.is_fused_optimizer = True
        self._forget_blocks()

    def _forget_blocks(self) -> None:
        self.is_params_grads_combined = False
        self._blocks: list[list[Block]] = []
        self._combined_params: list[torch.Tensor | None] = [None, None]
        self._combined_grads: list[torch.Tensor | None] = [None, None]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes a loaded or unpickled state; the next step combines it."""
        super().__setstate__(state)
        self.is_fused_optimizer = True
        self._forget_blocks()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group; the next step combines again."""
        super().add_param_group(param_group)
        self.is_params_grads_combined = False

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        """The states of each parameter of ``group``, and what they are filled with at first."""
        raise TypeError(f"{type(self).__name__} does not say which states it has")

    def _update_block(self, group: dict[str, Any], block: Block) -> None:
        """One step of ``block``, whose number ``block.step`` is counted from 1 on."""
        with block.in_float32() as (param, grad, state):
            self._update(group, block, param, grad, state)

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        """One step of ``param`` and ``state``, which are float32 and change in place; ``grad`` stays."""
        raise TypeError(f"{type(self).__name__} does not say how it updates parameters")

    def _with_gradients(self) -> list[list[torch.nn.Parameter]]:
        """The parameters that have a gradient, by group.

        Raises:
            RuntimeError: a gradient is sparse, or a parameter is on another device than an npu or on another npu.
            TypeError: a parameter has a dtype that fused optimizers do not have.
        """
        found = [[p for p in group["params"] if p.grad is not None] for group in self.param_groups]
        name = type(self).__name__
        devices = set()
        for p in (p for group in found for p in group):
            if p.grad.is_sparse:
                raise RuntimeError(
                    f"{name} does not support sparse gradients, please consider SparseAdam instead"
                )
            if p.dtype not in DTYPES:
                raise TypeError(
                    f"{name}'s parameters must be float32, float16 or bfloat16, but received {p.dtype}"
                )
            devices.add(p.device)
        if any(device.type != "npu" for device in devices) or len(devices) > 1:
            names = ", ".join(sorted(map(str, devices)))
            raise RuntimeError(f"{name}'s parameters must be on one npu, but are on {names}")
        return found

    def _is_current(self, groups: list[list[torch.nn.Parameter]]) -> bool:
        if not self.is_params_grads_combined or len(groups) != len(self._blocks):
            return False
        for group, blocks in zip(groups, self._blocks, strict=True):
            combined = {id(p) for block in blocks for p in block.params}
            if combined != {id(p) for p in group if p.numel()}:
                return False
            if not all(block.is_valid() for block in blocks):
                return False
        return True

    def _maybe_init_combined_params_and_grads(self) -> None:
        """Combines what has gradients, unless it is combined already; gradients that moved are copied."""
        groups = self._with_gradients()
        if not any(groups):
            return
        if not self._is_current(groups):
            self._combine(groups)
        for blocks in self._blocks:
            for block in blocks:
                block.take_gradients()

    def _combine(self, groups: list[list[torch.nn.Parameter]]) -> None:
        self._forget_blocks()
        dtypes = DTYPES if any(p.dtype is DTYPES[2] for g in groups for p in g) else DTYPES[:2]
        self._blocks = [[] for _ in groups]
        self._combined_params, self._combined_grads = [], []
        for dtype in dtypes:
            blocks, params, grads = combine(groups, dtype)
            self._combined_params.append(params)
            self._combined_grads.append(grads)
            for all_of_group, more in zip(self._blocks, blocks, strict=True):
                all_of_group += more
        for group, of_group in zip(self.param_groups, self._blocks, strict=True):
            names = self._state_names(group)
            for block in of_group:
                block.combine_states(self.state, names)
        self.is_params_grads_combined = True

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # noqa: ANN401
        """One step of every parameter that has a gradient; of one whose gradient :meth:`zero_grad` cleared, too.

        Args:
            closure: computes the loss again, with its gradients.

        Returns:
            What ``closure`` returns; None without one.

        Raises:
            RuntimeError: a gradient is sparse, or parameters are not on one npu.
            TypeError: a parameter is not float32, float16 or bfloat16.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._maybe_init_combined_params_and_grads()
        if not self.is_params_grads_combined or not any(self._with_gradients()):
            return loss
        self._before_groups()
        for group, blocks in zip(self.param_groups, self._blocks, strict=True):
            for block in blocks:
                block.step += 1
                self._update_block(group, block)
                for p in block.params:
                    self.state[p]["step"] = block.step
                torch.autograd.graph.increment_version(block.params)
        return loss

    def _before_groups(self) -> None:
        """What a step computes from all groups."""

    @torch.no_grad()
    def zero_grad(self, set_to_none: bool = False) -> None:
        """Sets all gradients to zero.

        Raises:
            ValueError: ``set_to_none`` is true: the gradients are parts of one memory, and stay.
        """
        if set_to_none:
            raise ValueError("set_to_none is not supported in fused optimizers")
        kept: set[int] = set()
        for blocks in self._blocks:
            for block in blocks:
                block.grad.zero_()
                kept |= {id(slot) for slot in block.slots}
        for p in (p for group in self.param_groups for p in group["params"]):
            if p.grad is not None and id(p.grad) not in kept:
                p.grad.detach_().zero_()

    def get_combined_params(self) -> list[torch.Tensor | None]:
        """The memory of all parameters of float32 and of float16, then of bfloat16 if there are any.

        Flat tensors, in the order of groups; None for a dtype without parameters, and before the first step.
        """
        return self._combined_params

    def get_combined_grads(self) -> list[torch.Tensor | None]:
        """The memory of the gradients, as :meth:`get_combined_params` has the parameters."""
        return self._combined_grads

    @torch.no_grad()
    def clip_grad_norm_fused_(self, max_norm: float, norm_type: float = 2) -> torch.Tensor:
        """Scales all gradients so that their norm, as of one vector, is at most ``max_norm``.

        Args:
            max_norm: the largest norm.
            norm_type: the p of the p-norm; ``inf`` is the largest absolute value.

        Returns:
            The norm before, a float32 tensor without dimensions.
        """
        self._maybe_init_combined_params_and_grads()
        grads = [block.grad for blocks in self._blocks for block in blocks]
        if not grads:
            return torch.tensor(0.0)
        p = float(norm_type)
        total = torch.stack([_norm(grad, p) for grad in grads])
        norm = _norm(total, p)
        scale = (float(max_norm) / (norm + 1e-6)).clamp(max=1)
        for grad in grads:
            grad.mul_(scale)
        return norm


def _norm(tensor: torch.Tensor, p: float) -> torch.Tensor:
    flat = tensor.reshape(-1).float()
    return flat.abs().amax() if math.isinf(p) else torch.linalg.vector_norm(flat, p)
