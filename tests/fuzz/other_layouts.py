"""Operators whose results on npu have other strides than the CPU's, each with the reason."""

OTHER_LAYOUTS: dict[str, str] = {}
