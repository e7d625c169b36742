"""Two software NPUs in one process: runs the tests of on_two_devices.py in an interpreter with two devices."""

from pathlib import Path

import fresh

RUN = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:xdist', '-p', 'no:cacheprovider', *sys.argv[1:]]))"


def test_on_two_devices():
    file = Path(__file__).with_name("on_two_devices.py")
    result = fresh.run(RUN, str(file), cwd=str(file.parents[2]), SOFTNPU_DEVICE_COUNT="2")
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout
