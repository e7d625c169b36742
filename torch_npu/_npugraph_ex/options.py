"""Options of the backend."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Options:
    """What ``torch.compile(.., backend="npugraph_ex", options={..})`` takes."""

    #: Convolutions take the batch norms behind them: their filters are copied once, in device memory.
    fold_batch_norms: bool = True
    #: What the engine does not have is compiled by Inductor; False: it is an error.
    fallback: bool = True


def read_options(options: Mapping[str, object] | None, mode: str | None) -> Options:
    """The options of a call of ``torch.compile``.

    Raises:
        ValueError: an unknown name, a value that is no bool, or a mode.
    """
    if mode is not None:
        raise ValueError(f'backend="npugraph_ex" has no modes, but mode is "{mode}": leave it out')
    known = [field.name for field in fields(Options)]
    for name, value in (options or {}).items():
        if name not in known:
            raise ValueError(
                f'backend="npugraph_ex" has no option "{name}"; it has {", ".join(known)}'
            )
        if not isinstance(value, bool):
            raise ValueError(f'the option "{name}" of backend="npugraph_ex" is True or False')
    return Options(**(options or {}))  # type: ignore[arg-type]
