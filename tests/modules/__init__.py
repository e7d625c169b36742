"""PyTorch's ModuleInfos and OptimizerInfos on npu against the CPU."""
