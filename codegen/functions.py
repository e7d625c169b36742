"""``python -m codegen.functions --yaml F``: prints the aclnn functions of each operator's entry, as JSON."""

import argparse
import json
import sys
from pathlib import Path

from codegen.files import ParseError, read_files


def functions(path: Path) -> dict[str, list[str]]:
    """``{"add.out": ["aclnnAdd", "aclnnAdds"]}`` for the entries of all families.

    Raises:
        ParseError: the YAML cannot be used.
    """
    files = read_files(path)
    found = {entry.func: [entry.call.function] for entry in files.official}
    for entry in files.official:
        found[entry.func] += [call.function for _, call in entry.number_calls]
    return found | {e.func: [e.call.function] for e in files.custom if e.call is not None}


def main(arguments: list[str]) -> int:
    """Prints them; 1 with one line on stderr where the YAML cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m codegen.functions", description=__doc__)
    parser.add_argument("--yaml", type=Path, required=True, help="npu_native_functions.yaml")
    options = parser.parse_args(arguments)
    try:
        found = functions(options.yaml)
    except ParseError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
