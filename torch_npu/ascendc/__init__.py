"""The compiler driver of Ascend C: the command ``ascendc``, and what it does as functions.

Nothing here needs a device or imports torch.
"""
