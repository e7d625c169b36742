"""``torch_npu.contrib``: what is built on top of the device. ``transfer_to_npu`` runs CUDA scripts on npu."""
