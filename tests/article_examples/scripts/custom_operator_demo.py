# custom_operator_demo.py
import torch
import time
import torch_npu
from torch import nn


class NPUOptimizedSepiaFilter(torch.autograd.Function):
    """
    NPU优化的棕褐色滤镜算子
    公式:
    R' = 0.393*R + 0.769*G + 0.189*B
    G' = 0.349*R + 0.686*G + 0.168*B
    B' = 0.272*R + 0.534*G + 0.131*B
    """

    @staticmethod
    def forward(ctx, input):
        """
        前向传播:应用棕褐色滤镜
        """
        # 保存输入用于反向传播
        ctx.save_for_backward(input)
        # 调用NPU优化的实现
        output = torch_npu.ops.sepia_filter_forward(input)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        """
        反向传播:计算梯度
        """
        input, = ctx.saved_tensors
        # 棕褐色滤镜的梯度计算
        grad_input = torch_npu.ops.sepia_filter_backward(grad_output, input)
        return grad_input


class SepiaNNModule(nn.Module):
    """将自定义算子封装为NN模块"""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return NPUOptimizedSepiaFilter.apply(x)


def test_custom_operator():
    """测试自定义算子"""
    device = torch.device("npu:0")
    print("=== 自定义NPU算子测试 ===\n")
    # 创建测试图像 (batch, channels, height, width)
    batch_size, channels, height, width = 4, 3, 224, 224
    test_image = torch.randn(batch_size, channels, height, width).to(device)
    print(f"输入图像形状: {test_image.shape}")
    print(f"输入图像范围: [{test_image.min():.3f}, {test_image.max():.3f}]")
    # 应用自定义算子
    sepia_module = SepiaNNModule()
    # 前向传播
    with torch.no_grad():
        output_image = sepia_module(test_image)
    print(f"输出图像形状: {output_image.shape}")
    print(f"输出图像范围: [{output_image.min():.3f}, {output_image.max():.3f}]")

    # 性能测试
    def benchmark_operator(operator, input_tensor, num_runs=1000):
        # 预热
        for _ in range(100):
            _ = operator(input_tensor)
        torch.npu.synchronize()
        # 正式测试
        start_time = time.time()
        for _ in range(num_runs):
            output = operator(input_tensor)
        torch.npu.synchronize()
        end_time = time.time()
        return (end_time - start_time) / num_runs, output
    operator_time, _ = benchmark_operator(sepia_module, test_image)
    print(f"\n自定义算子性能:")
    print(f"平均执行时间: {operator_time * 1e6:.2f} μs")
    print(f"等效帧率: {1/operator_time:.0f} FPS")
    # 验证算子正确性(简化版本)
    print("\n=== 算子验证 ===")
    # 创建简单的测试用例
    simple_input = torch.tensor([[[[1.0, 0.5], [0.2, 0.8]]]]).to(device)
    simple_output = sepia_module(simple_input)
    print("简单测试用例:")
    print(f"输入: {simple_input.cpu().squeeze()}")
    print(f"输出: {simple_output.cpu().squeeze()}")
    return output_image


if __name__ == "__main__":
    result = test_custom_operator()
    print("\n自定义算子测试完成!")
