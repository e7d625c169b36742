"""A program for NPUs: rows of a matrix, scaled to length 1."""

import torch


def normalize(rows: torch.Tensor) -> torch.Tensor:
    """Rows (N, D) of a floating-point type, each divided by its length; on the rows' device."""
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)


if __name__ == "__main__":
    print(normalize(torch.tensor([[3.0, 4.0]], device="npu")))
