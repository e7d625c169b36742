"""The scripts run as they are, and what they print is true. Times are checked for consistency only."""

import json
import re

import pytest
import torch

from article_examples.stage import SEED, prepare, run, torchvision

# The colors of the sepia filter, by rows: red, green, blue.
SEPIA = torch.tensor([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
# Imports a script, whose names the code after it uses.
IMPORTED = "import json, runpy, sys, torch\nscript = runpy.run_path(sys.argv[1])\n"


@pytest.fixture(autouse=True)
def torchvision_names():
    with torchvision():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    created = tmp_path_factory.mktemp("articles")
    prepare(created)
    return created


def figures(text, *labels):
    """The number after each label."""
    return [float(re.search(rf"{label}: (-?[\d.e+-]+)", text)[1]) for label in labels]


def result_of(name, folder, code):
    """What the code prints as its last line, as JSON."""
    return json.loads(run(name, folder, IMPORTED + code).splitlines()[-1])


def resnet(folder):
    from torchvision.models import resnet50

    model = resnet50().eval()
    model.load_state_dict(torch.load(folder / "resnet50.pth", weights_only=True))
    return model


def best(logits, count=5):
    """[(class, percent)]."""
    values, classes = logits[0].softmax(0).topk(count)
    return list(zip(classes.tolist(), (values * 100).tolist(), strict=True))


def test_architecture(folder):
    text = run("operator_architecture_demo", folder)
    assert re.findall(r"设备: (\S+)", text) == ["cpu", "npu:0", "npu:0"]
    assert "torch.Size([3, 3])" in text
    assert figures(text, "最大差异")[0] < 1e-6
    assert text.endswith("架构演示: 成功\n")


def test_architecture_with_other_numbers():
    """The script's 1e-6 is less than a unit in the last place of numbers from 16 on; this bound follows the size."""
    torch.manual_seed(SEED)
    for _ in range(300):
        x = torch.randn(3, 3)
        expected = x @ x.T
        difference = (x.npu() @ x.npu().T).cpu() - expected
        assert difference.abs().max() <= torch.finfo(x.dtype).eps * expected.abs().max()


def test_fusion(folder):
    text = run("operator_fusion_demo", folder)
    separate, fused, gain, difference = figures(
        text, "标准卷积块平均时间", "融合卷积块平均时间", "性能提升", "输出最大差异"
    )
    assert min(separate, fused) > 0
    assert gain == pytest.approx((separate - fused) / separate * 100, abs=0.5)
    # Both blocks have their own weights: the difference is that of the same blocks on the CPU.
    torch.manual_seed(SEED)
    x = torch.randn(32, 64, 56, 56)
    layers = (torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64))
    others = (torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64))
    with torch.no_grad():
        one, other = (bn(conv(x)).relu() for conv, bn in (layers, others))
    assert difference == pytest.approx((one - other).abs().max().item(), abs=1e-4)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_fused_block_has_the_weights_of_the_separate_one(folder, mode):
    """With batch statistics, the script's mode, HF32 may be on; folded weights need float32 for the same digits."""
    code = f"""
separate, fused = (script[name](64, 64).npu() for name in ("StandardConvBlock", "FusedConvBlock"))
x = torch.randn(8, 64, 56, 56)
separate(x.npu())  # running statistics
fused.fused_conv.load_state_dict(separate.state_dict())
separate.{mode}(), fused.{mode}()
apart = (separate(x.npu()) - fused(x.npu())).abs().max().item()
torch.npu.conv.allow_hf32 = False
fused.fused_conv.load_state_dict(separate.state_dict())
on_npu, result = separate(x.npu()).cpu(), fused(x.npu()).cpu()
fused.fused_conv.load_state_dict(separate.state_dict())
on_cpu = separate.cpu()(x)
print(json.dumps([apart, *((result - other).abs().max().item() for other in (on_npu, on_cpu))]))
"""
    apart, *differences = result_of("operator_fusion_demo", folder, code)
    assert max(differences) <= 1.5e-5
    assert apart <= (1.5e-5 if mode == "train" else 1e-4)


def test_resnet(folder):
    text = run("resnet_migration", folder)
    milliseconds, per_second, memory = figures(text, "平均推理时间", "吞吐量", "峰值内存使用")
    results = json.loads((folder / "resnet_npu_results.json").read_text())
    assert results["input_shape"] == [1, 3, 224, 224]
    assert results["num_runs"] == 100
    assert milliseconds == pytest.approx(results["average_inference_time_ms"], abs=0.006)
    assert per_second == pytest.approx(results["throughput_fps"], abs=0.006)
    assert memory == pytest.approx(results["peak_memory_gb"], abs=0.006)
    assert results["average_inference_time_ms"] * results["throughput_fps"] == pytest.approx(1000)
    model = resnet(folder)
    weights = sum(t.nbytes for t in model.state_dict().values()) / 1024**3
    assert weights < results["peak_memory_gb"] < 2 * weights
    # The random numbers of the script: those of its layers, of its benchmark's image, then its image.
    from torchvision.models import resnet50

    torch.manual_seed(SEED)
    resnet50()
    torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        expected = best(model(torch.randn(1, 3, 224, 224)))
    printed = [(int(c), float(p)) for c, p in re.findall(r"类别 (\d+): ([\d.]+)%", text)]
    assert [c for c, _ in printed] == [c for c, _ in expected]
    assert [p for _, p in printed] == pytest.approx([p for _, p in expected], abs=0.02)


