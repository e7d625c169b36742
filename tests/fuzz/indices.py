"""Results that are indices: among equal elements, the index of any of them is correct."""

import torch

from fuzz.draw import Drawn

# Operators that return values and their indices; PyTorch does not specify the order of equal values.
_PLACES = {"topk", "sort", "kthvalue", "mode", "median", "nanmedian", "argsort"}


def same_choice(operator: str, call: Drawn, expected: list, actual: list) -> bool:
    """Whether ``actual`` has the values of ``expected``, and distinct indices at which these values are."""
    if operator not in _PLACES or len(actual) < 2:
        return False
    values, places = actual[0], actual[1]
    given = call.args[0]
    if places.dtype != torch.int64 or not torch.equal(
        expected[0].nan_to_num(nan=1.5), values.nan_to_num(nan=1.5)
    ):
        return False
    dims = [d for d in call.args[1:] if isinstance(d, int) and not isinstance(d, bool)]
    dim = call.kwargs.get("dim", dims[-1] if dims and operator != "topk" else None)
    if operator == "topk":
        dim = dims[1] if len(dims) > 1 else -1
    if given.dim() == 0:
        return bool((places == 0).all())
    dim = -1 if dim is None else dim
    found = given.contiguous()
    at = places if places.dim() == given.dim() else places.unsqueeze(dim)
    if at.numel() and (int(at.min()) < 0 or int(at.max()) >= given.shape[dim]):
        return False
    picked = found.gather(dim, at).reshape(values.shape)
    if not torch.equal(picked.nan_to_num(nan=1.5), values.nan_to_num(nan=1.5)):
        return False
    ordered = at.sort(dim).values
    return bool((ordered.diff(dim=dim) != 0).all())
