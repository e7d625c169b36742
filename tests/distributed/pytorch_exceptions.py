"""The cases of PyTorch's ``distributed_test.py`` that npu does not pass after ``transfer_to_npu``: name -> reason.
No wildcards. They do not run."""

EXCEPTIONS: dict[str, str] = {
    "test_ddp_uneven_inputs": (
        "convolutions of 1.2e12 operations for each of some hundred iterations: longer than the case's limit on a CPU"
    ),
    "test_get_backend": "expects the name nccl; get_backend() says hccl, as the process group is",
}
