"""Runs scripts, unchanged, each in a child process of its own: ``runner.py RESULTS SCRIPT...``.

First with ``--device cpu``, then after ``from torch_npu.contrib import transfer_to_npu`` with the arguments that stand
behind the script's name. Children are forked after the imports, which take longer than the scripts. RESULTS becomes JSON:
``cpu`` and ``npu`` -> script -> [exit code, output].
"""

import json
import os
import runpy
import sys
import tempfile
import traceback


def run_here(script: str, arguments: list[str]) -> int:
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as exit:
        return int(exit.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_forked(script: str, arguments: list[str]) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = run_here(script, arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read()


def main() -> None:
    results, *scripts = sys.argv[1:]
    import torch

    torch.set_num_threads(2)
    cpu = {script: run_forked(script.split()[0], ["--device", "cpu"]) for script in scripts}
    from torch_npu.contrib import transfer_to_npu  # noqa: F401

    npu = {script: run_forked(script.split()[0], script.split()[1:]) for script in scripts}
    with open(results, "w") as file:
        json.dump({"cpu": cpu, "npu": npu}, file)


if __name__ == "__main__":
    main()
