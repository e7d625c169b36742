"""Commands for users: ``torch-npu migrate``."""
