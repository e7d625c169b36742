"""``#line`` in generated C++: errors in an expression that a table holds name the table."""

# What a #line puts errors back to: the next line of the generated file itself.
BACK = "#line back"


def numbered(text: str, name: str) -> str:
    """``text`` of the file ``name`` with the lines for ``BACK``; each ``#line`` begins its line."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        directive = line.strip()
        if directive == BACK:
            lines.append(f'#line {number + 1} "{name}"')
        else:
            lines.append(directive if directive.startswith("#line ") else line)
    return "\n".join(lines)
