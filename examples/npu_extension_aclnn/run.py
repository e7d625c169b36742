"""Calls the extension: ``python run.py [library]``, after setup.py or CMake."""

import sys
from pathlib import Path

import torch


def main(library: str) -> None:
    """Computes values, gradients and sizes, and shows an error."""
    torch.ops.load_library(library)
    swish = torch.ops.npu_extension_aclnn.swish
    x = torch.randn(64, 32, device="npu", requires_grad=True)
    expected = x * torch.sigmoid(x)
    grad = torch.randn_like(x)
    print(torch.allclose(swish(x), expected))
    (found,) = torch.autograd.grad(swish(x), x, grad)
    (wanted,) = torch.autograd.grad(expected, x, grad)
    print(torch.allclose(found, wanted, atol=1e-6))
    print(tuple(swish(torch.empty(2, 3, device="meta")).shape))
    try:
        swish(torch.ones(3, dtype=torch.int32, device="npu"))
    except RuntimeError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main(
        sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent / "npu_extension_aclnn.so")
    )
