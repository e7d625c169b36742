"""What every module of the package may use: the native module, errors, warnings, devices, environment variables.

Nothing here imports another part of ``torch_npu``; ``.importlinter`` has the layers above.
"""
