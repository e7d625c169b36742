"""``#line`` in generated C++: errors in an expression that a table holds name the table."""

# What a #line puts errors back to: the next line of the generated file itself.
BACK = "#line back"


def numbered(text: str, name: str) -> str:
    """``text`` of the file ``name`` with the lines for ``BACK``."""
    lines = text.split("\n")
    return "\n".join(
        f'#line {number + 1} "{name}"' if line == BACK else line
        for number, line in enumerate(lines, start=1)
    )
