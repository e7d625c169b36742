"""Finds the uses of CUDA in a program's syntax tree. The program is not run."""

import ast

from torch_npu.tools.migrate import knowledge
from torch_npu.tools.migrate.findings import Finding, Status

_COMPARED = "tensors say npu; torch.device('cuda') says cuda"


class _Scan(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # what an imported name stands for, in full
        self.found: set[Finding] = set()

    def note(self, node: ast.AST, what: str, answer: knowledge.Answer | None) -> None:
        if answer is not None:
            self.found.add(Finding(node.lineno, node.col_offset, what, *answer))  # type: ignore[attr-defined]

    def note_import(self, node: ast.AST, full: str) -> None:
        for package, instead in knowledge.PACKAGES.items():
            if full == package or full.startswith(f"{package}."):
                note = (
                    f"a package for CUDA GPUs; use {instead}"
                    if instead
                    else "a package for CUDA GPUs"
                )
                self.note(node, package, (Status.ABSENT, note))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self.names[bound] = alias.name if alias.asname else bound
            self.note_import(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            return
        self.note_import(node, node.module)
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            self.names[alias.asname or alias.name] = full
            self.note_import(node, full)
            if knowledge.is_of_cuda(full) and not knowledge.is_module(full):
                self.note(alias, full, knowledge.of_name(full))

    def dotted(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        return None

    def visit_Name(self, node: ast.Name) -> None:
        full = self.names.get(node.id)
        if full is not None and "." in full and knowledge.is_of_cuda(full):
            self.note(node, full, knowledge.of_name(full))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self.dotted(node)
        if full is None:
            if node.attr in knowledge.METHODS:
                answer = (Status.MAPPED, knowledge.METHODS[node.attr])
                self.note(node, f".{node.attr}", answer)
            self.generic_visit(node)
        elif knowledge.is_of_cuda(full):
            self.note(node, full, knowledge.of_name(full))

    def visit_Compare(self, node: ast.Compare) -> None:
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Constant) and isinstance(side.value, str):
                if side.value.startswith("cuda"):
                    self.note(side, repr(side.value), (Status.CHECK, _COMPARED))
            else:
                self.visit(side)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.generic_visit(node)  # a string by itself is a comment

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.note(node, repr(node.value), knowledge.of_string(node.value))


def scan_source(source: str | bytes, name: str = "<string>") -> list[Finding]:
    """The uses of CUDA in ``source``, in the order of their lines.

    Raises:
        SyntaxError: it is not Python.
    """
    scan = _Scan()
    scan.visit(ast.parse(source, name))
    return sorted(scan.found)
