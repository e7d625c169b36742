"""The cases of PyTorch's own tests that npu does not pass: (operator, dtype, variant) -> reason. No wildcards."""

EXCEPTIONS: dict[tuple[str, str, str], str] = {}
