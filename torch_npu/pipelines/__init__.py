"""Whole tasks on the device, from a file to a result."""

from torch_npu.pipelines.image_classification import NPUImageClassificationPipeline

__all__ = ["NPUImageClassificationPipeline"]
