"""``#line`` in generated C++: errors in an expression of a table name the table."""

# Replaced by a #line directive that returns to the generated file's own lines.
BACK = "#line back"


def numbered(text: str, name: str) -> str:
    """``text`` of the file ``name`` with #line directives in place of ``BACK``, each at the start of its line."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        directive = line.strip()
        if directive == BACK:
            lines.append(f'#line {number + 1} "{name}"')
        else:
            lines.append(directive if directive.startswith("#line ") else line)
    return "\n".join(lines)
