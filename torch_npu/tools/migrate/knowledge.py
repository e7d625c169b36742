"""What a use of CUDA is on npu. Names are asked of transfer_to_npu's own table and of ``torch.npu`` as it is installed."""

from torch_npu.contrib._transfer.counterparts import (
    MODULES,
    counterpart,
    exists,
    module,
)
from torch_npu.contrib._transfer.rules import RULES
from torch_npu.tools.migrate.findings import Status

Answer = tuple[Status, str]

_RULES = {rule.name: rule.meaning for rule in RULES}

# Methods and attributes of tensors, modules and storages, whose owner the scan does not know.
METHODS = {name: _RULES[f"torch.Tensor.{name}"] for name in ("cuda", "is_cuda")}

# Packages that need a CUDA GPU.
PACKAGES = {
    "apex": "torch.amp, torch.nn.parallel",
    "bitsandbytes": "",
    "cupy": "numpy, torch",
    "flash_attn": "torch.nn.functional.scaled_dot_product_attention",
    "numba.cuda": "",
    "nvidia": "",
    "pycuda": "",
    "pynvml": "torch.npu.mem_get_info, torch.npu.get_device_properties",
    "tensorrt": "",
    "torch2trt": "",
    "xformers": "torch.nn.functional.scaled_dot_product_attention",
}

# Environment variables.
VARIABLES = {
    "CUDA_LAUNCH_BLOCKING": "ASCEND_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES": "ASCEND_RT_VISIBLE_DEVICES",
    "PYTORCH_CUDA_ALLOC_CONF": "PYTORCH_NPU_ALLOC_CONF",
}

# Flags of torch.backends with a rule of their own.
_FLAGS = {
    "torch.backends.cuda.matmul.allow_tf32": "torch.npu.matmul.allow_hf32",
    "torch.backends.cudnn.allow_tf32": "torch.npu.conv.allow_hf32",
}
_BACKENDS = ("torch.backends.cuda", "torch.backends.cudnn")
_BUILD = ("torch.utils.cpp_extension.CUDAExtension", "torch.utils.cpp_extension.CUDA_HOME")


def is_of_cuda(dotted: str) -> bool:
    """Whether a dotted name is CUDA's."""
    return (
        dotted in _BUILD
        or dotted == "torch.profiler.ProfilerActivity.CUDA"
        or any(dotted == top or dotted.startswith(f"{top}.") for top in ("torch.cuda", *_BACKENDS))
    )


def is_module(dotted: str) -> bool:
    """Whether a name of CUDA is a module, or all names of one: importing it says nothing yet."""
    return dotted in MODULES or dotted in _BACKENDS or dotted.endswith(".*")


def _of_cuda(dotted: str) -> Answer | None:
    owner = dotted
    while owner not in MODULES:
        owner = owner.rpartition(".")[0]
    if owner == dotted:  # a module itself, such as in `amp = torch.cuda.amp`
        homes = [location for location in MODULES[owner] if exists(location)]
        return (Status.SAME, "its names are looked up one by one") if homes else None
    name, *attributes = dotted[len(owner) + 1 :].split(".")
    found = counterpart(f"{owner}.{name}")
    if found.kept:
        meaning = _RULES.get(found.name)
        return (Status.MAPPED, meaning) if meaning else (Status.SAME, found.name)
    if found.target is None:
        value = getattr(module(owner), name, None)
        if value is not None and not callable(value):
            return Status.SAME, found.name
        return Status.ABSENT, ""
    target = ".".join((found.target, *attributes))
    if attributes and not exists(target):
        return Status.ABSENT, f"{found.target} has no {attributes[0]!r}"
    return Status.MAPPED, target


def of_name(dotted: str) -> Answer | None:
    """Status and counterpart of a name that :func:`is_of_cuda`; None for modules that say nothing by themselves."""
    if dotted in _FLAGS:
        return Status.MAPPED, _FLAGS[dotted]
    if dotted in _BUILD:
        return Status.ABSENT, "kernels of CUDA's language do not run on npu"
    if dotted == "torch.profiler.ProfilerActivity.CUDA":
        return Status.MAPPED, "torch.profiler.ProfilerActivity.PrivateUse1"
    if dotted.startswith("torch.cuda"):
        return _of_cuda(dotted)
    if dotted in _BACKENDS or dotted == "torch.backends.cuda.matmul":
        return None
    if exists(dotted):
        return Status.SAME, "a flag of CUDA's libraries: no effect on npu"
    return Status.ABSENT, ""


def of_string(text: str) -> Answer | None:
    """Status and counterpart of a string; None if it does not name CUDA."""
    if text == "cuda" or (text.startswith("cuda:") and (text[5:].isdigit() or not text[5:])):
        return Status.MAPPED, "npu" + text[4:]
    if text == "nccl":
        return Status.MAPPED, "hccl"
    if text in VARIABLES:
        return Status.ABSENT, f"set {VARIABLES[text]}"
    if text.startswith("torch.cuda.") and text.count(".") == 2:
        return of_name(text)
    return None
