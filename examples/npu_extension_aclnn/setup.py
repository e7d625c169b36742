"""Builds the library by ``python setup.py build_ext --inplace`` or ``pip install --no-build-isolation .`` here."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension

from torch_npu.utils.cpp_extension import NpuExtension

setup(
    name="npu_extension_aclnn",
    version="1.0",
    ext_modules=[
        NpuExtension(
            "npu_extension_aclnn",
            ["extension.cpp"],
            # Headers by operator: compiles in a third of the time of torch/extension.h.
            extra_compile_args=["-DAT_PER_OPERATOR_HEADERS"],
        )
    ],
    # A library for torch.ops.load_library, of this name for each version of Python.
    cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)},
)
