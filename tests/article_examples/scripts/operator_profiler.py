# operator_profiler.py
import time
import torch
import torch_npu
from collections import defaultdict


class NPUOperatorProfiler:
    """NPU算子性能分析器"""

    def __init__(self):
        self.operation_times = defaultdict(list)
        self.memory_stats = []
        self.enabled = False

    def start_profiling(self):
        """开始性能分析"""
        self.enabled = True
        torch_npu.npu.profiler.start()
        print("性能分析已启动")

    def stop_profiling(self):
        """停止性能分析"""
        self.enabled = False
        torch_npu.npu.profiler.stop()
        print("性能分析已停止")

    def record_operation(self, op_name, duration):
        """记录操作耗时"""
        if self.enabled:
            self.operation_times[op_name].append(duration)

    def analyze_performance(self):
        """分析性能数据"""
        if not self.operation_times:
            return "没有性能数据可分析"
        analysis = {
            "total_operations": 0,
            "operation_breakdown": {},
            "bottlenecks": [],
            "recommendations": []
        }
        # 统计各操作耗时
        total_time = 0
        for op_name, times in self.operation_times.items():
            op_total = sum(times)
            op_avg = op_total / len(times)
            total_time += op_total
            analysis["operation_breakdown"][op_name] = {
                "count": len(times),
                "total_time_ms": op_total * 1000,
                "average_time_ms": op_avg * 1000,
                "percentage": (op_total / total_time) * 100 if total_time > 0 else 0
            }
        analysis["total_operations"] = sum(len(times) for times in self.operation_times.values())
        analysis["total_time_ms"] = total_time * 1000
        # 识别性能瓶颈
        for op_name, stats in analysis["operation_breakdown"].items():
            if stats["percentage"] > 20: # 耗时超过20%的操作
                analysis["bottlenecks"].append({
                    "operation": op_name,
                    "percentage": stats["percentage"],
                    "suggestion": f"考虑优化 {op_name} 算子"
                })
        # 生成优化建议
        if analysis["bottlenecks"]:
            analysis["recommendations"].append("检测到以下性能瓶颈:")
            for bottleneck in analysis["bottlenecks"]:
                analysis["recommendations"].append(
                    f" - {bottleneck['operation']}: {bottleneck['percentage']:.1f}%"
                )
            analysis["recommendations"].append("建议优先优化这些算子")
        else:
            analysis["recommendations"].append("性能分布均衡,无明显瓶颈")
        return analysis


# 使用示例
def profile_model_performance(model, input_data):
    """模型性能分析示例"""
    profiler = NPUOperatorProfiler()
    print("开始模型性能分析...")
    profiler.start_profiling()
    # 运行模型并记录性能
    with torch.no_grad():
        start_time = time.time()
        output = model(input_data)
        torch.npu.synchronize()
        total_time = time.time() - start_time
    profiler.record_operation("model_forward", total_time)
    profiler.stop_profiling()
    # 生成分析报告
    analysis = profiler.analyze_performance()
    print("\n=== 性能分析报告 ===")
    print(f"总操作数: {analysis['total_operations']}")
    print(f"总耗时: {analysis['total_time_ms']:.2f} ms")
    print("\n操作细分:")
    for op_name, stats in analysis["operation_breakdown"].items():
        print(f" {op_name}: {stats['average_time_ms']:.2f} ms × {stats['count']}次 "
            f"({stats['percentage']:.1f}%)")
    print("\n优化建议:")
    for recommendation in analysis["recommendations"]:
        print(f" {recommendation}")
    return output, analysis
