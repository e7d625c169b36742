"""``python -m torch_npu.ascendc``, and ``python torch_npu/ascendc``, which does not import torch."""

import sys

if not __package__:
    # Run as a folder: this package by a name of its own, behind everything else on the path.
    import importlib.util
    from pathlib import Path

    folder = Path(__file__).absolute().parent
    spec = importlib.util.spec_from_file_location(
        "softnpu_ascendc", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        sys.exit(f"ascendc: {folder} cannot be imported")
    package = importlib.util.module_from_spec(spec)
    sys.modules["softnpu_ascendc"] = package
    spec.loader.exec_module(package)
    main = importlib.import_module("softnpu_ascendc.command_line").main
else:
    from .command_line import main

if __name__ == "__main__":
    sys.exit(main())
