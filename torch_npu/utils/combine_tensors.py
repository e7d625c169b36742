"""Tensors in one memory: operators then run once over all of them."""

import torch

from torch_npu._core import state
from torch_npu._formats import get_storage_size


def npu_change_data_ptr(dst: torch.Tensor, src: torch.Tensor, index: int) -> int:
    """Gives the storage of ``dst``, with all views on it, the memory of ``src`` from its element ``index`` on.

    ``dst`` then has the values of that memory, and keeps it alive. No other thread may use ``dst`` meanwhile.

    Args:
        dst: an npu tensor.
        src: an npu tensor of the same dtype and device, with at least as many elements after ``index``.
        index: counted in elements, from 0 on.

    Returns:
        0.

    Raises:
        RuntimeError: the tensors are not on one npu, or have one storage already.
        TypeError: they have different dtypes.
        IndexError: the storage of ``dst`` does not fit.
    """
    state.native().change_data_ptr(dst, src, index)
    return 0


def _check(tensors: list[torch.Tensor]) -> None:
    for tensor in tensors:
        if tensor is None:
            raise RuntimeError("Tensors to combine must not have `None`.")
        if tensor.dtype != tensors[0].dtype:
            raise RuntimeError(
                f"Tensors to combine must have the same dtype, not {tensors[0].dtype} and {tensor.dtype}."
            )
        if tensor.device.type != "npu" or tensor.device != tensors[0].device:
            raise RuntimeError(f"Tensors to combine must be on one NPU, got {tensor.device}.")


def alias(tensors: list[torch.Tensor], combined: torch.Tensor, offset: int = 0) -> int:
    """Moves the storages of ``tensors`` into ``combined``, one after another from element ``offset`` on.

    Values are copied. Tensors of one storage are moved once, together.

    Returns:
        The offset after the last one.
    """
    moved: set[int] = set()
    for tensor in tensors:
        storage = tensor.untyped_storage()
        if storage._cdata in moved:
            continue
        moved.add(storage._cdata)
        size = storage.nbytes() // tensor.element_size()
        if not size:
            continue
        whole = tensor.new_empty(0).set_(storage, 0, (size,))
        combined.narrow(0, offset, size).copy_(whole)
        npu_change_data_ptr(whole, combined, offset)
        offset += size
    return offset


def npu_combine_tensors(
    list_of_tensor: list[torch.Tensor], require_copy_value: bool = True
) -> torch.Tensor | None:
    """One tensor whose memory those of the list share from now on, one after another, with all their views.

    Args:
        list_of_tensor: contiguous npu tensors of one dtype and device, of any shapes.
        require_copy_value: whether they keep their values. Without, all are zero.

    Returns:
        A tensor of one dimension with the elements of all their storages; None if there are none.

    Raises:
        RuntimeError: the tensors differ in dtype or device, are not on an npu, or are not contiguous.
    """
    _check(list_of_tensor)
    if not all(tensor.is_contiguous() for tensor in list_of_tensor):
        raise RuntimeError("Tensors to combine must be contiguous.")
    plain = [tensor.detach() for tensor in list_of_tensor]
    unique = {tensor.untyped_storage()._cdata: tensor for tensor in plain}
    total = sum(map(get_storage_size, unique.values()))
    if not total:
        return None
    combined = plain[0].new_zeros(total)
    if not require_copy_value:
        for tensor in unique.values():
            tensor.new_empty(0).set_(
                tensor.untyped_storage(), 0, (get_storage_size(tensor),)
            ).zero_()
    alias(list(unique.values()), combined)
    return combined


def get_part_combined_tensor(
    combined_tensor: torch.Tensor | None, index: int, size: int
) -> torch.Tensor | None:
    """``size`` elements from ``index`` on of a combined tensor, in the same memory; None for no elements.

    Raises:
        RuntimeError: they end after the combined tensor, or ``index`` or ``size`` is negative.
    """
    if combined_tensor is None or size == 0:
        return None
    whole = get_storage_size(combined_tensor)
    if index < 0 or size < 0 or index + size > whole:
        raise RuntimeError(
            f"elements {index} to {index + size} are not within the {whole} of the combined tensor"
        )
    return combined_tensor.detach().view(-1).narrow(0, index, size)


def is_combined_tensor_valid(
    combined_tensor: torch.Tensor | None, list_of_tensor: list[torch.Tensor]
) -> bool:
    """Whether every tensor of the list is contiguous and lies in the memory of ``combined_tensor``."""
    if not list_of_tensor:
        return True
    if combined_tensor is None:
        return False
    begin = combined_tensor.data_ptr()
    end = begin + get_storage_size(combined_tensor) * combined_tensor.element_size()
    return all(
        tensor is not None and begin <= tensor.data_ptr() < end and tensor.is_contiguous()
        for tensor in list_of_tensor
    )


__all__ = [
    "get_part_combined_tensor",
    "is_combined_tensor_valid",
    "npu_change_data_ptr",
    "npu_combine_tensors",
]
