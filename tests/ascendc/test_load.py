"""torch_npu.utils.cpp_extension.load_ascendc: operators of PyTorch from kernels."""

import struct
from pathlib import Path

import pytest
import torch

from torch_npu.utils.cpp_extension import load_ascendc

KERNELS = str(Path(__file__).parent / "kernels" / "vectors.asc")
FAST = ("-O1",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("built")


@pytest.fixture(scope="module")
def scale(folder):
    """``my_kernels::scale``, with gradients."""

    def backward(ctx, grad):
        return torch.ops.my_kernels.scale(grad, ctx.factor), None

    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    return load_ascendc(
        "my_kernels",
        KERNELS,
        "scale(Tensor x, float factor) -> Tensor",
        launch=lambda x, factor, y: (4, (x, y, x.numel(), factor)),
        backward=backward,
        setup_context=setup_context,
        extra_cflags=FAST,
        build_directory=folder,
    )


def test_the_operator_computes(scale):
    x = torch.randn(8, 64)
    y = scale(x.npu(), 2.5)
    assert y.device.type == "npu"
    assert torch.equal(y.cpu(), x * 2.5)
    assert torch.equal(torch.ops.my_kernels.scale(x.npu(), 0.5).cpu(), x * 0.5)


def test_inputs_are_made_contiguous(scale):
    x = torch.randn(64, 4)
    assert torch.equal(scale(x.npu().t(), 2.0).cpu(), x.t() * 2)


def test_streams_have_their_order(scale):
    stream = torch.npu.Stream()
    x = torch.ones(1 << 16).npu()
    torch.npu.synchronize()
    with torch.npu.stream(stream):
        for _ in range(5):
            x = scale(x, 2.0) + 1
    torch.npu.current_stream().wait_stream(stream)
    assert x.unique().tolist() == [2**5 + 31]


def test_gradients(scale):
    x = torch.randn(2, 64).npu().requires_grad_()
    scale(x, 3.0).sum().backward()
    assert torch.equal(x.grad.cpu(), torch.full((2, 64), 3.0))


def test_meta_tensors_and_opcheck(scale):
    assert scale(torch.empty(3, 64, device="meta"), 1.0).shape == (3, 64)
    x = torch.randn(2, 64).npu().requires_grad_()
    # PyTorch checks the registration of autograd only for devices that it knows.
    checks = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    assert set(torch.library.opcheck(scale, (x, 2.0), test_utils=checks).values()) == {"SUCCESS"}


def test_torch_compile(scale):
    compiled = torch.compile(lambda x: scale(x + 1, 2.0) - 1, fullgraph=True)
    x = torch.randn(4, 64)
    assert torch.allclose(compiled(x.npu()).cpu(), (x + 1) * 2 - 1)


def test_tiling_written_tensors_and_several_results(folder):
    tiled = load_ascendc(
        "my_kernels",
        [KERNELS],
        "other_space::scale_into(Tensor x, Tensor(a!) y) -> ()",
        launch=lambda x, y: (2, (x, y, struct.pack("If", x.numel(), 4.0))),
        kernel="scale_tiled",
        extra_cflags=FAST,
        build_directory=folder,
    )
    x, y = torch.randn(2, 64), torch.zeros(2, 64).npu()
    assert tiled(x.npu(), y) is None
    assert torch.equal(y.cpu(), x * 4)
    with pytest.raises(ValueError, match=r"y is written to and has to be contiguous.*\(1, 2\)"):
        tiled(x.npu(), torch.zeros(64, 2).npu().t())

    both = load_ascendc(
        "my_kernels",
        KERNELS,
        "scaled_and_empty(Tensor x) -> (Tensor, Tensor)",
        launch=lambda x, y, z: (2, (x, y, x.numel(), 5.0)),
        outputs=lambda x: (torch.empty_like(x), x.new_empty(3)),
        kernel="scale",
        extra_cflags=FAST,
        build_directory=folder,
    )
    y, z = both(x.npu())
    assert torch.equal(y.cpu(), x * 5)
    assert z.shape == (3,)


def test_a_tiling_key_chooses_the_variant(folder):
    for key, value in ((1, 10), (10_000_000_001, 20), (2, 30)):
        variant = load_ascendc(
            "my_kernels",
            KERNELS,
            "variant(Tensor(a!) x) -> ()",
            launch=lambda x, key=key: (1, (x,), key),
            extra_cflags=FAST,
            build_directory=folder,
        )
        x = torch.zeros(8, dtype=torch.int32).npu()
        variant(x)
        assert x[0].item() == value


def test_a_definition_is_replaced_and_nothing_is_compiled_again(scale, folder):
    libraries = sorted(folder.glob("*.so"))
    assert len(libraries) == 1
    times = [path.stat().st_mtime_ns for path in libraries]
    for factor in (1.0, 2.0):
        again = load_ascendc(
            "my_kernels",
            KERNELS,
            "doubled(Tensor x) -> Tensor",
            launch=lambda x, y, factor=factor: (1, (x, y, x.numel(), factor)),
            kernel="scale",
            extra_cflags=FAST,
            build_directory=folder,
        )
        assert again(torch.ones(64).npu()).sum().item() == 64 * factor
    assert [path.stat().st_mtime_ns for path in sorted(folder.glob("*.so"))] == times


def test_wrong_use_is_refused(folder, tmp_path):
    def load(**changed):
        given = {
            "name": "wrong",
            "sources": KERNELS,
            "schema": "scale(Tensor x) -> Tensor",
            "launch": lambda x, y: (1, (x, y, x.numel(), 1.0)),
            "extra_cflags": FAST,
            "build_directory": folder,
        }
        return load_ascendc(**(given | changed))

    with pytest.raises(ValueError, match="schema and launch belong together"):
        load(launch=None)
    with pytest.raises(ValueError, match="belong to a schema"):
        load(schema=None, launch=None, kernel="scale")
    with pytest.raises(RuntimeError, match="has no kernel none"):
        load(kernel="none")
    with pytest.raises(ValueError, match="has 2 results: outputs"):
        load(schema="scale(Tensor x) -> (Tensor, Tensor)")
    with pytest.raises(RuntimeError, match="No such file or directory"):
        load(sources=str(tmp_path / "none.asc"))
    with pytest.raises(ValueError, match="there are no sources"):
        load(sources=[])
    broken = tmp_path / "broken.asc"
    broken.write_text('#include "kernel_operator.h"\nint a = b;\n')
    with pytest.raises(RuntimeError, match=r"broken\.asc:2:.*error"):
        load(sources=str(broken))

    x = torch.ones(64).npu()
    with pytest.raises(TypeError, match="launch has to return"):
        load(launch=lambda x, y: 1)(x)
    with pytest.raises(ValueError, match="kernel scale takes 4 arguments, 1 were given"):
        load(launch=lambda x, y: (1, (x,)))(x)
    with pytest.raises(ValueError, match="a tensor on cpu"):
        load(launch=lambda x, y: (1, (x.cpu(), y, 1, 1.0)))(x)


QUICK = ("-O0", "-g0", "-DAT_PER_OPERATOR_HEADERS")


def test_sources_that_define_operators(folder, capfd):
    source = str(Path(KERNELS).with_name("torch_library.asc"))
    space = load_ascendc("own_library", source, extra_cflags=QUICK, build_directory=folder)
    assert "warning" not in capfd.readouterr().err
    x = torch.arange(1000, dtype=torch.int32)
    assert torch.equal(space.negated(x.npu()).cpu(), -x)


def test_sources_that_define_a_module(folder):
    source = str(Path(KERNELS).with_name("module.asc"))
    module = load_ascendc("kernel_module", source, extra_cflags=QUICK, build_directory=folder)
    assert module.__name__ == "kernel_module"
    x = torch.zeros(32, dtype=torch.int32).npu()
    module.fill(x.data_ptr(), 7, 16, torch.npu.current_stream().npu_stream)
    assert x.tolist() == [7] * 16 + [0] * 16
