"""The command: ``torch-npu migrate [--json] FILE_OR_FOLDER...``, also ``python -m torch_npu.tools.migrate``."""

import argparse
import sys
from pathlib import Path

from torch_npu.tools.migrate import notebook, report
from torch_npu.tools.migrate.findings import Finding, Status
from torch_npu.tools.migrate.scan import scan_source

_EXIT_CODES = (
    "exit codes: 0, all has a counterpart; 1, something is absent; 2, a file could not be read"
)


_SUFFIXES = (".py", ".ipynb")


def _files(paths: list[str], errors: dict[str, str]) -> list[Path]:
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = [
                file
                for file in sorted(path.rglob("*"))
                if file.suffix in _SUFFIXES
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            ]
            if not inside:
                errors[str(path)] = "a folder without Python files"
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _scan_notebook(path: Path) -> dict[str, list[Finding]]:
    cells = notebook.code_cells(path.read_bytes())
    findings = scan_source("\n".join(line for cell in cells for line in cell), str(path))
    found = {f"{path}, cell {n}": inside for n, inside in notebook.by_cell(findings, cells)}
    return {title: inside for title, inside in found.items() if inside} or {str(path): []}


def _scan_file(path: Path) -> dict[str, list[Finding]]:
    """The findings of one file; those of a notebook by code cell.

    Raises:
        ValueError: it cannot be read or is not Python; the text is one line.
    """
    try:
        if path.suffix == ".ipynb":
            return _scan_notebook(path)
        return {str(path): scan_source(path.read_bytes(), str(path))}
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise ValueError(f"not Python: {where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("not Python: nested too deeply") from None


def main(
    arguments: list[str] | None = None, program: str = "python -m torch_npu.tools.migrate"
) -> int:
    """Scans the files and prints what was found; returns the exit code.

    Args:
        arguments: of the command; by default those of the process.
        program: its name, for help and errors.
    """
    parser = argparse.ArgumentParser(
        prog=program,
        description="Lists what is written for CUDA, what transfer_to_npu maps, and what has no counterpart on npu.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("paths", nargs="+", metavar="file_or_folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    errors: dict[str, str] = {}
    files: dict[str, list[Finding]] = {}
    for path in _files(options.paths, errors):
        try:
            files |= _scan_file(path)
        except ValueError as error:
            errors[str(path)] = str(error)
    everything = [finding for findings in files.values() for finding in findings]
    if options.json:
        print(report.as_json(files, errors))
    else:
        for name, findings in files.items():
            print(report.table(name, findings))
        if files:
            print(report.summary(everything))
    for name, text in errors.items():
        print(f"{name}: {text}", file=sys.stderr)
    if errors:
        return 2
    return int(any(finding.status is Status.ABSENT for finding in everything))


if __name__ == "__main__":
    sys.exit(main())
