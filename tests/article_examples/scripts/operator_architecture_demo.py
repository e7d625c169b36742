# operator_architecture_demo.py
import torch
import torch_npu


def demonstrate_operator_architecture():
    """演示算子模板库的架构原理"""
    # 创建一个普通的PyTorch张量
    cpu_tensor = torch.randn(3, 3)
    print(f"原始张量设备: {cpu_tensor.device}")
    # 无缝转移到NPU - 这是算子模板库的核心魔法
    npu_tensor = cpu_tensor.npu()
    print(f"NPU张量设备: {npu_tensor.device}")
    # 执行矩阵乘法 - 代码与CPU版本完全一致
    result = torch.matmul(npu_tensor, npu_tensor.T)
    print(f"计算结果设备: {result.device}")
    print(f"计算结果形状: {result.shape}")
    # 验证计算正确性
    cpu_result = torch.matmul(cpu_tensor, cpu_tensor.T)
    npu_to_cpu_result = result.cpu()
    # 检查结果一致性
    diff = torch.abs(cpu_result - npu_to_cpu_result).max().item()
    print(f"CPU与NPU计算结果最大差异: {diff}")
    return diff < 1e-6 # 浮点数精度误差范围内


if __name__ == "__main__":
    success = demonstrate_operator_architecture()
    print(f"架构演示: {'成功' if success else '失败'}")
