"""docs/debugging.md: its scripts run, and its commands print what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "debugging.md").read_text()
SCRIPTS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SHOWN = re.findall(r"```console\n\$ torch-npu overflow wrong\.py\n(.*?)```", TEXT, re.DOTALL)


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=folder
    )


def test_the_wrong_script_is_found_and_corrected(tmp_path):
    script = tmp_path / "wrong.py"
    wrong = SCRIPTS[0]
    for text, shown, code in [
        (wrong, SHOWN[0], 1),
        (wrong.replace("x * 2000", "x * 20"), SHOWN[1], 0),
    ]:
        script.write_text(text)
        ran = run(tmp_path, "-m", "torch_npu", "overflow", "wrong.py")
        assert ran.returncode == code, ran.stderr
        printed = ran.stdout.replace(f"{tmp_path}{os.sep}", "").splitlines()
        numbers = [line for line in shown.splitlines() if line[:1].isdigit() and "." in line[:6]]
        # The sum depends on random biases.
        expected = [line for line in shown.splitlines() if line not in numbers]
        assert [line for line in printed if not re.fullmatch(r"[\d.]+", line)] == expected


def test_the_operators_are_checked(tmp_path):
    (tmp_path / "check.py").write_text(SCRIPTS[1])
    ran = run(tmp_path, "check.py")
    assert ran.stdout.splitlines()[-1:] == ["no operator is wrong"], ran.stderr
    rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert rows[0].startswith("NPU Name,")
    assert any(row.startswith("aten.addmm.default.0.forward.output.0,") for row in rows)


def test_the_slow_script_is_found_and_corrected(tmp_path):
    slow = SCRIPTS[2]
    copied = 'table.to("npu")'
    for text, is_slow in [
        (slow, True),
        (slow.replace("(2048, 1024)", "(2048, 1024).npu()").replace(copied, "table"), False),
    ]:
        folder = tmp_path / str(is_slow)
        folder.mkdir()
        (folder / "slow.py").write_text(text)
        assert run(folder, "slow.py").returncode == 0
        ran = run(folder, "-m", "torch_npu", "report", "profiles", "--no-limits")
        printed = ran.stdout.replace(f"{folder}{os.sep}", "")
        advice = re.search(r"\$ torch-npu report profiles\n(.*?)```", TEXT, re.DOTALL)[1]
        for line in advice.splitlines():
            assert (line in printed.splitlines()) == is_slow, printed


def test_the_dump_is_written(tmp_path):
    (tmp_path / "dump.py").write_text(SCRIPTS[3])
    ran = run(tmp_path, "dump.py")
    assert ran.returncode == 0, ran.stderr
    names = [path.name for path in (tmp_path / "dumps").iterdir()]
    assert [re.sub(r"\d{16}$", "T", name).split(".")[:2] for name in names] == [
        ["Muls", "aclnnMuls"]
    ]
