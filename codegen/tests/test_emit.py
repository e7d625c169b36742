"""What is written: each operator once, the same text each time, unchanged files untouched."""

import re
import shutil
from pathlib import Path

from torchgen.model import ListType

import codegen.__main__ as command
from codegen import parse
from codegen.emit import aclnn, aicpu
from codegen.files import FOLDER
from codegen.model import Route

YAML = Path(__file__).resolve().parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"


def generated():
    functions = parse.native_functions()
    operators = parse.operators(parse.read_settings(YAML, functions), functions)
    return operators, aicpu.unboxed(operators, 16)


def test_each_operator_is_registered_once():
    operators, files = generated()
    names = [n for text in files.values() for n in re.findall(r'm\.impl\("([^"]+)"', text)]
    assert sorted(names) == sorted(o.name for o in operators if o.route is Route.UNBOXED)
    assert len(files) == 17
    wrapped, dense = (
        re.findall(r'^ +"([^"]+)",$', text, re.MULTILINE)
        for text in files["aicpu_names.cpp"].split("dense_operators")
    )
    assert sorted(wrapped) == sorted(names)
    assert dense == [
        "_fused_adagrad_",
        "_fused_adam_",
        "_fused_adamw_",
        "_fused_sgd_",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "adaptive_max_pool3d_backward",
        "native_group_norm",
        "native_group_norm_backward",
    ]
    assert generated()[1] == files


def test_a_new_entry_changes_the_files_of_its_operator_alone(tmp_path):
    """What is compiled anew: the new operator's file of aclnn, and that of the AI CPU which had it."""
    texts = []
    new = "  - func: angle.out\n    exec: aclnnAngleV2\n    structured_inherit: sin.out\n"
    yaml, folder = tmp_path / YAML.name, tmp_path / FOLDER
    shutil.copy(YAML, yaml)
    shutil.copytree(YAML.parent / FOLDER, folder)
    family = folder / "elementwise_unary.yaml"
    whole = re.sub(r"  - func: angle\.out\n(    .*\n)+", "", family.read_text())
    assert whole != family.read_text()
    for name, entry in (("before", ""), ("after", new)):
        family.write_text(whole.replace("\nofficial:\n", f"\nofficial:\n{entry}"))
        assert command.main(["--yaml", str(yaml), "--output", str(tmp_path / name)]) == 0
        texts.append({f.name: f.read_text() for f in (tmp_path / name).glob("a*_[0-9]*.cpp")})
    changed = [name for name, text in texts[0].items() if texts[1][name] != text]
    assert sorted(name.split("_")[0] for name in changed) == ["aclnn", "aicpu"]


def registered_by_hand(key):
    found = set()
    for source in YAML.parent.glob("*.cpp"):
        for block in re.findall(
            rf"TORCH_LIBRARY_IMPL\(aten, {key}, m\) \{{(.*?)\}}", source.read_text(), re.DOTALL
        ):
            found |= set(re.findall(r'm\.impl\("([^"]+)"', block))
    return found


def test_kernels_that_write_lists_raise_version_counters():
    functions = parse.native_functions()
    found = parse.read(YAML, functions)
    operators = parse.operators(found.settings, functions, found.aclnn)
    files = {**aicpu.unboxed(operators, 16), **aclnn.aclnn(found.aclnn, 16)}
    registered = dict(re.findall(r'm\.impl\("([^"]+)", (.*)\);', "".join(files.values())))
    writing = {
        str(f.func.name): [i for i, a in enumerate(f.func.arguments.flat_all) if a.is_write]
        for f in functions.native_functions
        if any(a.is_write and isinstance(a.type, ListType) for a in f.func.arguments.flat_all)
    }
    generated = {name: written for name, written in writing.items() if name in registered}
    assert len(generated) > 60
    for name, written in generated.items():
        assert registered[name].startswith("&RaisesVersions<"), name
        assert registered[name].endswith(f", {', '.join(map(str, written))}>::call"), name
    # Written by hand, they do so themselves; what neither registers, PyTorch composes of operators that do.
    by_hand = writing.keys() & found.settings.supported
    assert by_hand == {"_amp_foreach_non_finite_check_and_unscale_"}


def test_hand_written_operators_are_the_yamls():
    """What the sources register by name on npu's keys and what the YAML lists is the same."""
    settings = parse.read_settings(YAML, parse.native_functions())
    assert registered_by_hand("PrivateUse1") == settings.supported
    derived = set().union(*map(registered_by_hand, command.DERIVED_KEYS))
    assert derived == settings.supported_derived


def test_hand_written_operators_are_not_generated(tmp_path):
    """A second registration under the same key would replace the first, in an order that nobody wrote down."""
    assert command.main(["--yaml", str(YAML), "--output", str(tmp_path)]) == 0
    text = (tmp_path / "boxed.cpp").read_text()
    for key in command.DERIVED_KEYS:
        block = re.search(rf"TORCH_LIBRARY_IMPL\(aten, {key}, m\) \{{(.*?)\n\}}", text, re.DOTALL)
        assert block is not None
        assert not registered_by_hand(key) & set(re.findall(r'"([^"]+)"', block[1]))


def test_the_command_leaves_unchanged_files_alone(tmp_path, capsys):
    arguments = ["--yaml", str(YAML), "--output", str(tmp_path), "--files", "4"]
    assert command.main(arguments) == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert command.main(arguments) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    bad = tmp_path / "bad.yaml"
    bad.write_text("backend: NPU\n")
    assert command.main(["--yaml", str(bad), "--output", str(tmp_path)]) == 1
    assert "bad.yaml:1: the key 'cpp_namespace' is missing" in capsys.readouterr().err
