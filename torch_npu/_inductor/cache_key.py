"""What of this package a cached graph depends on."""

from functools import cache
from pathlib import Path

from torch._inductor.cpu_vec_isa import pick_vec_isa
from torch._inductor.custom_graph_pass import CustomGraphModulePass, get_hash_for_files
from torch.fx import GraphModule

from torch_npu.utils import fake_kernels
from torch_npu.version import __version__


class CacheKey(CustomGraphModulePass):
    """A pass that changes nothing, since the keys of Inductor's caches of graphs contain the passes of a device."""

    def __call__(self, gm: GraphModule) -> None:
        """Leaves the graph as it is."""

    def uuid(self) -> bytes:
        """A hash of the version, of the files that decide what is generated, and of the CPU's vectors.

        A graph's loops step by the elements of a vector: compiled for shorter ones, they would leave elements out.
        """
        return _key(str(pick_vec_isa()))


@cache
def _key(vectors: str) -> bytes:
    files = (*sorted(Path(__file__).parent.glob("*.py")), Path(fake_kernels.__file__))
    return get_hash_for_files(tuple(map(str, files)), f"{__version__} {vectors}")
