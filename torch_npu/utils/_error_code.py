"""The codes of errors, under the name by which programs of the official torch_npu import them."""

from torch_npu._core.errors import (
    ErrCode,
    dist_error,
    get_env_compact_error_output,
    graph_error,
    ops_error,
    prof_error,
    pta_error,
)

__all__ = [
    "ErrCode",
    "dist_error",
    "get_env_compact_error_output",
    "graph_error",
    "ops_error",
    "prof_error",
    "pta_error",
]
