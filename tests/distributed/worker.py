"""One rank of ``ranks.Ranks``: runs what it is told until it is told to end."""

import importlib
import os
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    import torch
    import torch.distributed as dist

    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group()
    while (message := connection.recv()) is not None:
        name, args = message
        module, _, function = name.rpartition(".")
        try:
            value = getattr(importlib.import_module(f"checks.{module}"), function)(*args)
            connection.send((True, value))
        except BaseException:
            connection.send((False, f"rank {dist.get_rank()}:\n{traceback.format_exc()}"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
