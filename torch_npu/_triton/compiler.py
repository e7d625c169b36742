"""Triton's compiler for npu: there is none, and its error tells what to set."""

from collections.abc import Mapping
from types import ModuleType
from typing import NoReturn

from triton.backends.compiler import BaseBackend, GPUTarget


class NpuBackend(BaseBackend):
    """The backend of the target ``npu``. A kernel that Triton would compile for it raises an error."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether the target is an npu."""
        return target.backend == "npu"

    def _refuse(self) -> NoReturn:
        raise RuntimeError(
            "Triton has no compiler for npu: set TRITON_INTERPRET=1 before the kernel's module is imported, "
            "and its kernels run in Triton's interpreter"
        )

    def hash(self) -> str:
        """The backend's part of a key of Triton's cache."""
        return f"{self.target.backend}-{self.target.arch}"

    def parse_options(self, options: Mapping[str, object]) -> object:
        """Raises RuntimeError: kernels are not compiled."""
        del options
        self._refuse()

    def add_stages(self, stages: dict[str, object], options: object) -> None:
        """Raises RuntimeError: kernels are not compiled."""
        del stages, options
        self._refuse()

    def load_dialects(self, context: object) -> None:
        """Raises RuntimeError: kernels are not compiled."""
        del context
        self._refuse()

    def get_module_map(self) -> dict[str, ModuleType]:
        """No module of the language has another implementation for npu."""
        return {}
