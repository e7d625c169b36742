"""Times of tests, stored from one run to the next. ``PERF_TEST_ENABLE=1`` turns them on."""

import atexit
import json
import os
import threading
from pathlib import Path

from torch_npu._core import environment

PERF_TEST_ENABLE = environment.text("PERF_TEST_ENABLE").upper() in ("ON", "1", "YES", "TRUE", "Y")
PERF_BASELINE_FILE = os.path.realpath(environment.text("PERF_BASELINE_FILE"))


class Baseline:
    """Numbers by name, in a JSON file."""

    def __init__(self, baselineFile: str) -> None:
        self._path = Path(baselineFile)
        self._lock = threading.Lock()  # guards _values
        self._values: dict[str, float] = {}
        if self._path.exists():
            self._values = json.loads(self._path.read_text())

    def get_baseline(self, resourceId: str) -> float | None:
        """The number of ``resourceId``; None if there is none."""
        return self._values.get(resourceId)

    def set_baseline(self, resourceId: str, baseline: float) -> None:
        """Sets it; :meth:`save_baseline` writes the file."""
        with self._lock:
            self._values[resourceId] = baseline

    def save_baseline(self) -> None:
        """Writes the file, which only its owner can read."""
        with self._lock:
            text = json.dumps(self._values)
        self._path.touch(mode=0o600)
        self._path.write_text(text)


PerfBaseline = Baseline(PERF_BASELINE_FILE)


@atexit.register
def dump_baseline() -> None:
    """Writes the times of this run, if ``PERF_TEST_ENABLE`` asks for them."""
    if PERF_TEST_ENABLE:
        PerfBaseline.save_baseline()
