"""The errors of the driver."""


class AscendcError(Exception):
    """What is wrong, where, and what to do, in one sentence. The command prints it."""


class CompileError(AscendcError):
    """The C++ compiler or linker refused the code; ``output`` is what it printed."""

    def __init__(self, sentence: str, output: str) -> None:
        """Keeps the compiler's output beside the sentence."""
        super().__init__(sentence)
        self.output = output
