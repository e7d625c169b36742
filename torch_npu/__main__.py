"""``python -m torch_npu``: the command ``torch-npu``."""

import sys

from torch_npu._command_line import main

if __name__ == "__main__":
    sys.exit(main())
