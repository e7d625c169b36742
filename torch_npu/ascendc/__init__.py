"""The compiler driver of Ascend C: the command ``ascendc``, and what it does as functions.

Nothing in this folder itself needs a device or imports torch; ``kernels`` and ``_operators`` do.
"""
