"""``#line`` in generated C++: errors in an expression of a table name the table."""

# Replaced by a #line directive that returns to the generated file's own lines.
BACK = "#line back"


def numbered(text: str, name: str) -> str:
    """``text`` of the file ``name`` with #line directives in place of ``BACK``."""
    lines = text.split("\n")
    return "\n".join(
        f'#line {number + 1} "{name}"' if line == BACK else line
        for number, line in enumerate(lines, start=1)
    )
