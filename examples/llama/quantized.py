"""Linear layers with weights of 8 or 4 bits over npu's quantized products."""

import torch
from torch import Tensor, nn

import torch_npu


class W8A8(nn.Module):
    """Weights and activations of int8, exact sums in int32."""

    def __init__(self, weight: Tensor) -> None:
        """Quantizes ``weight`` [out, in] by rows."""
        super().__init__()
        quantized, scale = torch_npu.npu_dynamic_quant(weight)
        self.register_buffer("weight", quantized.T)  # [in, out], the columns contiguous
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """[T, in] to [T, out]; the activations are quantized by rows."""
        quantized, scale = torch_npu.npu_dynamic_quant(x)
        return torch_npu.npu_quant_matmul(
            quantized, self.weight, self.scale, pertoken_scale=scale, output_dtype=x.dtype
        )


class WeightOnly(nn.Module):
    """Weights of int8, or of int4 in groups, and activations as they are."""

    def __init__(self, weight: Tensor, bits: int, group: int) -> None:
        """Quantizes ``weight`` [out, in]; ``group`` elements of a row share a scale, 0 for all.

        Raises:
            ValueError: ``bits`` is neither 8 nor 4, or a row is no multiple of ``group``.
        """
        super().__init__()
        rows, columns = weight.shape
        width = group or columns
        if bits not in (4, 8) or columns % width:
            raise ValueError(
                f"{bits} bits in groups of {group} do not fit a weight of {tuple(weight.shape)}"
            )
        largest = 2 ** (bits - 1) - 1
        parts = weight.float().reshape(rows, columns // width, width)
        scale = parts.abs().amax(-1).clamp_min(torch.finfo(torch.float32).tiny) / largest
        whole = (parts / scale.unsqueeze(-1)).round().reshape(rows, columns)
        pack = torch_npu.npu_convert_weight_to_int4pack
        whole = pack(whole.int()) if bits == 4 else whole.char()
        self.group = group
        self.register_buffer("weight", whole.T)
        self.register_buffer("scale", scale.T.contiguous().to(weight.dtype))

    def forward(self, x: Tensor) -> Tensor:
        """[T, in] to [T, out]."""
        return torch_npu.npu_weight_quant_batchmatmul(
            x, self.weight, self.scale, antiquant_group_size=self.group
        )


def quantize(model: nn.Module, variant: str) -> nn.Module:
    """Replaces the layers of every block by those of ``variant``: w8a8, w8a16, or w4a16; the last product stays.

    Raises:
        ValueError: the form is another.
    """
    makers = {
        "w8a8": W8A8,
        "w8a16": lambda weight: WeightOnly(weight, 8, 0),
        "w4a16": lambda weight: WeightOnly(weight, 4, 32),
    }
    if variant not in makers:
        raise ValueError(f"the form is {variant!r}: {', '.join(makers)} are known")
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and name.startswith("blocks."):
            parent, _, own = name.rpartition(".")
            setattr(model.get_submodule(parent), own, makers[variant](module.weight.detach()))
    return model
