"""Runs the scripts one after another, as they are, and shows what they print.

In tests/: python -m article_examples [SCRIPT ...]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from article_examples.stage import SCRIPTS, environment, prepare


def main(names: list[str]) -> None:
    """Runs the scripts of these names, or all."""
    known = {file.stem: file for file in sorted(SCRIPTS.glob("*.py"))}
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"no script {', '.join(unknown)}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for name in names or known:
            print(f"$ python {name}.py", flush=True)
            command = [sys.executable, str(known[name])]
            subprocess.run(command, cwd=folder, env=environment(Path(folder)), check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
