"""The implementation of an operator of PyTorch that launches a kernel in Ascend C."""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral

import torch
from torch.autograd import forward_ad

from torch_npu.ascendc import binary
from torch_npu.ascendc.errors import AscendcError

# What a Python function says about one call of an operator: the number of blocks, the kernel's arguments, and a tiling
# key where the kernel has variants.
Launch = tuple[int, Sequence[object]] | tuple[int, Sequence[object], int]


class Operator:
    """The implementation of an operator that launches one kernel."""

    def __init__(
        self,
        name: str,
        schema: torch._C.FunctionSchema,
        kernel: binary.Kernel,
        launch: Callable[..., Launch],
        outputs: Callable[..., object] | None,
    ) -> None:
        """``launch`` and ``outputs`` are those of load_ascendc().

        Raises:
            ValueError: there is no ``outputs``, and the schema does not say which shapes the results have; or a result
                is an argument.
        """
        self._name, self._kernel, self._launch = name, kernel, launch
        self._count = len(schema.returns)
        tensors = [a for a in schema.arguments if isinstance(a.type, torch._C.TensorType)]
        if any(r.alias_info is not None for r in schema.returns):
            raise ValueError(
                f"load_ascendc: a result of {name} is one of its arguments: write -> (), and use the argument"
            )
        if outputs is None and (self._count > 1 or (self._count and not tensors)):
            raise ValueError(
                f"load_ascendc: {name} has {self._count} results: outputs=... has to allocate them"
            )
        self._outputs = outputs
        # Of each argument; reading them from the schema takes microseconds.
        self._arguments = [
            (
                a.name,
                a.kwarg_only,
                a.default_value,
                a.alias_info is not None and a.alias_info.is_write,
            )
            for a in schema.arguments
        ]
        self._writes = [i for i, (*_, is_written) in enumerate(self._arguments) if is_written]
        self._has_list = self._count == 1 and isinstance(schema.returns[0].type, torch._C.ListType)

    def allocate(self, *arguments: object) -> object:
        """The results without values."""
        if self._outputs is not None:
            return self._outputs(*arguments)
        if not self._count:
            return None
        return torch.empty_like(
            next(a for a in arguments if isinstance(a, torch.Tensor)),
            memory_format=torch.contiguous_format,
        )

    def fake(self, *arguments: object, **by_name: object) -> object:
        """The Meta function: ``outputs`` gets contiguous tensors, as it does on the device."""
        return self.allocate(*self._bound(arguments, by_name))

    def __call__(self, *arguments: object, **by_name: object) -> object:
        """Allocates the results and launches the kernel on the current stream."""
        given = self._bound(arguments, by_name)
        self._check_derivatives(given)
        device = next((a.device for a in given if isinstance(a, torch.Tensor)), None)
        with torch.npu.device(device if device is not None else torch.npu.current_device()):
            results = self.allocate(*given)
            result = self._checked_results(results, given)
            blocks, kernel_arguments, key = self._message(self._launch(*given, *result))
            # Tiling structures live until the launch is enqueued; the allocator reuses their memory in the stream's order.
            values = [self._value(value) for value in kernel_arguments]
            self._check_tilings(values)
            stream = torch.npu.current_stream().npu_stream
            try:
                code = self._kernel.launch(
                    blocks,
                    stream,
                    *(v.data_ptr() if isinstance(v, torch.Tensor) else v for v in values),
                    tiling_key=key,
                )
            except AscendcError as error:
                raise ValueError(f"{self._name}: {error}") from None
        if code != 0:
            raise RuntimeError(
                f"{self._name}: kernel {self._kernel.name} was not launched: {self._kernel.recent_error()}"
                f" [error {code}]"
            )
        torch.autograd.graph.increment_version(
            [tensor for tensor in self._written(given) if not tensor.is_inference()]
        )
        return results

    def _bound(self, arguments: Sequence[object], by_name: dict[str, object]) -> list[object]:
        """All arguments in the schema's order; the dispatcher leaves out those that have their default value."""
        bound = []
        for i, (name, by_name_only, default, is_written) in enumerate(self._arguments):
            if i < len(arguments) and not by_name_only:
                value = arguments[i]
            else:
                value = by_name.get(name, default)
            bound.append(self._contiguous(name, value, is_written))
        return bound

    def _contiguous(self, name: str, value: object, is_written: bool) -> object:
        if isinstance(value, list | tuple):
            return type(value)(self._contiguous(name, v, is_written) for v in value)
        if not isinstance(value, torch.Tensor) or value.is_contiguous():
            return value
        if is_written:
            raise ValueError(
                f"{self._name}: {name} is written to and has to be contiguous; its strides are"
                f" {tuple(value.stride())}"
            )
        return value.contiguous()

    def _written(self, given: Sequence[object]) -> list[torch.Tensor]:
        """The arguments that the kernel writes to."""
        found: list[torch.Tensor] = []
        for i in self._writes:
            value = given[i]
            values = value if isinstance(value, list | tuple) else [value]
            found += [v for v in values if isinstance(v, torch.Tensor)]
        return found

    def _check_derivatives(self, given: Sequence[object]) -> None:
        """Refuses what would give derivatives without this operator, and updates of inference tensors."""
        if (
            self._writes
            and not torch.is_inference_mode_enabled()
            and any(tensor.is_inference() for tensor in self._written(given))
        ):
            raise RuntimeError(
                f"{self._name}: Inplace update to inference tensor outside InferenceMode is not allowed. You can make a"
                " clone to get a normal tensor before doing inplace update."
            )
        if (
            self._writes
            and torch.is_grad_enabled()
            and any(t.requires_grad for t in self._written(given))
        ):
            raise RuntimeError(
                f"{self._name} writes to a tensor that requires grad, and writing has no gradient: call it within"
                " torch.no_grad()"
            )
        if forward_ad._current_level >= 0:
            for value in given:
                if (
                    isinstance(value, torch.Tensor)
                    and forward_ad.unpack_dual(value).tangent is not None
                ):
                    raise NotImplementedError(f"{self._name} has no forward-mode derivative")

    def _checked_results(self, results: object, given: Sequence[object]) -> list[object]:
        """The results one by one.

        Raises:
            TypeError: they are not what the schema says.
            ValueError: one of them is an argument.
        """
        result = list(results) if isinstance(results, tuple | list) else [results]
        if self._has_list:
            return result
        if results is None and not self._count:
            return []
        is_one = isinstance(results, torch.Tensor)
        if len(result) != self._count or is_one != (self._count == 1):
            raise TypeError(
                f"{self._name}: outputs returned {_types(results)}, and the schema has {self._count} results"
            )
        if any(r is a for r in result for a in given if isinstance(r, torch.Tensor)):
            raise ValueError(
                f"{self._name}: outputs returned an argument: results have memory of their own; Tensor(a!) is an"
                " argument that the kernel writes to"
            )
        return result

    def _message(self, message: object) -> tuple[int, Sequence[object], int]:
        """What ``launch`` returned: blocks, arguments and tiling key."""
        values = message if isinstance(message, tuple) and len(message) in (2, 3) else ()
        numbers = (values[0], *values[2:]) if values else ()
        if not (
            values
            and all(isinstance(n, Integral) for n in numbers)
            and isinstance(values[1], Iterable)
            and not isinstance(values[1], torch.Tensor | str | bytes)
        ):
            raise TypeError(
                f"{self._name}: launch has to return (blocks, arguments) or (blocks, arguments, tiling key),"
                f" integers and a tuple, not {_types(message)}"
            )
        return int(values[0]), tuple(values[1]), int(values[2]) if len(values) == 3 else 0

    def _check_tilings(self, values: Sequence[object]) -> None:
        """Refuses memory that is shorter than the structure that the kernel reads there.

        Raises:
            ValueError: it is.
        """
        for index, (kind, needed) in self._kernel.tilings.items():
            value = values[index] if index < len(values) else None
            if not isinstance(value, torch.Tensor):
                continue
            given = value.untyped_storage().nbytes() - value.storage_offset() * value.element_size()
            if given < needed:
                raise ValueError(
                    f"{self._name}: kernel {self._kernel.name} reads its tiling structure {kind}, which has {needed}"
                    f" bytes, from argument {index}, and launch passes {given} bytes there"
                )

    def _value(self, value: object) -> object:
        """An argument of the kernel: bytes become memory of the device."""
        if isinstance(value, bytes | bytearray):
            if not value:
                raise ValueError(f"{self._name}: launch passes a tiling structure of 0 bytes")
            return torch.frombuffer(bytearray(value), dtype=torch.uint8).npu()
        if isinstance(value, torch.Tensor) and value.device.type != "npu":
            raise ValueError(
                f"{self._name}: launch passes a tensor on {value.device}: kernels read memory of the npu"
            )
        return value


def _types(value: object) -> str:
    """What a value is, for errors: no elements of tensors."""
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of ({', '.join(map(_types, value))})"
    return type(value).__name__
