"""Documentation of entries of ``custom``: its errors, and the docstring, stub and page that come from it."""

import re
from pathlib import Path

import pytest

from codegen import pages, parse, support
from codegen.emit import python

HEAD = "backend: NPU\ncpp_namespace: at_npu::native\ncustom:\n"
GATE = """  - func: npu_gate(Tensor self, int? dim=None) -> (Tensor, Tensor)
    op_api: true
    out: like(self), like(self)
    dtypes: [float32, float16]
    doc: A gate.
"""
DOCUMENTED = """    formula: y = a | b
    args:
      self: {meaning: Both halves, shape: "[*, 2 n]"}
      dim: The halved dimension.
    returns:
      - {meaning: The gated half, shape: "[*, n]"}
      - The other half
    raises:
      RuntimeError: the size is odd
      IndexError: dim is no dimension
    source: A paper, 2020
"""


@pytest.fixture
def resolve(tmp_path):
    def resolve_text(text):
        path = tmp_path / "gates.yaml"
        path.write_text(HEAD + GATE + text)
        return parse.read(path, parse.native_functions()).custom

    return resolve_text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("    args: [self]\n", 9, "'npu_gate': 'args' takes {argument: meaning}"),
        ("    args: {self: x, dim: x, axis: x}\n", 4, "'args' of 'npu_gate' names 'axis': there are self, dim"),
        ("    args: {self: x}\n", 4, "'args' of 'npu_gate' leaves out 'dim'"),
        ("    args: {self: x, dim: x, self: y}\n", 9, "'npu_gate': 'self' is defined twice under 'args'"),
        ("    args: {self: {meaning: x, size: y}, dim: x}\n", 9, "'npu_gate': unknown key 'size' under 'self': there are meaning, shape, dtypes"),
        ("    args: {self: {shape: x}, dim: x}\n", 9, "'npu_gate': the key 'meaning' under 'self' is missing"),
        ("    args: {self: [x], dim: x}\n", 9, "'npu_gate': 'self' takes text"),
        ("    returns: y\n", 9, "'npu_gate': 'returns' takes a list"),
        ("    returns: [y]\n", 4, "'npu_gate' has 2 results: 'returns' says what 1 are"),
        ("    raises: an error\n", 9, "'npu_gate': 'raises' takes {exception: when it is raised}"),
        ("    raises: {Error: x}\n", 9, "'npu_gate': unknown exception 'Error' under 'raises': there are RuntimeError, "),
        ("    raises: {ValueError: [x]}\n", 9, "'npu_gate': 'raises' takes text"),
        ("    formula: ''\n", 9, "'npu_gate': 'formula' takes text"),
        ("    sources: x\n", 9, "'npu_gate': unknown key 'sources' of an entry: there are func, "),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_entry(resolve, text, line, says):
    with pytest.raises(parse.ParseError, match=rf"gates\.yaml:{line}: {re.escape(says)}"):
        resolve(text)


def test_an_entry_without_documentation_has_its_sentence_alone(resolve):
    (operator,) = resolve("")
    assert operator.documentation is None
    files = python.python([operator])
    assert '\n\nA gate.\n""",\n)' in files["custom_ops.py"]
    assert files["custom_ops.pyi"].endswith("-> tuple[Tensor, Tensor]: ...\n")


DOC = """A gate.

Formula: ``y = a | b``

Args:
    input: Both halves. Shape: [*, 2 n]. Data types: float16, float32.
    dim: The halved dimension.

Returns:
    The gated half. Shape: [*, n].
    The other half.

Raises:
    RuntimeError: the size is odd.
    IndexError: dim is no dimension.

Source: A paper, 2020
"""


def test_docstring_and_stub(resolve):
    files = python.python(resolve(DOCUMENTED))
    signature = "npu_gate(input: Tensor, dim: int | None = None) -> tuple[Tensor, Tensor]"
    assert f'"""{signature}\n\n{DOC}""",\n' in files["custom_ops.py"]
    stub = files["custom_ops.pyi"][files["custom_ops.pyi"].index("def npu_gate") :]
    namespace: dict = {"Tensor": object}
    exec(stub, namespace)
    doc = namespace["npu_gate"].__doc__
    assert doc.splitlines()[0] == "A gate."
    assert [line.strip() for line in doc.strip().splitlines()] == [
        line.strip() for line in DOC.strip().splitlines()
    ]


def test_a_page_a_family(resolve):
    written = pages.pages(resolve(DOCUMENTED))
    index = written.pop(pages.INDEX)
    assert "\n| [Gates](gates.md) | `npu_gate` |\n" in index
    assert index.endswith("```{toctree}\n:hidden:\ngates\n```\n")
    assert written == {
        "gates.md": """# Gates

## npu_gate

```python
npu_gate(input: Tensor, dim: int | None = None) -> tuple[Tensor, Tensor]
```

A gate.

Formula: `y = a | b`

| argument | type | default | meaning | shape | data types |
| --- | --- | --- | --- | --- | --- |
| `input` | `Tensor` | - | Both halves | [\\*, 2 n] | float16, float32 |
| `dim` | `int \\| None` | `None` | The halved dimension. | - | - |

Results:

1. The gated half. Shape: [*, n].
2. The other half.

Errors:

- `RuntimeError`: the size is odd
- `IndexError`: dim is no dimension

Source: A paper, 2020
"""
    }


def test_the_support_command_writes_pages_and_removes_others(resolve, tmp_path):
    resolve(DOCUMENTED)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "retired.md").write_text("# Retired")
    arguments = ["--yaml", str(tmp_path / "gates.yaml"), "--pages", str(folder)]
    assert support.main(arguments) == 0
    assert {page.name for page in folder.iterdir()} == {"gates.md", "index.md"}
    assert (folder / "gates.md").read_text().startswith("# Gates\n\n## npu_gate\n")


def test_the_pages_of_the_checkout_are_those_of_its_entries():
    root = Path(__file__).resolve().parents[2]
    index = root / "torch_npu" / "csrc" / "aten" / "npu_native_functions.yaml"
    written = pages.pages(parse.read(index, parse.native_functions()).custom)
    found = {path.name: path.read_text() for path in (root / "docs/npu_operators").glob("*.md")}
    assert found == written, "./dev docs --pages writes them"
