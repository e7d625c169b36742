"""What `./dev oracle` prints about functions that the official wheel looks up and softnpu does not have."""

import _ctypes
import shutil
import subprocess
import sys
from pathlib import Path

from dev.oracle import missing_names

FOLDER = Path("/my work/build/lib/cann")


def test_names_are_sorted_by_library_without_duplicates():
    lines = [
        f"  17:\t{FOLDER}/libopapi.so: error: symbol lookup error: undefined symbol: aclnnB (fatal)",
        f"  17:\t{FOLDER}/libopapi.so: error: symbol lookup error: undefined symbol: aclnnA (fatal)",
        f"  18:\t{FOLDER}/libopapi.so: error: symbol lookup error: undefined symbol: aclnnA (fatal)",
        f"  17:\t{FOLDER}/libhccl.so: error: symbol lookup error: undefined symbol: HcclA (fatal)",
    ]
    assert missing_names(lines, FOLDER) == {
        "libhccl.so": ["HcclA"],
        "libopapi.so": ["aclnnA", "aclnnB"],
    }


def test_other_libraries_and_other_reports_do_not_count():
    lines = [
        "17:\t/lib/libc.so.6: error: symbol lookup error: undefined symbol: nothing (fatal)",
        f"17:\trelocation processing: {FOLDER}/libopapi.so (lazy)",
    ]
    assert missing_names(lines, FOLDER) == {}


def test_the_linkers_report_is_parsed(tmp_path):
    library = tmp_path / "its folder" / "library.so"
    reports = tmp_path / "reports"
    for folder in (library.parent, reports):
        folder.mkdir()
    shutil.copy(_ctypes.__file__, library)
    code = "import ctypes, sys; hasattr(ctypes.CDLL(sys.argv[1]), 'not_there')"
    subprocess.run(
        [sys.executable, "-c", code, library],
        check=True,
        env={"LD_DEBUG": "reloc", "LD_DEBUG_OUTPUT": str(reports / "report")},
    )
    lines = [line for report in reports.iterdir() for line in report.read_text().splitlines()]
    assert missing_names(lines, library.parent) == {library.name: ["not_there"]}
