"""Parameters in one memory, with their gradients and states: what a fused optimizer updates at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from torch_npu.utils.combine_tensors import alias

# The order of get_combined_params: the official torch_npu has the first two.
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements are one range of memory, each once, in any order of dimensions."""
    expected = 1
    dimensions = zip(tensor.stride(), tensor.shape, strict=True)
    for stride, size in sorted(pair for pair in dimensions if pair[1] != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def fills_its_storage(tensor: torch.Tensor) -> bool:
    """Whether the elements of ``tensor`` are those of its storage, each once."""
    elements = tensor.untyped_storage().nbytes() // tensor.element_size()
    return tensor.storage_offset() == 0 and tensor.numel() == elements and _is_dense(tensor)


def like(tensor: torch.Tensor, fill: float = 0) -> torch.Tensor:
    """A tensor with the sizes and strides of ``tensor`` in a storage of its own."""
    result = torch.empty_like(tensor, memory_format=torch.preserve_format).detach()
    return result.fill_(fill)


@dataclass
class Block:
    """Parameters of one group and dtype whose memory is one flat tensor, and what belongs to it.

    ``slots`` are the gradients: tensors with the parameters' sizes and strides in the memory of ``grad``. A block of
    one parameter that is a part of a larger storage has that parameter itself, of any shape.
    """

    params: list[torch.nn.Parameter]
    param: torch.Tensor
    grad: torch.Tensor
    slots: list[torch.Tensor]
    addresses: list[int]
    is_flat: bool = True
    state: dict[str, torch.Tensor] = field(default_factory=dict)
    step: int = 0

    def parts(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """The parts of a tensor as ``param`` is one, in the parameters' shapes."""
        if not self.is_flat:
            return [flat]
        offset, found = 0, []
        for p in self.params:
            found.append(flat.as_strided(p.shape, p.stride(), flat.storage_offset() + offset))
            offset += p.numel()
        return found

    def is_valid(self) -> bool:
        """Whether each parameter still is in the memory, and has a gradient."""
        return all(
            p.data_ptr() == address and p.grad is not None
            for p, address in zip(self.params, self.addresses, strict=True)
        )

    def take_gradients(self) -> None:
        """Copies gradients that are elsewhere, and makes those of the block the parameters' gradients."""
        pairs = zip(self.params, self.slots, strict=True)
        strays = [(p, slot) for p, slot in pairs if p.grad is not slot]
        if not strays:
            return
        torch._foreach_copy_([slot for _, slot in strays], [p.grad.detach() for p, _ in strays])
        for p, slot in strays:
            p.grad = slot

    def combine_states(
        self, state: dict[torch.nn.Parameter, dict], names: dict[str, float]
    ) -> None:
        """Puts the states ``names`` of all parameters in one memory each; a new one is filled with its value.

        The step continues from the parameters' steps. States without one, as those of ``torch.optim.SGD``, are not
        at the first step.
        """
        self.state = {}
        self.step = max(
            (
                int(state[p].get("step", any(name in state[p] for name in names)))
                for p in self.params
            ),
            default=0,
        )
        for name, fill in names.items():
            tensors = []
            for p in self.params:
                old = state[p].get(name)
                result = like(p, fill) if old is None else like(p).copy_(old)
                state[p][name] = result
                tensors.append(result)
            self.state[name] = tensors[0]
            if self.is_flat:
                self.state[name] = self.param.new_empty(self.param.numel())
                alias(tensors, self.state[name])

    @contextmanager
    def in_float32(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]]:
        """Parameter, gradient and states in float32; what was computed is rounded to the block's dtype."""
        if self.param.dtype is torch.float32:
            yield self.param, self.grad, self.state
            return
        param = self.param.float()
        state = {name: tensor.float() for name, tensor in self.state.items()}
        yield param, self.grad.float(), state
        self.param.copy_(param)
        for name, tensor in state.items():
            self.state[name].copy_(tensor)


def _slots(params: list[torch.nn.Parameter], grad: torch.Tensor) -> list[torch.Tensor]:
    """The gradients of ``params``, moved into the memory of ``grad``."""
    slots = []
    for p in params:
        fits = (
            p.grad.stride() == p.stride() and fills_its_storage(p.grad) and p.grad.dtype == p.dtype
        )
        slots.append(p.grad if fits else like(p).copy_(p.grad))
        p.grad = slots[-1]
    alias([slot.detach() for slot in slots], grad)
    return slots


def _block(params: list[torch.nn.Parameter], param: torch.Tensor, grad: torch.Tensor) -> Block:
    addresses = [p.data_ptr() for p in params]
    return Block(params, param, grad, [p.grad for p in params], addresses)


def combine(
    groups: list[list[torch.nn.Parameter]], dtype: torch.dtype
) -> tuple[list[list[Block]], torch.Tensor | None, torch.Tensor | None]:
    """The blocks of each group for the parameters of one dtype, and the memory of all parameters and gradients.

    A parameter that is a part of a larger storage is a block of its own, in no common memory.
    """
    blocks: list[list[Block]] = []
    chosen = [[p for p in group if p.dtype is dtype] for group in groups]
    dense = [[p for p in group if fills_its_storage(p)] for group in chosen]
    every = [p for group in dense for p in group]
    params = grads = None
    if every:
        size = sum(p.numel() for p in every)
        params, grads = every[0].new_empty(size).detach(), every[0].new_empty(size).detach()
        alias([p.detach() for p in every], params)
        _slots(every, grads)
    offset = 0
    for group, regular in zip(chosen, dense, strict=True):
        size = sum(p.numel() for p in regular)
        mine = []
        if params is not None and size:
            part = slice(offset, offset + size)
            mine.append(_block(regular, params[part], grads[part]))
        offset += size
        for p in group:
            if not fills_its_storage(p) and p.numel():
                p.grad = like(p).copy_(p.grad)
                mine.append(_block([p], p.detach(), p.grad))
                mine[-1].is_flat = False
        blocks.append(mine)
    return blocks, params, grads
