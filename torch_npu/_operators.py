"""The ``npu::`` operators as functions of the package.

So far only the name that transformers imports if an NPU is available; the operators themselves are later work.
"""

from typing import NoReturn


def npu_fusion_attention(*_: object, **__: object) -> NoReturn:
    """Fused attention of the official torch_npu; not supported yet.

    Raises:
        NotImplementedError: always. ``attn_implementation="sdpa"``, the default of transformers, works.
    """
    raise NotImplementedError(
        "torch_npu.npu_fusion_attention is not part of this build: use "
        "torch.nn.functional.scaled_dot_product_attention, or attn_implementation='sdpa' in transformers"
    )
