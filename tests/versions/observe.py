"""What a call does to the version counters of the arguments that it writes, and to lazy clones of them."""

from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_map

from versions.recorded import Given
from versions.schemas import Overload, is_out, written

INFERENCE = "Inplace update to inference tensor outside InferenceMode is not allowed"


@dataclass(frozen=True)
class Observed:
    """By how much each written argument's counters were raised; of a list, one number for each tensor."""

    raised: dict[str, tuple[int, ...]]
    # Written arguments whose lazy clones the call changed.
    changed_clones: tuple[str, ...] = ()


# Numbers that operators read on the host.
_ON_THE_HOST = {"scalars", "high"}


def moved(given: Given, device: str) -> Given:
    """Copies of the tensors, and new storages, on a device."""
    kept: dict[int, object] = {}

    def move(x):
        if isinstance(x, torch.UntypedStorage):
            return kept.setdefault(id(x), torch.UntypedStorage(x.nbytes(), device=device))
        if not isinstance(x, torch.Tensor):
            return x
        return x.detach().clone().to(device)

    return {
        name: value if name in _ON_THE_HOST else tree_map(move, value)
        for name, value in given.items()
    }


def _written(function: Overload, given: Given) -> dict[str, list[torch.Tensor]]:
    values = {name: given.get(name) for name in written(function)}
    return {
        name: list(value) if isinstance(value, list | tuple) else [value]
        for name, value in values.items()
        if value is not None
    }


def with_sized_outputs(function: Overload, given: Given) -> Given:
    """The arguments with outputs of the sizes that the operator gives them on the CPU.

    PyTorch resizes outputs of other devices through the dispatcher, which raises their counters once more.

    Raises:
        Exception: the operator's own.
    """
    arguments = moved(given, "cpu")
    with torch.no_grad():
        function(**arguments)
    outs = {a.name for a in function._schema.arguments if is_out(a)}
    return {name: arguments[name] if name in outs else value for name, value in given.items()}


def _bytes(tensor: torch.Tensor) -> bytes:
    return tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()


class _LazyClones:
    """Clones that share the bytes of tensors until either is written."""

    def __init__(self, tensors: dict[str, list[torch.Tensor]]) -> None:
        self._clones = [
            (name, torch._lazy_clone(t), _bytes(t))
            for name, listed in tensors.items()
            for t in listed
            if isinstance(t, torch.Tensor) and t.layout == torch.strided and t.numel() > 0
        ]

    def changed(self) -> tuple[str, ...]:
        return tuple(name for name, clone, before in self._clones if _bytes(clone) != before)


def observe(function: Overload, given: Given, device: str) -> Observed:
    """Calls the operator with copies of the arguments.

    Raises:
        Exception: the operator's own.
    """
    arguments = moved(given, device)
    tensors = _written(function, arguments)
    before = {name: [t._version for t in listed] for name, listed in tensors.items()}
    clones = _LazyClones(tensors)
    with torch.no_grad():
        function(**arguments)
    raised = {
        name: tuple(t._version - b for t, b in zip(listed, before[name], strict=True))
        for name, listed in tensors.items()
    }
    return Observed(raised, clones.changed())


def updates_inference_tensors(function: Overload, given: Given, device: str) -> bool:
    """Whether the operator updates inference tensors outside inference mode: it has to raise PyTorch's error.

    Raises:
        Exception: another error.
    """
    with torch.inference_mode():
        arguments = moved(given, device)
    try:
        with torch.no_grad():
            function(**arguments)
    except RuntimeError as error:
        if INFERENCE in str(error):
            return False
        raise
    return True
