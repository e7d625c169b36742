# operator_fusion_demo.py
import torch
import torch_npu
import torch.nn as nn
import time


class StandardConvBlock(nn.Module):
    """标准的卷积块 - 三个独立算子"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.bn = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.conv(x)
        x = self.bn(x)
        x = self.relu(x)
        return x


class FusedConvBlock(nn.Module):
    """融合的卷积块 - 使用NPU优化"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        # 使用NPU优化的融合卷积
        self.fused_conv = torch_npu.ops.fused_conv_bn_relu(
            in_channels, out_channels, 3, padding=1
        )

    def forward(self, x):
        return self.fused_conv(x)


def benchmark_conv_blocks():
    """对比标准卷积块与融合卷积块的性能"""
    device = torch.device("npu:0")
    batch_size, channels, height, width = 32, 64, 56, 56
    # 创建测试数据
    x = torch.randn(batch_size, channels, height, width).to(device)
    # 初始化模型
    standard_block = StandardConvBlock(channels, channels).to(device)
    fused_block = FusedConvBlock(channels, channels).to(device)
    # 预热
    for _ in range(10):
        _ = standard_block(x)
        _ = fused_block(x)
    torch.npu.synchronize()

    # 性能测试
    def time_block(block, input_tensor, num_runs=100):
        start_time = time.time()
        for _ in range(num_runs):
            output = block(input_tensor)
        torch.npu.synchronize()
        end_time = time.time()
        return (end_time - start_time) / num_runs, output
    standard_time, standard_output = time_block(standard_block, x)
    fused_time, fused_output = time_block(fused_block, x)
    print("=== 卷积块性能对比 ===")
    print(f"标准卷积块平均时间: {standard_time * 1000:.2f} ms")
    print(f"融合卷积块平均时间: {fused_time * 1000:.2f} ms")
    print(f"性能提升: {(standard_time - fused_time) / standard_time * 100:.1f}%")
    # 验证输出一致性
    output_diff = torch.abs(standard_output - fused_output).max().item()
    print(f"输出最大差异: {output_diff:.6f}")


if __name__ == "__main__":
    benchmark_conv_blocks()
