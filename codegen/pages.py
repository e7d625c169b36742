"""The operators of namespace ``npu`` as Markdown: a page a family."""

from collections.abc import Iterable, Mapping, Sequence

from codegen.emit.python import described, signature
from codegen.model import CustomOperator
from codegen.table import code, table


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*") or "-"


def _arguments(operator: CustomOperator) -> str:
    found = dict(operator.documentation.arguments) if operator.documentation else {}
    if not found:
        return ""
    rows = []
    for argument in operator.arguments:
        what = found[argument.name]
        default = "-" if argument.python_default is None else code(argument.python_default)
        type_ = _cell(code(argument.python_type))
        cells = (what.meaning, what.shape, what.dtypes)
        rows.append((code(argument.python_name), type_, default, *map(_cell, cells)))
    return table(("argument", "type", "default", "meaning", "shape", "data types"), rows)


def _section(operator: CustomOperator) -> str:
    parts = [f"## {operator.name}", f"```python\n{signature(operator)}\n```", operator.doc]
    found = operator.documentation
    if found is not None:
        if found.formula:
            parts.append(f"Formula: `{found.formula}`")
        if found.arguments:
            parts.append(_arguments(operator).rstrip())
        if found.returns:
            lines = [f"{i}. {described(what)}" for i, what in enumerate(found.returns, 1)]
            parts.append("Results:\n\n" + "\n".join(lines))
        if found.raises:
            lines = [f"- {code(name)}: {text}" for name, text in found.raises]
            parts.append("Errors:\n\n" + "\n".join(lines))
        if found.source:
            parts.append(f"Source: {found.source}")
    return "\n\n".join(parts) + "\n"


def _title(family: str) -> str:
    return family.replace("_", " ").capitalize()


def _page(family: str, operators: Sequence[CustomOperator]) -> str:
    sections = "\n".join(_section(operator) for operator in operators)
    return f"# {_title(family)}\n\n{sections}"


INDEX = "index.md"
_INDEX = """# Operators of namespace npu

A page a family, written by `./dev docs --pages` from the entries: arguments, results, errors, sources. `torch_npu.npu_swiglu`
and `torch.ops.npu.npu_swiglu` are the same operator.

"""
_TOCTREE = "```{toctree}\n:hidden:\n%s\n```\n"


def _index(families: Mapping[str, Sequence[CustomOperator]]) -> str:
    rows = [
        (
            f"[{_title(family)}]({family}.md)",
            ", ".join(code(name) for name in sorted({operator.name for operator in listed})),
        )
        for family, listed in sorted(families.items())
    ]
    hidden = _TOCTREE % "\n".join(sorted(families))
    return f"{_INDEX}{table(('family', 'operators'), rows)}\n{hidden}"


def pages(operators: Iterable[CustomOperator]) -> dict[str, str]:
    """``{family.md: text}`` for the families that have operators of namespace ``npu``, and ``index.md``, which lists them."""
    families: dict[str, list[CustomOperator]] = {}
    for operator in operators:
        families.setdefault(operator.family, []).append(operator)
    found = {f"{family}.md": _page(family, listed) for family, listed in families.items()}
    return {INDEX: _index(families), **found}
