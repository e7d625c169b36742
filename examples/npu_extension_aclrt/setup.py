"""Builds the module by ``python setup.py build_ext --inplace`` or ``pip install --no-build-isolation .`` here."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension

from torch_npu.utils.cpp_extension import NpuExtension

setup(
    name="npu_extension_aclrt",
    version="1.0",
    ext_modules=[
        NpuExtension(
            "npu_extension_aclrt",
            ["extension.cpp"],
            # Headers by operator: compiles in a third of the time of torch/extension.h.
            extra_compile_args=["-DAT_PER_OPERATOR_HEADERS"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
