"""Steps of a recipe in CONTRIBUTING.md, and a copy of the files that they change."""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "CONTRIBUTING.md"
# The index of codegen's operators, and the folder of its families.
OPERATORS = (
    "torch_npu/csrc/aten/npu_native_functions.yaml",
    "torch_npu/csrc/aten/native_functions",
)
_STEP = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^#|\Z)", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+)`")
_FENCE = re.compile(r"^( *)```\w*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A step that changes a file: its lines of code are added to the first file that it names."""

    path: str
    lines: tuple[str, ...]

    @property
    def rows(self) -> tuple["Step", ...]:
        """Its lines as separate steps, for lines that are not adjacent."""
        return tuple(Step(self.path, (line,)) for line in self.lines)


def steps(title: str) -> tuple[Step, ...]:
    """The steps below the heading ``title`` that have code, in order."""
    _, found, rest = DOCUMENT.read_text().partition(f"\n### {title}\n")
    assert found, f"{DOCUMENT.name} has no recipe {title!r}"
    return tuple(_steps(rest.partition("\n#")[0]))


def _steps(text: str) -> Iterable[Step]:
    for step in _STEP.finditer(text):
        for indent, code in _FENCE.findall(step[1]):
            path = _PATH.search(step[1])
            assert path, f"no file is named for this code:\n{code}"
            yield Step(path[1], tuple(line.removeprefix(indent) for line in code.splitlines()))


class Copy:
    """Files of the checkout in a separate folder, without the lines that the steps of a recipe add."""

    def __init__(self, folder: Path, recipe: Iterable[Step], *more: str) -> None:
        """Copies the files that ``recipe`` names, and the files and folders ``more``."""
        self.folder = folder
        recipe = tuple(recipe)
        for path in (*more, *(step.path for step in recipe)):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / path).is_dir():
                shutil.copytree(ROOT / path, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif not target.exists():
                shutil.copy(ROOT / path, target)
        for step in recipe:
            self._remove(step)

    def _remove(self, step: Step) -> None:
        """Removes the step's lines, which may be divided into runs in several places. Each run must occur once."""
        text = f"\n{self.read(step.path)}"
        rest = step.lines
        while rest:
            runs = (rest[:end] for end in range(len(rest), 0, -1))
            run = next((r for r in runs if text.count(_lines(r)) == 1), None)
            assert run, f"{step.path} does not have this line of {DOCUMENT.name} once:\n{rest[0]}"
            text = text.replace(_lines(run), "\n")
            rest = rest[len(run) :]
        (self.folder / step.path).write_text(text.removeprefix("\n"))

    def read(self, path: str) -> str:
        """The text of the copy of ``path``."""
        return (self.folder / path).read_text()

    def follow(self, step: Step, before: str = "") -> None:
        """Adds the step's lines before the line that begins with ``before``, or at the end of the file."""
        lines = self.read(step.path).splitlines()
        location = len(lines)
        if before:
            (location,) = (n for n, line in enumerate(lines) if line.startswith(before))
        lines[location:location] = step.lines
        (self.folder / step.path).write_text("\n".join(lines) + "\n")


def _lines(lines: Iterable[str]) -> str:
    return "\n" + "".join(f"{line}\n" for line in lines)
