"""The kind of an operator, which decides how much a correct result may differ from the exact one."""

from enum import Enum, auto


class Kind(Enum):
    """What an operator does with its elements, which decides how its roundings add up."""

    SELECTION = auto()  # moves or compares: nothing is rounded
    ELEMENTWISE = auto()  # one function of single elements
    REDUCTION = auto()  # a sum or a mean, also of windows, or a product of all elements
    PRODUCT = auto()  # sums of products: matrices, convolutions
    COMPOSED = auto()  # several of these in sequence, and derivatives
