"""The SoC that the device claims to be, as the official plug-in numbers them."""

from itertools import chain

from torch_npu._core import state

# First number of a family, then its members in order. Numbers and names are the official plug-in's.
_FAMILIES = {
    100: ("Ascend910PremiumA", "Ascend910ProA", "Ascend910A", "Ascend910ProB", "Ascend910B"),
    200: tuple(f"Ascend310P{n}" for n in (1, 2, 3, 4, 5, 7)),
    220: tuple(f"Ascend910B{n}" for n in ("1", "2", "2C", "3", "4", "4-1")),
    240: tuple(f"Ascend310B{n}" for n in (1, 2, 3, 4)),
    250: tuple(f"Ascend910_{n}" for n in (9391, 9392, 9381, 9382, 9372, 9362, 9363)),
}
_NUMBERS = dict(
    chain.from_iterable(
        ((name, first + i) for i, name in enumerate(names)) for first, names in _FAMILIES.items()
    )
)
ASCEND_950 = 260


def get_soc_version() -> int:
    """The number of the emulated SoC: 220 for Ascend910B1, the default. ``SOFTNPU_SOC`` chooses another name.

    Raises:
        RuntimeError: the plug-in knows no such SoC.
    """
    name = str(state.native().soc_name())
    if name.startswith("Ascend950"):
        return ASCEND_950
    if name not in _NUMBERS:
        raise RuntimeError(f"Unsupported soc version: {name}: known are {', '.join(_NUMBERS)}")
    return _NUMBERS[name]


def has_inf_nan_mode() -> bool:
    """Whether the SoC computes infinities and NaN by default; the earlier ones saturate."""
    version = get_soc_version()
    return 220 <= version < 240 or version >= 250
