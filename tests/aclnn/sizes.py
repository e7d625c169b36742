"""Sizes that an operator decides when it runs."""

import ctypes

from tests.aclnn.library import Call, Library, operators


def view_shape(library: Library, operator: str, *arguments: object, out: int) -> list[int]:
    """Calls the operator; the sizes that it gave to its argument ``out``."""
    call = Call(library, operators()[operator])
    release, shape = call._release, []

    def read_and_release() -> None:
        tensors = [a for a in operators()[operator].arguments if a.type == "Tensor"]
        position = [a.name for a in tensors].index(operators()[operator].arguments[out].name)
        made = [handle for kind, handle in call._made if kind == "Tensor"]
        dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        assert (
            library.objects.aclGetViewShape(made[position], ctypes.byref(dims), ctypes.byref(count))
            == 0
        )
        shape.extend(dims[i] for i in range(count.value))
        release()

    call._release = read_and_release
    call.run(arguments)
    return shape
