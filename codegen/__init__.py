"""Generates the parts of the plug-in that follow from PyTorch's operator schemas.

``parse`` reads ``npu_native_functions.yaml`` and the schemas of the installed torch, ``model`` is what they mean, frozen,
and ``emit`` writes C++. ``python -m codegen`` is the command.
"""
