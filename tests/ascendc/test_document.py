"""docs/ascend_c: driver.md names the options that there are and prints parts of the example, kernels.md every kernel."""

import inspect
import re
from pathlib import Path

from torch_npu.ascendc import kernels
from torch_npu.ascendc.command_line import _parser

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "ascend_c" / "driver.md").read_text()


def test_every_option_is_explained():
    own = {o for action in _parser()._actions for o in action.option_strings}
    table = "".join(line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", table))
    hidden = {"-h", "--help", "-x"}
    passed_on = set(re.findall(r"-\w+", "-isystem -include -f -m -g -l")) | {"-std"}
    assert own - hidden <= named
    assert named - passed_on <= own


def test_listings_of_cmake_are_those_of_the_example():
    example = (ROOT / "examples" / "ascend_c" / "CMakeLists.txt").read_text()
    blocks = re.findall(r"^```cmake\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        assert block in example


def test_the_signature_for_mindspore_is_that_of_the_tested_kernel():
    (signature,) = re.findall(r'^extern "C" (int Triple.*?);$', TEXT, re.MULTILINE | re.DOTALL)
    source = (Path(__file__).parent / "kernels" / "vectors.asc").read_text()
    assert " ".join(signature.split()) in " ".join(source.split())


def test_every_kernel_is_named_with_its_arguments():
    text = (ROOT / "docs" / "ascend_c" / "kernels.md").read_text()
    named = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", text, re.MULTILINE))
    assert sorted(named) == sorted(kernels.__all__)
    for name, arguments in named.items():
        parameters = inspect.signature(getattr(kernels, name)).parameters
        assert [a.strip().removesuffix("=") for a in arguments.split(",")] == list(parameters)
    for listing in re.findall(r"^```py\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        exec(compile(listing, "kernels.md", "exec"), {})
