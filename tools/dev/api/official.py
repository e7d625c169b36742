"""Lists the public names of the official torch_npu from the Python files of its wheel.

``python tools/dev/api/official.py FOLDER`` parses the folder ``torch_npu`` of an unpacked wheel, imports nothing and
writes ``names.tsv``: dotted name, kind, signature without annotations. The rules:

1. A module or package counts if no part of its path begins with an underscore.
2. With ``__all__``, its names are those of ``__all__``. Without, they are the functions and classes that it defines and
   that do not begin with an underscore: what it imports (``Optional``, ``cast``, ``ErrCode``) is not its own.
3. A class has its public methods, properties and attributes with a value, and of the others those of ``PROTOCOL`` that it defines;
   what it inherits is its base's. The signature of a class is that of its ``__new__`` or ``__init__``.
4. A package in ``TOP_ONLY`` has the names of its ``__init__.py`` alone.

Types and settings that C++ or a running device defines are in ``runtime.tsv``.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("npu", "optim", "utils", "multiprocessing", "jit")
TOP_ONLY = ("contrib", "distributed", "profiler")
PROTOCOL = ("__call__", "__enter__", "__exit__", "__new__")
NAMES = Path(__file__).with_name("names.tsv")


@dataclass(frozen=True)
class Row:
    """One public name: its dotted name, its kind and its signature, empty for what is not callable."""

    name: str
    kind: str
    signature: str = ""


def public_name(dotted: str) -> str:
    """The name as programs write it: ``torch.npu.x`` for ``torch_npu.npu.x``."""
    return (
        "torch" + dotted[len("torch_npu") :]
        if f"{dotted}.".startswith("torch_npu.npu.")
        else dotted
    )


def signature_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The parameters with their defaults, without annotations, in brackets."""
    parameters = ast.parse(ast.unparse(function.args).join(("def f(", "): 0"))).body[0].args
    every = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    for parameter in (*every, parameters.vararg, parameters.kwarg):
        if parameter is not None:
            parameter.annotation = None
    return f"({ast.unparse(parameters)})"


class Wheel:
    """The modules of the package, parsed when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        """Reads the package ``torch_npu`` in ``folder``."""
        self.folder = folder
        self._trees: dict[Path, ast.Module] = {}

    def file(self, module: str) -> Path | None:
        """The file of a dotted module, or None."""
        stem = self.folder.joinpath(*module.split(".")[1:])
        for path in (stem / "__init__.py", stem.with_suffix(".py")):
            if path.is_file():
                return path
        return None

    def tree(self, path: Path) -> ast.Module:
        """The parsed file."""
        if path not in self._trees:
            self._trees[path] = ast.parse(path.read_text())
        return self._trees[path]

    def modules(self) -> Iterator[str]:
        """The dotted names of all modules that count."""
        for package in PACKAGES:
            for path in sorted((self.folder / package).rglob("*.py")):
                parts = path.relative_to(self.folder).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if not any(part.startswith("_") for part in parts):
                    yield ".".join(("torch_npu", *parts))
        for package in TOP_ONLY:
            yield f"torch_npu.{package}"

    def source(self, module: str, node: ast.ImportFrom) -> str:
        """The dotted module that an import statement of ``module`` names."""
        if not node.level:
            return node.module or ""
        path = self.file(module)
        inside = path is not None and path.name == "__init__.py"
        base = module.split(".")[: None if inside and node.level == 1 else inside - node.level]
        return ".".join((*base, *([node.module] if node.module else [])))

    def find(self, module: str, name: str, depth: int = 0) -> ast.stmt | None:
        """The definition of ``name`` in ``module``, through imports and assignments; None if there is none."""
        path = self.file(module)
        if path is None or depth > 8:
            return None
        found = None
        for node in self.tree(path).body:
            match node:
                case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                    found = node
                case ast.ImportFrom():
                    for alias in node.names:
                        if name in ((alias.asname or alias.name), "*") or alias.name == "*":
                            original = name if alias.name == "*" else alias.name
                            found = (
                                self.find(self.source(module, node), original, depth + 1) or found
                            )
                case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                    found = self._assigned(module, node, depth)
        return found

    def _assigned(self, module: str, node: ast.Assign, depth: int) -> ast.stmt:
        match node.value:
            case ast.Name(id=other):
                return self.find(module, other, depth + 1) or node
            case ast.Attribute(value=ast.Name(id=sibling), attr=other):
                return self.find(f"{module}.{sibling}", other, depth + 1) or node
        return node


def listed(tree: ast.Module) -> list[str] | None:
    """The names in ``__all__``, None without one."""
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else target
        if isinstance(target, ast.Name) and target.id == "__all__" and node.value is not None:
            return list(ast.literal_eval(node.value))
    return None


def own(tree: ast.Module) -> list[str]:
    """The public functions and classes that a module without ``__all__`` defines."""
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [name for name in defined if not name.startswith("_")]


def _decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}


def _kind_of_method(node: ast.FunctionDef) -> str:
    decorators = _decorators(node)
    for word in ("property", "classproperty", "classmethod", "staticmethod"):
        if word in decorators:
            return "property" if word == "classproperty" else word
    return "method"


def class_rows(name: str, node: ast.ClassDef) -> Iterator[Row]:
    """The class and its members."""
    methods = {member.name: member for member in node.body if isinstance(member, ast.FunctionDef)}
    result = methods.get("__new__") or methods.get("__init__")
    yield Row(name, "class", signature_of(result) if result else "")
    for member in node.body:
        match member:
            case ast.FunctionDef():
                if not member.name.startswith("_") or member.name in PROTOCOL:
                    kind = _kind_of_method(member)
                    signature = "" if kind == "property" else signature_of(member)
                    yield Row(f"{name}.{member.name}", kind, signature)
            case ast.Assign(targets=[ast.Name(id=attribute)]) if not attribute.startswith("_"):
                yield Row(f"{name}.{attribute}", "attribute")


def rows(wheel: Wheel) -> Iterator[Row]:
    """All rows, in the order of modules and definitions."""
    for module in wheel.modules():
        path = wheel.file(module)
        if path is None:
            continue
        tree = wheel.tree(path)
        names = listed(tree)
        for name in own(tree) if names is None else names:
            dotted = public_name(f"{module}.{name}")
            match wheel.find(module, name):
                case ast.ClassDef() as node:
                    yield from class_rows(dotted, node)
                case ast.FunctionDef() as node:
                    yield Row(dotted, "function", signature_of(node))
                case _:
                    yield Row(dotted, "data")


def table(folder: Path, version: str = "2.13.0") -> str:
    """The text of ``names.tsv`` for the package in ``folder``."""
    unique = {row.name: row for row in rows(Wheel(folder))}
    lines = [f"{row.name}\t{row.kind}\t{row.signature}".rstrip("\t") for row in unique.values()]
    header = f"# name\tkind\tsignature: the official torch_npu {version}, by official.py"
    return "\n".join((header, *lines)) + "\n"


if __name__ == "__main__":
    NAMES.write_text(table(Path(sys.argv[1])))
