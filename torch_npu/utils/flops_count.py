"""Counts the floating point operations of matrix products, convolutions and attention."""

from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils.flop_counter import flop_registry, sdpa_flop_count


def _attention(
    query: torch.Size, key: torch.Size, value: torch.Size, *_: object, **__: object
) -> int:
    return sdpa_flop_count(query, key, value)


def _attention_backward(
    grad: torch.Size,
    query: torch.Size,
    key: torch.Size,
    value: torch.Size,
    *_: object,
    **__: object,
) -> int:
    # Two products of the forward pass again, and four of gradients.
    return sdpa_flop_count(query, key, value) * 5 // 2


_aten = torch.ops.aten
_OF_NPU = {
    _aten._scaled_dot_product_fused_attention_overrideable: _attention,
    _aten._scaled_dot_product_fused_attention_overrideable_backward: _attention_backward,
}


def _shapes(arguments: Any) -> Any:  # noqa: ANN401
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.shape, arguments)


def _flops(func: torch._ops.OpOverload, args: tuple, kwargs: dict, out: object) -> int:
    packet = func.overloadpacket
    if (formula := _OF_NPU.get(packet)) is not None:
        return formula(*_shapes(args), **_shapes(kwargs))
    if (formula := flop_registry.get(packet)) is not None:
        return formula(*args, **kwargs, out_val=out)
    return 0


class _Counting(TorchDispatchMode):
    """Adds the operations of each call to a counter."""

    def __init__(self, counter: "FlopsCounter") -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        if func.overloadpacket not in flop_registry and func.overloadpacket not in _OF_NPU:
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = func(*args, **kwargs)
        self.counter._add(_flops(func, args, kwargs, out))
        return out


class FlopsCounter:
    """Counts floating point operations of the thread that starts it, and of its backward passes.

    A product and a sum are two operations. Counted are matrix products, convolutions, scaled dot product attention
    and their gradients, by ``torch.utils.flop_counter``'s formulas. ``with FlopsCounter() as counter:`` starts and
    ends the count; what it counted stays.
    """

    def __init__(self) -> None:
        """Counts nothing yet."""
        self._mode: _Counting | None = None
        self._paused = False
        self._recorded = self._traversed = 0

    def __enter__(self) -> "FlopsCounter":
        """Starts."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Ends the count, and keeps what it counted."""
        self._end()

    def _add(self, flops: int) -> None:
        self._traversed += flops
        self._recorded += 0 if self._paused else flops

    def _end(self) -> None:
        if self._mode is None:
            return
        if _get_current_dispatch_mode() is not self._mode:
            raise RuntimeError(
                "FlopsCounter.stop: a dispatch mode that was entered after start() is still active in this thread"
            )
        self._mode.__exit__(None, None, None)
        self._mode = None

    def start(self) -> None:
        """Starts counting, in addition to what was counted; does nothing if it counts already."""
        if self._mode is None:
            self._mode = _Counting(self)
            self._mode.__enter__()

    def stop(self) -> None:
        """Ends the count and sets it to zero.

        Raises:
            RuntimeError: it was started in another thread, or a mode entered since then is still active.
        """
        self._end()
        self._paused = False
        self._recorded = self._traversed = 0

    def pause(self) -> None:
        """What follows is traversed, but not recorded: recomputation, for example."""
        self._paused = True

    def resume(self) -> None:
        """What follows is recorded again."""
        self._paused = False

    def get_flops(self) -> list[int]:
        """The operations recorded, and those traversed, which include pauses."""
        return [self._recorded, self._traversed]


__all__ = ["FlopsCounter"]
