"""Commands for users: ``python -m torch_npu.tools.migrate``."""
