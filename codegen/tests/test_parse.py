"""The YAML's errors name file and line; every operator gets one route."""

import pytest

from codegen import parse
from codegen.model import Route

GOOD = "backend: NPU\ncpp_namespace: at_npu::native\n"


@pytest.fixture(scope="module")
def functions():
    return parse.native_functions()


@pytest.fixture
def read(tmp_path, functions):
    def read_text(text):
        path = tmp_path / "f.yaml"
        path.write_text(text)
        return parse.read_settings(path, functions)

    return read_text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("supported: [", 1, "while parsing|expected|did not find"),
        ("- mm.out\n", 1, "expected keys such as backend"),
        (GOOD + "suported:\n  - mm.out\n", 3, "unknown key 'suported': there are backend"),
        (GOOD + "backend: CPU\n", 3, "key 'backend' is defined twice"),
        ("cpp_namespace: x\n", 1, "the key 'backend' is missing"),
        (GOOD + "boxed: mm.out\n", 3, "takes a list of operators"),
        (
            GOOD + "supported:\n  - mm.out\n  - mm.outt\n",
            5,
            "torch has no operator 'aten::mm.outt'",
        ),
        (GOOD + "boxed:\n  - mm\n  - mm\n", 5, "'mm' is defined twice under 'boxed'"),
        (GOOD + "supported:\n  - mm\nboxed:\n  - mm\n", 1, "'mm' is written by hand"),
        (GOOD + "symint:\n  - rms_norm\n", 4, "'rms_norm' under 'symint' is not written by hand"),
        (
            GOOD + "supported:\n  - mm\nsymint:\n  - mm\n",
            6,
            "'mm' under 'symint' has no SymInt in its schema",
        ),
    ],
)
def test_errors_name_file_and_line(read, text, line, says):
    with pytest.raises(parse.ParseError, match=rf"f\.yaml:{line}: .*({says})"):
        read(text)


def test_every_operator_has_one_route(read, functions):
    operators = parse.operators(read(GOOD + "supported:\n  - mm.out\n  - view\n"), functions)
    assert len({o.name for o in operators}) == len(operators) == len(functions.native_functions)
    route = {o.name: o.route for o in operators}
    assert route["view"] is Route.OWN
    # A structured operator whose out form is written by hand is derived from it.
    assert (route["mm.out"], route["mm"]) == (Route.OWN, Route.OWN)
    assert route["add.Tensor"] is route["add_.Tensor"] is route["add.out"] is Route.UNBOXED
    assert route["native_dropout"] is Route.BOXED  # draws numbers and takes no generator
    assert route["linear"] is Route.COMPOSITE


def test_compositions_stand_before_the_cpus_kernel(read, functions):
    def route(text: str) -> Route:
        found = parse.operators(read(GOOD + text), functions)
        return next(o.route for o in found if o.name == "pixel_shuffle")

    assert route("") is Route.UNBOXED
    assert route("decomposed:\n  - pixel_shuffle\n") is Route.COMPOSITE


def test_kernels_have_the_dispatchers_signature(read, functions):
    kernels = {o.name: o.kernel for o in parse.operators(read(GOOD), functions) if o.kernel}
    add = kernels["add.out"]
    assert (add.header, add.function) == ("add", "add_outf")
    assert add.pointer == (
        "at::Tensor & (*)(const at::Tensor &, const at::Tensor &, const at::Scalar &, at::Tensor &)"
    )
    assert kernels["exp_"].header == "exp"