def test_custom_operator(folder):
    text = run("custom_operator_demo", folder)
    torch.manual_seed(SEED)
    image = torch.randn(4, 3, 224, 224)
    result = torch.einsum("oc,nchw->nohw", SEPIA, image)
    ranges = re.findall(r"范围: \[(\S+), (\S+)\]", text)
    for (low, high), tensor in zip(ranges, (image, result), strict=True):
        assert float(low) == pytest.approx(tensor.min().item(), abs=0.002)
        assert float(high) == pytest.approx(tensor.max().item(), abs=0.002)
    assert re.findall(r"形状: (.*)", text) == ["torch.Size([4, 3, 224, 224])"] * 2
    microseconds, per_second = figures(text, "平均执行时间", "等效帧率")
    assert per_second == pytest.approx(1e6 / microseconds, rel=0.01)
    # One channel counts as all three.
    gray = torch.tensor([[1.0, 0.5], [0.2, 0.8]])
    assert f"输入: {gray}\n输出: {SEPIA.sum(1)[:, None, None] * gray}\n" in text
    assert text.endswith("自定义算子测试完成!\n")


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 1, 2, 2)])
def test_custom_operator_has_gradients(folder, shape):
    code = f"""
x = torch.randn({shape}, dtype=torch.float64, device="npu", requires_grad=True)
print(json.dumps(torch.autograd.gradcheck(script["SepiaNNModule"](), x)))
"""
    assert result_of("custom_operator_demo", folder, code) is True


def test_profiler(folder):
    code = """
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(7200, 10))
x = torch.randn(2, 3, 32, 32, device="npu")
output, analysis = script["profile_model_performance"](model.npu(), x)
import torch_npu
print(json.dumps([list(output.shape), analysis, torch_npu.npu.profiler.report().as_dict()]))
"""
    shape, analysis, report = result_of("operator_profiler", folder, code)
    assert shape == [2, 10]
    assert analysis["total_operations"] == 1
    row = analysis["operation_breakdown"]["model_forward"]
    assert row["percentage"] == 100
    assert row["total_time_ms"] == row["average_time_ms"] == analysis["total_time_ms"] > 0
    assert analysis["bottlenecks"][0]["operation"] == "model_forward"
    # The product's own report has the same keys and the operators of the model.
    assert set(report) == set(analysis)
    rows = report["operation_breakdown"]
    assert {"aten::_convolution", "aten::relu", "aten::addmm"} <= set(rows)
    assert sum(r["percentage"] for r in rows.values()) == pytest.approx(100)
    assert report["total_time_ms"] > 0


KEYS = {"preprocess_time_ms", "inference_time_ms", "total_time_ms", "image_path", "predictions"}
PIPELINE = "pipeline = script['NPUImageClassificationPipeline']()\n"


def red_image(folder):
    from PIL import Image
    from torchvision import transforms

    mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    steps = [transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()]
    steps.append(transforms.Normalize(mean, deviation))
    return transforms.Compose(steps)(Image.open(folder / "demo_image1.jpg"))[None]


def test_classification(folder):
    text = run("image_classification_pipeline", folder)
    (result,) = json.loads((folder / "classification_results.json").read_text())
    assert set(result) == KEYS
    assert result["image_path"] == "demo_image1.jpg"
    with torch.no_grad():
        expected = best(resnet(folder)(red_image(folder)))
    found = result["predictions"]
    assert [p["rank"] for p in found] == [1, 2, 3, 4, 5]
    assert [p["class_id"] for p in found] == [c for c, _ in expected]
    assert [p["confidence"] for p in found] == pytest.approx([p for _, p in expected], rel=1e-3)
    for p in found:
        assert f" {p['rank']}. {p['class_name']}: {p['confidence']:.2f}%\n" in text
    assert figures(text, "总时间")[0] >= figures(text, "推理时间")[0] > 0


def test_classification_of_a_batch_with_bad_images(folder):
    (folder / "text.jpg").write_text("no picture")
    code = """
names = ["demo_image1.jpg", "text.jpg", "missing.jpg", "demo_image1.jpg"]
print(json.dumps(pipeline.batch_classify(names, batch_size=2)))
"""
    good, text, missing, again = result_of("image_classification_pipeline", folder, PIPELINE + code)
    assert set(text) == set(missing) == {"image_path", "error"}
    assert "cannot identify image file" in text["error"]
    assert "missing.jpg" in missing["error"]
    assert good["predictions"] == again["predictions"]


def test_the_packages_pipeline_gives_the_same(folder):
    code = """
from torch_npu.pipelines import NPUImageClassificationPipeline
packaged = NPUImageClassificationPipeline()
one, other = (p.classify_image("demo_image1.jpg", top_k=7) for p in (pipeline, packaged))
batch = packaged.batch_classify(["demo_image1.jpg"] * 3 + ["text.jpg"], batch_size=4)
print(json.dumps([one, other, batch]))
"""
    (folder / "text.jpg").write_text("no picture")
    one, other, batch = result_of("image_classification_pipeline", folder, PIPELINE + code)
    assert set(other) == set(one)
    assert len(batch) == 4
    assert set(batch[3]) == {"image_path", "error"}
    for result in (other, *batch[:3]):
        count = len(result["predictions"])
        for mine, theirs in zip(result["predictions"], one["predictions"][:count], strict=True):
            assert set(mine) == set(theirs)
            assert (mine["rank"], mine["class_id"]) == (theirs["rank"], theirs["class_id"])
            assert mine["confidence"] == pytest.approx(theirs["confidence"], rel=1e-3)
