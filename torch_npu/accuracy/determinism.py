"""Whether a model gives the same bits twice."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_flatten, tree_map


@dataclass(frozen=True)
class Determinism:
    """What :func:`check_determinism` found: names of results and gradients that differ between runs."""

    differing: tuple[str, ...]
    compared: int
    runs: int

    def __bool__(self) -> bool:
        """Whether all runs gave the same bits."""
        return not self.differing

    def __str__(self) -> str:
        """One line."""
        if self:
            return f"{self.compared} results are bitwise equal in {self.runs} runs"
        return (
            f"{len(self.differing)} of {self.compared} results differ: {', '.join(self.differing)}"
        )


def _bits(t: torch.Tensor) -> torch.Tensor:
    return t.detach().cpu().contiguous().flatten().view(torch.uint8)


def _run(
    model: Callable[..., object], inputs: Sequence[object], backward: bool
) -> dict[str, torch.Tensor]:
    given = tree_map(
        lambda t: (
            t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) else t
        ),
        list(inputs),
    )
    result = model(*given)
    leaves = [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]
    found = {f"result {i}": t for i, t in enumerate(leaves)}
    roots = [t for t in leaves if t.requires_grad and (t.is_floating_point() or t.is_complex())]
    if backward and roots:
        torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])
        named = model.named_parameters() if isinstance(model, torch.nn.Module) else ()
        found |= {f"gradient of {name}": p.grad for name, p in named if p.grad is not None}
        tensors = [t for t in tree_flatten(given)[0] if isinstance(t, torch.Tensor)]
        found |= {
            f"gradient of input {i}": t.grad for i, t in enumerate(tensors) if t.grad is not None
        }
    return {name: _bits(t) for name, t in found.items()}


def check_determinism(
    model: Callable[..., object],
    inputs: Sequence[object],
    *,
    runs: int = 3,
    backward: bool = True,
    seed: int = 0,
) -> Determinism:
    """Runs a model several times from the same state, and compares results and gradients bit by bit.

    Args:
        model: a module, whose parameters, buffers and gradients are as before afterwards, or a function.
        inputs: its arguments.
        runs: how often it runs.
        backward: also compares the gradients of parameters and inputs, of the sum of all results.
        seed: of the random numbers of each run.

    Raises:
        ValueError: ``runs`` is below 2.
    """
    if runs < 2:
        raise ValueError(f"runs is {runs}: there is nothing to compare below 2")
    differing: list[str] = []
    first: dict[str, torch.Tensor] = {}
    with torch.random.fork_rng(devices=[]), torch.random.fork_rng(device_type="npu"):
        for number in range(runs):
            torch.manual_seed(seed)
            # Buffers such as running means change.
            own = copy.deepcopy(model) if isinstance(model, torch.nn.Module) else model
            if isinstance(own, torch.nn.Module):
                own.zero_grad(set_to_none=True)
            found = _run(own, inputs, backward)
            if number == 0:
                first = found
            differing += [
                name
                for name in dict.fromkeys((*first, *found))
                if name not in differing
                and (
                    name not in first
                    or name not in found
                    or not torch.equal(first[name], found[name])
                )
            ]
    return Determinism(tuple(differing), len(first), runs)
