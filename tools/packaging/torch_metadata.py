"""What a wheel says of its torch: its own version is that of torch, and it requires exactly this torch."""

from collections.abc import Mapping

from found_torch import find


def dynamic_metadata(_: Mapping[str, object], __: Mapping[str, object]) -> dict[str, object]:
    """The version and the requirements, as scikit-build-core asks for them.

    Raises:
        TorchError: there is no torch to build for.
    """
    _, version = find()
    return {"version": f"{version}+softnpu", "dependencies": [f"torch=={version}"]}
