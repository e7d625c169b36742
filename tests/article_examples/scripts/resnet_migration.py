# resnet_migration.py
import torch
import torch_npu
import torch.nn as nn
import torchvision.models as models
import time
import json


class NPUOptimizedResNet:
    """NPU优化的ResNet模型"""

    def __init__(self, model_path="resnet50.pth"):
        self.device = torch.device("npu:0")
        self.model_path = model_path

    def load_original_model(self):
        """加载原始PyTorch模型"""
        print("加载原始ResNet-50模型...")
        model = models.resnet50(pretrained=False)
        state_dict = torch.load(self.model_path, map_location='cpu')
        model.load_state_dict(state_dict)
        return model

    def optimize_for_npu(self, model):
        """为NPU优化模型"""
        print("开始NPU优化...")
        # 1. 将模型转移到NPU
        model = model.to(self.device)
        # 2. 设置优化配置
        torch_npu.npu.set_compile_mode(jit_compile=True)
        # 3. 转换数据格式为通道最后 (channels_last)
        model = model.to(memory_format=torch.channels_last)
        print("NPU优化完成")
        return model

    def benchmark_model(self, model, input_size=(1, 3, 224, 224), num_runs=100):
        """模型性能基准测试"""
        print("开始性能测试...")
        model.eval()
        batch_size, channels, height, width = input_size
        # 创建测试数据
        x = torch.randn(batch_size, channels, height, width).to(
            self.device, memory_format=torch.channels_last
        )
        # 预热
        with torch.no_grad():
            for _ in range(10):
                _ = model(x)
            torch.npu.synchronize()
        # 正式测试
        start_time = time.time()
        with torch.no_grad():
            for _ in range(num_runs):
                outputs = model(x)
            torch.npu.synchronize()
        end_time = time.time()
        avg_time = (end_time - start_time) / num_runs
        throughput = batch_size * num_runs / (end_time - start_time)
        # 内存使用统计
        memory_used = torch.npu.max_memory_allocated() / 1024**3 # GB
        results = {
            "average_inference_time_ms": avg_time * 1000,
            "throughput_fps": throughput,
            "peak_memory_gb": memory_used,
            "input_shape": input_size,
            "num_runs": num_runs
        }
        return results, outputs

    def run_demo_inference(self, model):
        """运行演示推理"""
        print("运行演示推理...")
        # 使用随机输入进行推理演示
        x = torch.randn(1, 3, 224, 224).to(
            self.device, memory_format=torch.channels_last
        )
        with torch.no_grad():
            output = model(x)
        # 解析输出
        probabilities = torch.softmax(output[0], dim=0)
        top5_prob, top5_catid = torch.topk(probabilities, 5)
        print("推理完成,前5个预测类别:")
        for i in range(5):
            print(f" 类别 {top5_catid[i].item()}: {top5_prob[i].item()*100:.2f}%")
        return output


def main():
    """主执行函数"""
    print("=== ResNet-50 NPU迁移演示 ===\n")
    # 初始化优化器
    optimizer = NPUOptimizedResNet()
    # 步骤1: 加载原始模型
    original_model = optimizer.load_original_model()
    # 步骤2: NPU优化
    optimized_model = optimizer.optimize_for_npu(original_model)
    # 步骤3: 性能测试
    results, _ = optimizer.benchmark_model(optimized_model)
    # 步骤4: 演示推理
    _ = optimizer.run_demo_inference(optimized_model)
    # 输出结果
    print("\n=== 性能测试结果 ===")
    print(f"平均推理时间: {results['average_inference_time_ms']:.2f} ms")
    print(f"吞吐量: {results['throughput_fps']:.2f} FPS")
    print(f"峰值内存使用: {results['peak_memory_gb']:.2f} GB")
    # 保存结果
    with open('resnet_npu_results.json', 'w') as f:
        json.dump(results, f, indent=2)
    print("\n结果已保存到 resnet_npu_results.json")


if __name__ == "__main__":
    main()
